import pytest
from memory_cases import ADA, DAY, T0, claim, outcome, reopened, say, settings_for, status_of
from qdrant_client import models

from memory.errors import LedgerKeyMismatch
from memory.names import ledger_name
from memory.privacy import generations
from memory.store import Store
from schemas.scope import Scope

SECRET = "quokka-sanctuary-77"
EVE = Scope("shop", "eve-unmistakable-user-id")


def bytes_under(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_forget_a_user_drops_everything_and_says_so(store):
    bank = store.bank(ADA)
    say(bank, "likes tea", digest="Tea.")
    say(bank, "likes jazz", session="s2")
    receipt = bank.forget(T0 + DAY)
    assert (receipt.claims, receipt.episodes, receipt.method) == (2, 1, "dropped")
    assert receipt.proof.holds
    assert bank.claims() == bank.episodes() == bank.search("tea", now_ms=T0) == []
    assert generations(store, ADA) == {}


def test_forget_leaves_no_byte_of_it_in_the_folder(tmp_path):
    folder = tmp_path / "db"
    with reopened(folder) as store:
        bank = store.bank(EVE)
        say(bank, f"likes {SECRET}", digest=f"About {SECRET}.")
        bank.apply([outcome([], events=["x"], session="s1", scope=EVE)])
        say(store.bank(ADA), "likes tea")
        assert SECRET.encode() in bytes_under(folder)
        assert EVE.user.encode() in bytes_under(folder)
        bank.forget(T0)
        assert SECRET.encode() not in bytes_under(folder)
        assert EVE.user.encode() not in bytes_under(folder)
    assert SECRET.encode() not in bytes_under(folder)
    with reopened(folder) as store:
        assert store.bank(EVE).claims() == []
        assert len(store.bank(ADA).claims()) == 1


def test_forget_a_session_rewrites_without_a_byte_of_it_and_resolves_anew(tmp_path):
    folder = tmp_path / "db"
    with reopened(folder) as store:
        bank = store.bank(ADA)
        say(bank, "lives in Berlin", "location.home", kind="fact", at=T0, session="s1")
        say(
            bank,
            f"lives in {SECRET}",
            "location.home",
            kind="fact",
            at=T0 + DAY,
            session="s2",
            digest=f"Moved to {SECRET}.",
        )
        receipt = bank.forget(T0 + 2 * DAY, session_id="s2")
        assert (receipt.claims, receipt.episodes, receipt.method) == (1, 1, "rewritten")
        assert SECRET.encode() not in bytes_under(folder)
    with reopened(folder) as store:
        bank = store.bank(ADA)
        assert status_of(bank) == {"lives in Berlin": "active"}
        assert [hit.claim.text for hit in bank.search("Berlin", now_ms=T0)] == ["lives in Berlin"]
        assert len(generations(store, ADA)) == 1
        say(bank, "likes tea", at=T0 + 3 * DAY, session="s3")
        assert len(bank.claims()) == 2


def test_forget_holds_against_a_replay_and_lets_later_events_in(store):
    bank = store.bank(ADA)
    old = outcome([claim("likes tea")], digest="Tea.")
    bank.apply([old])
    bank.forget(T0 + DAY)
    report = bank.apply([old])
    assert report.refused == 2
    assert bank.claims() == []
    assert generations(store, ADA) == {}
    say(bank, "likes jazz", at=T0 + 2 * DAY)
    bank.apply([old])
    assert status_of(bank) == {"likes jazz": "active"}


def test_forget_of_a_session_refuses_its_replay_only(store):
    bank = store.bank(ADA)
    first, second = (outcome([claim(f"likes {s}", session=s)], session=s) for s in ("s1", "s2"))
    bank.apply([first, second])
    bank.forget(T0, session_id="s1")
    bank.apply([first, second])
    assert status_of(bank) == {"likes s2": "active"}


def test_forget_up_to_a_time_keeps_what_came_after(store):
    bank = store.bank(ADA)
    say(bank, "lives in Berlin", "location.home", kind="fact", at=T0, digest="Berlin.")
    say(bank, "lives in Paris", "location.home", kind="fact", at=T0 + DAY, digest="Paris.")
    receipt = bank.forget(T0 + 5 * DAY, before_ms=T0)
    assert (receipt.claims, receipt.episodes, receipt.forgotten_until_ms) == (1, 1, T0)
    assert status_of(bank) == {"lives in Paris": "active"}
    assert [line.text for line in bank.episodes()] == ["Paris."]


def test_forget_covers_an_episode_that_tells_of_something_before_it(store):
    bank = store.bank(ADA)
    whole = outcome([claim("likes tea", at=T0), claim("likes jazz", at=T0 + DAY)], events=["e1"], digest="Both.", at=T0)
    bank.apply([whole])
    bank.forget(T0 + DAY, before_ms=T0)
    assert (status_of(bank), bank.episodes()) == ({"likes jazz": "active"}, [])


def test_forget_never_moves_back_in_time(store):
    bank = store.bank(ADA)
    old = outcome([claim("likes tea", at=T0 + DAY)])
    bank.apply([old])
    bank.forget(T0 + 2 * DAY)
    bank.forget(T0 + 2 * DAY, before_ms=T0)
    assert bank.apply([old]).refused == 1


def test_forget_of_nothing_is_on_record_all_the_same(store):
    bank = store.bank(ADA)
    receipt = bank.forget(T0)
    assert (receipt.claims, receipt.method, receipt.proof.holds) == (0, "none", True)
    assert bank.apply([outcome([claim("likes tea")])]).refused == 1


def test_ledger_names_nobody(store):
    store.bank(EVE).forget(T0, session_id="session-of-eve")
    rows = list(store.qdrant.scroll(ledger_name("strandline")))
    assert len(rows) == 1
    assert set(rows[0].payload) == {"hash", "forgotten_at_ms", "asked_at_ms"}
    assert EVE.user not in str(rows)
    assert "session-of-eve" not in str(rows)


def test_ledger_of_another_key_is_refused(tmp_path):
    with reopened(tmp_path / "db", store={"hash_key": "one"}) as store:
        store.bank(ADA).forget(T0)
    with reopened(tmp_path / "db", store={"hash_key": "two"}) as store:
        with pytest.raises(LedgerKeyMismatch, match="hash_key"):
            store.bank(ADA).apply([outcome([claim("likes tea")])])
        with pytest.raises(LedgerKeyMismatch):
            store.bank(ADA).forget(T0)


def during(monkeypatch, target, name, act, *, after=False):
    """Run `act` once, just before (or after) the next call of `target.name`: another process at work meanwhile."""
    real = getattr(target, name)
    left = [act]

    def wrapped(*args, **kwargs):
        if left and not after:
            left.pop()()
        result = real(*args, **kwargs)
        if left:
            left.pop()()
        return result

    monkeypatch.setattr(target, name, wrapped)


@pytest.mark.parametrize("first", [False, True])
def test_forget_catches_a_write_in_flight(store, monkeypatch, first):
    """The forget runs between a writer's look at the ledger and its write, on a bank that exists or does not."""
    bank = store.bank(ADA)
    if not first:
        say(bank, "likes jazz")
    other = Store(store.qdrant, store.settings)
    during(monkeypatch, store.qdrant, "upsert", lambda: other.bank(ADA).forget(T0 + DAY))
    report = bank.apply([outcome([claim("likes tea", session="s2")], session="s2", digest="Tea.")])
    assert report.refused == 2
    assert bank.claims() == bank.episodes() == []
    assert generations(store, ADA) == {}


def test_forget_of_a_session_loses_no_write_that_comes_between_copy_and_switch(store, monkeypatch):
    bank = store.bank(ADA)
    say(bank, "lives in Berlin", "location.home", kind="fact", session="s1")
    say(bank, "likes jazz", session="s2")
    other = Store(store.qdrant, store.settings)

    def write():
        say(other.bank(ADA), "lives in Paris", "location.home", kind="fact", at=T0 + DAY, session="s3")

    during(monkeypatch, store.qdrant, "point_alias", write)
    bank.forget(T0 + DAY, session_id="s2")
    assert status_of(bank) == {"lives in Berlin": "superseded", "lives in Paris": "active"}
    stored = {p.payload["text"]: p.payload["status"] for p in store.qdrant.scroll(store.alias(ADA))}
    assert stored == {"lives in Berlin": "superseded", "lives in Paris": "active"}


def test_write_that_lands_in_the_dropped_generation_is_written_again(store, monkeypatch):
    bank = store.bank(ADA)
    say(bank, "likes jazz", session="s2")
    say(bank, "likes cats", session="s4")
    other = Store(store.qdrant, store.settings)
    during(monkeypatch, store.qdrant, "upsert", lambda: other.bank(ADA).forget(T0, session_id="s2"), after=True)
    say(bank, "likes tea", at=T0 + DAY, session="s3")
    assert status_of(bank) == {"likes tea": "active", "likes cats": "active"}


def test_late_write_of_a_forgotten_row_is_not_read_and_goes_with_the_next_write(store):
    """A request that timed out is applied by the server after the forget: readers refuse it, a writer erases it."""
    bank = store.bank(ADA)
    say(bank, "likes tea", digest="Tea.")
    late = next(p for p in store.qdrant.scroll(store.alias(ADA), vectors=True) if p.payload["type"] == "claim")
    say(bank, "likes jazz", at=T0 + 2 * DAY, session="s2")
    bank.forget(T0 + DAY, before_ms=T0 + DAY)
    store.qdrant.upsert(store.alias(ADA), [_point(late)])
    store.invalidate(ADA)
    assert status_of(bank) == {"likes jazz": "active"}
    assert bank.search("tea", now_ms=T0) == []
    say(bank, "likes cats", at=T0 + 3 * DAY, session="s3")
    assert {p.payload["text"] for p in store.qdrant.scroll(store.alias(ADA))} == {"likes jazz", "likes cats"}


def test_forget_removes_the_leftover_of_an_earlier_try(store, monkeypatch):
    bank = store.bank(ADA)
    say(bank, "likes tea", session="s1")
    say(bank, "likes jazz", session="s2")

    def crash():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        during(patch, store.qdrant, "point_alias", crash)
        with pytest.raises(KeyboardInterrupt):
            bank.forget(T0, session_id="s1")
    assert len(generations(store, ADA)) == 2
    assert status_of(bank) == {"likes jazz": "active"}
    assert bank.forget(T0, session_id="s1").proof.leftovers == 0
    assert len(generations(store, ADA)) == 1


def test_stores_of_two_prefixes_share_nothing():
    with Store.open(settings_for("memory")) as store:
        other = Store(store.qdrant, settings_for("memory", store={"prefix": "other"}))
        say(store.bank(ADA), "likes tea")
        say(other.bank(ADA), "likes jazz")
        other.bank(ADA).forget(T0)
        assert status_of(store.bank(ADA)) == {"likes tea": "active"}
        assert store.bank(ADA).apply([outcome([claim("likes cats", session="s9")], session="s9")]).refused == 0


def _point(record):
    return models.PointStruct(id=record.id, vector=record.vector, payload=record.payload)


def test_forget_of_a_session_that_is_not_there_rewrites_nothing_and_still_guards(store):
    bank = store.bank(ADA)
    say(bank, "likes tea")
    before = store.qdrant.names()
    receipt = bank.forget(T0, session_id="s2")
    assert (receipt.claims, receipt.episodes, receipt.method, receipt.proof.holds) == (0, 0, "none", True)
    assert set(before) < set(store.qdrant.names())  # the bank as it was, and the ledger
    assert bank.apply([outcome([claim("likes jazz", session="s2")], session="s2")]).refused == 1
