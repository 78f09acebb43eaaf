import random
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_cases import ADA, DAY, T0, claim, episode, outcome, reopened, say, settings_for, status_of, texts
from qdrant_client import models
from structlog.testing import capture_logs

from memory.errors import (
    EmbeddingMismatch,
    ScopeViolation,
    StoreLocked,
    StoreNotSetError,
    StoreUnavailable,
    TooManyScopes,
)
from memory.rows import payload_of
from memory.store import Store
from memory.words import query_vector
from schemas.scope import Scope
from schemas.settings import EmbeddingSettings


def image(bank):
    """All that a reader can see of a bank."""
    return bank.claims(), bank.episodes()


def test_apply_stores_what_can_be_read_back_from_the_disk(tmp_path):
    with reopened(tmp_path / "db") as store:
        made = say(
            store.bank(ADA), "likes tea", digest="They talked about tea.", when="2024-05-01", condition="at work"
        )
    with reopened(tmp_path / "db") as store:
        (read,) = store.bank(ADA).claims()
        (line,) = store.bank(ADA).episodes()
        assert read == made
        assert line.text == "They talked about tea."
        assert status_of(store.bank(Scope("shop", "eve"))) == {}


def test_apply_tells_the_story_of_a_preference(store):
    bank = store.bank(ADA)
    say(bank, "is vegan", "diet", at=T0)
    report = bank.apply([outcome([claim("eats meat", "diet", at=T0 + DAY, session="s2")], session="s2")])
    assert report.actions == {"insert": 1, "conflict": 2}
    assert report.statuses["conflicting"] == 2
    settled = claim("eats meat", "diet", at=T0 + 2 * DAY, session="s3", change=True)
    report = bank.apply([outcome([settled], session="s3")])
    assert report.actions == {"insert": 1, "merge": 1, "supersede": 1}
    assert report.active == {"preference": 1}
    by_id = {c.text: c for c in bank.claims() if c.status.value != "merged"}
    assert by_id["is vegan"].superseded_by == settled.id
    assert by_id["eats meat"].mentions == 2


def test_apply_closes_a_question(store):
    bank = store.bank(ADA)
    say(bank, "When does it ship?", "question", kind="open_question", event="e1")
    report = bank.apply(
        [
            outcome(
                [claim("It ships Friday", "schedule.date", kind="fact", source="e2", at=T0 + 1, closes="e1")],
                events=["e2"],
            )
        ]
    )
    assert report.actions == {"insert": 1, "close": 1}
    assert status_of(bank)["When does it ship?"] == "closed"


def test_apply_again_writes_nothing(store):
    bank = store.bank(ADA)
    made = outcome([claim("is vegan", "diet")], digest="Diet.")
    bank.apply([made])
    before = image(bank)
    report = bank.apply([made, made])
    assert report.actions == {}
    assert image(bank) == before


def test_apply_replaces_by_events_and_restores_what_was_superseded(store):
    bank = store.bank(ADA)
    say(bank, "lives in Berlin", "location.home", kind="fact", at=T0)
    wrong = claim("lives in Paris", "location.home", kind="fact", at=T0 + DAY, session="s2", source="e7")
    bank.apply([outcome([wrong], events=["e7", "e8"], session="s2", digest="Moved.")])
    assert status_of(bank) == {"lives in Berlin": "superseded", "lives in Paris": "active"}
    report = bank.apply([outcome([], events=["e7", "e8"], session="s2", digest="They spoke of Paris.")])
    assert status_of(bank) == {"lives in Berlin": "active"}
    assert report.actions == {"replace": 1}
    assert [line.text for line in bank.episodes()] == ["They spoke of Paris."]


def test_apply_leaves_same_event_ids_of_other_sessions_alone(store):
    bank = store.bank(ADA)
    say(bank, "likes tea", event="e1", session="s1")
    say(bank, "likes jazz", event="e1", session="s2")
    assert status_of(bank) == {"likes tea": "active", "likes jazz": "active"}


def line_of(*events):
    """The id of the digest line of a slice of these events."""
    return episode("x", events).id


def test_fingerprint_is_read_by_the_id_of_the_line_and_no_bank_is_made(tmp_path):
    with reopened(tmp_path / "db") as store:
        bank = store.bank(ADA)
        assert bank.fingerprint_of(line_of("e1")) is None
        assert store.qdrant.names() == []
        bank.apply([outcome([claim("likes tea")], digest="Tea.", mark="f1")])
    with reopened(tmp_path / "db") as store:
        assert store.bank(ADA).fingerprint_of(line_of("e1")) == "f1"
        assert store.bank(ADA).fingerprint_of(line_of("e2")) is None


def test_unchanged_slice_changes_nothing_of_what_its_events_gave(store):
    bank = store.bank(ADA)
    bank.apply([outcome([claim("likes tea")], digest="Tea.", mark="f1")])
    before = image(bank)
    report = bank.apply([outcome([], status="unchanged", mark="f1")])
    assert (report.actions, report.statuses) == ({}, {"active": 1})
    assert image(bank) == before
    assert bank.fingerprint_of(line_of("e1")) == "f1"


def test_slice_whose_claims_were_replaced_or_forgotten_has_no_fingerprint_left(store):
    bank = store.bank(ADA)
    whole = outcome(
        [claim("likes tea", source="e1"), claim("likes jazz", source="e3", at=T0 + 3)],
        events=["e1", "e2", "e3"],
        digest="Whole.",
        mark="whole",
    )
    bank.apply([whole])
    bank.apply([outcome([], events=["e2", "e3"], digest="Cut again.", mark="part", at=T0 + 2)])
    assert status_of(bank) == {"likes tea": "active"}
    assert bank.fingerprint_of(line_of("e1", "e2", "e3")) is None
    assert bank.fingerprint_of(line_of("e2", "e3")) == "part"
    bank.apply([whole])
    assert bank.fingerprint_of(line_of("e2", "e3")) is None
    bank.forget(T0 + DAY, session_id="s1", before_ms=T0)
    assert bank.fingerprint_of(line_of("e1", "e2", "e3")) is None


def test_write_that_breaks_off_before_its_deletions_vouches_for_nothing(store, monkeypatch):
    """Else the slice would be passed over as unchanged, and what it replaces would stay for ever."""
    bank = store.bank(ADA)
    bank.apply([outcome([claim("likes tea")], events=["e1", "e2"], digest="Whole.", mark="whole")])
    again = outcome([claim("likes jazz")], events=["e1"], digest="Cut again.", mark="part")
    with monkeypatch.context() as broken:
        broken.setattr(store.qdrant, "delete", lambda name, ids: (_ for _ in ()).throw(StoreUnavailable("away")))
        with pytest.raises(StoreUnavailable):
            bank.apply([again])
    assert {line.text for line in bank.episodes()} == {"Whole.", "Cut again."}
    assert not bank.fingerprint_of(line_of("e1"))
    bank.apply([again])
    assert status_of(bank) == {"likes jazz": "active"}
    assert [line.fingerprint for line in bank.episodes()] == ["part"]


@pytest.mark.parametrize("status", ["rejected", "to_retry"])
def test_apply_of_a_failed_extraction_changes_nothing(store, status):
    bank = store.bank(ADA)
    say(bank, "likes tea", event="e1")
    report = bank.apply([outcome([], events=["e1"], status=status)])
    assert report.actions == {}
    assert status_of(bank) == {"likes tea": "active"}
    assert store.bank(Scope("shop", "new")).apply([]).active == {}
    assert len(store.qdrant.names()) == 1


def test_apply_refuses_another_scope_whole(store):
    bank = store.bank(ADA)
    foreign = claim("likes tea", scope=Scope("shop", "eve"))
    with pytest.raises(ScopeViolation):
        bank.apply([outcome([claim("likes jazz"), foreign])])
    assert bank.claims() == []


SLICES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from(["diet", "likes", "location.home", "question"]),
            st.sampled_from([0, 1, DAY, 40 * DAY]),
            st.booleans(),
        ),
        max_size=3,
    ),
    min_size=1,
    max_size=5,
)


def outcomes_of(slices):
    made = []
    for n, rows in enumerate(slices):
        session, events = f"s{n % 2}", (f"e{n}a", f"e{n}b")
        kinds = {"question": "open_question", "location.home": "fact"}
        claims = [
            claim(
                text,
                key,
                kind=kinds.get(key, "preference"),
                at=T0 + at,
                session=session,
                source=events[i % 2],
                change=change,
                closes="e0a" if change else None,
            )
            for i, (text, key, at, change) in enumerate(rows)
        ]
        made.append(outcome(claims, events=events, session=session, digest=f"Slice {n}.", at=T0 + n))
    return made


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(slices=SLICES, rng=st.randoms(use_true_random=False))
def test_apply_gives_one_bank_whatever_the_order_repetition_and_batching(slices, rng: random.Random):
    made = outcomes_of(slices)
    with Store.open(settings_for("memory")) as store:
        straight, jumbled = store.bank(ADA), store.bank(Scope("shop", "bob"))
        straight.apply(made)
        again = made + rng.choices(made, k=2)
        rng.shuffle(again)
        with Store.open(settings_for("memory")) as other:
            jumbled = other.bank(ADA)
            while again:
                cut = rng.randint(1, len(again))
                jumbled.apply(again[:cut])
                again = again[cut:]
            assert image(jumbled) == image(straight)
            # What the store holds says the same as what is remembered of it.
            seen = image(jumbled)
            other.invalidate(ADA)
            assert image(jumbled) == seen


LOOK_ALIKES = [
    Scope("a", "b/c"),
    Scope("a/b", "c"),
    Scope("a", "é"),
    Scope("a", unicodedata.normalize("NFD", "é")),
    Scope("a", "ada"),
    Scope("a", "\u0430da"),
    Scope("a", "ada\u200b"),
    Scope("a", "ADA"),
    Scope("a", "x" * 1000),
    Scope("a", "x" * 999),
    Scope("a", "../ada"),
    Scope("a", ""),
    Scope("", "a"),
]


def test_no_call_returns_a_row_of_a_look_alike(tmp_path):
    with reopened(tmp_path / "db") as store:
        for n, scope in enumerate(LOOK_ALIKES):
            say(store.bank(scope), f"likes number{n}", digest=f"Line number{n}.")
    with reopened(tmp_path / "db") as store:
        for n, scope in enumerate(LOOK_ALIKES):
            bank = store.bank(scope)
            assert [c.text for c in bank.claims()] == [f"likes number{n}"]
            assert texts(bank.search("likes", now_ms=T0)) == [f"likes number{n}"]
            assert [e.text for e in bank.episodes()] == [f"Line number{n}."]
            assert all(c.scope == scope for c in bank.claims())
        store.bank(LOOK_ALIKES[0]).forget(T0)
        assert store.bank(LOOK_ALIKES[0]).claims() == []
        assert len(store.bank(LOOK_ALIKES[1]).claims()) == 1


def test_a_foreign_row_in_the_collection_is_never_returned(store):
    bank = store.bank(ADA)
    say(bank, "likes tea")
    point = store.qdrant.scroll(store.alias(ADA), vectors=True).__next__()
    foreign = claim("likes tea and secrets", scope=Scope("shop", "eve"))
    store.qdrant.upsert(
        store.alias(ADA), [models.PointStruct(id=foreign.id, vector=point.vector, payload=payload_of(foreign))]
    )
    store.invalidate(ADA)
    for call in (bank.claims, lambda: bank.search("tea", now_ms=T0), lambda: bank.context("tea", T0), bank.episodes):
        with pytest.raises(ScopeViolation):
            call()


def test_search_finds_an_exact_id_among_look_alikes(store):
    bank = store.bank(ADA)
    made = [claim(f"Order A-{n} was shipped", "order.id", kind="fact", source=f"e{n}") for n in range(1000, 1040)]
    bank.apply([outcome(made, events=[c.sources[0] for c in made])])
    assert texts(bank.search("what about a-1017?", now_ms=T0))[0] == "Order A-1017 was shipped"


def test_search_finds_chinese_japanese_and_korean(store):
    bank = store.bank(ADA)
    say(bank, "用户住在柏林", "location.home", kind="fact")
    say(bank, "ユーザーはコーヒーが好きです")
    say(bank, "사용자는 고양이를 좋아합니다")
    assert texts(bank.search("柏林", now_ms=T0)) == ["用户住在柏林"]
    assert texts(bank.search("コーヒー", now_ms=T0)) == ["ユーザーはコーヒーが好きです"]
    assert texts(bank.search("고양이", now_ms=T0)) == ["사용자는 고양이를 좋아합니다"]


def test_search_finds_the_only_memory_of_a_bank(store):
    bank = store.bank(ADA)
    say(bank, "The user is allergic to walnuts", "health.allergy", kind="fact")
    assert texts(bank.search("walnut", now_ms=T0)) == ["The user is allergic to walnuts"]


def test_search_serves_only_what_stands_and_is_not_expired(store):
    bank = store.bank(ADA)
    say(bank, "lives in Berlin city", "location.home", kind="fact", at=T0)
    say(bank, "lives in Paris city", "location.home", kind="fact", at=T0 + DAY)
    say(bank, "is at the city airport", "location.current", kind="fact", at=T0)
    now = T0 + 2 * DAY
    assert set(texts(bank.search("city", now_ms=now))) == {"lives in Paris city", "is at the city airport"}
    assert texts(bank.search("city", now_ms=T0 + 30 * DAY)) == ["lives in Paris city"]
    assert bank.search("zebra", now_ms=now) == []
    assert bank.search("  ", now_ms=now) == []
    assert len(bank.claims()) == 3


def test_search_ranks_fresh_and_sure_above_old_and_unsure(store):
    bank = store.bank(ADA)
    say(bank, "likes green tea", at=T0 - 400 * DAY)
    say(bank, "likes black tea", at=T0 - DAY, confidence=0.4)
    say(bank, "likes white tea", at=T0 - DAY)
    assert texts(bank.search("tea", now_ms=T0)) == ["likes white tea", "likes black tea", "likes green tea"]
    assert len(bank.search("tea", 2, now_ms=T0)) == 2


def test_search_score_is_the_documented_sum(store):
    bank = store.bank(ADA)
    for n in range(4):
        say(bank, f"likes thing{n}")
    made = say(bank, "drinks tea", at=T0 - 180 * DAY)
    (hit,) = bank.search("tea", now_ms=T0)
    request = {"query": query_vector("tea"), "using": "words", "limit": 1}
    (plain,) = store.qdrant.query(store.alias(ADA), request)
    similarity = plain.score / (plain.score + 6.0)
    assert hit.claim == made
    assert hit.score == pytest.approx(0.6 * similarity + 0.25 * 0.5 + 0.15 * 0.9, abs=1e-4)


def test_search_uses_the_half_life_of_the_key_before_that_of_the_kind(store):
    bank = store.bank(ADA)
    say(bank, "allergic to tea", "health.allergy", kind="fact", at=T0 - 300 * DAY)
    say(bank, "ordered tea", "order.id", kind="fact", at=T0 - 300 * DAY)
    assert texts(bank.search("tea", now_ms=T0)) == ["allergic to tea", "ordered tea"]


def test_search_finds_episodes_only_when_asked(store):
    bank = store.bank(ADA)
    say(bank, "likes jazz", digest="They compared kettles for tea.")
    assert bank.search("kettles", now_ms=T0) == []
    (hit,) = bank.search("kettles", now_ms=T0, episodes=True)
    assert hit.episode is not None
    assert hit.episode.session_id == "s1"
    assert bank.context("kettles", T0) == ""


# Local mode leaves its handle of a lock it could not take to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_store_errors_say_what_to_do(tmp_path):
    with pytest.raises(StoreNotSetError, match="--store"):
        Store.open(settings_for(""))
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailable, match="folder"):
        Store.open(settings_for(tmp_path / "file"))
    with reopened(tmp_path / "db"), pytest.raises(StoreLocked, match="another process"):
        reopened(tmp_path / "db")
    (tmp_path / "db" / "meta.json").write_text("{")
    with pytest.raises(StoreUnavailable, match="damaged"):
        reopened(tmp_path / "db")


def test_store_counts_scopes_and_names_the_setting():
    with Store.open(settings_for("memory", store={"max_collections": 2})) as store:
        for user in ("a", "b"):
            say(store.bank(Scope("shop", user)), "likes tea")
        store.bank(Scope("shop", "c")).forget(T0)
        with pytest.raises(TooManyScopes, match="max_collections"):
            say(store.bank(Scope("shop", "c")), "likes tea", at=T0 + DAY)
        say(store.bank(Scope("shop", "a")), "likes jazz")
        store.bank(Scope("shop", "a")).forget(T0)
        say(store.bank(Scope("shop", "c")), "likes tea", at=T0 + DAY)


def test_store_warns_on_the_way_to_its_limit():
    with Store.open(settings_for("memory", store={"max_collections": 5})) as store, capture_logs() as logs:
        for user in ("a", "b", "c"):
            say(store.bank(Scope("shop", user)), "likes tea")
        assert logs == []
        say(store.bank(Scope("shop", "d")), "likes tea")
    assert [(row["log_level"], row["scopes"], row["max_collections"]) for row in logs] == [("warning", 4, 5)]


def test_bank_of_words_is_not_mixed_with_meaning_later(tmp_path):
    with reopened(tmp_path / "db") as store:
        say(store.bank(ADA), "likes tea")
    embedding = EmbeddingSettings(base_url="http://127.0.0.1:9/v1", name="e5", dimensions=384)
    with reopened(tmp_path / "db", embedding=embedding) as store:
        bank = store.bank(ADA)
        with pytest.raises(EmbeddingMismatch, match="words only.*'e5' \\(384"):
            bank.search("tea", now_ms=T0)
        with pytest.raises(EmbeddingMismatch, match="forget this user"):
            say(bank, "likes jazz")
        assert len(bank.claims()) == 1
        assert bank.forget(T0).claims == 1


def test_local_advice_of_the_library_is_not_shown(recwarn, tmp_path):
    with reopened(tmp_path / "db") as store:
        say(store.bank(ADA), "likes tea")
        store.bank(ADA).search("tea", now_ms=T0)
    assert [str(w.message) for w in recwarn] == []


def test_episode_of_a_re_cut_slice_replaces_the_old_one(store):
    bank = store.bank(ADA)
    bank.apply([outcome([], events=["e1", "e2", "e3"], digest="Whole.")])
    bank.apply([outcome([], events=["e1"], digest="First."), outcome([], events=["e2", "e3"], digest="Rest.")])
    assert {line.text for line in bank.episodes()} == {"First.", "Rest."}
    assert episode("x", ["e1"]).id != episode("x", ["e2"]).id


def test_bank_of_another_vocabulary_is_put_right_by_the_next_write(tmp_path):
    flight = "The user's flight is now reserved."
    together = {"name": "decision", "kind": "decision", "meaning": "x", "values": "many", "meets": "user"}
    with reopened(tmp_path / "db", vocabulary=[together]) as store:
        for day, session in enumerate(("s1", "s2")):
            say(store.bank(ADA), flight, "decision", kind="decision", at=T0 + day * DAY, session=session)
        assert [c.status.value for c in store.bank(ADA).claims()] == ["merged", "active"]
    with reopened(tmp_path / "db") as store:
        bank = store.bank(ADA)
        assert [c.status.value for c in bank.claims()] == ["active", "active"]
        say(bank, "likes tea", at=T0 + 2 * DAY)
        assert texts(bank.search("flight", now_ms=T0 + 2 * DAY)) == [flight, flight]
