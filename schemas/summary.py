"""What `strandline ingest --json` and `strandline replay --json` print when they end: contracts for scripts."""

import msgspec


class SliceCounts(msgspec.Struct, kw_only=True):
    """Slices by the trigger that cut them."""

    closed: int
    idle: int
    checkpoint: int
    end_of_input: int


class ExtractionCounts(msgspec.Struct, kw_only=True):
    """Extractions by how they ended, and the calls that were made again for a fault of the transport."""

    first_pass: int
    retry_pass: int
    rejected: int
    transport_retries: int
    to_retry: int


class ClaimCounts(msgspec.Struct, kw_only=True):
    """Claims by what became of them; `dropped` by the rule that dropped them."""

    stored: int
    dropped: dict[str, int]
    superseded: int
    merged: int
    conflicting: int


class TokenCounts(msgspec.Struct, kw_only=True):
    """Tokens as the provider counted them; `cached` is the part of `input` that it had cached."""

    input: int
    cached: int
    output: int


class IngestSummary(msgspec.Struct, kw_only=True):
    """The whole run in one object. `skipped` counts by reason, `problems` by rule; `elapsed_s` is seconds."""

    events: int
    controls: int
    invalid: int
    partials: int
    duplicates: int
    late: int
    sessions: int
    slices: SliceCounts
    skipped: dict[str, int]
    extractions: ExtractionCounts
    problems: dict[str, int]
    claims: ClaimCounts
    tokens: TokenCounts
    cost_usd: float
    elapsed_s: float
    events_per_s: float


class ReplaySummary(msgspec.Struct, kw_only=True):
    """A whole replay in one object.

    `letters` were read. Of these `damaged` are none, `older` are replaced by a newer letter of their slice, `others`
    are of a scope or session that was not asked for, and the rest are one a slice: `given_up` had
    `replay.max_attempts`, `slices` were to be fed back. `left` letters wait for the next call. Of the slices,
    `replayed` are `first_pass`, `retry_pass`, `rejected` or `to_retry`, the last also where the model was not asked;
    `unchanged` are told already, by the bank or by another slice of the same call; of `forgotten` nothing is left.
    `problems` counts by rule; `elapsed_s` is seconds.
    """

    kind: str
    letters: int
    damaged: int
    older: int
    others: int
    given_up: int
    left: int
    slices: int
    replayed: int
    first_pass: int
    retry_pass: int
    rejected: int
    to_retry: int
    unchanged: int
    forgotten: int
    problems: dict[str, int]
    tokens: TokenCounts
    cost_usd: float
    elapsed_s: float
