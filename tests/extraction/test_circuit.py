"""An outage seen by all calls of a process together: few requests, nothing lost, soon over."""

import asyncio

import pytest
from virtual_time import Caller, Provider, answer, http_error, now, run_virtually

from extraction.signals import Signals


async def refuse() -> None:
    await asyncio.sleep(0.01)
    raise http_error(500)


async def hang() -> None:
    await asyncio.sleep(3600)


async def full_load(caller, provider, until_s):
    """Keep as many slices under way as may be; return for each what came of it, and when."""
    ends = []

    async def slot():
        while now() < until_s:
            words, budget = await caller.slice(provider)
            ends.append((words, now(), budget.retries))

    await asyncio.gather(*(slot() for _ in range(caller.model.max_in_flight)))
    return ends


@pytest.mark.parametrize("max_in_flight", [1, 4, 32, 100])
@pytest.mark.parametrize("when_down", [refuse, hang])
def test_an_outage_of_two_minutes_loses_nothing_and_asks_seldom(max_in_flight, when_down):
    async def story():
        caller = Caller(max_in_flight=max_in_flight)
        provider = Provider(when_down, down=(10.0, 130.0))
        return caller, provider, await full_load(caller, provider, until_s=200.0)

    caller, provider, ends = run_virtually(story())
    assert {words for words, _, _ in ends} == {"served"}
    during = [at for at in provider.asked if 10.0 <= at < 130.0]
    probes = 120 / caller.model.circuit_probe_s
    assert len(during) <= max_in_flight + caller.model.circuit_failures + probes
    back = sorted(at for _, at, _ in ends if at >= 130.0)
    assert back[0] <= 130.0 + caller.model.circuit_probe_s + 1.0
    # Who still waits for an answer to a call of before its return has its slot back when that call has run out.
    stuck = (
        0 if when_down is refuse else len([at for at in provider.asked if 140.0 - caller.model.timeout_s < at < 130.0])
    )
    in_ten_seconds = len([at for at in provider.asked if 138.0 <= at < 140.0])
    assert in_ten_seconds >= 0.9 * (max_in_flight - stuck) * 2.0 / provider.latency_s


def test_a_reviving_provider_is_not_stormed():
    async def story():
        caller = Caller(max_in_flight=100)
        provider = Provider(refuse, down=(0.0, 30.0), latency_s=5.0)
        await full_load(caller, provider, until_s=60.0)
        return [at for at in provider.asked if at >= 30.0]

    asked = run_virtually(story())
    assert all(len([at for at in asked if start <= at < start + 0.1]) <= 6 for start in asked if start < asked[0] + 6.0)


def test_a_circuit_that_opens_and_closes_says_so_once():
    told = []

    async def story():
        caller = Caller(Signals(circuit_open=lambda is_open: told.append((is_open, now()))), max_in_flight=8)
        await full_load(caller, Provider(refuse, down=(10.0, 40.0)), until_s=60.0)

    run_virtually(story())
    assert [is_open for is_open, _ in told] == [True, False]
    assert 10.0 <= told[0][1] < 12.0
    assert 40.0 <= told[1][1] < 46.0


def test_a_wait_at_the_open_circuit_costs_time_and_no_retry_and_ends_with_the_providers_words():
    async def story():
        caller = Caller(max_in_flight=6, slice_budget_s=62.0)
        provider = Provider(refuse, down=(0.0, 1e6))
        ends = await asyncio.gather(*(caller.slice(provider) for _ in range(6)))
        return ends, now()

    ends, at = run_virtually(story())
    assert at == pytest.approx(62.0)
    assert all("does not serve: HTTP 500: overloaded" in words for words, _ in ends)
    assert max(budget.own_retries for _, budget in ends) == 1
    assert max(budget.retries for _, budget in ends) <= 1 + 12 / 6 + 1


def test_a_poison_slice_leaves_after_its_own_retries_and_closes_the_way_for_nobody():
    told = []

    async def story():
        caller = Caller(Signals(circuit_open=told.append), transport_retries=7, circuit_failures=3, max_in_flight=8)
        healthy = Provider(refuse, down=(0.0, 0.0))
        (words, budget), ends = await asyncio.gather(caller.slice(refuse), full_load(caller, healthy, until_s=120.0))
        return words, budget, ends

    words, budget, ends = run_virtually(story())
    assert (words, budget.retries) == ("HTTP 500: overloaded", 7)
    assert {said for said, _, _ in ends} == {"served"}
    assert told == []


def test_a_slice_that_comes_while_only_a_poison_slice_is_there_waits_for_one_probe_at_most():
    async def story():
        caller = Caller(max_in_flight=8, circuit_failures=3)
        poison = asyncio.create_task(caller.slice(refuse))
        await asyncio.sleep(30.0)
        assert caller.admission.circuit.is_open
        began = now()
        words, _ = await caller.slice(Provider(refuse, down=(0.0, 0.0)))
        waited = now() - began
        gone, budget = await poison
        return words, waited, gone, now(), budget

    words, waited, gone, at, budget = run_virtually(story())
    assert words == "served"
    assert waited <= 5.0 + 0.5
    assert "HTTP 500" in gone
    assert at <= 181.0
    assert budget.retries > budget.own_retries


def test_calls_sent_before_the_provider_came_back_do_not_open_the_circuit_again():
    told = []

    async def story():
        caller = Caller(Signals(circuit_open=told.append), max_in_flight=20, timeout_s=30.0)

        async def slice_sent_at(at_s, provider):
            await asyncio.sleep(at_s)
            return await caller.slice(provider)

        provider = Provider(hang, down=(0.0, 31.0))
        # Five run out at 30 s and open it; fifteen run out at 40 s, when the provider has been back for nine seconds.
        slices = [
            *(slice_sent_at(0.0, provider) for _ in range(5)),
            *(slice_sent_at(10.0, provider) for _ in range(15)),
        ]
        return await asyncio.gather(*slices)

    assert {words for words, _ in run_virtually(story())} == {"served"}
    assert told == [True, False]


def test_answers_that_are_no_fault_of_health_do_not_open_the_circuit():
    told = []

    async def busy():
        raise http_error(429)

    async def story():
        caller = Caller(Signals(circuit_open=told.append), transport_retries=20)
        return await caller.slice(busy)

    words, _ = run_virtually(story())
    assert words == "HTTP 429: overloaded"
    assert told == []


def test_a_call_cut_short_by_the_slices_own_time_says_nothing_of_the_provider():
    told = []

    async def story():
        caller = Caller(Signals(circuit_open=told.append), circuit_failures=1, slice_budget_s=10.0, timeout_s=60.0)
        return await caller.slice(hang)

    words, _ = run_virtually(story())
    assert words.startswith("no answer after 10.0 s")
    assert told == []


def test_retry_after_with_429_holds_every_call():
    asked = []

    async def story():
        caller = Caller(max_in_flight=4)

        async def send():
            asked.append(now())
            is_first = len(asked) == 1
            await asyncio.sleep(1.0)
            if is_first:
                raise http_error(429, retry_after="30")
            return answer()

        async def later(at_s):
            await asyncio.sleep(at_s)
            return await caller.slice(send)

        return await asyncio.gather(*(later(at_s) for at_s in (0.0, 0.5, 2.0, 20.0)))

    ends = run_virtually(story())
    assert {words for words, _ in ends} == {"served"}
    assert [budget.retries for _, budget in ends] == [1, 0, 0, 0]
    assert asked[:2] == [0.0, 0.5]
    assert [at for at in asked[2:] if at < 31.0] == []
    assert len(asked) == 5
    assert max(asked) < 34.0


def test_a_retry_after_without_end_is_tried_out_within_the_hour():
    async def story():
        caller = Caller(slice_budget_s=600.0)

        async def send():
            raise http_error(429, retry_after="999999999")

        words, _ = await caller.slice(send)
        assert words == "HTTP 429: overloaded"
        await asyncio.sleep(3600.0)
        return await caller.slice(Provider(refuse, down=(0.0, 0.0)))

    assert run_virtually(story())[0] == "served"


def test_a_slice_given_up_while_it_waits_leaves_the_queue():
    async def story():
        caller = Caller(circuit_failures=1)
        provider = Provider(refuse, down=(0.0, 12.0))
        tasks = [asyncio.create_task(caller.slice(provider)) for _ in range(3)]
        await asyncio.sleep(4.0)
        tasks[0].cancel()
        tasks[1].cancel()
        return await tasks[2]

    assert run_virtually(story())[0] == "served"
