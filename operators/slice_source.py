"""Slices that are at hand, as a Bytewax source: in their order, each when there is room for it."""

import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from bytewax.inputs import DynamicSource, StatelessSourcePartition
from typing_extensions import override

from schemas.slice import Slice

_ASK_AGAIN = timedelta(milliseconds=10)


class SliceSource(DynamicSource[tuple[str, Slice]]):
    """Hands out slices one by one, keyed by scope, on the first worker. Keeps no state: a run begins with the first."""

    def __init__(
        self,
        slices: Iterable[Slice],
        stop: threading.Event,
        ready: Callable[[], bool],
        on_poll: Callable[[], None] = lambda: None,
    ) -> None:
        """Hand out `slices` until `stop` is set, and none while `ready` is false; `on_poll` is told of each turn."""
        self.slices = slices
        self.stop = stop
        self.ready = ready
        self.on_poll = on_poll

    @override
    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_SlicePartition":
        return _SlicePartition(self, () if worker_index else self.slices)


class _SlicePartition(StatelessSourcePartition[tuple[str, Slice]]):
    def __init__(self, source: SliceSource, slices: Iterable[Slice]) -> None:
        self._source = source
        self._slices = iter(slices)
        self._waits = False

    @override
    def next_batch(self) -> list[tuple[str, Slice]]:
        self._source.on_poll()
        if self._source.stop.is_set():
            raise StopIteration
        self._waits = not self._source.ready()
        if self._waits:
            return []
        piece = next(self._slices)
        return [(piece.scope.key(), piece)]

    @override
    def next_awake(self) -> datetime | None:
        return datetime.now(UTC) + _ASK_AGAIN if self._waits else None
