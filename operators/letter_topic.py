"""Letters in a topic of Kafka. How far they were replayed are the offsets of a consumer group of their own.

So any machine can go on where another ended, and the group's lag, which every Kafka tool shows, is the number of
letters that wait for a replay. Where the broker has let go of the offsets (by default after a week without a replay),
the topic is read from its start, which changes no bank.
"""

import threading
import time
from collections.abc import Iterator, Mapping

from kafka import TopicPartition
from kafka.errors import KafkaError as ClientError
from kafka.structs import OffsetAndMetadata

from operators.dead_letter import LetterKind, topics
from operators.kafka_client import Admin, Topic
from operators.kafka_errors import KafkaProblem, KafkaUnavailable, OffsetPastEnd
from operators.kafka_reader import Reader, Track
from operators.kafka_sink import ORIGINAL_SIZE
from operators.letters import Found, LetterBroken, letter_of
from operators.metrics import Metrics
from schemas.message import Message
from schemas.settings import KafkaSettings

_BATCH = 20
"""Letters taken at once: each may hold a hundred kilobytes."""

_BETWEEN_S = 0.002

_PAST_END_S = 3.0
"""How long a partition is read past the end it had at the start, if no silence ends it before: the end that some
brokers state is below the true one (see `kafka_reader`), and one that is written to without a pause is never silent."""


class LetterTopic:
    """The letters of one kind in its topic."""

    def __init__(self, kafka: KafkaSettings, kind: LetterKind, metrics: Metrics, stop: threading.Event) -> None:
        """Look whether the topic is there; `stop` ends the reading.

        Raises:
            KafkaProblem: Kafka cannot be reached, or there is no such topic.
        """
        topic = topics(kafka)[kind]
        self._kafka = kafka.model_copy(update={"topic": topic, "on_gap": "earliest", "batch_size": _BATCH})
        self._group = f"{kafka.group or 'strandline'}-replay-{kind}"
        self._metrics = metrics
        self._stop = stop
        self._topic = self._described()

    @property
    def name(self) -> str:
        """The topic and where it is."""
        return f"topic {self._topic.name}"

    def read(self, *, from_start: bool) -> Iterator[Found]:
        """Give the letters from the group's offsets, or from the first, to the end as it is now, or seconds later.

        Raises:
            KafkaProblem: it cannot be read.
        """
        begin = {} if from_start else self._offsets()
        over_at: dict[int, float] = {}
        reader = Reader(self._kafka, self._metrics, until_end=True)
        try:
            tracks = [reader.add(part, begin.get(part)) for part in self._topic.partitions]
            while tracks and not self._stop.is_set():
                for track in list(tracks):
                    yield from map(_found, reader.take(track))
                    if reader.at_end(track) or _is_over(track, over_at):
                        tracks.remove(track)
                        reader.finish(track)
                time.sleep(_BETWEEN_S)
        except OffsetPastEnd as error:
            msg = f"{error.args[0].partition(';')[0]}; give --again to read it from its start"
            raise KafkaProblem(msg) from error
        finally:
            reader.close()

    def done(self, positions: Mapping[str, int]) -> None:
        """Commit the offsets to the group.

        Raises:
            KafkaUnavailable: the broker refuses, or cannot be reached.
        """
        rows = {
            TopicPartition(self._topic.name, int(part)): OffsetAndMetadata(offset, "", -1)
            for part, offset in positions.items()
        }
        if not rows:
            return
        with Admin(self._kafka) as admin:
            try:
                answer = admin.client.alter_group_offsets(self._group, rows)
            except ClientError as error:
                raise self._refused(type(error).__name__) from error
        refused = sorted({kind.__name__ for kind in answer.values() if kind.errno})
        if refused:
            raise self._refused(", ".join(refused))

    def _offsets(self) -> dict[int, int]:
        where = [TopicPartition(self._topic.name, part) for part in self._topic.partitions]
        with Admin(self._kafka) as admin:
            try:
                found = admin.client.list_group_offsets({self._group: where})[self._group]
            except ClientError as error:
                raise self._refused(type(error).__name__) from error
        return {place.partition: row.offset for place, row in found.items() if row.offset >= 0}

    def _refused(self, reason: str) -> KafkaUnavailable:
        return KafkaUnavailable(
            f"the offsets of group {self._group!r} at {self._kafka.bootstrap} cannot be read or committed ({reason}); "
            "grant this user the right to the group; the next replay reads the same letters again"
        )

    def _described(self) -> Topic:
        with Admin(self._kafka) as admin:
            (topic,) = admin.topics((self._kafka.topic,))
        return topic


def _is_over(track: Track, over_at: dict[int, float]) -> bool:
    """Say whether a partition that is still being written to has been read for long enough past its end."""
    if track.end is None or track.next_offset < track.end:
        return False
    return time.monotonic() > over_at.setdefault(track.partition.partition, time.monotonic() + _PAST_END_S)


def _found(message: Message) -> Found:
    where = f"topic {message.topic} partition {message.partition} offset {message.offset}"
    after = (str(message.partition), message.offset + 1)
    try:
        return Found(where, after, letter_of(message.value or b""))
    except LetterBroken as error:
        size = dict(message.headers).get(ORIGINAL_SIZE)
        cut = f"; it was cut, its {size.decode(errors='replace')} bytes were too large for the topic" if size else ""
        return Found(where, after, fault=f"{error}{cut}")
