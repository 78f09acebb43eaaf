"""`map_async`: an awaitable function over a keyed stream, many items at once, each key's results in order.

Flink has Async I/O; Bytewax has none. This file is it, and needs Bytewax and msgspec only:

    runner = AsyncRunner(call, limit=256, stop=threading.Event())
    answers = map_async("ask", questions, AsyncMap(runner, encode, decode, serial_key=lambda item: item.session))

One asyncio loop per process runs the calls under one budget. Keys are spread over a fixed number of shards, for the
dataflow wakes and snapshots keys one by one, and thousands of users would each cost a wake-up every few milliseconds.

What is guaranteed. Never more than `limit` calls are under way. Results of one key come out in the order its items went
in; items with the same `serial_key` run one after another. Items taken on stand in the snapshot, so a crash issues them
again: an item is emitted once per execution, and again only if its result was in no completed snapshot. A call that
raises fails the dataflow with its own error.

What holds the input back. A source that asks `AsyncRunner.has_room` before it hands out more lets the dataflow turn,
and snapshots be taken, however long the budget is full. What one batch brings beyond that is taken on as well, up to a
ceiling; only above it does `on_batch` block, and with it the worker: the one backpressure that Bytewax itself has.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar
from zlib import crc32

import bytewax.operators as op
import msgspec
from bytewax.dataflow import operator
from bytewax.operators import KeyedStream, StatefulBatchLogic

X = TypeVar("X")
Y = TypeVar("Y")

SHARDS = 64
"""Keys of the stateful step: enough to spread over workers, few enough to wake often."""

_POLL = timedelta(milliseconds=10)
"""How soon results are looked for while some are awaited. No call waits for it: the next ones are taken on already."""

_AHEAD = 2
"""Items taken on, for each that may be under way, until there is no room: a turn of the dataflow may take as long as a
call before a slot stands empty."""

_CEILING = 8
"""The same, until `on_batch` blocks. It bounds what is held and what each snapshot writes."""

_WAIT_S = 0.05
"""How long who waits for a call waits before it looks at `stop` again."""


class AsyncRunner(Generic[X, Y]):
    """One asyncio loop on a thread of its own, and the budget of calls under way in this process.

    `failure` is what the first call that failed raised.
    """

    def __init__(
        self,
        call: Callable[[X], Awaitable[Y]],
        limit: int,
        stop: threading.Event,
        *,
        on_wait: Callable[[float], None] = lambda seconds: None,
        on_change: Callable[[int], None] = lambda in_flight: None,
    ) -> None:
        """Run `call` for at most `limit` items at once.

        Items that wait for another of their serial key are taken on but not under way, so a long session does not
        keep the others out.

        :arg stop: Once set, nothing new is started and nobody waits any more.
        :arg on_wait: Told of each stretch, in seconds, that the input was held back.
        :arg on_change: Told how many items are under way, on the loop's thread.
        """
        self.stop = stop
        self.failure: BaseException | None = None
        self._call = call
        self._limit = limit
        self._on_wait = on_wait
        self._on_change = on_change
        self._under_way = 0
        self._unfinished = 0
        self._held = 0
        self._full_since: float | None = None
        self._slots = asyncio.Semaphore(limit)
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="map_async", daemon=True)
        self._thread.start()

    def has_room(self) -> bool:
        """Whether a source should hand out more: too little is taken on to keep every slot in use.

        Also False while too many results wait for an earlier one of their key; the dataflow must turn to emit them.
        """
        with self._changed:
            self._end_full()
            room = self._unfinished < _AHEAD * self._limit and self._held < _CEILING * self._limit
            self._full_since = None if room else time.monotonic()
            return room

    def submit(self, item: X, after: "Future[Y] | None") -> "Future[Y] | None":
        """Start `item` once `after` is done and return its future; None once `stop` is set.

        Blocks while the ceiling is reached.
        """
        with self._changed:
            while self._unfinished >= _CEILING * self._limit and not self.stop.is_set():
                self._wait_for_change()
            if self.stop.is_set():
                return None
            self._unfinished += 1
            self._held += 1
        future = asyncio.run_coroutine_threadsafe(self._run(item, after), self._loop)
        future.add_done_callback(self._finished)
        return future

    def wait(self, future: "Future[Y]") -> bool:
        """Wait until `future` is done; False when `stop` was set before, or another call failed."""
        with self._changed:
            while not future.done() and not self.stop.is_set() and self.failure is None:
                self._wait_for_change()
        return future.done()

    def emitted(self, count: int) -> None:
        """Take note that so many results have left."""
        with self._changed:
            self._held -= count

    def run(self, work: Awaitable[object], timeout_s: float = 10.0) -> None:
        """Await `work` on the loop and return when it is done: for closing what the calls use.

        :raises TimeoutError: It took longer than `timeout_s`.
        """
        asyncio.run_coroutine_threadsafe(_awaited(work), self._loop).result(timeout_s)

    def close(self) -> None:
        """Cancel what is under way and end the thread."""

        async def cancel() -> None:
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self.run(cancel())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _run(self, item: X, after: "Future[Y] | None") -> Y:
        if after is not None and not after.done():
            await asyncio.wait([asyncio.wrap_future(after)])
        async with self._slots:
            self._under_way += 1
            self._on_change(self._under_way)
            try:
                return await self._call(item)
            finally:
                self._under_way -= 1
                self._on_change(self._under_way)

    def _finished(self, future: "Future[Y]") -> None:
        with self._changed:
            if not future.cancelled():
                self.failure = self.failure or future.exception()
            self._unfinished -= 1
            self._changed.notify_all()

    def _wait_for_change(self) -> None:
        self._end_full()
        started = time.monotonic()
        self._changed.wait(_WAIT_S)
        self._on_wait(time.monotonic() - started)

    def _end_full(self) -> None:
        """Tell of the time since a source was last turned away, once."""
        if self._full_since is not None:
            self._on_wait(time.monotonic() - self._full_since)
            self._full_since = None


async def _awaited(work: Awaitable[object]) -> object:
    return await work


@dataclass(frozen=True)
class AsyncMap(Generic[X, Y]):
    """How `map_async` treats the items of one step.

    `encode` and `decode` turn an item into its snapshot and back. `serial_key` names what must not run side by side:
    a later item of the same name starts when the earlier one is done.
    """

    runner: AsyncRunner[X, Y]
    encode: Callable[[X], bytes]
    decode: Callable[[bytes], X]
    serial_key: Callable[[X], str]

    def build(self, snapshot: bytes | None) -> "_AsyncLogic[X, Y]":
        """Return the logic of one shard; the items in its snapshot are issued again."""
        return _AsyncLogic(self, [] if snapshot is None else _snapshot_decoder.decode(snapshot))


@dataclass
class _Entry(Generic[X, Y]):
    """An item whose result was not emitted yet. `future` is None when it was not started, because of a stop."""

    key: str
    item: X
    packed: bytes
    future: "Future[Y] | None"


_snapshot_encoder = msgspec.msgpack.Encoder()
_snapshot_decoder = msgspec.msgpack.Decoder(list[tuple[str, bytes]])


class _AsyncLogic(StatefulBatchLogic[tuple[str, X], tuple[str, Y], bytes]):
    def __init__(self, config: AsyncMap[X, Y], resumed: list[tuple[str, bytes]]) -> None:
        self._config = config
        self._entries: dict[str, deque[_Entry[X, Y]]] = {}
        self._last: dict[str, Future[Y]] = {}
        for key, packed in resumed:
            self._start(key, config.decode(packed), packed)

    def on_batch(self, values: list[tuple[str, X]]) -> tuple[list[tuple[str, Y]], bool]:
        out = self._collect()
        for key, item in values:
            self._start(key, item, self._config.encode(item))
        out.extend(self._collect())
        return out, not self._entries

    def on_notify(self) -> tuple[list[tuple[str, Y]], bool]:
        return self._collect(), not self._entries

    def on_eof(self) -> tuple[list[tuple[str, Y]], bool]:
        for queue in self._entries.values():
            for entry in queue:
                if entry.future is None or not self._config.runner.wait(entry.future):
                    return self._collect(), not self._entries
        return self._collect(), not self._entries

    def notify_at(self) -> datetime | None:
        return datetime.now(tz=UTC) + _POLL if self._entries else None

    def snapshot(self) -> bytes:
        return _snapshot_encoder.encode([(e.key, e.packed) for queue in self._entries.values() for e in queue])

    def _start(self, key: str, item: X, packed: bytes) -> None:
        serial = self._config.serial_key(item)
        future = self._config.runner.submit(item, self._last.get(serial))
        if future is not None:
            self._last[serial] = future
        self._entries.setdefault(key, deque()).append(_Entry(key, item, packed, future))

    def _collect(self) -> list[tuple[str, Y]]:
        """Return the finished results at the head of each key's queue.

        A call that failed is told at once, though an earlier one of its key may still be under way for hours.
        """
        if self._config.runner.failure is not None:
            raise self._config.runner.failure
        out: list[tuple[str, Y]] = []
        for key, queue in list(self._entries.items()):
            while queue and queue[0].future is not None and queue[0].future.done():
                entry = queue.popleft()
                future = entry.future
                assert future is not None  # noqa: S101 - for the type checker, the loop has seen it
                serial = self._config.serial_key(entry.item)
                if self._last.get(serial) is future:
                    del self._last[serial]
                out.append((key, future.result()))
            if not queue:
                del self._entries[key]
        self._config.runner.emitted(len(out))
        return out


@operator
def map_async(step_id: str, up: KeyedStream[X], config: AsyncMap[X, Y]) -> KeyedStream[Y]:
    """Map every item through the runner's call. See the module for what is guaranteed."""
    sharded = op.map("shard", up, lambda pair: (f"{crc32(pair[0].encode()) % SHARDS:02d}", pair))
    done = op.stateful_batch("calls", sharded, config.build)
    return op.map("unshard", done, lambda pair: pair[1])
