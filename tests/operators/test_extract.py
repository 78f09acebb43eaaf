"""What surrounds a model call: the context a slice is given, what is counted, how a forget passes."""

import asyncio

from operators.extract import Extracted, SliceCall, pack, unpack
from operators.metrics import Metrics
from schemas.claim import Claim
from schemas.controls import Control, ControlKind
from schemas.events import Event
from schemas.outcome import Attempt, ExtractionOutcome, Outcome, Problem
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason

SCOPE = Scope("shop", "ann")


def claim(name, at=1_000):
    return Claim(
        id=name,
        scope=SCOPE,
        session_id="s",
        slice_id="x",
        kind="fact",
        key="name",
        about="user",
        text=name,
        sources=("e",),
        quote="q",
        confidence=0.9,
        observed_at_ms=at,
        authority="user_claim",
    )


def piece(seq):
    return Slice(SCOPE, "s", SliceReason.CHECKPOINT, seq, (Event(f"e{seq}", "user", 1_000 + seq, "hi"),))


class Recorder:
    """Answers each slice with one claim and keeps the context it was given."""

    def __init__(self):
        self.contexts = []

    async def extract(self, piece, context):
        self.contexts.append([claim.id for claim in context])
        return Outcome(
            scope=piece.scope,
            session_id=piece.session_id,
            slice_id=piece.id,
            event_ids=(),
            first_ts_ms=0,
            last_ts_ms=0,
            status=ExtractionOutcome.RETRY_PASS,
            model="m",
            prompt_version="1",
            claims=(claim(f"c{piece.seq}", piece.seq),),
            problems=(Problem("quote_not_verbatim", "x"),),
            dropped=(Problem("withheld_source", "x"),),
            attempts=(Attempt(100, 40, 7, 0.5, 0.25), Attempt(100, 0, 3, 0.5, 0.5)),
            transport_retries=2,
            entity_recall=1.0,
            prompt_tokens={"user": 10},
        )


def run(call, *items):
    async def all_of_them():
        return [await call(item) for item in items]

    return asyncio.run(all_of_them())


def test_first_slice_has_no_context_and_the_next_has_what_was_stored_and_what_was_just_said():
    recorder, asked = Recorder(), []

    def stored(scope, session_id):
        asked.append((scope, session_id))
        return [claim("old", at=-5)]

    run(SliceCall(recorder, stored, 20, Metrics()), piece(0), piece(1), piece(2))
    assert recorder.contexts == [[], ["old", "c0"], ["old", "c0", "c1"]]
    assert asked == [(SCOPE, "s")] * 2


def test_context_is_capped_at_the_newest_lines():
    recorder = Recorder()
    run(SliceCall(recorder, lambda scope, session: [], 2, Metrics()), *(piece(n) for n in range(4)))
    assert recorder.contexts[-1] == ["c1", "c2"]


def test_forget_passes_and_takes_the_context_with_it():
    recorder = Recorder()
    forget = Control(ControlKind.USER_FORGET, SCOPE, 5_000)
    out = run(SliceCall(recorder, lambda scope, session: [], 20, Metrics()), piece(0), forget, piece(1))
    assert out[1] == forget
    assert recorder.contexts == [[], []]


def test_everything_is_counted():
    metrics = Metrics()
    (out,) = run(SliceCall(Recorder(), lambda scope, session: [], 20, metrics), piece(0))
    assert isinstance(out, Extracted)
    assert metrics.total("strandline_extractions_total", model="m", outcome="retry_pass") == 1
    assert metrics.total("strandline_validation_problems_total", rule="quote_not_verbatim") == 1
    assert metrics.total("strandline_claims_dropped_total", rule="withheld_source") == 1
    assert metrics.by_label("gen_ai_client_token_usage_sum", "gen_ai_token_type") == {
        "input": 160.0,
        "cached": 40.0,
        "output": 10.0,
    }
    assert metrics.total("strandline_cost_usd_total") == 0.75
    assert metrics.total("strandline_transport_retries_total") == 2


def test_items_come_back_from_their_snapshot():
    for item in (piece(3), Control(ControlKind.SESSION_FORGET, SCOPE, 1, "s")):
        assert unpack(pack(item)) == item
