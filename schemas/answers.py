"""The JSON that the read commands print: contracts that scripts rely on."""

from datetime import UTC, datetime, timedelta

import msgspec

from schemas.claim import Claim, ClaimStatus, Episode
from schemas.extraction import ClaimKind
from schemas.vocabulary import Vocabulary


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """One claim as a search returns it. `score` is None where nothing was searched for; times are UTC."""

    id: str
    kind: ClaimKind
    key: str
    text: str
    quote: str
    sources: tuple[str, ...]
    authority: str
    confidence: float
    status: ClaimStatus
    observed_at: datetime
    session_id: str
    score: float | None


class AuditedMemory(Memory, frozen=True, kw_only=True):
    """One claim with all that is known of it. `expires_at` None: it is kept for ever; `slice` is the slice's id."""

    superseded_by: str | None
    conflicts_with: tuple[str, ...]
    merged_into: str | None
    expires_at: datetime | None
    slice: str
    about: str
    condition: str | None
    when: str | None
    mentions: int
    model: str
    prompt_version: str


class FoundEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """One digest line: what happened in a stretch of a conversation, from `first_at` to `last_at` (UTC)."""

    id: str
    text: str
    sources: tuple[str, ...]
    session_id: str
    first_at: datetime
    last_at: datetime
    score: float | None


class SearchAnswer(msgspec.Struct, frozen=True):
    """What `search --json` prints."""

    query: str
    memories: tuple[Memory, ...]


class EpisodesAnswer(msgspec.Struct, frozen=True):
    """What `search --episodes --json` prints."""

    query: str
    episodes: tuple[FoundEpisode, ...]


class AuditAnswer(msgspec.Struct, frozen=True):
    """What `audit --json` prints: every claim of the scope, whatever its status, oldest observation first."""

    claims: tuple[AuditedMemory, ...]


def utc(ts_ms: int) -> datetime:
    """Return the moment that is `ts_ms` milliseconds after the epoch."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ts_ms)


def memory(claim: Claim, score: float | None) -> Memory:
    """Return `claim` as a search shows it."""
    return Memory(
        id=claim.id,
        kind=claim.kind,
        key=claim.key,
        text=claim.text,
        quote=claim.quote,
        sources=claim.sources,
        authority=claim.authority,
        confidence=claim.confidence,
        status=claim.status,
        observed_at=utc(claim.observed_at_ms),
        session_id=claim.session_id,
        score=score,
    )


def audited(claim: Claim, keys: Vocabulary) -> AuditedMemory:
    """Return `claim` as an audit shows it; `keys` say when it expires."""
    ttl_days = keys.entry(claim.key, claim.kind).ttl_days
    return AuditedMemory(
        **msgspec.structs.asdict(memory(claim, None)),
        superseded_by=claim.superseded_by,
        conflicts_with=claim.conflicts_with,
        merged_into=claim.merged_into,
        expires_at=None if ttl_days is None else utc(claim.observed_at_ms) + timedelta(days=ttl_days),
        slice=claim.slice_id,
        about=claim.about,
        condition=claim.condition,
        when=claim.when,
        mentions=claim.mentions,
        model=claim.model,
        prompt_version=claim.prompt_version,
    )


def found(episode: Episode, score: float | None) -> FoundEpisode:
    """Return `episode` as a search shows it."""
    return FoundEpisode(
        id=episode.id,
        text=episode.text,
        sources=episode.sources,
        session_id=episode.session_id,
        first_at=utc(episode.first_ts_ms),
        last_at=utc(episode.last_ts_ms),
        score=score,
    )
