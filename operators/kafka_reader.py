"""One consumer for all partitions that this process reads, with a bounded queue for each.

kafka-python runs a thread for every consumer, so the partitions share one. Whoever polls fills the queues of all; a
partition whose queue is full is paused, so that a slow one neither holds up the others nor fills the memory.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import CorruptRecordError, LogTruncationError, OffsetOutOfRangeError, UnsupportedCodecError
from kafka.errors import KafkaError as ClientError
from prometheus_client import Gauge

from operators.kafka_client import connect, consumer_config
from operators.kafka_errors import CodecMissing, KafkaProblem, KafkaUnavailable, OffsetGap, OffsetPastEnd
from operators.metrics import Metrics
from schemas.message import Message
from schemas.settings import KafkaSettings

_QUEUE_BATCHES = 4
"""A queue holds this many times `batch_size` before its partition is paused, and half of it before it is resumed."""

_IDLE_MIN_S = 0.001
_IDLE_MAX_S = 0.05
"""Pauses between polls that bring nothing double between these two: 20 polls a second cost an idle process some 1 %."""

_QUIET_S = 1.0
"""`until_end` waits for this silence past the end: on some brokers (Tansu) the end offset told is lower than the true one."""

_SILENCE_LIMITS = 3
"""After so many request time-outs of silence before the end, the broker is asked whether it is still there."""

_LAG_EVERY_S = 1.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Track:
    """Where one partition stands. `next_offset` is that of the first message not handed out yet."""

    partition: TopicPartition
    lag: Gauge
    next_offset: int = -1
    end: int | None = None
    last_data: float = 0.0
    queue: deque[list[Message]] = field(default_factory=deque)
    queued: int = 0
    paused: bool = False


class Reader:
    """Reads the partitions of `kafka.topic` that were added. Safe to use from several worker threads."""

    def __init__(self, kafka: KafkaSettings, metrics: Metrics, *, until_end: bool) -> None:
        """Connect; raise `KafkaUnavailable` when that cannot be done."""
        self.idle_s = _IDLE_MIN_S
        self._kafka = kafka
        self._metrics = metrics
        self._until_end = until_end
        self._lock = threading.RLock()
        self._tracks: dict[TopicPartition, Track] = {}
        self._waiting: list[Track] = []
        self._next_poll = 0.0
        self._next_lag = 0.0
        self._consumer: Any = connect(KafkaConsumer, kafka, consumer_config(kafka))

    def add(self, partition: int, offset: int | None) -> Track:
        """Begin with `partition` at `offset`, or at its first message when that is None."""
        where = TopicPartition(self._kafka.topic, partition)
        track = Track(where, self._metrics.kafka_lag.labels(where.topic, str(partition)))
        track.next_offset = -1 if offset is None else offset
        with self._lock:
            self._tracks[where] = track
            self._waiting.append(track)
        return track

    def take(self, track: Track) -> list[Message]:
        """Return the next messages of a partition, at most `batch_size`; none when there are none right now.

        Raises:
            KafkaProblem: OffsetGap, OffsetPastEnd, CodecMissing, or KafkaUnavailable when reading is refused.
        """
        with self._lock:
            if not track.queue:
                self._poll()
                if not track.queue:
                    return []
            batch = track.queue.popleft()
            track.queued -= len(batch)
            track.next_offset = batch[-1].offset + 1
            if track.paused and track.queued <= self._kafka.batch_size * _QUEUE_BATCHES // 2:
                self._consumer.resume(track.partition)
                track.paused = False
            return batch

    def at_end(self, track: Track) -> bool:
        """Whether a partition read `until_end` has come to the end it had at the start, and is quiet."""
        with self._lock:
            if track.queue or track.end is None:
                return False
            self._settle(track)
            silence_s = time.monotonic() - track.last_data
            if track.next_offset >= track.end:
                return silence_s >= _QUIET_S
            if silence_s > _SILENCE_LIMITS * self._kafka.request_timeout_s:
                self._ask_offsets("end_offsets", [track])
                track.last_data = time.monotonic()
            return False

    def finish(self, track: Track) -> None:
        """Stop reading a partition; the last one closes the consumer."""
        with self._lock:
            if self._tracks.pop(track.partition, None) is None:
                return
            if track in self._waiting:
                self._waiting.remove(track)
            elif self._tracks:
                self._consumer.pause(track.partition)
            if not self._tracks:
                self._consumer.close(autocommit=False, timeout_ms=1000)

    def close(self) -> None:
        """Stop reading everything."""
        for track in list(self._tracks.values()):
            self.finish(track)

    def _poll(self) -> None:
        """Put what the consumer has fetched into the queues; returns at once."""
        if self._waiting:
            self._begin()
        now = time.monotonic()
        if now >= self._next_lag:
            self._next_lag = now + _LAG_EVERY_S
            self._show_lag()
        if now < self._next_poll:
            return
        try:
            fetched = self._consumer.poll(timeout_ms=0)
        except OffsetOutOfRangeError as error:
            for where, offset in error.args[0].items():
                self._out_of_range(self._tracks[where], offset)
            return
        except (ClientError, NotImplementedError) as error:
            raise self._problem(error) from error
        if not fetched:
            self._next_poll = now + self.idle_s
            self.idle_s = min(_IDLE_MAX_S, self.idle_s * 2)
            return
        self.idle_s = _IDLE_MIN_S
        for where, records in fetched.items():
            track = self._tracks.get(where)
            if track is not None:
                self._queue(track, records, now)

    def _queue(self, track: Track, records: Sequence[Any], now: float) -> None:
        topic, partition = track.partition
        track.queue.append(
            [
                Message(
                    record.value,
                    topic,
                    partition,
                    record.offset,
                    record.timestamp if record.timestamp > 0 else 0,
                    record.key,
                    tuple([(name, value or b"") for name, value in record.headers]) if record.headers else (),
                )
                for record in records
            ]
        )
        track.queued += len(records)
        track.last_data = now
        if not track.paused and track.queued >= self._kafka.batch_size * _QUEUE_BATCHES:
            self._consumer.pause(track.partition)
            track.paused = True

    def _begin(self) -> None:
        """Assign the partitions that were added, each at its offset; ask for the ends that `until_end` needs."""
        added, self._waiting = self._waiting, []
        fresh = [track for track in added if track.next_offset < 0]
        for track, earliest in zip(fresh, self._ask_offsets("beginning_offsets", fresh), strict=True):
            track.next_offset = earliest
            if earliest > 0:
                log.warning(
                    "topic %s partition %d begins at offset %d: what stood before was deleted before it could be read",
                    *(*track.partition, earliest),
                )
        if self._until_end:
            for track, end in zip(added, self._ask_offsets("end_offsets", added), strict=True):
                track.end = end
        self._consumer.assign(list(self._tracks))
        now = time.monotonic()
        for track in added:
            track.last_data = now
            self._consumer.seek(track.partition, track.next_offset)

    def _ask_offsets(self, question: str, tracks: Sequence[Track]) -> list[int]:
        if not tracks:
            return []
        try:
            found = getattr(self._consumer, question)([track.partition for track in tracks])
        except ClientError as error:
            raise self._problem(error) from error
        return [int(found[track.partition]) for track in tracks]

    def _out_of_range(self, track: Track, offset: int) -> None:
        """Deal with messages that are gone, as `kafka.on_gap` says; `offset` is where we wanted to read on."""
        topic, partition = track.partition
        (earliest,) = self._ask_offsets("beginning_offsets", [track])
        if offset > earliest:
            (end,) = self._ask_offsets("end_offsets", [track])
            raise OffsetPastEnd(topic, partition, offset, end)
        if offset < earliest:
            gap = OffsetGap(topic, partition, offset, earliest)
            if self._kafka.on_gap == "fail":
                raise gap
            log.warning("going on behind a gap: %s", gap)
            self._metrics.offset_gap.inc(earliest - offset)
        self._consumer.seek(track.partition, earliest)
        if not track.queue:
            track.next_offset = earliest

    def _settle(self, track: Track) -> None:
        """Step over what holds no message (transaction markers, compacted offsets) once the queue is empty."""
        if not track.queue and track not in self._waiting:
            try:
                position = self._consumer.position(track.partition, timeout_ms=0)
            except ClientError as error:
                raise self._problem(error) from error
            track.next_offset = max(track.next_offset, position or 0)

    def _show_lag(self) -> None:
        for track in self._tracks.values():
            self._settle(track)
            end = self._consumer.highwater(track.partition)
            if end is not None:
                track.lag.set(max(0, end - track.next_offset))

    def _problem(self, error: Exception) -> KafkaProblem:
        """Return what a user can make of the client's error."""
        where = f"topic {self._kafka.topic!r} at {self._kafka.bootstrap}"
        if isinstance(error, (UnsupportedCodecError, NotImplementedError)):
            return CodecMissing(
                f"{where} holds messages compressed with a codec that is not installed here ({error}); "
                "for snappy: pip install python-snappy"
            )
        if isinstance(error, LogTruncationError):
            return KafkaUnavailable(f"{where} lost messages that were read already ({error}); resume from its start")
        if isinstance(error, CorruptRecordError):
            return KafkaUnavailable(f"{where} holds a damaged batch ({error}); restore the partition or skip the batch")
        return KafkaUnavailable(
            f"{where} cannot be read ({type(error).__name__}: {error}); check the rights and the broker"
        )
