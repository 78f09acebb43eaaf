"""Calls no faster than the settings allow, whoever makes them; and the wait for one's own rate loses no slice."""

import asyncio

import pytest
from virtual_time import Caller, Provider, now, run_virtually

from extraction.rate import Rates
from schemas.settings import ModelSettings


async def never_down() -> None:
    raise AssertionError


def rates(**model: float) -> Rates:
    return Rates(ModelSettings.model_validate(model))


def all_at_once(count: int, tokens: float = 0.0, **model: float) -> tuple[list[float], set[str]]:
    async def story():
        caller = Caller(**model)
        provider = Provider(never_down, down=(0.0, 0.0), latency_s=1.0)
        ends = await asyncio.gather(*(caller.slice(provider, tokens) for _ in range(count)))
        return provider.asked, {words for words, _ in ends}

    return run_virtually(story())


def test_requests_start_evenly_and_outlast_the_slices_own_time():
    asked, ends = all_at_once(30, requests_per_minute=12, slice_budget_s=20.0)
    assert asked == pytest.approx([5.0 * n for n in range(30)])
    assert ends == {"served"}


def test_without_a_rate_all_start_at_once():
    assert all_at_once(30)[0] == [0.0] * 30


def test_tokens_bound_the_rate_too_and_the_tighter_of_both_counts():
    asked, _ = all_at_once(4, tokens=1000.0, tokens_per_minute=6000, requests_per_minute=600)
    assert asked == pytest.approx([0.0, 10.0, 20.0, 30.0])


def test_a_call_larger_than_a_minutes_tokens_starts_and_the_next_waits_for_it():
    asked, ends = all_at_once(2, tokens=12_000.0, tokens_per_minute=6000)
    assert asked == pytest.approx([0.0, 120.0])
    assert ends == {"served"}


def test_tokens_that_were_not_used_are_given_back():
    limits = rates(tokens_per_minute=60.0)
    assert limits.reserve(now=100.0, tokens=30.0) == 0.0
    limits.correct(reserved=30.0, used=10.0)
    assert limits.reserve(now=100.0, tokens=30.0) == pytest.approx(10.0)


def test_a_time_of_rest_saves_nothing_up():
    limits = rates(requests_per_minute=60.0)
    limits.reserve(now=0.0, tokens=0.0)
    assert [limits.reserve(now=1000.0, tokens=0.0) for _ in range(3)] == pytest.approx([0.0, 1.0, 2.0])


def test_nobody_calls_at_a_place_taken_before_the_circuit_opened():
    async def refuse():
        raise ConnectionError

    async def story():
        caller = Caller(requests_per_minute=60, circuit_failures=1, slice_budget_s=600.0)
        asked = []

        async def send():
            asked.append(now())
            if now() < 12.0:
                raise TimeoutError
            return await Provider(refuse, down=(0.0, 0.0))()

        ends = await asyncio.gather(*(caller.slice(send) for _ in range(20)))
        return asked, {words for words, _ in ends}

    asked, ends = run_virtually(story())
    assert ends == {"served"}
    assert [at for at in asked if at < 12.0] == pytest.approx([0.0, 5.0, 10.0])
    gaps = [later - earlier for earlier, later in zip(asked, asked[1:], strict=False)]
    assert min(gaps) >= 1.0 - 1e-9
    assert max(asked) < 15.0 + 30.0
