"""The Kafka sink on the embedded broker: acknowledged, readable, told when it cannot be."""

import time

import bytewax.operators as op
import pytest
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSource, run_main
from kafka_cases import new_topic, produce, read_to_end

from operators.embedded_broker import EmbeddedBroker
from operators.kafka_errors import KafkaUnavailable
from operators.kafka_sink import KafkaSink, Outgoing
from schemas.settings import KafkaSettings


def test_sink_writes_what_a_source_reads(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka)
    items = [
        Outgoing(kafka.topic, b"k%d" % number, b"v%d" % number, (("why", b"late"), ("n", b"%d" % number)))
        for number in range(500)
    ]
    items += [Outgoing(kafka.topic, b"gone", None), Outgoing(kafka.topic, None, None)]
    flow = Dataflow("write")
    op.output("out", op.input("in", flow, TestingSource(items, batch_size=100)), KafkaSink(kafka))
    run_main(flow)
    got = read_to_end(kafka)
    assert {(message.key, message.value, message.headers) for message in got[:]} == {
        *((item.key, item.value, item.headers) for item in items[:501]),
        (None, b"", ()),
    }
    assert len(got) == 502


def test_sink_keeps_the_order_of_a_key(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka)
    writer = KafkaSink(kafka).build("out", 0, 1)
    for start in range(0, 300, 100):
        writer.write_batch([Outgoing(kafka.topic, b"same", b"%d" % number) for number in range(start, start + 100)])
    writer.close()
    assert [int(message.value or b"") for message in read_to_end(kafka)] == list(range(300))


def test_sink_broker_that_goes_away_is_told_in_time() -> None:
    with EmbeddedBroker() as broker:
        kafka = new_topic(broker.bootstrap, request_timeout_s=1.0)
        writer = KafkaSink(kafka, delivery_timeout_s=2.0).build("out", 0, 1)
        writer.write_batch([Outgoing(kafka.topic, b"k", b"v")])
    began = time.monotonic()
    with pytest.raises(KafkaUnavailable, match="nothing listens"):
        writer.write_batch([Outgoing(kafka.topic, b"k", b"v")])
    assert time.monotonic() - began < 8


def test_sink_dead_address_is_told_when_the_flow_starts() -> None:
    with pytest.raises(KafkaUnavailable, match="nothing listens"):
        KafkaSink(KafkaSettings(bootstrap="127.0.0.1:1", request_timeout_s=1.0)).build("out", 0, 1)


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_source_reads_every_codec(embedded_kafka: str, codec: str) -> None:
    kafka = new_topic(embedded_kafka)
    produce(kafka, (b"%d" % number * 20 for number in range(300)), compression_type=codec)
    assert len(read_to_end(kafka)) == 300
