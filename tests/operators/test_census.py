import threading

from operators.census import Census
from operators.metrics import Metrics
from schemas.scope import Scope


def test_a_bank_counts_once_at_its_newest_write():
    metrics = Metrics()
    census = Census(metrics)
    census.note(Scope("a", "ann"), {"active": 3, "conflicting": 2}, {"fact": 5})
    census.note(Scope("a", "bob"), {"active": 1}, {"fact": 1})
    census.note(Scope("a", "ann"), {"active": 1}, {"preference": 1})
    assert +census.statuses == {"active": 2}
    assert metrics.by_label("strandline_memories_active", "kind") == {"fact": 1.0, "preference": 1.0}
    assert metrics.total("strandline_conflicts_open") == 0


def test_workers_that_write_at_once_are_all_counted():
    census = Census(Metrics())

    def write(user):
        for number in range(300):
            census.note(Scope("a", user), {"active": number}, {"fact": number})

    threads = [threading.Thread(target=write, args=(f"u{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert census.statuses["active"] == census.active["fact"] == 4 * 299
