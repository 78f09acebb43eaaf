"""Messages from a Kafka topic, as a Bytewax source whose offsets live in the recovery store.

Where reading begins: at the snapshot when there is one, else at the earliest message; the group's committed offsets
are written for lag tools (see `kafka_offsets`) and never read. Each message is handed out once per run, in order within
its partition; after a crash those since the last snapshot come again (at least once). Partitions that are added to the
topic later are found at the next start.
"""

import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TypedDict

from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from typing_extensions import override

from operators.kafka_client import Admin, Topic
from operators.kafka_errors import TopicReplaced
from operators.kafka_offsets import GroupOffsets
from operators.kafka_reader import Reader, Track
from operators.metrics import Metrics
from schemas.message import Message
from schemas.settings import KafkaSettings

_ASK_AGAIN = timedelta(milliseconds=10)
"""How soon a partition that had to wait asks again whether more can be taken."""


class Position(TypedDict):
    """The snapshot of one partition: the next offset to read, and the id of the topic that it belongs to (or empty)."""

    offset: int
    topic_id: str


class _Partition(StatefulSourcePartition[Message, Position]):
    """One partition; the reader behind it is shared with the others."""

    def __init__(
        self, source: "KafkaSource", reader: Reader, offsets: GroupOffsets, track: Track, topic_id: str
    ) -> None:
        self._source = source
        self._reader = reader
        self._offsets = offsets
        self._track = track
        self._topic_id = topic_id
        self._before: int | None = None
        self._idle = False
        self._waits = False

    @override
    def next_batch(self) -> Iterable[Message]:
        if self._source.stop.is_set():
            raise StopIteration
        if self._offsets.fault is not None:
            raise self._offsets.fault
        self._waits = not self._source.ready()
        if self._waits:
            self._track.last_data = monotonic()  # time in which nobody asked is not the silence that ends a partition
            self._source.on_poll(self._track.partition.partition, False)
            return []
        batch = self._reader.take(self._track)
        self._idle = not batch
        self._source.on_poll(self._track.partition.partition, len(batch) < self._source.batch_size)
        if self._idle and self._source.until_end and self._reader.at_end(self._track):
            raise StopIteration
        return batch

    @override
    def next_awake(self) -> datetime | None:
        if self._waits:
            return datetime.now(UTC) + _ASK_AGAIN
        if self._idle:
            return self._reader.awake_at
        return None

    @override
    def snapshot(self) -> Position:
        """Return the position, and have the one of the snapshot before committed: that epoch is surely done."""
        offset = self._track.next_offset
        if self._before is not None and self._source.commits:
            self._offsets.note(self._track.partition.partition, self._before)
        self._before = offset if offset >= 0 else None
        return {"offset": offset, "topic_id": self._topic_id}

    @override
    def close(self) -> None:
        self._source.ended[self._track.partition.partition] = self._track.next_offset
        self._reader.finish(self._track)


class KafkaSource(FixedPartitionedSource[Message, Position]):
    """The partitions of `kafka.topic`.

    When `stop` is set, every partition ends at once and its position goes into the last snapshot: that is how SIGTERM
    stops a run without losing anything. With `until_end` a partition ends when it has passed the end offset that it had
    at the start and nothing more came for a second. `share=(i, n)` reads only the partitions p with p mod n = i, for n
    processes that share nothing.

    Raises, when Bytewax starts it: `KafkaUnavailable`, `TopicMissing`, `TopicReplaced`. While it runs: `OffsetGap`,
    `OffsetPastEnd`, `TopicReplaced`, `TopicMissing`, `CodecMissing`, `KafkaUnavailable`.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        metrics: Metrics,
        stop: threading.Event,
        *,
        until_end: bool = False,
        share: tuple[int, int] = (0, 1),
        on_poll: Callable[[int, bool], None] = lambda partition, drained: None,
        ready: Callable[[], bool] = lambda: True,
        commits: bool = True,
    ) -> None:
        """Only remember the settings; nothing connects before the dataflow starts.

        `on_poll` is told of every poll, idle or not: the partition, and whether the poll took all there was.
        While `ready` is false nothing is handed out, and no partition ends; a poll then never counts as drained.
        Without `commits` the group's offsets stay as they are.
        """
        self.on_poll = on_poll
        self.commits = commits
        self.ready = ready
        self.batch_size = kafka.batch_size
        self.stop = stop
        self.until_end = until_end
        self.ended: dict[int, int] = {}
        self._kafka = kafka
        self._metrics = metrics
        self._share = share
        self._lock = threading.Lock()
        self._topic: Topic | None = None
        self._reader: Reader | None = None
        self._offsets: GroupOffsets | None = None

    @override
    def list_parts(self) -> list[str]:
        index, count = self._share
        return [f"{self._kafka.topic}/{part}" for part in self._describe().partitions if part % count == index]

    @override
    def build_part(self, step_id: str, for_part: str, resume_state: Position | None) -> _Partition:
        topic = self._describe()
        offset = None
        if resume_state is not None and resume_state["offset"] >= 0:
            was = resume_state["topic_id"]
            if was and topic.topic_id and was != topic.topic_id:
                raise TopicReplaced(topic.name, was, topic.topic_id)
            offset = resume_state["offset"]
        with self._lock:
            self._reader = self._reader or Reader(self._kafka, self._metrics, until_end=self.until_end)
            self._offsets = self._offsets or GroupOffsets(self._kafka, topic)
            track = self._reader.add(int(for_part.rpartition("/")[2]), offset)
            return _Partition(self, self._reader, self._offsets, track, topic.topic_id)

    def close(self, *, done: bool) -> None:
        """Let go of the connections after the dataflow has returned; call it once.

        `done`: it returned without an error, so what was handed out is processed and is committed to the group too.
        """
        if self._reader is not None:
            self._reader.close()
        if self._offsets is not None:
            self._offsets.close(self.ended if done and self.commits else None)

    def _describe(self) -> Topic:
        with self._lock:
            if self._topic is None:
                with Admin(self._kafka) as admin:
                    (self._topic,) = admin.topics((self._kafka.topic,))
            return self._topic
