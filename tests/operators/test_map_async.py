"""map_async on a real dataflow: order, budget, resume, failure."""

import asyncio
import threading
from datetime import timedelta

import bytewax.operators as op
import msgspec
import pytest
from bytewax.dataflow import Dataflow
from bytewax.errors import BytewaxRuntimeError
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import TestingSink, TestingSource, cluster_main, run_main

from flows.run import root_cause
from operators.map_async import AsyncMap, AsyncRunner, map_async

encode = msgspec.msgpack.encode


def decode(packed: bytes) -> tuple[str, int]:
    return tuple(msgspec.msgpack.decode(packed))


def mapped(inp, call, limit=8, stop=None, serial=lambda item: item[0], recovery=None, epoch=None):
    """Run `call` over (key, (name, number)) items and return what came out."""
    out = []
    runner = AsyncRunner(call, limit, stop or threading.Event())
    flow = Dataflow("test")
    items = op.input("in", flow, TestingSource(inp, batch_size=4))
    done = map_async("calls", items, AsyncMap(runner, encode, decode, serial))
    op.output("out", done, TestingSink(out))
    try:
        if recovery is None:
            run_main(flow)
        else:
            cluster_main(flow, [], 0, epoch_interval=epoch, recovery_config=RecoveryConfig(recovery))
    finally:
        runner.close()
    return out


class Asking(FixedPartitionedSource, StatefulSourcePartition):
    """Asks before it hands out the next batch; `refused` counts the times that there was no room."""

    def __init__(self, batches, ready):
        self.batches = list(batches)
        self.ready = ready
        self.refused = 0

    def list_parts(self):
        return ["0"]

    def build_part(self, step_id, for_part, resume_state):
        return self

    def next_batch(self):
        if not self.ready():
            self.refused += 1
            return []
        if not self.batches:
            raise StopIteration
        return self.batches.pop(0)

    def snapshot(self):
        return None


def asked(batches, call, limit, encode=encode, on_wait=lambda seconds: None):
    """Run `call` behind a source that asks for room; return what came out, and the source."""
    out = []
    runner = AsyncRunner(call, limit, threading.Event(), on_wait=on_wait)
    source = Asking(batches, runner.has_room)
    flow = Dataflow("test")
    done = map_async("calls", op.input("in", flow, source), AsyncMap(runner, encode, decode, lambda item: item[0]))
    op.output("out", done, TestingSink(out))
    try:
        run_main(flow)
    finally:
        runner.close()
    return out, source


def test_results_of_a_key_keep_their_order_though_later_ones_finish_first():
    async def call(item):
        await asyncio.sleep(0.02 if item[1] % 2 else 0.0)
        return item[1]

    inp = [(f"k{n % 3}", (f"s{n}", n)) for n in range(30)]
    out = mapped(inp, call)
    for key in ("k0", "k1", "k2"):
        assert [value for k, value in out if k == key] == [n for n in range(30) if f"k{n % 3}" == key]


def test_never_more_than_the_limit_is_under_way_and_it_is_used():
    now, most = 0, 0

    async def call(item):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.005)
        now -= 1
        return item[1]

    out = mapped([(f"k{n}", (f"s{n}", n)) for n in range(60)], call, limit=5)
    assert sorted(value for _, value in out) == list(range(60))
    assert most == 5


def test_a_long_chain_of_one_serial_key_does_not_keep_the_others_out():
    most = {"chain": 0, "other": 0}
    now = {"chain": 0, "other": 0}

    async def call(item):
        kind = item[0].split("-")[0]
        now[kind] += 1
        most[kind] = max(most[kind], now[kind])
        await asyncio.sleep(0.002)
        now[kind] -= 1
        return item[1]

    chain = [("c", ("chain-1", n)) for n in range(6)]
    others = [(f"k{n}", (f"other-{n}", 100 + n)) for n in range(40)]
    out = mapped([*chain, *others], call, limit=4)
    assert len(out) == 46
    assert most["chain"] == 1
    assert most["other"] >= 3


def test_items_of_one_serial_key_never_run_side_by_side():
    running: dict[str, int] = {}

    async def call(item):
        assert running.get(item[0], 0) == 0
        running[item[0]] = 1
        await asyncio.sleep(0.001)
        running[item[0]] = 0
        return item[1]

    out = mapped([("k", (f"s{n % 4}", n)) for n in range(40)], call)
    assert [value for _, value in out] == list(range(40))


def test_a_failing_call_fails_the_dataflow_with_its_own_error():
    async def call(item):
        msg = "the key is wrong"
        raise PermissionError(msg)

    with pytest.raises(BytewaxRuntimeError) as caught:
        mapped([("k", ("s", 1))], call)
    causes = []
    error = caught.value
    while error is not None:
        causes.append(type(error))
        error = error.__cause__
    assert PermissionError in causes


def test_items_under_way_at_a_stop_are_issued_again_after_a_resume(tmp_path):
    init_db_dir(tmp_path, 1)
    stop = threading.Event()
    inp = [(f"k{n}", (f"s{n}", n)) for n in range(6)]

    async def hang(item):
        if item[1] >= 2:
            stop.set()
            await asyncio.sleep(60)
        return item[1]

    async def answer(item):
        return item[1]

    epoch = timedelta(seconds=0)
    first = mapped(inp, hang, stop=stop, recovery=tmp_path, epoch=epoch)
    second = mapped(inp, answer, recovery=tmp_path, epoch=epoch)
    assert sorted(value for _, value in [*first, *second]) == list(range(6))


def test_while_the_budget_is_full_the_source_is_turned_away_and_the_dataflow_goes_on_turning():
    sources, waits = [], []

    async def call(item):
        # The first calls end only once the source was turned away three times: a dataflow that stood would never come.
        while not sources or sources[0].refused < 3:
            await asyncio.sleep(0.001)
        return item[1]

    class Told(Asking):
        def build_part(self, *arguments):
            sources.append(self)
            return self

    out = []
    runner = AsyncRunner(call, 2, threading.Event(), on_wait=waits.append)
    flow = Dataflow("test")
    inp = op.input("in", flow, Told([[(f"k{n}", (f"s{n}", n))] for n in range(20)], runner.has_room))
    op.output("out", map_async("c", inp, AsyncMap(runner, encode, decode, lambda item: item[0])), TestingSink(out))
    run_main(flow)
    runner.close()
    assert sorted(value for _, value in out) == list(range(20))
    assert sum(waits) > 0


def test_one_large_batch_is_taken_on_up_to_the_ceiling_only():
    taken = done = most = 0

    def counted(item):
        nonlocal taken, most
        taken += 1
        most = max(most, taken - done)
        return encode(item)

    async def call(item):
        nonlocal done
        await asyncio.sleep(0.001)
        done += 1
        return item[1]

    out, _ = asked([[(f"k{n}", (f"s{n}", n)) for n in range(60)]], call, limit=2, encode=counted)
    assert sorted(value for _, value in out) == list(range(60))
    assert 2 * 2 < most <= 8 * 2 + 2


def test_results_that_wait_for_an_earlier_one_of_their_key_are_bounded_too():
    done = 0

    async def call(item):
        nonlocal done
        if item[1] == 0:
            while done < 15:
                await asyncio.sleep(0.001)
        done += 1
        return item[1]

    # All of one key: the first ends last. Fifteen others fit beside it, and no more are handed out before it is done.
    handed = []

    def counted(item):
        handed.append(done)
        return encode(item)

    out, source = asked([[("k", (f"s{n}", n))] for n in range(40)], call, limit=2, encode=counted)
    assert [value for _, value in out] == list(range(40))
    assert all(finished >= 15 for finished in handed[16:])
    assert source.refused


def test_a_call_that_fails_behind_a_slow_one_of_its_key_ends_the_dataflow_at_once():
    """The first call of the key ends only when the runner is closed: whoever waits for it waits for ever."""

    async def call(item):
        if item[1] == 0:
            await asyncio.Event().wait()
        msg = f"call {item[1]} failed"
        raise ValueError(msg)

    with pytest.raises(BytewaxRuntimeError) as error:
        mapped([("k", ("slow", 0)), ("k", ("bad", 1))], call)
    assert "call 1 failed" in repr(root_cause(error.value))
