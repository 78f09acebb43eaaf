"""The records topic: every outcome, keyed by scope. From it a bank can be built again without one model call."""

import msgspec

from operators.kafka_sink import KafkaSink, Outgoing
from operators.mapped_sink import MappedSink
from schemas.outcome import Outcome
from schemas.settings import KafkaSettings

_encode = msgspec.json.Encoder().encode


def records_sink(settings: KafkaSettings) -> MappedSink[Outcome, Outgoing]:
    """Return a sink for `kafka.records_topic`."""
    topic = settings.records_topic
    return MappedSink(
        KafkaSink(settings), lambda outcome: Outgoing(topic, outcome.scope.key().encode(), _encode(outcome), whole=True)
    )
