"""One consumer for all partitions that this process reads, with a bounded queue for each.

kafka-python runs a thread for every consumer, so the partitions share one. Whoever polls fills the queues of all; a
partition whose queue is full is held, so that a slow one neither stops the others nor fills the memory. To be held
means to be taken out of the assignment: after kafka-python's own `pause` and `resume` (3.0.12), fetched data can stay
parked for ever.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
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
"""A partition is held when so many times `batch_size` are queued, and let go at half of that."""

_IDLE_MIN_S = 0.001
_IDLE_MAX_S = 0.3
_IDLE_GROWTH = 1.3
"""Waits for data grow from the first to the second while none comes.

The wait blocks the worker on purpose: Bytewax's own loop wakes every millisecond, which alone is 3 % of a core. What
comes ends it at once; timers and results of calls under way are late by its length at most.
"""

_BETWEEN_S = 0.001
"""Pause between two waits, in which the other partitions of the worker, and its other steps, have their turn."""

_QUIET_S = 1.0
"""`until_end` waits for this silence past the end: the end that some brokers (Tansu) tell is below the true one."""

_SILENCE_LIMITS = 3
"""After so many request time-outs of silence before the end, the broker is asked whether it is still there."""

_LAG_EVERY_S = 1.0
_CLOSE_MS = 1000

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Track:
    """Where one partition stands: the offsets of the first message not handed out, and of the first not fetched."""

    partition: TopicPartition
    lag: Gauge
    next_offset: int
    fetch_offset: int
    end: int | None = None
    last_data: float = 0.0
    queue: deque[list[Message]] = field(default_factory=deque)
    queued: int = 0
    held: bool = False


class Reader:
    """Reads the partitions of `kafka.topic` that were added. Safe to use from several worker threads.

    `awake_at` is when a partition that has nothing should ask again: one time for all, so that they wake together.
    """

    def __init__(self, kafka: KafkaSettings, metrics: Metrics, *, until_end: bool) -> None:
        """Connect; raise `KafkaUnavailable` when that cannot be done."""
        self.awake_at = datetime.now(UTC)
        self._idle_s = _IDLE_MIN_S
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
        start = -1 if offset is None else offset
        track = Track(where, self._metrics.kafka_lag.labels(where.topic, str(partition)), start, start)
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
            if track.held and track.queued <= self._kafka.batch_size * _QUEUE_BATCHES // 2:
                track.held = False
                self._assign([track])
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
            self._waiting = [other for other in self._waiting if other is not track]
            if self._tracks:
                self._assign([])
            else:
                self._consumer.close(autocommit=False, timeout_ms=_CLOSE_MS)

    def close(self) -> None:
        """Stop reading everything."""
        for track in list(self._tracks.values()):
            self.finish(track)

    def _poll(self) -> None:
        """Put what the consumer has fetched into the queues; wait for it a little when nothing is queued."""
        if self._waiting:
            self._begin()
        now = time.monotonic()
        if now >= self._next_lag:
            self._next_lag = now + _LAG_EVERY_S
            self._show_lag()
        if now < self._next_poll:
            return
        woken_at = datetime.now(UTC)
        busy = any(track.queue for track in self._tracks.values())
        try:
            fetched = self._consumer.poll(timeout_ms=0 if busy else int(self._idle_s * 1000))
        except OffsetOutOfRangeError as error:
            for where, offset in error.args[0].items():
                self._out_of_range(self._tracks[where], offset)
            return
        except (ClientError, NotImplementedError) as error:  # the second is how the client tells a missing codec
            raise self._problem(error) from error
        now = time.monotonic()
        if not fetched:
            self._next_poll = now + _BETWEEN_S
            # Bytewax reckons the delay from when it woke the step, so a time after the wait would make it wait again.
            self.awake_at = woken_at + timedelta(seconds=_BETWEEN_S)
            self._idle_s = min(_IDLE_MAX_S, self._idle_s * _IDLE_GROWTH)
            return
        self._idle_s = _IDLE_MIN_S
        full = False
        for where, records in fetched.items():
            full |= self._queue(self._tracks[where], records, now)
        if full:
            self._assign([])

    def _queue(self, track: Track, records: Sequence[Any], now: float) -> bool:
        """Queue what was fetched for a partition; return whether that filled its queue, so that it is to be held."""
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
        track.fetch_offset = records[-1].offset + 1
        track.last_data = now
        track.held = track.queued >= self._kafka.batch_size * _QUEUE_BATCHES
        return track.held

    def _begin(self) -> None:
        """Assign the partitions that were added, each at its offset; ask for the ends that `until_end` needs."""
        added, self._waiting = self._waiting, []
        fresh = [track for track in added if track.next_offset < 0]
        for track, earliest in zip(fresh, self._ask_offsets("beginning_offsets", fresh), strict=True):
            track.next_offset = track.fetch_offset = earliest
            if earliest > 0:
                log.warning(
                    "topic %s partition %d begins at offset %d: what stood before was deleted before it could be read",
                    *(*track.partition, earliest),
                )
        if self._until_end:
            for track, end in zip(added, self._ask_offsets("end_offsets", added), strict=True):
                track.end = end
        now = time.monotonic()
        for track in added:
            track.last_data = now
        self._assign(added)

    def _assign(self, added: Sequence[Track]) -> None:
        """Read all partitions that are not held; the `added` ones are new, or were held until now."""
        active = [track.partition for track in self._tracks.values() if not track.held]
        if active:
            self._consumer.assign(active)
        for track in added:
            self._consumer.seek(track.partition, track.fetch_offset)

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
        track.fetch_offset = earliest
        self._consumer.seek(track.partition, earliest)

    def _settle(self, track: Track) -> None:
        """Step over what holds no message (transaction markers, compacted offsets) once the queue is empty."""
        if track.queue:
            return
        try:
            position = self._consumer.position(track.partition, timeout_ms=0)
        except ClientError as error:
            raise self._problem(error) from error
        track.next_offset = track.fetch_offset = max(track.fetch_offset, position or 0)

    def _show_lag(self) -> None:
        for track in self._tracks.values():
            if track.held:
                continue
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
            return KafkaUnavailable(
                f"{where} lost messages that were read already, or was deleted and made again; start with a new "
                "run.recovery_dir to read it from its start"
            )
        if isinstance(error, CorruptRecordError):
            return KafkaUnavailable(f"{where} holds a damaged batch ({error}); restore the partition or skip the batch")
        return KafkaUnavailable(
            f"{where} cannot be read ({type(error).__name__}: {error}); check the rights and the broker"
        )
