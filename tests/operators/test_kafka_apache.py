"""What only Apache Kafka shows: retention, authentication, TLS, transactions, limits of size, topics made anew."""

import importlib.util
import threading
import time

import pytest
from infra.apache_kafka import PASSWORD, USER, ApacheKafka
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka_cases import new_topic, places, produce, pump, read_to_end

from operators import kafka_offsets
from operators.kafka_client import Admin, check
from operators.kafka_errors import (
    CodecMissing,
    KafkaUnavailable,
    MessageTooLarge,
    OffsetGap,
    OffsetPastEnd,
    TopicMissing,
    TopicReplaced,
)
from operators.kafka_sink import ORIGINAL_SIZE, KafkaSink, Outgoing
from operators.kafka_source import KafkaSource
from operators.metrics import Metrics
from schemas.settings import KafkaSettings

pytestmark = pytest.mark.kafka


def _admin(kafka: KafkaSettings) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=kafka.bootstrap)


def _delete_until(kafka: KafkaSettings, partition: int, offset: int) -> None:
    with _admin(kafka) as admin:
        admin.delete_records({TopicPartition(kafka.topic, partition): offset})


def _configure(kafka: KafkaSettings, **options: str) -> None:
    with _admin(kafka) as admin:
        admin.delete_topics([kafka.topic])
        settings = {name.replace("_", "."): value for name, value in options.items()}
        deadline = time.monotonic() + 20
        while kafka.topic in admin.list_topics():
            assert time.monotonic() < deadline, "the topic does not go away"
            time.sleep(0.1)
        admin.create_topics(
            {kafka.topic: {"num_partitions": 1, "replication_factor": 1, "configs": settings}}, wait_for_metadata=True
        )


def test_source_reads_every_message_once_and_commits(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, batch_size=200)
    produce(kafka, (b"%d" % number for number in range(20_000)))
    got = read_to_end(kafka)
    assert sorted(int(message.value or b"") for message in got) == list(range(20_000))
    with Admin(kafka) as admin:
        committed = admin.client.list_group_offsets({kafka.group: None})[kafka.group]
    assert sum(row.offset for row in committed.values()) == 20_000


def test_source_resumes_where_the_snapshot_stands(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, batch_size=50)
    produce(kafka, (b"%d" % number for number in range(2000)))
    source = KafkaSource(kafka, Metrics(), threading.Event())
    first, snapshots = pump(source, at_most=900)
    source.close(done=False)
    source = KafkaSource(kafka, Metrics(), threading.Event(), until_end=True)
    rest, _ = pump(source, resume=snapshots)
    source.close(done=True)
    assert len(set(places(first + rest))) == len(first) + len(rest) == 2000


def _snapshot_at(kafka: KafkaSettings, count: int) -> dict[str, dict[str, object]]:
    source = KafkaSource(kafka, Metrics(), threading.Event())
    got, snapshots = pump(source, at_most=count)
    source.close(done=False)
    assert len(got) == count
    return snapshots


def test_source_gap_fails_and_says_what_is_lost(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, partitions=1, batch_size=10)
    produce(kafka, (b"%d" % number for number in range(100)))
    snapshots = _snapshot_at(kafka, 20)
    _delete_until(kafka, 0, 60)
    source = KafkaSource(kafka, Metrics(), threading.Event(), until_end=True)
    with pytest.raises(OffsetGap, match=r"40 offsets are lost.*kafka\.on_gap=earliest") as gap:
        pump(source, resume=snapshots)
    source.close(done=False)
    assert (gap.value.topic, gap.value.partition, gap.value.expected, gap.value.earliest) == (kafka.topic, 0, 20, 60)


def test_source_gap_goes_on_at_the_earliest_and_counts(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, partitions=1, batch_size=10, on_gap="earliest")
    produce(kafka, (b"%d" % number for number in range(100)))
    snapshots = _snapshot_at(kafka, 20)
    _delete_until(kafka, 0, 60)
    metrics = Metrics()
    source = KafkaSource(kafka, metrics, threading.Event(), until_end=True)
    got, last = pump(source, resume=snapshots)
    source.close(done=True)
    assert [message.offset for message in got] == list(range(60, 100))
    assert metrics.total("strandline_offset_gap_events_total") == 40
    assert last[f"{kafka.topic}/0"]["offset"] == 100


def test_source_without_snapshot_starts_behind_what_was_deleted(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    produce(kafka, (b"%d" % number for number in range(30)))
    _delete_until(kafka, 0, 30)
    produce(kafka, [b"new"])
    assert [message.offset for message in read_to_end(kafka)] == [30]


def test_source_position_past_the_end_fails(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    produce(kafka, [b"one"])
    source = KafkaSource(kafka, Metrics(), threading.Event())
    with pytest.raises(OffsetPastEnd, match="ends at 1"):
        pump(source, resume={f"{kafka.topic}/0": {"offset": 50, "topic_id": ""}})
    source.close(done=False)


def test_source_topic_made_anew_while_reading_is_noticed(
    apache_kafka: ApacheKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_offsets, "INTERVAL_S", 0.2)
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    produce(kafka, [b"old"])
    source = KafkaSource(kafka, Metrics(), threading.Event())
    part = source.build_part("in", source.list_parts()[0], None)
    deadline = time.monotonic() + 20
    while not list(part.next_batch()):
        assert time.monotonic() < deadline
    _configure(kafka)
    with pytest.raises((TopicReplaced, TopicMissing, OffsetPastEnd)):
        while time.monotonic() < deadline:
            assert list(part.next_batch()) == []
            time.sleep(0.05)
    source.close(done=False)


def test_source_steps_over_transactions_and_hides_aborted_ones(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap, transactional_id=f"tx-{kafka.topic}")
    producer.init_transactions()
    for value, keep in ((b"a", True), (b"b", False), (b"c", True)):
        producer.begin_transaction()
        producer.send(kafka.topic, value)
        if keep:
            producer.commit_transaction()
        else:
            producer.flush()
            producer.abort_transaction()
    producer.close()
    metrics = Metrics()
    assert [message.value for message in read_to_end(kafka, metrics)] == [b"a", b"c"]
    assert metrics.total("strandline_offset_gap_events_total") == 0
    assert metrics.total("strandline_kafka_lag") == 0


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_source_reads_what_a_jvm_compressed(apache_kafka: ApacheKafka, codec: str) -> None:
    """The broker packs a batch anew, with Java's codecs, when the topic's compression.type is not the producer's."""
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    _configure(kafka, compression_type=codec)
    values = [b"%d" % number * 200 for number in range(300)]
    produce(kafka, values)
    assert [message.value for message in read_to_end(kafka)] == values


def test_source_codec_that_is_not_installed_is_named(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    _configure(kafka, compression_type="snappy")
    produce(kafka, [b"x" * 500])
    if importlib.util.find_spec("snappy") is None:
        with pytest.raises(CodecMissing, match="pip install python-snappy"):
            pump(KafkaSource(kafka, Metrics(), threading.Event(), until_end=True))
    else:
        assert [message.value for message in read_to_end(kafka)] == [b"x" * 500]


def test_sink_missing_topic_is_named(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, request_timeout_s=1.0)
    writer = KafkaSink(kafka, delivery_timeout_s=2.0).build("out", 0, 1)
    with pytest.raises(TopicMissing, match="no topic 'never-made'"):
        writer.write_batch([Outgoing("never-made", b"k", b"v")])
    writer.close()


def test_sink_oversize_letter_keeps_its_head_and_says_so(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    _configure(kafka, max_message_bytes="100000", compression_type="uncompressed")
    writer = KafkaSink(kafka).build("out", 0, 1)
    noise = bytes(range(256)) * 8000
    origin = ("strandline-from", b"events/3/17")
    huge = Outgoing(kafka.topic, b"key", noise, (origin, ("trace", b"t" * 200_000)))
    writer.write_batch([Outgoing(kafka.topic, b"k", b"before"), huge, Outgoing(kafka.topic, b"k", b"behind")])
    writer.write_batch([Outgoing(kafka.topic, b"k", b"after")])
    writer.close()
    got = {message.value: message for message in read_to_end(kafka)}
    head = noise[:16_384]
    assert set(got) == {b"before", b"behind", b"after", head}
    assert dict(got[head].headers) == {"strandline-from": b"events/3/17", ORIGINAL_SIZE: b"2048000"}


def test_sink_oversize_message_that_must_be_whole_is_an_error(apache_kafka: ApacheKafka) -> None:
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    _configure(kafka, max_message_bytes="100000", compression_type="uncompressed")
    writer = KafkaSink(kafka).build("out", 0, 1)
    with pytest.raises(MessageTooLarge, match=r"200000 bytes .* raise the topic's max\.message\.bytes"):
        writer.write_batch([Outgoing(kafka.topic, b"k", bytes(range(250)) * 800, whole=True)])
    writer.close()


def _sasl(apache_kafka: ApacheKafka, **more: object) -> KafkaSettings:
    if not apache_kafka.sasl:
        pytest.skip("the broker of KAFKA_BOOTSTRAP has no SASL listener that is known here")
    settings = {"bootstrap": apache_kafka.sasl, "security_protocol": "SASL_PLAINTEXT", "sasl_username": USER}
    return KafkaSettings(**(settings | {"sasl_password": PASSWORD} | more))


def test_check_right_password_is_let_in(apache_kafka: ApacheKafka) -> None:
    check(_sasl(apache_kafka), topics=())


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_check_wrong_password_names_the_user_and_not_the_password(apache_kafka: ApacheKafka, mechanism: str) -> None:
    wrong = _sasl(apache_kafka, sasl_password="not-the-word", sasl_mechanism=mechanism)
    began = time.monotonic()
    with pytest.raises(KafkaUnavailable) as told:
        check(wrong)
    assert time.monotonic() - began < 10
    assert str(told.value) == (
        f"authentication failed for user '{USER}' with {mechanism} at {wrong.bootstrap}; check kafka.sasl_username, "
        "kafka.sasl_password and kafka.sasl_mechanism"
    )


def test_check_wrong_mechanism_lists_those_on_offer(apache_kafka: ApacheKafka) -> None:
    with pytest.raises(KafkaUnavailable, match=r"does not offer .*SCRAM-SHA-512.* one of: PLAIN, SCRAM-SHA-256"):
        check(_sasl(apache_kafka, sasl_mechanism="SCRAM-SHA-512"))


def test_check_protocol_that_does_not_fit_the_port_is_told(apache_kafka: ApacheKafka) -> None:
    there = _sasl(apache_kafka)
    with pytest.raises(KafkaUnavailable, match=r"wants SASL .*; set it to SASL_PLAINTEXT"):
        check(KafkaSettings(bootstrap=there.bootstrap))
    with pytest.raises(KafkaUnavailable, match="wants no SASL.*; set it to PLAINTEXT"):
        check(there.model_copy(update={"bootstrap": apache_kafka.bootstrap}))
    with pytest.raises(KafkaUnavailable, match="does not speak TLS"):
        check(KafkaSettings(bootstrap=apache_kafka.bootstrap, security_protocol="SSL"))
    with pytest.raises(KafkaUnavailable, match="does this port want TLS"):
        check(KafkaSettings(bootstrap=apache_kafka.tls, request_timeout_s=2.0))


def test_check_tls_trusts_only_the_named_authority(apache_kafka: ApacheKafka) -> None:
    if not apache_kafka.tls:
        pytest.skip("the broker of KAFKA_BOOTSTRAP has no TLS listener that is known here")
    with pytest.raises(KafkaUnavailable, match=r"is not trusted .*kafka\.ssl_cafile"):
        check(KafkaSettings(bootstrap=apache_kafka.tls, security_protocol="SSL"))
    check(KafkaSettings(bootstrap=apache_kafka.tls, security_protocol="SSL", ssl_cafile=apache_kafka.cafile), topics=())
