"""The whole way of the data: messages become events, events become slices, slices become memories."""

from dataclasses import dataclass

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import Source
from bytewax.outputs import Sink

from operators import dead_letter
from operators.dead_letter import DeadLetter
from operators.decode import Decoder, decode
from operators.extract import Extracted, SliceOrForget
from operators.map_async import AsyncMap, map_async
from operators.sessionize import Sessionizer, sessionize
from schemas.controls import Control
from schemas.message import Message
from schemas.outcome import ExtractionOutcome, Outcome


@dataclass(frozen=True)
class Steps:
    """What each step of the flow works with; `extraction` None ends the flow at the slices, which go to `slices`."""

    source: Source[Message]
    decoder: Decoder
    sessionizer: Sessionizer
    letters: Sink[DeadLetter]
    slices: Sink[tuple[str, SliceOrForget]]
    extraction: AsyncMap[SliceOrForget, Extracted | Control] | None = None
    memories: Sink[tuple[str, Extracted | Control]] | None = None
    records: Sink[Outcome] | None = None


def build(steps: Steps) -> Dataflow:
    """Return the dataflow of one process."""
    flow = Dataflow("ingest")
    messages = op.input("messages", flow, steps.source)
    decoded = decode("decode", messages, steps.decoder)
    sessions = sessionize("sessionize", decoded.items, steps.sessionizer)
    invalid = op.map("invalid", decoded.invalid, dead_letter.from_invalid)
    late = op.map("late", sessions.late, lambda pair: dead_letter.from_late(pair[1]))
    if steps.extraction is None or steps.memories is None:
        op.output("slices", sessions.slices, steps.slices)
        op.output("dead-letters", op.merge("letters", invalid, late), steps.letters)
        return flow

    extracted = map_async("extract", sessions.slices, steps.extraction)
    op.output("remember", extracted, steps.memories)
    failed = op.filter_map("failed", extracted, _failed)
    op.output("dead-letters", op.merge("letters", invalid, late, failed), steps.letters)
    if steps.records is not None:
        op.output("records", op.filter_map("outcomes", extracted, _outcome), steps.records)
    return flow


def _failed(pair: tuple[str, Extracted | Control]) -> DeadLetter | None:
    item = pair[1]
    if isinstance(item, Extracted) and item.outcome.status in (ExtractionOutcome.REJECTED, ExtractionOutcome.TO_RETRY):
        return dead_letter.from_rejected(item.slice, item.outcome)
    return None


def _outcome(pair: tuple[str, Extracted | Control]) -> Outcome | None:
    return pair[1].outcome if isinstance(pair[1], Extracted) else None
