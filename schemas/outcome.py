"""What became of one slice: the message between extraction and memory, and the row of the records topic."""

from enum import StrEnum

import msgspec

from schemas.claim import Claim, Episode
from schemas.scope import Scope


class ExtractionOutcome(StrEnum):
    """The ends of an extraction; the first four are values of the metric label `outcome`.

    `UNCHANGED` is none: the slice was extracted before, from the same words and in the same way, and stays as it is.
    """

    FIRST_PASS = "first_pass"  # noqa: S105 - a metric label, not a password
    RETRY_PASS = "retry_pass"  # noqa: S105
    REJECTED = "rejected"
    TO_RETRY = "to_retry"
    UNCHANGED = "unchanged"


class Problem(msgspec.Struct, frozen=True, gc=False):
    """One rule that an answer broke: the rule's name, of a bounded set, and what tells the model what to mend."""

    rule: str
    detail: str


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """One answer of the model: tokens as the provider counted them, seconds on the wire, and what it cost."""

    input_tokens: int
    cached_tokens: int
    output_tokens: int
    seconds: float
    cost_usd: float


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The extraction of one slice, whole.

    `claims` and `episode` are there only for the two passes. `problems` are those of every failed attempt, `dropped`
    the claims that were removed without asking again. `event_ids` are all events of the slice: what its session
    contributed from them before is replaced. `prompt_tokens` splits the estimated prompt by part (instruction, user,
    agent, tool_call, tool_result, context). `entity_recall` is the share of the transcript's high-value entities that
    stand in a claim or the digest, `None` when there were none. `error` keeps the provider's own words when `status`
    is `TO_RETRY`. `asked` is false when no request was sent for the slice: nothing to ask, or no leave to.
    """

    scope: Scope
    session_id: str
    slice_id: str
    event_ids: tuple[str, ...]
    first_ts_ms: int
    last_ts_ms: int
    status: ExtractionOutcome
    model: str
    prompt_version: str
    claims: tuple[Claim, ...] = ()
    episode: Episode | None = None
    problems: tuple[Problem, ...] = ()
    dropped: tuple[Problem, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    transport_retries: int = 0
    entity_recall: float | None = None
    prompt_tokens: dict[str, int] = {}
    error: str = ""
    fingerprint: str = ""
    asked: bool = True
