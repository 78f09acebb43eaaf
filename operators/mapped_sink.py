"""A sink behind a function: what is written is what the function makes of each item."""

from collections.abc import Callable
from typing import Generic, TypeVar

from bytewax.outputs import DynamicSink, StatelessSinkPartition

X = TypeVar("X")
Y = TypeVar("Y")


class MappedSink(DynamicSink[X], Generic[X, Y]):
    """Writes `function(item)` to `sink`, with the guarantees of that sink."""

    def __init__(self, sink: DynamicSink[Y], function: Callable[[X], Y]) -> None:
        """Put `function` in front of `sink`."""
        self._sink = sink
        self._function = function

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_MappedPartition[X, Y]":
        """Return this worker's writer."""
        return _MappedPartition(self._sink.build(step_id, worker_index, worker_count), self._function)


class _MappedPartition(StatelessSinkPartition[X], Generic[X, Y]):
    def __init__(self, partition: StatelessSinkPartition[Y], function: Callable[[X], Y]) -> None:
        self._partition = partition
        self._function = function

    def write_batch(self, items: list[X]) -> None:
        self._partition.write_batch([self._function(item) for item in items])

    def close(self) -> None:
        self._partition.close()
