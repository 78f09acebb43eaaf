"""The order of results: 0.6 similarity + 0.25 freshness + 0.15 confidence, reckoned by Qdrant in one query.

Time is applied here and nowhere else: the half-life of a key, and the expiry of a key with a time to live, are taken
from the vocabulary of the moment, with the clock passed in.
"""

import math
from collections import defaultdict
from typing import Any

from qdrant_client import models

from memory.rows import CLAIM, DAY_MS, EPISODE
from memory.schema import MEANING, WORDS
from schemas.claim import Claim, ClaimStatus
from schemas.settings import ReadSettings
from schemas.vocabulary import HALF_LIFE_DAYS, Vocabulary

EPISODE_HALF_LIFE_DAYS = 365.0
"""What happened stays true; a digest line ages as a fact does."""
CANDIDATES = 50
"""Candidates of each prefetch, at the least; a formula reorders what the prefetches found."""
FULL_BANK = 500
"""Rows from which the floor of words holds in full: the size of bank it was measured on."""
SERVED = (ClaimStatus.ACTIVE.value, ClaimStatus.CONFLICTING.value)
"""The statuses that a search returns."""


def expires_at_ms(claim: Claim, vocabulary: Vocabulary) -> int | None:
    """Return when `claim` expires, milliseconds since the epoch; None: never."""
    ttl_days = vocabulary.entry(claim.key, claim.kind).ttl_days
    return None if ttl_days is None else claim.observed_at_ms + round(ttl_days * DAY_MS)


def word_floor(read: ReadSettings, n_points: int) -> float:
    """Return the sparse score that stands for the floor, in a bank of `n_points` rows.

    Inverse document frequency is small in a small bank, where a rare word cannot be told from a common one; so the
    floor shrinks with the largest that the bank can give, else a bank of one row would never be found.
    """
    largest = math.log1p((max(n_points, 1) - 0.5) / 1.5)
    share = min(1.0, largest / math.log1p((FULL_BANK - 0.5) / 1.5))
    return share * read.floor * read.sparse_half / max(1.0 - read.floor, 1e-9)


def request(
    words: models.SparseVector,
    meaning: list[float] | None,
    *,
    read: ReadSettings,
    vocabulary: Vocabulary,
    now_ms: int,
    limit: int,
    n_points: int,
    episodes: bool = False,
) -> dict[str, Any] | None:
    """Return the arguments of one `query_points` call; None when the query has nothing to look for.

    Similarity is s/(s+c) of the sparse score s, or the mean of that and the cosine where there is a `meaning`. The
    floor is applied to each of the two by its prefetch. `n_points` is about how many rows the bank has.
    """
    only = _served(vocabulary, now_ms, episodes)
    size = max(CANDIDATES, 4 * limit)
    prefetch: list[models.Prefetch] = []
    parts: list[Any] = []
    if words.indices:
        least = word_floor(read, n_points)
        parts.append(_saturated(f"$score[{len(prefetch)}]", read.sparse_half))
        prefetch.append(models.Prefetch(query=words, using=WORDS, filter=only, limit=size, score_threshold=least))
    if meaning is not None:
        parts.append(f"$score[{len(prefetch)}]")
        prefetch.append(
            models.Prefetch(query=meaning, using=MEANING, filter=only, limit=size, score_threshold=read.floor)
        )
    if not prefetch:
        return None
    similarity = [models.MultExpression(mult=[read.weight_similarity / len(parts), part]) for part in parts]
    confidence = models.MultExpression(mult=[read.weight_confidence, "confidence"])
    formula = models.FormulaQuery(
        formula=models.SumExpression(sum=[*similarity, *_freshness(read, vocabulary, now_ms), confidence]),
        # An episode has no confidence of its own: it says what happened, not what is so.
        defaults={"$score[0]": 0.0, "$score[1]": 0.0, "confidence": 1.0, "observed_days": 0.0},
    )
    return {"prefetch": prefetch, "query": formula, "limit": limit, "with_payload": True}


def _saturated(score: str, half: float) -> models.DivExpression:
    return models.DivExpression(
        div=models.DivParams(left=score, right=models.SumExpression(sum=[score, half]), by_zero_default=0.0)
    )


def _freshness(read: ReadSettings, vocabulary: Vocabulary, now_ms: int) -> list[models.MultExpression]:
    """Return one term per half-life in use; for a row all but one are 0, for their condition does not hold."""
    return [
        models.MultExpression(
            mult=[
                read.weight_freshness,
                condition,
                models.ExpDecayExpression(
                    exp_decay=models.DecayParamsExpression(
                        x="observed_days", target=now_ms / DAY_MS, scale=days, midpoint=0.5
                    )
                ),
            ]
        )
        for days, condition in _half_lives(vocabulary).items()
    ]


def _half_lives(vocabulary: Vocabulary) -> dict[float, models.Filter]:
    """Return each half-life in days with the filter that tells which rows have it."""
    named: defaultdict[float, list[str]] = defaultdict(list)
    for key in vocabulary:
        if key.half_life_days is not None:
            named[key.half_life_days].append(key.name)
    own = [name for names in named.values() for name in names]
    cases: defaultdict[float, list[Any]] = defaultdict(list)
    for days, names in named.items():
        cases[days].append(_among("key", names))
    for kind, days in HALF_LIFE_DAYS.items():
        cases[days].append(models.Filter(must=[_is("kind", kind)], must_not=[_among("key", own)] if own else None))
    cases[EPISODE_HALF_LIFE_DAYS].append(_is("type", EPISODE))
    return {days: models.Filter(should=conditions) for days, conditions in cases.items()}


def _served(vocabulary: Vocabulary, now_ms: int, episodes: bool) -> models.Filter:
    """Return the filter of what may be found: claims that stand and are not expired, and episodes if asked for."""
    ttl: defaultdict[float, list[str]] = defaultdict(list)
    for key in vocabulary:
        if key.ttl_days is not None:
            ttl[key.ttl_days].append(key.name)
    expired: list[Any] = [
        models.Filter(
            must=[
                _among("key", names),
                models.FieldCondition(key="observed_at_ms", range=models.Range(lte=now_ms - days * DAY_MS)),
            ]
        )
        for days, names in ttl.items()
    ]
    claims = models.Filter(must=[_is("type", CLAIM), _among("status", list(SERVED))], must_not=expired or None)
    return models.Filter(should=[claims, _is("type", EPISODE)]) if episodes else claims


def _is(key: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _among(key: str, values: list[str]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=values))
