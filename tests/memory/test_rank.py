from datetime import UTC, datetime

import pytest
from memory_cases import ADA, DAY, T0, claim, outcome

from memory.rank import expires_at_ms, request, word_floor
from memory.words import query_vector
from schemas.settings import ReadSettings, Settings
from schemas.vocabulary import HALF_LIFE_DAYS, Key, Vocabulary


def test_word_floor_is_whole_in_a_full_bank_and_lets_one_row_be_found():
    read = ReadSettings(floor=0.05, sparse_half=6.0)
    assert word_floor(read, 500) == word_floor(read, 5000) == pytest.approx(0.05 * 6.0 / 0.95)
    assert word_floor(read, 1) < 0.1
    assert word_floor(ReadSettings(floor=0.0), 10) == 0.0
    assert word_floor(ReadSettings(floor=1.0), 500) > 1000


def test_floor_drops_weak_matches_of_words(store):
    bank = store.bank(ADA)
    made = [claim(f"Order number{n} was shipped", "order.id", kind="fact", source=f"e{n}") for n in range(60)]
    bank.apply([outcome(made, events=[c.sources[0] for c in made])])
    assert bank.search("shipped", now_ms=T0) == []
    assert len(bank.search("number7 shipped", now_ms=T0)) == 1


def test_request_without_anything_to_look_for_is_none():
    given = {"read": ReadSettings(), "vocabulary": Vocabulary(), "now_ms": T0, "limit": 5, "n_points": 10}
    assert request(query_vector("the of"), None, **given) is None
    assert len(request(query_vector("tea"), [0.1], **given)["prefetch"]) == 2
    assert len(request(query_vector("the"), [0.1], **given)["prefetch"]) == 1


@pytest.mark.parametrize(("kind", "days"), sorted(HALF_LIFE_DAYS.items()))
def test_freshness_halves_at_the_half_life_of_the_kind(store, kind, days):
    bank = store.bank(ADA)
    now = T0 + 5000 * DAY
    pair = [
        claim(f"zebra{n}", f"other.key{n}", kind=kind, source=f"e{n}", at=now - round(age * DAY), quote="q")
        for n, age in enumerate((0.0, days))
    ]
    bank.apply([outcome(pair, events=["e0", "e1"])])
    fresh, old = (bank.search(f"zebra{n}", now_ms=now)[0].score for n in range(2))
    assert fresh - old == pytest.approx(0.25 * 0.5, abs=1e-3)


def test_expiry_is_taken_from_the_vocabulary_of_the_moment(store):
    claims = [claim("likes tea", "likes")]
    short = Vocabulary((Key(name="likes", kind="preference", meaning="x", values="many", ttl_days=2),))
    assert expires_at_ms(claims[0], Vocabulary()) is None
    assert expires_at_ms(claims[0], short) == T0 + 2 * DAY
    assert datetime.fromtimestamp(T0 / 1000, UTC).year == 2024
    assert Settings().keys().get("likes").ttl_days is None
