"""The keys under which claims meet: what each means, how many values it holds, how fast it ages."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.extraction import ClaimKind

OTHER_PREFIX = "other."
"""A key outside the vocabulary starts so; it is then of many values and ages as its kind does."""

NAME_PATTERN = r"^[a-z0-9_]+(\.[a-z0-9_]+)*$"
"""What a key may be called."""

MAX_DAYS = 36_600.0
"""A hundred years: more is a slip of the pen, and a time so far off is no date any more."""

HALF_LIFE_DAYS: dict[ClaimKind, float] = {
    "fact": 365.0,
    "preference": 180.0,
    "decision": 90.0,
    "commitment": 30.0,
    "open_question": 30.0,
}
"""Days after which a claim of the kind counts half in the freshness part of the score; a key may say otherwise."""


OF_A_SESSION: frozenset[ClaimKind] = frozenset({"decision", "commitment", "open_question"})
"""Kinds whose claims tell of something that happened: the same words in another session are another event."""


class Key(BaseModel):
    """One entry of the vocabulary.

    `values` "one": a newer value supersedes; "many": all stand until one is ended. `conflicts`: two recent, confident,
    different values are shown as a conflict instead of the older being superseded; by default so for preferences and
    decisions. `half_life_days` and `ttl_days` are days; `ttl_days` None keeps for ever. `exact`: the value must be
    taken verbatim from its sources (ids, amounts, dates). `meets`: claims under it meet (merge, supersede, conflict)
    across the user's sessions, or within one session only.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(pattern=NAME_PATTERN, max_length=80)
    kind: ClaimKind
    meaning: str
    values: Literal["one", "many"] = "one"
    conflicts: bool | None = None
    half_life_days: float | None = Field(default=None, gt=0, le=MAX_DAYS)
    ttl_days: float | None = Field(default=None, gt=0, le=MAX_DAYS)
    exact: bool = False
    meets: Literal["user", "session"] = "user"

    @property
    def may_conflict(self) -> bool:
        """Whether two values can stand against each other."""
        if self.conflicts is not None:
            return self.conflicts
        return self.values == "one" and self.kind in ("preference", "decision")


DEFAULT_KEYS: tuple[Key, ...] = (
    Key(
        name="session.goal",
        kind="fact",
        meaning="what the user wants from the conversation",
        values="many",
        half_life_days=14,
        ttl_days=90,
        meets="session",
    ),
    Key(name="name", kind="fact", meaning="what the user is called"),
    Key(name="location.home", kind="fact", meaning="where the user lives"),
    Key(name="location.current", kind="fact", meaning="where the user is now", half_life_days=7, ttl_days=30),
    Key(name="work.employer", kind="fact", meaning="whom the user works for"),
    Key(name="work.role", kind="fact", meaning="the user's job or role"),
    Key(name="work.timezone", kind="fact", meaning="the time zone the user works in"),
    Key(name="family", kind="fact", meaning="a relative", values="many"),
    Key(name="health.allergy", kind="fact", meaning="an allergy", values="many", half_life_days=3650),
    Key(name="contact.email", kind="fact", meaning="an e-mail address", values="one", exact=True),
    Key(name="contact.phone", kind="fact", meaning="a phone number", values="one", exact=True),
    Key(name="account.id", kind="fact", meaning="an account, customer or member number", values="many", exact=True),
    Key(
        name="order.id",
        kind="fact",
        meaning="an order, booking, ticket or case, and its state",
        values="many",
        half_life_days=60,
        exact=True,
        meets="session",
    ),
    Key(
        name="payment.amount",
        kind="fact",
        meaning="an amount paid, owed, charged or offered",
        values="many",
        half_life_days=60,
        exact=True,
        meets="session",
    ),
    Key(
        name="schedule.date",
        kind="fact",
        meaning="when something takes place",
        values="many",
        half_life_days=30,
        exact=True,
        meets="session",
    ),
    Key(name="deployment.region", kind="fact", meaning="where the user's system runs"),
    Key(name="possession", kind="fact", meaning="something the user owns", values="many"),
    Key(
        name="problem",
        kind="fact",
        meaning="something that does not work",
        values="many",
        half_life_days=30,
        meets="session",
    ),
    Key(name="diet", kind="preference", meaning="what the user eats or does not eat"),
    Key(name="language", kind="preference", meaning="the language of answers"),
    Key(name="answer.style", kind="preference", meaning="how answers should be"),
    Key(name="contact.channel", kind="preference", meaning="how to contact the user"),
    Key(name="likes", kind="preference", meaning="something liked or preferred", values="many"),
    Key(name="dislikes", kind="preference", meaning="something disliked", values="many"),
    Key(name="favorite", kind="preference", meaning="a favourite of the user", values="many"),
    Key(
        name="decision",
        kind="decision",
        meaning="what the user or both settled on",
        values="many",
        meets="session",
    ),
    Key(
        name="commitment.agent",
        kind="commitment",
        meaning="what the agent or its company promised",
        values="many",
        meets="session",
    ),
    Key(
        name="commitment.user",
        kind="commitment",
        meaning="what the user promised",
        values="many",
        meets="session",
    ),
    Key(
        name="question",
        kind="open_question",
        meaning="a question left without an answer",
        values="many",
        meets="session",
    ),
)
"""A small vocabulary for assistants and support desks; a deployment extends or replaces entries in settings."""


@lru_cache(maxsize=4096)
def _unknown(name: str, kind: ClaimKind) -> Key:
    return Key(name=name, kind=kind, meaning="", values="many", meets="session" if kind in OF_A_SESSION else "user")


class Vocabulary:
    """The keys of a deployment, looked up by name."""

    def __init__(self, keys: tuple[Key, ...] = DEFAULT_KEYS) -> None:
        """Take `keys`; of two with one name the later wins, so a deployment's own may follow the defaults."""
        self._keys = {key.name: key for key in keys}

    def __iter__(self) -> Iterator[Key]:
        """Go through the entries in the order they were given."""
        return iter(self._keys.values())

    def get(self, name: str) -> Key | None:
        """Return the entry called `name`, or None: the name is unknown or starts with `other.`."""
        return self._keys.get(name)

    def entry(self, name: str, kind: ClaimKind) -> Key:
        """Return the entry called `name`, or the one that an unknown key of `kind` stands for.

        That one has many values. What was settled, promised or asked belongs to its session.
        """
        return self._keys.get(name) or _unknown(name, kind)

    def half_life_days(self, name: str, kind: ClaimKind) -> float:
        """Return the half-life of a claim in days: its key's own, else its kind's."""
        own = self.entry(name, kind).half_life_days
        return own if own is not None else HALF_LIFE_DAYS[kind]
