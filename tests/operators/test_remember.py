"""What the sink does with outcomes and forgets: in order, counted, and again while the store is away."""

import pytest

from memory.bank import WriteReport
from memory.errors import EmbeddingUnavailable, StoreUnavailable
from memory.privacy import Proof, Receipt
from operators.census import Census
from operators.extract import Extracted
from operators.metrics import Metrics
from operators.remember import RememberSink
from operators.unwritten import Unwritten
from schemas.controls import Control, ControlKind
from schemas.events import Event
from schemas.outcome import ExtractionOutcome, Outcome
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason

ANN, BOB = Scope("shop", "ann"), Scope("shop", "bob")


class FakeBank:
    """Writes down what it is asked; holds two claims until it is told to forget."""

    def __init__(self, scope, log, faults):
        self.scope, self.log, self.faults, self.held = scope, log, faults, 2

    def apply(self, outcomes):
        if self.faults:
            raise self.faults.pop()
        self.log.append((self.scope.user, [outcome.slice_id for outcome in outcomes]))
        return WriteReport(
            actions={"insert": len(outcomes)}, refused=1, statuses={"active": self.held}, active={"fact": self.held}
        )

    def forget(self, now_ms, session_id=None, before_ms=None):
        self.held = 0
        self.log.append((self.scope.user, "forget", session_id, before_ms))
        proof = Proof(search=0, scroll=0, leftovers=0)
        return Receipt(
            scope_hash="h",
            session_hash=None,
            forgotten_until_ms=0,
            at_ms=0,
            claims=2,
            episodes=0,
            method="dropped",
            proof=proof,
        )


def extracted(scope, name):
    outcome = Outcome(
        scope=scope,
        session_id="s",
        slice_id=name,
        event_ids=(),
        first_ts_ms=0,
        last_ts_ms=0,
        status=ExtractionOutcome.FIRST_PASS,
        model="m",
        prompt_version="1",
    )
    return scope.key(), Extracted(Slice(scope, "s", SliceReason.IDLE, 0, (Event("e", "user", 1),)), outcome)


def sink(faults=()):
    log, banks, metrics, faults = [], {}, Metrics(), list(faults)
    census = Census(metrics)
    bank_of = lambda scope: banks.setdefault(scope, FakeBank(scope, log, faults))  # noqa: E731
    return RememberSink(bank_of, metrics, census).build("s", 0, 1), log, metrics, census


def test_outcomes_of_a_scope_are_written_together_and_a_forget_stands_in_its_place():
    partition, log, metrics, census = sink()
    forget = Control(ControlKind.USER_FORGET, ANN, 5_000)
    partition.write_batch(
        [extracted(ANN, "a1"), extracted(BOB, "b1"), extracted(ANN, "a2"), (ANN.key(), forget), extracted(ANN, "a3")]
    )
    assert [entry for entry in log if entry[0] == "ann"] == [
        ("ann", ["a1", "a2"]),
        ("ann", "forget", None, 5_000),
        ("ann", []),
        ("ann", ["a3"]),
    ]
    assert [entry for entry in log if entry[0] == "bob"] == [("bob", ["b1"])]
    assert metrics.total("strandline_memories_written_total", action="forget") == 2
    assert metrics.total("strandline_memories_written_total", action="insert") == 4
    assert metrics.total("strandline_claims_dropped_total", rule="forgotten") == 4
    assert census.statuses["active"] == 2
    assert metrics.total("strandline_memories_active") == 2


def test_what_is_durable_is_no_longer_on_its_way():
    unwritten = Unwritten()
    _, item = extracted(ANN, "a1")
    unwritten.extracted(item.outcome)
    assert unwritten.holds(ANN, "s") and not unwritten.holds(BOB, "s")
    bank = FakeBank(ANN, [], [])
    writer = RememberSink(lambda scope: bank, Metrics(), Census(Metrics()), unwritten=unwritten).build("s", 0, 1)
    writer.write_batch([(ANN.key(), item)])
    assert not unwritten.holds(ANN, "s")
    writer.write_batch([(ANN.key(), item)])
    assert not unwritten.holds(ANN, "s")


@pytest.mark.parametrize("fault", [StoreUnavailable, EmbeddingUnavailable])
def test_a_write_is_tried_again_while_the_store_is_away(fault, monkeypatch):
    monkeypatch.setattr("operators.remember._RETRY_WAITS_S", (0.0, 0.0, 0.0))
    partition, log, _, _ = sink([fault("away"), fault("away")])
    partition.write_batch([extracted(ANN, "a1")])
    assert log == [("ann", ["a1"])]


def test_a_store_that_stays_away_ends_the_run(monkeypatch):
    monkeypatch.setattr("operators.remember._RETRY_WAITS_S", (0.0,))
    partition, _, _, _ = sink([StoreUnavailable("away")] * 9)
    with pytest.raises(StoreUnavailable):
        partition.write_batch([extracted(ANN, "a1")])
