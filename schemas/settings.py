"""Every setting of Strandline, typed, with its unit in its name and its default here and nowhere else.

Sources, strongest first: options of the command, STRANDLINE_* variables (nested by two underscores), a YAML or TOML
file, these defaults. Nothing else in the project reads the environment. Loading lives in `schemas.load_settings`.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from schemas.entity_kinds import check_required, checked_patterns
from schemas.timezones import is_timezone
from schemas.vocabulary import DEFAULT_KEYS, MAX_DAYS, Key, Vocabulary

MAX_TIMEOUT_S = 3600.0
"""An hour: whoever waits longer for one call waits for a fault, and has most likely stated milliseconds."""

MAX_DURATION_S = 10 * 366 * 86400.0
"""Ten years: more is a slip of the pen, and infinity is no number of milliseconds."""

MAX_CHARS = 100_000_000
"""A hundred million characters: no message that fits into memory several times over has a longer text."""

PREFIX_PATTERN = r"^[a-z0-9_-]{1,40}$"
"""What `store.prefix` may be: it stands in the names of collections, on a server in those of files."""


class Section(BaseModel):
    """A group of settings: unknown names are errors, for a misspelt setting must not be ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class KafkaSettings(Section):
    """How to reach Kafka. Time-outs are seconds."""

    bootstrap: str = Field(default="", description="host:port, several with commas; empty: no Kafka")
    topic: str = "strandline-events"
    group: str = Field(default="strandline", description="consumer group to which offsets are committed for lag tools")
    invalid_topic: str = Field(default="strandline-invalid", description="where undecodable messages go")
    late_topic: str = Field(default="strandline-late", description="where events older than the id memory go")
    records_topic: str = Field(default="", description="when set, every extraction is also published here")
    rejected_topic: str = Field(default="strandline-rejected", description="slices whose extraction failed its rules")
    retry_topic: str = Field(default="strandline-retry", description="slices the provider could not serve in time")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    sasl_username: str = ""
    sasl_password: SecretStr = SecretStr("")
    ssl_cafile: str | None = None
    ssl_certfile: str | None = None
    ssl_keyfile: str | None = None
    request_timeout_s: float = Field(
        default=8.0, gt=0, le=MAX_TIMEOUT_S, description="any one call; a user is told within ten seconds"
    )
    on_gap: Literal["fail", "earliest"] = Field(
        default="fail",
        description="offsets that retention has deleted: stop, or go on at the earliest and count the gap",
    )
    fetch_max_wait_ms: int = Field(
        default=250,
        gt=0,
        le=60_000,
        description="how long a broker may wait for data; one that looks only when it is over delays messages by it",
    )
    batch_size: int = Field(default=1000, gt=0, le=1_000_000, description="messages taken at once from one partition")


class StoreSettings(Section):
    """Where the memories are kept."""

    url: str = Field(default="", description="a Qdrant URL, a folder for the embedded store, or `memory`")
    api_key: SecretStr = SecretStr("")
    prefix: str = Field(
        default="strandline", pattern=PREFIX_PATTERN, description="first part of every collection's name"
    )
    timeout_s: float = Field(default=8.0, gt=0, le=MAX_TIMEOUT_S)
    layout: Literal["per_scope"] = "per_scope"
    max_collections: int = Field(
        default=1000,
        gt=0,
        le=10_000_000,
        description="scopes this store may hold; more is an error that names the remedy",
    )
    hash_key: SecretStr = Field(
        default=SecretStr(""),
        description="secret that keys the hashes of the deletion ledger; "
        "without it whoever knows a user id can look for it in the ledger",
    )


class ModelSettings(Section):
    """The model that extracts: any OpenAI-compatible endpoint; the offline model when no url and no key is set."""

    base_url: str = Field(default="", description="OPENAI_BASE_URL serves when this is absent")
    name: str = "gpt-4.1-mini"
    api_key: SecretStr = Field(default=SecretStr(""), description="OPENAI_API_KEY serves when this is absent")
    max_in_flight: int = Field(default=32, gt=0, le=10_000, description="calls under way at once in one process")
    timeout_s: float = Field(default=60.0, gt=0, le=MAX_TIMEOUT_S, description="one call")
    slice_budget_s: float = Field(
        default=180.0,
        gt=0,
        le=MAX_TIMEOUT_S,
        description="all calls, waits and retries for one slice; then it goes to `retry`",
    )
    transport_retries: int = Field(
        default=20, ge=0, le=100, description="retries after time-outs, 429 and 5xx within the budget"
    )
    requests_per_minute: float = Field(
        default=0.0, ge=0, le=10_000_000, description="calls this process may start in a minute; 0: any number"
    )
    tokens_per_minute: float = Field(
        default=0.0,
        ge=0,
        le=1e12,
        description="tokens, of prompts as estimated and of answers as asked for, in a minute; 0: any number",
    )
    circuit_failures: int = Field(
        default=5,
        ge=1,
        le=10_000,
        description="faults of transport in a row, whichever slices they met, after which no call is made for a while",
    )
    circuit_probe_s: float = Field(
        default=5.0,
        gt=0,
        le=MAX_TIMEOUT_S,
        description="how often one call asks whether a provider that was down serves again",
    )
    daily_budget_usd: float = Field(
        default=0.0,
        ge=0,
        le=1e9,
        description="US dollars a day (UTC) that this process may spend, by `prices`; then calls wait for the next; "
        "0: any amount",
    )
    max_output_tokens: int = Field(default=4096, gt=0, le=10_000_000)
    temperature: float = Field(default=0.0, ge=0, le=2)
    mode: Literal["json_schema", "json", "tools"] = Field(
        default="json_schema", description="how the endpoint is asked for the schema"
    )

    @property
    def is_offline(self) -> bool:
        """Whether neither an endpoint nor a key is set, so that the offline model must serve."""
        return not self.base_url and not self.api_key.get_secret_value()


class Price(Section):
    """US dollars per million tokens."""

    input: float = Field(default=0.0, ge=0, le=1_000_000)
    cached: float = Field(default=0.0, ge=0, le=1_000_000)
    output: float = Field(default=0.0, ge=0, le=1_000_000)


class EmbeddingSettings(Section):
    """The endpoint of the `meaning` vectors. Without `base_url` there are only `words`, which need none."""

    base_url: str = ""
    name: str = ""
    api_key: SecretStr = SecretStr("")
    dimensions: int = Field(default=0, ge=0, le=65_536, description="size of a vector; 0: asked of the endpoint once")
    timeout_s: float = Field(default=20.0, gt=0, le=MAX_TIMEOUT_S)
    query_prefix: str = Field(default="", description="put before a query, e.g. `query: ` for the E5 family")
    passage_prefix: str = Field(default="", description="put before a stored text, e.g. `passage: ` for the E5 family")


class DecodeSettings(Section):
    """What is trimmed at the source. Sizes are characters."""

    max_message_bytes: int = Field(default=16 * 1024 * 1024, ge=1024, le=1024**3)
    max_text_chars: int = Field(default=20_000, gt=0, le=MAX_CHARS)
    max_tool_result_chars: int = Field(default=1_500, gt=0, le=MAX_CHARS)
    max_tool_args_chars: int = Field(default=1_500, gt=0, le=MAX_CHARS)
    max_array_items: int = Field(
        default=3, ge=0, le=1_000_000, description="an array becomes its count and its first items"
    )
    max_parts: int = Field(default=1_000, gt=0, le=1_000_000, description="parts of one event; more is invalid")
    tool_result_chars: dict[str, Annotated[int, Field(ge=0, le=MAX_CHARS)]] = Field(
        default={}, description="per tool: characters kept of its result; 0 keeps none"
    )
    max_event_chars: int = Field(
        default=40_000, gt=0, le=MAX_CHARS, description="all tool calls and results of one event together"
    )
    future_tolerance_s: float = Field(
        default=300.0,
        ge=0,
        le=MAX_DURATION_S,
        description="a time further ahead of the record's time is a broken clock",
    )


class SessionSettings(Section):
    """When a slice is cut. Durations are seconds."""

    idle_after_s: float | None = Field(
        default=1800.0,
        gt=0,
        le=MAX_DURATION_S,
        description="cut when nothing came for so long, by stream time or by the wall clock",
    )
    lateness_s: float = Field(
        default=60.0, ge=0, le=MAX_DURATION_S, description="a checkpoint keeps back events younger than this"
    )
    checkpoint_events: int | None = Field(default=200, gt=1, le=10_000_000)
    checkpoint_chars: int | None = Field(
        default=48_000, gt=0, le=MAX_CHARS, description="about four characters a token"
    )
    checkpoint_age_s: float | None = Field(
        default=6 * 3600.0, gt=0, le=MAX_DURATION_S, description="age of the oldest pending event, by stream time"
    )
    id_memory: int = Field(
        default=4096, gt=0, le=10_000_000, description="newest event ids a session remembers, to know duplicates"
    )
    tombstone_s: float = Field(
        default=24 * 3600.0,
        ge=0,
        le=MAX_DURATION_S,
        description="how long a closed session is remembered, by stream time or wall clock",
    )
    min_events: int = Field(default=1, ge=1, le=1_000_000, description="a slice with fewer is skipped as `few_events`")

    @property
    def has_ceiling(self) -> bool:
        """Whether the events pending in one session are bounded, whatever a sender does."""
        return self.checkpoint_events is not None or self.checkpoint_chars is not None

    @model_validator(mode="after")
    def _possible(self) -> "SessionSettings":
        triggers = (self.idle_after_s, self.checkpoint_events, self.checkpoint_chars, self.checkpoint_age_s)
        if all(trigger is None for trigger in triggers):
            msg = "no trigger is set, so only closed sessions would be extracted; set idle_after_s or a checkpoint_*"
            raise ValueError(msg)
        if self.idle_after_s is not None and self.lateness_s > self.idle_after_s:
            msg = (
                f"sessions.lateness_s={self.lateness_s} is above sessions.idle_after_s={self.idle_after_s}: "
                "an idle session would be cut while its late events are still awaited; lower lateness_s"
            )
            raise ValueError(msg)
        return self


def _timezone(name: str) -> str:
    if not is_timezone(name):
        msg = "it should be the IANA name of a time zone, as Europe/Berlin or America/New_York are"
        raise ValueError(msg)
    return name


class ExtractionSettings(Section):
    """How a slice is put to the model and what is asked of the answer."""

    memory_tools: tuple[str, ...] = Field(
        default=("load_memory", "preload_memory", "search_memory", "strandline_search"),
        description="tools whose results are memories: no evidence, not sent, else memories breed memories",
    )
    context_lines: int = Field(default=20, ge=0, le=10_000, description="lines of the record so far that are shown")
    required_entities: tuple[str, ...] = Field(
        default=("identifier", "amount", "email"),
        description="entity classes that must not be dropped by an extraction",
    )
    instructions: str = Field(default="", description="a deployment's own sentences, put after the rules of the prompt")
    patterns: Annotated[dict[str, str], AfterValidator(checked_patterns)] = Field(
        default={},
        description="a deployment's own identifiers: a name in lower case and a regular expression; what matches is "
        "grounded and, if the name stands in required_entities, must not be dropped; a slow one ends the run",
    )
    max_claims: int = Field(default=60, gt=0, le=10_000, description="claims of one slice; more are asked for again")
    timezone: Annotated[str, AfterValidator(_timezone)] = Field(
        default="UTC",
        description="IANA time zone in which days are reckoned where a session names none of its own",
    )

    @model_validator(mode="after")
    def _kinds_are_known(self) -> "ExtractionSettings":
        check_required(self.required_entities, self.patterns)
        return self


class ReadSettings(Section):
    """How memories are ranked and shown."""

    limit: int = Field(default=8, gt=0, le=1000, description="results of a search")
    floor: float = Field(default=0.05, ge=0, le=1, description="similarity below which nothing is returned")
    weight_similarity: float = Field(default=0.6, ge=0, le=1)
    weight_freshness: float = Field(default=0.25, ge=0, le=1)
    weight_confidence: float = Field(default=0.15, ge=0, le=1)
    sparse_half: float = Field(
        default=6.0, gt=0, le=1_000_000, description="c in s/(s+c): the sparse score that counts as half"
    )
    context_chars: int = Field(default=4000, gt=0, le=MAX_CHARS, description="cap of the grounding block")
    conflict_window_days: float = Field(
        default=30.0, gt=0, le=MAX_DAYS, description="two values this close can be in conflict"
    )
    conflict_confidence: float = Field(
        default=0.6, ge=0, le=1, description="both must be at least so sure to be in conflict"
    )


class ReplaySettings(Section):
    """How slices that were set aside are fed back."""

    max_attempts: int = Field(
        default=3, gt=0, le=1000, description="times one slice is put to the model over its life; then it stays aside"
    )
    limit: int = Field(default=1000, gt=0, le=10_000_000, description="slices fed back by one call of the command")


class RunSettings(Section):
    """The process itself."""

    recovery_dir: str = Field(
        default="", description="folder of the recovery store; empty: a run from Kafka keeps one beside the store"
    )
    dead_letter_dir: str = Field(
        default="strandline-dead-letters", description="folder for what is set aside when the input is a file"
    )
    snapshot_interval_s: float = Field(default=10.0, gt=0, le=MAX_TIMEOUT_S)
    metrics_host: str = "127.0.0.1"
    metrics_port: int = Field(default=0, ge=0, le=65535, description="port of /metrics, /healthz and /readyz; 0: none")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_json: bool = False


DEFAULT_PRICES: dict[str, Price] = {
    "gpt-4.1-mini": Price(input=0.40, cached=0.10, output=1.60),
    "gpt-4.1": Price(input=2.00, cached=0.50, output=8.00),
    "gpt-4.1-nano": Price(input=0.10, cached=0.025, output=0.40),
    "strandline-offline": Price(),
}
"""List prices at the time of writing; a deployment states its own under `prices`."""


class Settings(Section):
    """The whole configuration."""

    kafka: KafkaSettings = KafkaSettings()
    store: StoreSettings = StoreSettings()
    model: ModelSettings = ModelSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    decode: DecodeSettings = DecodeSettings()
    sessions: SessionSettings = SessionSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    read: ReadSettings = ReadSettings()
    replay: ReplaySettings = ReplaySettings()
    run: RunSettings = RunSettings()
    prices: dict[str, Price] = DEFAULT_PRICES
    vocabulary: tuple[Key, ...] = Field(
        default=(), description="entries added to the default vocabulary; one with a known name replaces it"
    )

    @model_validator(mode="after")
    def _clocks_fit(self) -> "Settings":
        idle_s = self.sessions.idle_after_s
        if idle_s is not None and self.decode.future_tolerance_s >= idle_s:
            msg = (
                f"decode.future_tolerance_s={self.decode.future_tolerance_s} is not below "
                f"sessions.idle_after_s={idle_s}: one clock that runs ahead would close every session; lower it"
            )
            raise ValueError(msg)
        return self

    def keys(self) -> Vocabulary:
        """Return the default vocabulary with this deployment's entries on top."""
        return Vocabulary((*DEFAULT_KEYS, *self.vocabulary))

    def price(self, model: str) -> Price:
        """Return the price of `model`; a model that is not in the table costs nothing, which `config` says."""
        return self.prices.get(model, Price())
