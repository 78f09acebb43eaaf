"""The whole way of the data: messages become events, events become slices, slices become memories."""

from dataclasses import dataclass

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import Source
from bytewax.outputs import Sink

from flows.learn import Extraction, Memories, learn
from operators import dead_letter
from operators.dead_letter import DeadLetter
from operators.decode import Decoder, decode
from operators.extract import SliceOrForget
from operators.sessionize import Sessionizer, sessionize
from schemas.message import Message
from schemas.outcome import Outcome


@dataclass(frozen=True)
class Steps:
    """What each step of the flow works with; `extraction` None ends the flow at the slices, which go to `slices`."""

    source: Source[Message]
    decoder: Decoder
    sessionizer: Sessionizer
    letters: Sink[DeadLetter]
    slices: Sink[tuple[str, SliceOrForget]]
    extraction: Extraction | None = None
    memories: Memories | None = None
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

    failed = learn(sessions.slices, steps.extraction, steps.memories, steps.records)
    op.output("dead-letters", op.merge("letters", invalid, late, failed), steps.letters)
    return flow
