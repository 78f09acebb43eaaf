"""The call that `map_async` makes for every slice: context in, extraction out, everything counted.

A forget travels the same way as the slices, so that it stays behind what was cut before it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from operators.metrics import Metrics
from schemas.claim import Claim
from schemas.controls import Control
from schemas.outcome import Outcome
from schemas.scope import Scope
from schemas.slice import Slice

_RECENT_SESSIONS = 10_000
"""Sessions whose newest claims are kept at hand: a session's next slice may start before its last one is stored."""

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


class SliceCall:
    """Extracts slices with the record so far as context, and counts what came out."""

    def __init__(
        self,
        extractor: Extracts,
        stored_claims: Callable[[Scope, str], list[Claim]],
        context_lines: int,
        metrics: Metrics,
    ) -> None:
        """Use `stored_claims(scope, session_id)`, which may block, for what was stored before this process began."""
        self._extractor = extractor
        self._stored_claims = stored_claims
        self._context_lines = context_lines
        self._metrics = metrics
        self._recent: OrderedDict[tuple[Scope, str], tuple[Claim, ...]] = OrderedDict()

    async def __call__(self, item: SliceOrForget) -> Extracted | Control:
        """Return the extraction of a slice; pass a forget on."""
        if isinstance(item, Control):
            self._forget(item)
            return item
        context = await self._context(item) if item.seq else ()
        outcome = await self._extractor.extract(item, context)
        self._keep(item, (*context, *outcome.claims))
        count_outcome(outcome, self._metrics)
        return Extracted(item, outcome)

    async def _context(self, piece: Slice) -> tuple[Claim, ...]:
        stored = await asyncio.to_thread(self._stored_claims, piece.scope, piece.session_id)
        recent = self._recent.get((piece.scope, piece.session_id), ())
        by_id = {claim.id: claim for claim in (*stored, *recent)}
        newest = sorted(by_id.values(), key=lambda claim: (claim.observed_at_ms, claim.id))
        return tuple(newest[-self._context_lines :]) if self._context_lines else ()

    def _keep(self, piece: Slice, claims: tuple[Claim, ...]) -> None:
        self._recent[piece.scope, piece.session_id] = claims[-self._context_lines :] if self._context_lines else ()
        self._recent.move_to_end((piece.scope, piece.session_id))
        if len(self._recent) > _RECENT_SESSIONS:
            self._recent.popitem(last=False)

    def _forget(self, control: Control) -> None:
        for scope, session_id in list(self._recent):
            if scope == control.scope and control.session_id in ("", session_id):
                del self._recent[scope, session_id]


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
