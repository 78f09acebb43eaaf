import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import DAY, T0, claim

from memory.resolve import Rules, normalised, resolve
from schemas.claim import ClaimStatus
from schemas.settings import Settings

RULES = Rules.of(Settings())


def resolved(*claims):
    return {c.id: c for c in resolve(claims, RULES)}


def statuses(*claims):
    by_id = resolved(*claims)
    return [by_id[c.id].status.value for c in claims]


def test_resolve_newest_fact_supersedes_earlier_ones_however_they_arrive():
    berlin = claim("lives in Berlin", "location.home", kind="fact", at=T0)
    paris = claim("lives in Paris", "location.home", kind="fact", at=T0 + DAY)
    rome = claim("lives in Rome", "location.home", kind="fact", at=T0 + 2 * DAY)
    by_id = resolved(rome, berlin, paris)
    assert by_id[rome.id].status is ClaimStatus.ACTIVE
    assert by_id[berlin.id].superseded_by == by_id[paris.id].superseded_by == rome.id


def test_resolve_equal_values_merge_into_the_newest_and_are_counted():
    first = claim("The user likes tea.", at=T0)
    again = claim("the user  likes TEA", at=T0 + DAY, source="e2")
    by_id = resolved(first, again)
    assert by_id[first.id].merged_into == again.id
    assert by_id[first.id].status is ClaimStatus.MERGED
    assert (by_id[again.id].status, by_id[again.id].mentions) == (ClaimStatus.ACTIVE, 2)


def test_resolve_value_that_returns_is_active_again():
    a1 = claim("lives in Berlin", "location.home", kind="fact", at=T0)
    b = claim("lives in Paris", "location.home", kind="fact", at=T0 + DAY)
    a2 = claim("lives in Berlin", "location.home", kind="fact", at=T0 + 2 * DAY, source="e3")
    assert statuses(a1, b, a2) == ["merged", "superseded", "active"]


def test_resolve_two_recent_confident_preferences_conflict_and_name_each_other():
    vegan = claim("is vegan", "diet", at=T0)
    meat = claim("eats meat", "diet", at=T0 + DAY)
    by_id = resolved(vegan, meat)
    assert by_id[vegan.id].conflicts_with == (meat.id,)
    assert by_id[meat.id].conflicts_with == (vegan.id,)


def test_resolve_no_conflict_when_the_newer_is_a_change_or_one_is_old_or_unsure():
    vegan = claim("is vegan", "diet", at=T0)
    assert statuses(vegan, claim("eats meat", "diet", at=T0 + DAY, change=True)) == ["superseded", "active"]
    assert statuses(vegan, claim("eats meat", "diet", at=T0 + 31 * DAY)) == ["superseded", "active"]
    assert statuses(vegan, claim("eats meat", "diet", at=T0 + DAY, confidence=0.5)) == ["superseded", "active"]


def test_resolve_later_claim_settles_a_conflict():
    vegan = claim("is vegan", "diet", at=T0)
    meat = claim("eats meat", "diet", at=T0 + DAY)
    vegan_again = claim("is vegan", "diet", at=T0 + 2 * DAY, source="e3")
    assert statuses(vegan, meat, vegan_again) == ["merged", "superseded", "active"]


def test_resolve_three_values_of_one_moment_all_conflict():
    three = [claim(text, "diet", source=f"e{n}") for n, text in enumerate(("is vegan", "eats meat", "eats fish"))]
    assert statuses(*three) == ["conflicting"] * 3
    assert all(len(c.conflicts_with) == 2 for c in resolve(three, RULES))


def test_resolve_many_values_all_stand():
    assert statuses(claim("likes tea"), claim("likes jazz"), claim("likes cats")) == ["active"] * 3
    assert statuses(claim("a", "other.thing"), claim("b", "other.thing")) == ["active"] * 2


def test_resolve_many_values_but_the_one_that_a_later_claim_corrects():
    amount = {"key": "payment.amount", "kind": "fact"}
    ten, tip = claim("pays 10", source="e1", **amount), claim("tips 2", source="e2", **amount)
    twelve = claim("pays 12", source="e3", at=T0 + 1, change=True, closes="e1", **amount)
    thirteen = claim("pays 13", source="e4", at=T0 + 2, change=True, closes="e3", **amount)
    by_id = resolved(ten, tip, twelve, thirteen)
    assert [by_id[c.id].superseded_by for c in (ten, tip, twelve)] == [thirteen.id, None, thirteen.id]
    assert statuses(ten, tip, twelve, thirteen) == ["superseded", "active", "superseded", "active"]
    said_again = claim("pays 10", source="e5", at=T0 + 3, **amount)
    assert statuses(ten, twelve, said_again) == ["merged", "active", "active"]


def test_resolve_correction_of_a_line_with_several_values_takes_none_of_them_back():
    amount = {"key": "payment.amount", "kind": "fact", "source": "e1"}
    twelve = claim("pays 12", "payment.amount", kind="fact", source="e3", at=T0 + 1, change=True, closes="e1")
    assert statuses(claim("pays 10", **amount), claim("tips 2", **amount), twelve) == ["active"] * 3
    elsewhere = claim("pays 10", "payment.amount", kind="fact", source="e1", session="s2")
    assert statuses(elsewhere, twelve) == ["active", "active"]


def test_resolve_about_and_condition_keep_claims_apart():
    own = claim("allergic to walnuts", "diet", at=T0)
    niece = claim("allergic to nothing", "diet", at=T0 + DAY, about="my niece")
    weekend = claim("eats meat", "diet", at=T0 + DAY, condition="on weekends")
    assert statuses(own, niece, weekend) == ["active"] * 3


def test_resolve_closes_a_question_of_the_same_session_only():
    asked = claim("When does it ship?", "question", kind="open_question", source="e1")
    elsewhere = claim("Where is it?", "question", kind="open_question", session="s2", source="e1")
    answer = claim("It ships on Friday", "schedule.date", kind="fact", source="e2", at=T0 + 1, closes="e1")
    by_id = resolved(asked, elsewhere, answer)
    assert by_id[asked.id].status is ClaimStatus.CLOSED
    assert by_id[asked.id].superseded_by == answer.id
    assert by_id[elsewhere.id].status is ClaimStatus.ACTIVE


def test_resolve_question_asked_again_after_its_answer_is_open():
    asked = claim("When does it ship?", "question", kind="open_question", source="e1")
    answer = claim("It ships on Friday", "schedule.date", kind="fact", source="e2", at=T0 + 1, closes="e1")
    again = claim("When does it ship?", "question", kind="open_question", source="e3", at=T0 + 2)
    assert statuses(asked, answer, again) == ["merged", "active", "active"]


def test_normalised_keeps_what_makes_values_differ():
    assert normalised("The user lives in  Berlin.") == normalised("user lives in berlin")
    assert normalised("blood type A") != normalised("blood type")
    assert normalised("likes C++") != normalised("likes C#")
    assert normalised("is vegan") != normalised("is not vegan")


CLAIMS = st.lists(
    st.builds(
        claim,
        st.sampled_from(["a", "b", "c", "A."]),
        st.sampled_from(["diet", "likes", "location.home", "problem", "other.x"]),
        kind=st.sampled_from(["preference", "fact", "open_question"]),
        at=st.sampled_from([T0, T0 + 1, T0 + DAY, T0 + 40 * DAY]),
        session=st.sampled_from(["s1", "s2"]),
        source=st.sampled_from(["e1", "e2", "e3"]),
        confidence=st.sampled_from([0.3, 0.9]),
        change=st.booleans(),
        closes=st.sampled_from([None, None, "e1", "e2"]),
    ),
    max_size=12,
    unique_by=lambda c: c.id,
)


@given(CLAIMS, st.randoms(use_true_random=False))
def test_resolve_does_not_depend_on_order_and_is_idempotent(claims, rng: random.Random):
    once = resolve(claims, RULES)
    rng.shuffle(claims)
    assert resolve(claims, RULES) == once
    assert resolve(once, RULES) == once


@given(CLAIMS)
def test_resolve_pointers_name_claims_that_stand_for_the_others(claims):
    by_id = {c.id: c for c in resolve(claims, RULES)}
    for c in by_id.values():
        assert (c.merged_into is not None) == (c.status is ClaimStatus.MERGED)
        assert (c.superseded_by is not None) == (c.status in {ClaimStatus.SUPERSEDED, ClaimStatus.CLOSED})
        assert bool(c.conflicts_with) == (c.status is ClaimStatus.CONFLICTING)
        if c.merged_into:
            assert by_id[c.merged_into].status is not ClaimStatus.MERGED
            assert normalised(by_id[c.merged_into].text) == normalised(c.text)
        if c.status is ClaimStatus.SUPERSEDED:
            assert by_id[c.superseded_by].status in {ClaimStatus.ACTIVE, ClaimStatus.CONFLICTING}
        for other in c.conflicts_with:
            assert c.id in by_id[other].conflicts_with
    assert sum(c.mentions for c in by_id.values() if c.status is not ClaimStatus.MERGED) == len(by_id)


def test_resolve_same_words_in_another_session_are_another_event():
    flight = "The user's flight is now reserved."
    first = claim(flight, "decision", kind="decision", at=T0, session="s1")
    again = claim(flight, "decision", kind="decision", at=T0 + 1, session="s1", source="e2")
    second = claim(flight, "decision", kind="decision", at=T0 + DAY, session="s2")
    assert statuses(first, again, second) == ["merged", "active", "active"]


def test_resolve_same_words_about_the_user_merge_across_sessions():
    first = claim("The user is called Ada.", "name", kind="fact", at=T0, session="s1")
    again = claim("The user is called Ada.", "name", kind="fact", at=T0 + DAY, session="s2")
    assert statuses(first, again) == ["merged", "active"]


@pytest.mark.parametrize(
    ("kind", "then"),
    [
        ("decision", "active"),
        ("commitment", "active"),
        ("open_question", "active"),
        ("fact", "merged"),
        ("preference", "merged"),
    ],
)
def test_resolve_unknown_key_meets_as_its_kind_does(kind, then):
    first = claim("x", "other.thing", kind=kind, at=T0, session="s1")
    assert statuses(first, claim("x", "other.thing", kind=kind, at=T0 + DAY, session="s2")) == [then, "active"]


def test_resolve_one_value_of_a_session_is_superseded_within_that_session_only():
    vocabulary = [{"name": "seat", "kind": "fact", "meaning": "where the user sits", "meets": "session"}]
    rules = Rules.of(Settings.model_validate({"vocabulary": vocabulary}))
    one = claim("12A", "seat", kind="fact", at=T0, session="s1")
    newer = claim("14C", "seat", kind="fact", at=T0 + 1, session="s1", source="e2")
    other = claim("3F", "seat", kind="fact", at=T0 + DAY, session="s2")
    assert [c.status.value for c in resolve([one, newer, other], rules)] == ["superseded", "active", "active"]
