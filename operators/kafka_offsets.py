"""What runs beside the reading of a topic: offsets are committed to the group for lag tools, the topic is watched.

The recovery store alone decides where reading goes on. The group's offsets are a copy for people and their tools (lag
exporters, `kafka-consumer-groups`), so a failure to commit is logged, and never stops the reading. The same
thread looks whether the topic is still the one that was opened: a consumer does not notice when a topic is deleted and
made again, and would go on silently at the old offset. Nor does a dataflow take on partitions that are added to the
topic while it runs, so they are told of.
"""

import logging
import threading
import time
from collections.abc import Mapping

from kafka import TopicPartition
from kafka.errors import KafkaError as ClientError
from kafka.structs import OffsetAndMetadata

from operators.kafka_client import Admin, Topic
from operators.kafka_errors import KafkaProblem, KafkaUnavailable, TopicMissing, TopicReplaced
from schemas.settings import KafkaSettings

INTERVAL_S = 5.0
"""How often offsets are committed and the topic is looked at: lag tools sample every 15 to 60 s."""

_MISSING_LIMIT = 2
"""A broker that has just started may not know its topics yet, so one look that finds none is not believed."""

_TELL_AFTER = 2
_AGAIN_S = 0.1

log = logging.getLogger(__name__)


class GroupOffsets:
    """Commits the offsets of one topic in a thread of its own. `note` and `fault` may be used from any thread."""

    def __init__(self, kafka: KafkaSettings, topic: Topic) -> None:
        """Start the thread; it connects when it first has something to do."""
        self.fault: KafkaProblem | None = None
        self._kafka = kafka
        self._topic = topic
        self._partitions = len(topic.partitions)
        self._pending: dict[int, int] = {}
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._missing = 0
        self._in_a_row = 0
        self._admin: Admin | None = None
        self._thread = threading.Thread(target=self._run, name="kafka-group-offsets", daemon=True)
        self._thread.start()

    def note(self, partition: int, offset: int) -> None:
        """Have `offset`, the next one to be processed, committed for `partition` at the next turn. Never blocks."""
        with self._lock:
            self._pending[partition] = offset

    def close(self, last: Mapping[int, int] | None = None) -> None:
        """Commit what is noted and `last`, waiting `kafka.request_timeout_s` seconds at most, and end the thread."""
        with self._lock:
            self._pending.update(last or {})
        self._ending.set()
        self._thread.join(self._kafka.request_timeout_s)
        if self._thread.is_alive():
            log.warning("group %s: the last offsets were not committed in time", self._kafka.group)

    def _run(self) -> None:
        due = time.monotonic() + INTERVAL_S
        while not self._ending.wait(max(0.0, due - time.monotonic())):
            due = time.monotonic() + INTERVAL_S
            self._turn(look=True)
        give_up = time.monotonic() + self._kafka.request_timeout_s / 2
        while self._pending:
            self._turn(look=False)
            if time.monotonic() > give_up:
                break
            time.sleep(_AGAIN_S)
        self._drop_admin()

    def _turn(self, *, look: bool) -> None:
        with self._lock:
            taken, self._pending = self._pending, {}
        try:
            self._admin = self._admin or Admin(self._kafka)
            if look:
                self._look(self._admin)
            if taken:
                self._commit(self._admin, taken)
            self._in_a_row = 0
        except (KafkaProblem, ClientError) as error:
            with self._lock:
                self._pending = taken | self._pending
            self._failed(str(error))
            self._drop_admin()

    def _look(self, admin: Admin) -> None:
        """Set `fault` when the topic has gone, or is another one by the same name."""
        try:
            (now,) = admin.topics((self._topic.name,))
        except TopicMissing as missing:
            self._missing += 1
            if self._missing >= _MISSING_LIMIT:
                self.fault = missing
            return
        self._missing = 0
        self._tell_growth(len(now.partitions))
        if self._topic.topic_id and now.topic_id and now.topic_id != self._topic.topic_id:
            self.fault = TopicReplaced(self._topic.name, self._topic.topic_id, now.topic_id)

    def _tell_growth(self, partitions: int) -> None:
        """Warn once of each growth: until a restart, what is written to the new partitions is not read."""
        if partitions > self._partitions:
            log.warning(
                "topic %s has %d partitions now, and had %d at the start: restart to read the new ones from their "
                "beginning",
                *(self._topic.name, partitions, len(self._topic.partitions)),
            )
            self._partitions = partitions

    def _commit(self, admin: Admin, offsets: Mapping[int, int]) -> None:
        if not self._kafka.group:
            return
        rows = {TopicPartition(self._topic.name, part): OffsetAndMetadata(at, "", -1) for part, at in offsets.items()}
        answer = admin.client.alter_group_offsets(self._kafka.group, rows)
        refused = sorted({kind.__name__ for kind in answer.values() if kind.errno})
        if refused:
            msg = f"refused with {', '.join(refused)}; is kafka.group={self._kafka.group!r} used by other consumers?"
            raise KafkaUnavailable(msg)

    def _failed(self, reason: str) -> None:
        """Tell of it when it lasts: one failure is no news, for a new cluster first makes its topic of offsets."""
        self._in_a_row += 1
        if self._in_a_row == _TELL_AFTER:
            log.warning("group %s: offsets not committed, reading goes on: %s", self._kafka.group, reason)

    def _drop_admin(self) -> None:
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()
