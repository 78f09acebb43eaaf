"""The call that `map_async` makes for every slice: context in, extraction out, everything counted.

A slice that the bank holds as it is, told by its fingerprint, costs no call of the model.

A forget travels the same way as the slices, so that it stays behind what was cut before it.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
import structlog

from extraction.ids import episode_id
from operators.metrics import Metrics
from operators.store_wait import repeated
from operators.unwritten import Unwritten
from schemas.claim import Claim
from schemas.controls import Control
from schemas.outcome import ExtractionOutcome, Outcome
from schemas.scope import Scope
from schemas.slice import Slice

_KEPT_SESSIONS = 10_000
"""Sessions whose newest claims, and whose forgets, are kept at hand; the bank and its ledger know the rest."""

_READ_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Waits between tries to read the bank while the store is away: as long as for writes, for every slice asks."""

_WARN_EVERY_S = 60.0

T = TypeVar("T")

log = structlog.get_logger(__name__)

SliceOrForget = Slice | Control


_encode = msgspec.msgpack.Encoder().encode
_SNAPSHOT_TYPES: tuple[type[Slice] | type[Control], ...] = (Slice, Control)


def pack(item: SliceOrForget) -> bytes:
    """Return the snapshot of an item: one byte for its type, then its fields as msgpack."""
    return bytes([_SNAPSHOT_TYPES.index(type(item))]) + _encode(item)


def unpack(snapshot: bytes) -> SliceOrForget:
    """Return the item in a snapshot that `pack` made."""
    return msgspec.msgpack.decode(snapshot[1:], type=_SNAPSHOT_TYPES[snapshot[0]])


class Extracted(msgspec.Struct, frozen=True):
    """A slice and what became of it."""

    slice: Slice
    outcome: Outcome


class Extracts(Protocol):
    """Anything that turns a slice and its context into an outcome."""

    async def extract(self, piece: Slice, context: Sequence[Claim]) -> Outcome:
        """Return what became of `piece`."""
        ...

    def fingerprint(self, piece: Slice) -> str:
        """Return what stands for the words of `piece` and the way it is extracted."""
        ...

    def unchanged(self, piece: Slice) -> Outcome:
        """Return the outcome of a slice that the bank holds already."""
        ...


class ReadsRecord(Protocol):
    """What is known of a session: reads of the bank, which may block."""

    def claims_of(self, scope: Scope, session_id: str) -> list[Claim]:
        """Return the session's stored claims."""
        ...

    def allowed(self, scope: Scope, claims: Sequence[Claim]) -> list[Claim]:
        """Return those of `claims` that no deletion covers."""
        ...

    def fingerprint_of(self, scope: Scope, episode_id: str) -> str | None:
        """Return the fingerprint of the slice with this digest line, None when the bank has none."""
        ...


class SliceCall:
    """Extracts slices with the record so far as context, and counts what came out.

    What this process has just extracted may not be stored yet when the session's next slice starts, so it is kept at
    hand for a while. A forget reaches it three ways: as a message, through the bank, and by the ledger.

    Nothing is written for a slice that the bank holds unchanged. So it may be passed over only while nothing of its
    session is on its way to the bank, which could take its claims away again; and a forget needs no care, for what was
    forgotten is not in the bank.
    """

    def __init__(
        self,
        extractor: Extracts,
        record: ReadsRecord,
        context_lines: int,
        metrics: Metrics,
        unwritten: Unwritten | None = None,
        *,
        stop: threading.Event | None = None,
    ) -> None:
        """Show at most `context_lines` claims of the record to the model.

        Whoever writes the outcomes tells `unwritten` so; without it they count as on their way for ever. Once `stop` is
        set nobody waits for a store that is away.
        """
        self._stop = stop or threading.Event()
        self._extractor = extractor
        self._record = record
        self._context_lines = context_lines
        self._metrics = metrics
        self._unwritten = unwritten or Unwritten()
        self._recent: OrderedDict[tuple[Scope, str], tuple[Claim, ...]] = OrderedDict()
        self._erased: OrderedDict[tuple[Scope, str], int] = OrderedDict()
        self._warn_next = 0.0

    async def __call__(self, item: SliceOrForget) -> Extracted | Control:
        """Return the extraction of a slice; pass a forget on."""
        if isinstance(item, Control):
            where = (item.scope, item.session_id)
            self._erased[where] = max(item.ts_ms, self._erased.pop(where, -1))
            _bound(self._erased)
            return item
        if await self._is_unchanged(item):
            self._metrics.skip("unchanged").inc(len(item.events))
            return Extracted(item, self._extractor.unchanged(item))
        context = await self._context(item) if item.seq and self._context_lines else ()
        outcome = await self._extractor.extract(item, context)
        self._unwritten.extracted(outcome)
        if self._context_lines:
            where = (item.scope, item.session_id)
            self._recent[where] = (*self._recent.pop(where, ()), *outcome.claims)[-self._context_lines :]
            _bound(self._recent)
        count_outcome(outcome, self._metrics)
        if outcome.status is ExtractionOutcome.TO_RETRY:
            self._warn(outcome)
        return Extracted(item, outcome)

    def _warn(self, outcome: Outcome) -> None:
        """Say that the provider does not serve: once, then now and then."""
        now = time.monotonic()
        if now >= self._warn_next:
            self._warn_next = now + _WARN_EVERY_S
            log.warning("the model did not serve a slice, it is set aside for a retry", error=outcome.error)

    async def _is_unchanged(self, piece: Slice) -> bool:
        if self._unwritten.holds(piece.scope, piece.session_id):
            return False
        stored = await asyncio.to_thread(
            self._repeated, lambda: self._record.fingerprint_of(piece.scope, episode_id(piece))
        )
        return bool(stored) and stored == self._extractor.fingerprint(piece)

    async def _context(self, piece: Slice) -> tuple[Claim, ...]:
        claims = await asyncio.to_thread(self._read, piece.scope, piece.session_id)
        erased_ms = max(self._erased.get((piece.scope, where), -1) for where in ("", piece.session_id))
        kept = [claim for claim in claims if claim.oldest_evidence_ms > erased_ms]
        return tuple(sorted(kept, key=lambda claim: (claim.observed_at_ms, claim.id))[-self._context_lines :])

    def _read(self, scope: Scope, session_id: str) -> list[Claim]:
        def read() -> list[Claim]:
            stored = self._record.claims_of(scope, session_id)
            recent = self._record.allowed(scope, self._recent.get((scope, session_id), ()))
            return list({claim.id: claim for claim in (*stored, *recent)}.values())

        return self._repeated(read)

    def _repeated(self, read: Callable[[], T]) -> T:
        return repeated(read, _READ_WAITS_S, stop=self._stop)


def _bound(kept: OrderedDict[tuple[Scope, str], Any]) -> None:
    if len(kept) > _KEPT_SESSIONS:
        kept.popitem(last=False)


def count_outcome(outcome: Outcome, metrics: Metrics) -> None:
    """Count one extraction: its end, its problems, its tokens and its cost."""
    model = outcome.model
    metrics.extractions.labels(model, outcome.status).inc()
    for problem in outcome.problems:
        metrics.problems.labels(model, problem.rule).inc()
    for problem in outcome.dropped:
        metrics.dropped.labels(problem.rule).inc()
    if outcome.transport_retries:
        metrics.transport_retries.labels(model).inc(outcome.transport_retries)
    if outcome.entity_recall is not None:
        metrics.entity_recall.labels(model).observe(outcome.entity_recall)
    for part, tokens in outcome.prompt_tokens.items():
        metrics.prompt_tokens.labels(part).inc(tokens)
    metrics.claims_per_slice.observe(len(outcome.claims))
    for attempt in outcome.attempts:
        usage = (
            ("input", attempt.input_tokens - attempt.cached_tokens),
            ("cached", attempt.cached_tokens),
            ("output", attempt.output_tokens),
        )
        for kind, tokens in usage:
            metrics.token_usage.labels("chat", model, kind).observe(tokens)
        metrics.call_seconds.labels("chat", model).observe(attempt.seconds)
    cost = sum(attempt.cost_usd for attempt in outcome.attempts)
    metrics.summary_cost.labels(model).observe(cost)
    metrics.cost.labels(model).inc(cost)
