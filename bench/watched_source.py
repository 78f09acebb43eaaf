"""A Bytewax source with a stopwatch around it."""

from collections.abc import Iterable
from datetime import datetime

from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

from bench.stopwatch import Stopwatch
from operators.kafka_source import KafkaSource, Position
from schemas.message import Message

Partition = StatefulSourcePartition[Message, Position]


class WatchedSource(FixedPartitionedSource[Message, Position]):
    """Hands out what `source` hands out, as many messages as `watch` wants, and ends."""

    def __init__(self, source: KafkaSource, watch: Stopwatch) -> None:
        """Wrap `source`."""
        self._source = source
        self._watch = watch

    def list_parts(self) -> list[str]:
        """Return the partitions of the source."""
        return self._source.list_parts()

    def build_part(self, step_id: str, for_part: str, resume_state: Position | None) -> "_WatchedPartition":
        """Return one partition of the source."""
        return _WatchedPartition(self._source.build_part(step_id, for_part, resume_state), self._watch)


class _WatchedPartition(StatefulSourcePartition[Message, Position]):
    """Stops the watch when it is asked again after the last message: then what it gave before has gone its way."""

    def __init__(self, inner: Partition, watch: Stopwatch) -> None:
        self._inner = inner
        self._watch = watch
        self._gave_the_last = False

    def next_batch(self) -> Iterable[Message]:
        if self._gave_the_last:
            self._watch.finish()
        if not self._watch.left:
            raise StopIteration
        batch = list(self._inner.next_batch())[: self._watch.left]
        self._gave_the_last |= bool(batch) and self._watch.handed(len(batch))
        return batch

    def next_awake(self) -> datetime | None:
        return self._inner.next_awake()

    def snapshot(self) -> Position:
        return self._inner.snapshot()

    def close(self) -> None:
        self._inner.close()
