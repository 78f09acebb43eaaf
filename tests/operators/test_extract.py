"""What surrounds a model call: the context a slice is given, what is counted, how a forget passes."""

import asyncio
import threading

import pytest

from extraction.ids import episode_id
from memory.errors import StoreUnavailable
from operators.extract import Extracted, SliceCall, pack, unpack
from operators.metrics import Metrics
from operators.unwritten import Unwritten
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


def ended(piece, status, **rest):
    return Outcome(
        scope=piece.scope,
        session_id=piece.session_id,
        slice_id=piece.id,
        event_ids=(),
        first_ts_ms=0,
        last_ts_ms=0,
        status=status,
        model="m",
        prompt_version="1",
        **rest,
    )


class Recorder:
    """Answers each slice with one claim and keeps the context it was given."""

    def __init__(self):
        self.contexts = []

    def fingerprint(self, piece):
        return piece.events[0].text

    def unchanged(self, piece):
        return ended(piece, ExtractionOutcome.UNCHANGED)

    async def extract(self, piece, context):
        self.contexts.append([claim.id for claim in context])
        return ended(
            piece,
            ExtractionOutcome.RETRY_PASS,
            claims=(claim(f"c{piece.seq}", 1 + piece.seq),),
            problems=(Problem("quote_not_verbatim", "x"),),
            dropped=(Problem("withheld_source", "x"),),
            attempts=(Attempt(100, 40, 7, 0.5, 0.25), Attempt(100, 0, 3, 0.5, 0.5)),
            transport_retries=2,
            entity_recall=1.0,
            prompt_tokens={"user": 10},
        )


class Record:
    """A bank with `stored` claims, `marks` by episode, and a ledger that refuses those named in `refused`."""

    def __init__(self, *stored, refused=()):
        self.stored, self.refused, self.asked, self.marks = list(stored), set(refused), [], {}

    def fingerprint_of(self, scope, episode_id):
        return self.marks.get(episode_id)

    def claims_of(self, scope, session_id):
        self.asked.append((scope, session_id))
        return self.stored

    def allowed(self, scope, claims):
        return [claim for claim in claims if claim.id not in self.refused]


def run(call, *items):
    async def all_of_them():
        return [await call(item) for item in items]

    return asyncio.run(all_of_them())


def test_first_slice_has_no_context_and_the_next_has_what_was_stored_and_what_was_just_said():
    recorder, record = Recorder(), Record(claim("old", at=0))
    run(SliceCall(recorder, record, 20, Metrics()), piece(0), piece(1), piece(2))
    assert recorder.contexts == [[], ["old", "c0"], ["old", "c0", "c1"]]
    assert record.asked == [(SCOPE, "s")] * 2


def test_context_is_capped_at_the_newest_lines():
    recorder = Recorder()
    run(SliceCall(recorder, Record(), 2, Metrics()), *(piece(n) for n in range(4)))
    assert recorder.contexts[-1] == ["c1", "c2"]


def test_what_was_forgotten_is_no_context_though_the_bank_still_holds_it():
    recorder = Recorder()
    forget = Control(ControlKind.SESSION_FORGET, SCOPE, 5_000, "s")
    out = run(
        SliceCall(recorder, Record(claim("secret", at=4_000)), 20, Metrics()), piece(0), forget, piece(1), piece(2)
    )
    assert out[1] == forget
    assert recorder.contexts == [[], [], []]


def test_forget_while_a_slice_is_under_way_leaves_nothing_of_it_in_later_contexts():
    forget = Control(ControlKind.USER_FORGET, SCOPE, 5_000)

    class Slow(Recorder):
        async def extract(self, piece, context):
            outcome = await super().extract(piece, context)
            if piece.seq == 0:
                await call(forget)
            return outcome

    recorder = Slow()
    call = SliceCall(recorder, Record(), 20, Metrics())
    run(call, piece(0), piece(1))
    assert recorder.contexts == [[], []]


def test_what_another_process_had_deleted_is_no_context():
    recorder = Recorder()
    run(SliceCall(recorder, Record(refused={"c0"}), 20, Metrics()), piece(0), piece(1))
    assert recorder.contexts == [[], []]


def test_a_store_that_is_away_for_a_moment_is_asked_again(monkeypatch):
    monkeypatch.setattr("operators.extract._READ_WAITS_S", (0.0, 0.0))

    class Away(Record):
        def claims_of(self, scope, session_id):
            if len(self.asked) < 2:
                self.asked.append(session_id)
                msg = "away"
                raise StoreUnavailable(msg)
            return [claim("old")]

    recorder = Recorder()
    run(SliceCall(recorder, Away(), 20, Metrics()), piece(1))
    assert recorder.contexts == [["old"]]


def test_without_a_record_shown_no_claim_is_kept_at_hand():
    call = SliceCall(Recorder(), Record(), 0, Metrics())
    run(call, *(piece(n) for n in range(4)))
    assert not call._recent


def test_nobody_waits_for_a_store_once_the_process_was_asked_to_stop():
    class Away(Record):
        def fingerprint_of(self, scope, episode_id):
            self.asked.append(episode_id)
            msg = "away"
            raise StoreUnavailable(msg)

    record, stop = Away(), threading.Event()
    stop.set()
    with pytest.raises(StoreUnavailable):
        run(SliceCall(Recorder(), record, 20, Metrics(), stop=stop), piece(0))
    assert len(record.asked) == 2


def test_a_slice_that_the_bank_holds_unchanged_costs_no_call_and_is_counted_as_skipped():
    recorder, record, metrics = Recorder(), Record(), Metrics()
    record.marks = {episode_id(piece(0)): "hi", episode_id(piece(1)): "said otherwise before", episode_id(piece(2)): ""}
    out = run(SliceCall(recorder, record, 20, metrics), piece(0), piece(1), piece(2))
    assert [one.outcome.status.value for one in out] == ["unchanged", "retry_pass", "retry_pass"]
    assert out[0].outcome.claims == ()
    assert metrics.by_label("strandline_skipped_total", "reason") == {"unchanged": 1.0}
    assert metrics.total("strandline_extractions_total") == 2
    assert metrics.total("strandline_claims_per_slice_count") == 2


def test_nothing_is_passed_over_while_something_of_its_session_is_on_its_way_to_the_bank():
    """The slice of seq 0 may replace what the bank holds of seq 1: only once it is written does the bank tell."""
    recorder, record, unwritten = Recorder(), Record(), Unwritten()
    record.marks = {episode_id(piece(1)): "hi"}
    call = SliceCall(recorder, record, 20, Metrics(), unwritten)
    first, second = run(call, piece(0), piece(1))
    assert second.outcome.status is ExtractionOutcome.RETRY_PASS
    unwritten.written([first.outcome])
    (third,) = run(call, piece(1))
    assert third.outcome.status is ExtractionOutcome.RETRY_PASS
    unwritten.written([second.outcome, third.outcome])
    (fourth,) = run(call, piece(1))
    assert fourth.outcome.status is ExtractionOutcome.UNCHANGED


def test_a_store_that_is_away_is_asked_again_for_a_fingerprint(monkeypatch):
    monkeypatch.setattr("operators.extract._READ_WAITS_S", (0.0, 0.0))

    class Away(Record):
        def fingerprint_of(self, scope, episode_id):
            self.asked.append(episode_id)
            if len(self.asked) < 3:
                msg = "away"
                raise StoreUnavailable(msg)
            return "hi"

    (out,) = run(SliceCall(Recorder(), Away(), 20, Metrics()), piece(0))
    assert out.outcome.status is ExtractionOutcome.UNCHANGED


def test_everything_is_counted():
    metrics = Metrics()
    (out,) = run(SliceCall(Recorder(), Record(), 20, metrics), piece(0))
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
