"""The rows of `bench.concurrency`, each in a process of its own: `python -m bench.concurrency_rows ROW ...`.

Every row makes the same number of calls, with the same latencies where it draws them itself. It prints one line of JSON
with what `Timeline` holds of each call.
"""

import argparse
import asyncio
import json
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import bytewax.operators as op
import msgspec
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition

from bench.latencies import latencies_s
from extraction.extractor import Extractor
from flows.run import run
from operators.map_async import AsyncMap, AsyncRunner, map_async
from schemas.events import Event
from schemas.scope import Scope
from schemas.settings import Settings
from schemas.slice import Slice, SliceReason

USERS = 5_000
SECOND_SLICES = 20
"""One item in so many belongs to the session of the item before it, and must wait for it."""

BATCH = 50
"""Items that the source hands out at once: about what a batch of 1,000 events closes in the dialogues."""

SNAPSHOT_S = 2.0
_ASK_AGAIN = timedelta(milliseconds=10)


class Item(msgspec.Struct, frozen=True):
    """One call to make."""

    number: int
    user: str
    session: str
    latency_s: float


Call = Callable[[Item], Awaitable[int]]


@dataclass
class Timeline:
    """For each call: when it was handed over, started and ended, by the monotonic clock that all processes share.

    Also how long handing over blocked, and the latency that was drawn for it; 0 when the server draws it. Seconds.
    """

    handed: list[float] = field(default_factory=list)
    blocked: list[float] = field(default_factory=list)
    started: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    latency_s: list[float] = field(default_factory=list)

    def of(self, items: int) -> "Timeline":
        """Make room for `items` calls."""
        for column in (self.handed, self.blocked, self.started, self.ended, self.latency_s):
            column.extend([0.0] * items)
        return self

    def watched(self, call: Call) -> Call:
        """Return `call`, noted down."""

        async def watched(item: Item) -> int:
            self.started[item.number] = time.monotonic()
            self.latency_s[item.number] = item.latency_s
            answer = await call(item)
            self.ended[item.number] = time.monotonic()
            return answer

        return watched


def items(count: int, seed: int) -> Iterator[Item]:
    for number, latency in enumerate(islice(latencies_s(1.0, seed), count)):
        first = number - (number % SECOND_SLICES == SECOND_SLICES - 1)
        yield Item(number, f"user-{first % USERS}", f"session-{first}", latency)


async def sleep(item: Item) -> int:
    await asyncio.sleep(item.latency_s)
    return item.number


def plain(work: list[Item], call: Call, limit: int, timeline: Timeline) -> None:
    """Gather a batch, then the next one."""

    async def batches() -> None:
        for at in range(0, len(work), limit):
            batch = work[at : at + limit]
            for item in batch:
                timeline.handed[item.number] = time.monotonic()
            await asyncio.gather(*(call(item) for item in batch))

    asyncio.run(batches())


class _Runner(AsyncRunner[Item, int]):
    """Notes when an item was handed over, and for how long that blocked."""

    timeline: Timeline

    def submit(self, item: Item, after: "Future[int] | None") -> "Future[int] | None":
        began = time.monotonic()
        future = super().submit(item, after)
        self.timeline.handed[item.number] = began
        self.timeline.blocked[item.number] = time.monotonic() - began
        return future


class _Source(FixedPartitionedSource[Item, int]):
    def __init__(self, work: list[Item], ready: Callable[[], bool]) -> None:
        self.work = work
        self.ready = ready

    def list_parts(self) -> list[str]:
        return ["0"]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> "_Partition":
        return _Partition(self, resume_state or 0)


class _Partition(StatefulSourcePartition[Item, int]):
    def __init__(self, source: _Source, done: int) -> None:
        self._source = source
        self._done = done
        self._waits = False

    def next_batch(self) -> list[Item]:
        self._waits = not self._source.ready()
        if self._waits:
            return []
        batch = self._source.work[self._done : self._done + BATCH]
        if not batch:
            raise StopIteration
        self._done += len(batch)
        return batch

    def next_awake(self) -> datetime | None:
        return datetime.now(UTC) + _ASK_AGAIN if self._waits else None

    def snapshot(self) -> int:
        return self._done


class _Nothing(DynamicSink[object], StatelessSinkPartition[object]):
    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_Nothing":
        return self

    def write_batch(self, items: list[object]) -> None:
        pass


def dataflow(work: list[Item], call: Call, limit: int, timeline: Timeline) -> None:
    """Run one Bytewax worker with recovery on."""
    runner = _Runner(call, limit, threading.Event())
    runner.timeline = timeline
    encode, decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(Item).decode
    flow = Dataflow("bench")
    keyed = op.key_on("key", op.input("in", flow, _Source(work, runner.has_room)), lambda item: item.user)
    answers = map_async("calls", keyed, AsyncMap(runner, encode, decode, serial_key=lambda item: item.session))
    op.output("out", answers, _Nothing())
    with tempfile.TemporaryDirectory() as folder:
        run(flow, recovery=Path(folder) / "recovery", snapshot_interval_s=SNAPSHOT_S)
    runner.close()


def client(base_url: str) -> Call:
    """Return the call of the extraction client, against the server at `base_url`."""
    extractor = Extractor(Settings.model_validate({"model": {"base_url": base_url, "name": "strandline-offline"}}))

    async def extract(item: Item) -> int:
        said = (
            ("user", f"Hello, my name is Sam{item.number} and I live in Bern."),
            ("agent", "Hello, how can I help?"),
        )
        events = tuple(
            Event(f"e{item.number}-{n}", author, 1_700_000_000_000 + n, text) for n, (author, text) in enumerate(said)
        )
        piece = Slice(Scope("bench", item.user), item.session, SliceReason.CLOSED, 0, events)
        outcome = await extractor.extract(piece)
        if outcome.error or outcome.transport_retries or len(outcome.attempts) != 1:
            msg = f"a call went wrong: {outcome.error or outcome.problems}"
            raise RuntimeError(msg)
        return item.number

    return extract


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", choices=("plain", "map_async", "client"))
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--limit", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--base-url", default="")
    arguments = parser.parse_args()
    work = list(items(arguments.items, arguments.seed))
    timeline = Timeline().of(len(work))
    call = timeline.watched(client(arguments.base_url) if arguments.row == "client" else sleep)
    way = plain if arguments.row == "plain" else dataflow
    before = time.process_time()
    way(work, call, arguments.limit, timeline)
    print(json.dumps(asdict(timeline) | {"cpu_s": time.process_time() - before}))


if __name__ == "__main__":
    main()
