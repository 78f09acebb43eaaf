"""The half of the dataflow that ingest and replay share: slices become memories, or letters."""

from collections.abc import Callable
from typing import TypeAlias

import bytewax.operators as op
from bytewax.dataflow import Stream
from bytewax.operators import KeyedStream
from bytewax.outputs import Sink

from operators import dead_letter
from operators.dead_letter import DeadLetter
from operators.extract import Extracted, SliceOrForget
from operators.map_async import AsyncMap, map_async
from schemas.controls import Control
from schemas.outcome import ExtractionOutcome, Outcome
from schemas.slice import Slice

Extraction: TypeAlias = AsyncMap[SliceOrForget, Extracted | Control]
Memories: TypeAlias = Sink[tuple[str, Extracted | Control]]

_FAILED = (ExtractionOutcome.REJECTED, ExtractionOutcome.TO_RETRY)


def learn(
    slices: KeyedStream[SliceOrForget],
    extraction: Extraction,
    memories: Memories,
    records: Sink[Outcome] | None,
    *,
    attempts_before: Callable[[Slice], int] = lambda piece: 0,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> Stream[DeadLetter]:
    """Extract the slices, remember what came of them, publish it to `records`; return the letters of those that failed.

    `attempts_before` says how often a slice was put to the model before; its letter counts this time too, if it was.
    `on_outcome` is told of each outcome before it is written anywhere.
    """

    def failed(pair: tuple[str, Extracted | Control]) -> DeadLetter | None:
        item = pair[1]
        if isinstance(item, Extracted) and item.outcome.status in _FAILED:
            attempts = attempts_before(item.slice) + item.outcome.asked
            return dead_letter.from_rejected(item.slice, item.outcome, attempts)
        return None

    def told(pair: tuple[str, Extracted | Control]) -> tuple[str, Extracted | Control]:
        if isinstance(pair[1], Extracted) and on_outcome is not None:
            on_outcome(pair[1].outcome)
        return pair

    extracted = map_async("extract", slices, extraction)
    if on_outcome is not None:
        extracted = op.map("told", extracted, told)
    op.output("remember", extracted, memories)
    if records is not None:
        op.output("records", op.filter_map("outcomes", extracted, _outcome), records)
    return op.filter_map("failed", extracted, failed)


def _outcome(pair: tuple[str, Extracted | Control]) -> Outcome | None:
    return pair[1].outcome if isinstance(pair[1], Extracted) else None
