"""A validated claim and an episode, as the bank keeps them."""

from enum import StrEnum

import msgspec

from schemas.extraction import ClaimKind
from schemas.scope import Scope


class ClaimStatus(StrEnum):
    """What `resolve` says of a claim. Derived from the set of claims, never edited by hand."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    CONFLICTING = "conflicting"
    CLOSED = "closed"


class Claim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One claim with the evidence for it.

    `id` is a UUID derived from scope, session, kind, key, about, condition, text and sources, so that the same claim
    written twice is one row. `sources` are event ids, the quote stands in one of them. `observed_at_ms` is the time
    of the newest source event, never of the extraction. `authority` is one of `EventAuthority`. `when` is an ISO date
    or `date/date`. `closes` is the id of an event of the same session: open questions that cite it are answered by
    this claim. `evidence_from_ms` is the time of the oldest source event, when there are several. The last five
    fields are what `resolve` derived; they hold their defaults until a claim has been stored. `mentions` counts the
    equal claims merged into this one, itself included.
    """

    id: str
    scope: Scope
    session_id: str
    slice_id: str
    kind: ClaimKind
    key: str
    about: str
    text: str
    sources: tuple[str, ...]
    quote: str
    confidence: float
    observed_at_ms: int
    authority: str
    durable: bool = True
    change: bool = False
    condition: str | None = None
    when: str | None = None
    closes: str | None = None
    model: str = ""
    prompt_version: str = ""
    evidence_from_ms: int | None = None
    status: ClaimStatus = ClaimStatus.ACTIVE
    superseded_by: str | None = None
    conflicts_with: tuple[str, ...] = ()
    merged_into: str | None = None
    mentions: int = 1

    @property
    def oldest_evidence_ms(self) -> int:
        """Time of the oldest source event: a deletion up to a time takes a claim that rests on anything before it."""
        return self.observed_at_ms if self.evidence_from_ms is None else self.evidence_from_ms


class Episode(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The digest line of one slice: found by a search for episodes, never shown as a fact.

    `sources` are the event ids it rests on; `events` are all ids of the slice, so that a re-cut slice replaces it.
    `fingerprint` stands for the words it was extracted from and the way (see `Outcome`).
    """

    id: str
    scope: Scope
    session_id: str
    slice_id: str
    text: str
    sources: tuple[str, ...]
    events: tuple[str, ...]
    first_ts_ms: int
    last_ts_ms: int
    fingerprint: str = ""
