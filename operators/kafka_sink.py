"""Messages to Kafka, as a Bytewax sink: a batch is written when the broker has acknowledged every message of it.

The producer is idempotent, so its own retries put nothing twice. After a crash Bytewax plays back the epoch that was
not finished, and its messages are written again: at least once.
"""

import time
from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from kafka import KafkaProducer
from kafka.errors import KafkaError as ClientError
from kafka.errors import MessageSizeTooLargeError, RecordListTooLargeError
from typing_extensions import override

from operators.kafka_client import Admin, connect, producer_config
from operators.kafka_errors import KafkaUnavailable, MessageTooLarge
from schemas.settings import KafkaSettings

DELIVERY_S = 30.0
"""Seconds that one batch may take: a broker that restarts is back within them."""

ORIGINAL_SIZE = "strandline-original-size"
"""Header of a message that was cut: how many bytes its value had."""

_HEADS = (262_144, 16_384)
"""Bytes kept of a value that the broker refuses for its size, in this order; its default limit is 1,048,588 bytes."""

_OWN_HEADERS = "strandline-"
_CLOSE_S = 5.0
_TOO_LARGE = (MessageSizeTooLargeError, RecordListTooLargeError)


class Outgoing(msgspec.Struct, frozen=True, gc=False):
    """One message for a topic.

    When the broker refuses it for its size, its head is sent instead, with the original size in the header
    `ORIGINAL_SIZE`; with `whole` that would be of no use, and `MessageTooLarge` is raised.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    whole: bool = False


class KafkaSink(DynamicSink[Outgoing]):
    """Writes to whatever topics the messages name; they must be there.

    Raises, when Bytewax starts it: `KafkaUnavailable`. While it runs: `KafkaUnavailable`, `TopicMissing`,
    `MessageTooLarge`.
    """

    def __init__(self, kafka: KafkaSettings, delivery_timeout_s: float = DELIVERY_S) -> None:
        """Only remember the settings; `delivery_timeout_s` (seconds) bounds the writing of one batch."""
        self._kafka = kafka
        self._delivery_timeout_s = delivery_timeout_s

    @override
    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_Partition":
        return _Partition(self._kafka, self._delivery_timeout_s)


class _Partition(StatelessSinkPartition[Outgoing]):
    """One worker's producer.

    A message that is too large leaves kafka-python's idempotent producer in a fatal state, in which it refuses
    everything behind it with the same error. So the producer is replaced then, and each refused message is tried alone.
    """

    def __init__(self, kafka: KafkaSettings, delivery_timeout_s: float) -> None:
        self._kafka = kafka
        self._config = producer_config(kafka, delivery_timeout_s)
        self._flush_s = self._config["delivery_timeout_ms"] / 1000 + 1
        self._producer: Any = connect(KafkaProducer, kafka, self._config)

    @override
    def write_batch(self, items: list[Outgoing]) -> None:
        for item in self._write(items):
            if self._write([item]):
                self._write_head(item)

    @override
    def close(self) -> None:
        self._producer.close(timeout=_CLOSE_S)

    def _write(self, items: Sequence[Outgoing]) -> list[Outgoing]:
        """Send the messages and wait for all of them; return those that were refused because one is too large."""
        deadline = time.monotonic() + self._flush_s
        sent: list[tuple[Outgoing, Any]] = []
        refused: list[Outgoing] = []
        for item in items:
            try:
                sent.append((item, self._send(item)))
            except _TOO_LARGE:
                refused.append(item)
            except ClientError as error:
                self._fail(item.topic, error)
        try:
            self._producer.flush(timeout=max(0.0, deadline - time.monotonic()))
        except ClientError as error:
            self._fail(items[0].topic, error)
        for item, future in sent:
            if future.succeeded():
                continue
            if not isinstance(future.exception, _TOO_LARGE):
                self._fail(item.topic, future.exception)
            refused.append(item)
        if refused:
            self._producer.close(timeout=_CLOSE_S)
            self._producer = connect(KafkaProducer, self._kafka, self._config)
        return refused

    def _send(self, item: Outgoing) -> Any:
        value = b"" if item.value is None and item.key is None else item.value
        return self._producer.send(item.topic, value=value, key=item.key, headers=list(item.headers))

    def _write_head(self, item: Outgoing) -> None:
        """Send what the broker will take of a message: its head, at last without key and foreign headers."""
        value = item.value or b""
        size = (ORIGINAL_SIZE, str(len(value)).encode())
        if not item.whole:
            own = tuple(header for header in item.headers if header[0].startswith(_OWN_HEADERS))
            for limit in _HEADS:
                last = limit == _HEADS[-1]
                headers = (*(own if last else item.headers), size)
                head = Outgoing(item.topic, None if last else item.key, value[:limit], headers)
                if not self._write([head]):
                    return
        msg = (
            f"a message of {len(value)} bytes is too large for topic {item.topic!r} at {self._kafka.bootstrap}; raise "
            "the topic's max.message.bytes"
        )
        raise MessageTooLarge(msg)

    def _fail(self, topic: str, error: Exception | None) -> NoReturn:
        """Say why the topic cannot be written: the client itself often knows only that time ran out."""
        with Admin(self._kafka) as admin:
            admin.topics((topic,))
        msg = (
            f"topic {topic!r} at {self._kafka.bootstrap} cannot be written ({type(error).__name__}: {error}); "
            "check the rights and the broker"
        )
        raise KafkaUnavailable(msg) from error
