"""The Kafka source on the embedded broker: everything once, resumed, stopped, bounded."""

import resource
import threading
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import bytewax.operators as op
import pytest
from bytewax.dataflow import Dataflow
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import TestingSink, run_main
from kafka_cases import new_topic, places, produce, pump, read_to_end

from operators.kafka_client import Admin, check
from operators.kafka_errors import TopicMissing, TopicReplaced
from operators.kafka_reader import Reader
from operators.kafka_source import KafkaSource
from operators.metrics import Metrics
from schemas.message import Message
from schemas.settings import KafkaSettings


def test_source_reads_every_message_once(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka, batch_size=100)
    produce(kafka, (b"%d" % number for number in range(5000)))
    metrics = Metrics()
    got = read_to_end(kafka, metrics)
    assert sorted(int(message.value or b"") for message in got) == list(range(5000))
    per_partition = Counter(message.partition for message in got)
    assert len(per_partition) == 4
    assert places(got) == [(part, at) for part, count in sorted(per_partition.items()) for at in range(count)]
    assert metrics.by_label("strandline_kafka_lag", "partition") == {"0": 0, "1": 0, "2": 0, "3": 0}


def test_source_carries_key_headers_time_and_tombstones(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka, partitions=1)
    before_ms = time.time_ns() // 1_000_000
    produce(kafka, [b"one"])
    (message,) = read_to_end(kafka)
    assert (message.value, message.key, message.headers) == (b"one", b"0", (("n", b"0"),))
    assert (message.topic, message.partition, message.offset) == (kafka.topic, 0, 0)
    assert before_ms <= message.ts_ms <= before_ms + 60_000


def test_source_until_end_ends_on_an_empty_topic_and_empty_partitions(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka)
    began = time.monotonic()
    assert read_to_end(kafka) == []
    produce(kafka, [b"alone"], partition=2)
    assert [message.value for message in read_to_end(kafka)] == [b"alone"]
    assert time.monotonic() - began < 15


def test_source_resumes_where_the_snapshot_stands(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka, batch_size=50)
    produce(kafka, (b"%d" % number for number in range(2000)))
    source = KafkaSource(kafka, Metrics(), threading.Event())
    first, snapshots = pump(source, at_most=700)
    source.close(done=False)
    assert 700 <= len(first) < 2000
    source = KafkaSource(kafka, Metrics(), threading.Event(), until_end=True)
    rest, _ = pump(source, resume=snapshots)
    source.close(done=True)
    assert len(first) + len(rest) == 2000
    assert len(set(places(first + rest))) == 2000


def test_source_stop_ends_the_flow_and_recovery_resumes_it(embedded_kafka: str, tmp_path: Path) -> None:
    kafka = new_topic(embedded_kafka, batch_size=20)
    produce(kafka, (b"%d" % number for number in range(1000)))
    init_db_dir(tmp_path, 1)
    got: list[Message] = []

    def run(stop: threading.Event, until_end: bool) -> None:
        def count(message: Message) -> Message:
            if not until_end and len(got) > 300:
                stop.set()
            return message

        source = KafkaSource(kafka, Metrics(), stop, until_end=until_end)
        flow = Dataflow("stop")
        stream = op.map("count", op.input("in", flow, source), count)
        op.output("out", stream, TestingSink(got))
        run_main(flow, epoch_interval=timedelta(seconds=0), recovery_config=RecoveryConfig(str(tmp_path)))
        source.close(done=True)

    run(threading.Event(), until_end=False)
    assert 300 < len(got) < 1000
    run(threading.Event(), until_end=True)
    assert len(got) == 1000
    assert len(set(places(got))) == 1000


def test_source_stop_raises_stop_iteration_at_once(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka)
    stop = threading.Event()
    source = KafkaSource(kafka, Metrics(), stop)
    parts = [source.build_part("in", name, None) for name in source.list_parts()]
    assert list(parts[0].next_batch()) == []
    stop.set()
    for part in parts:
        with pytest.raises(StopIteration):
            part.next_batch()
    source.close(done=False)


def test_source_idle_wakes_seldom_and_hands_out_a_live_message_soon(embedded_kafka: str) -> None:
    """Bytewax's own loop wakes about 900 times a second, unless the source waits for it."""
    kafka = new_topic(embedded_kafka, fetch_max_wait_ms=KafkaSettings().fetch_max_wait_ms)
    stop, came = threading.Event(), threading.Event()
    polls: list[tuple[float, int]] = []
    delays: list[float] = []

    def note(partition: int, drained: bool) -> None:
        polls.append((time.monotonic(), resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw))

    def live() -> None:
        time.sleep(4)
        for _ in range(3):
            came.clear()
            produce(kafka, [b"live"])
            began = time.monotonic()
            came.wait(10)
            delays.append(time.monotonic() - began)
            time.sleep(1)
        stop.set()

    source = KafkaSource(kafka, Metrics(), stop, on_poll=note)
    flow = Dataflow("idle")
    op.output("out", op.inspect("seen", op.input("in", flow, source), lambda *_: came.set()), TestingSink([]))
    producer = threading.Thread(target=live)
    producer.start()
    run_main(flow)
    producer.join()
    source.close(done=False)
    idle = [poll for poll in polls if 1.5 < poll[0] - polls[0][0] < 3.5]
    assert (idle[-1][1] - idle[0][1]) / (idle[-1][0] - idle[0][0]) < 150
    assert sorted(delays)[1] < 0.3


def test_source_without_room_hands_out_nothing_ends_nothing_and_is_not_quiet(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka, partitions=1)
    produce(kafka, [b"one"])
    room, polls = [True], []
    source = KafkaSource(
        kafka,
        Metrics(),
        threading.Event(),
        until_end=True,
        on_poll=lambda partition, drained: polls.append(drained),
        ready=lambda: room[0],
    )
    part = source.build_part("in", source.list_parts()[0], None)
    got: list[Message] = []
    while not got:
        got = list(part.next_batch())
    room[0] = False
    del polls[:]
    part._track.last_data -= 60.0  # far longer than the silence that ends a partition
    assert list(part.next_batch()) == []
    assert part.next_awake() is not None
    assert polls == [False]
    room[0] = True
    assert list(part.next_batch()) == []  # and not yet the end: what came meanwhile was not asked for
    assert part.snapshot()["offset"] == 1
    source.close(done=False)


def test_source_share_splits_the_partitions(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka, partitions=5)
    stop = threading.Event()
    shares = [KafkaSource(kafka, Metrics(), stop, share=(index, 2)).list_parts() for index in range(2)]
    assert shares == [[f"{kafka.topic}/{part}" for part in (0, 2, 4)], [f"{kafka.topic}/{part}" for part in (1, 3)]]


def test_reader_holds_a_slow_partition_and_serves_the_others(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka, partitions=2, batch_size=10)
    for partition in range(2):
        produce(kafka, (b"%d" % number for number in range(1000)), partition=partition)
    reader = Reader(kafka, Metrics(), until_end=True)
    fast, slow = reader.add(0, None), reader.add(1, None)
    got: dict[int, list[int]] = {0: [], 1: []}
    deadline = time.monotonic() + 30
    for partition, track in ((0, fast), (1, slow)):
        while len(got[partition]) < 1000:
            assert time.monotonic() < deadline, f"partition {partition} stands at {len(got[partition])}"
            got[partition].extend(message.offset for message in reader.take(track))
            assert max(fast.queued, slow.queued) <= 5 * kafka.batch_size
    reader.close()
    assert got == {0: list(range(1000)), 1: list(range(1000))}


def test_source_commits_only_what_an_earlier_snapshot_covers(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka, partitions=1, batch_size=10)
    produce(kafka, (b"%d" % number for number in range(30)))
    source = KafkaSource(kafka, Metrics(), threading.Event())
    part = source.build_part("in", source.list_parts()[0], None)
    read = 0
    while read < 10:
        read += len(list(part.next_batch()))
    assert part.snapshot()["offset"] == 10
    while read < 20:
        read += len(list(part.next_batch()))
    assert part.snapshot()["offset"] == 20
    source.close(done=False)
    with Admin(kafka) as admin:
        offsets = admin.client.list_group_offsets({kafka.group: None})[kafka.group]
    assert [row.offset for row in offsets.values()] == [10]


def test_source_missing_topic_names_alike_ones(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka)
    wrong = kafka.model_copy(update={"topic": kafka.topic + "s"})
    with pytest.raises(TopicMissing) as told:
        check(wrong)
    assert told.value.alike[0] == kafka.topic
    assert str(told.value).startswith(f"there is no topic '{wrong.topic}' at {embedded_kafka}")
    with pytest.raises(TopicMissing):
        KafkaSource(wrong, Metrics(), threading.Event()).list_parts()


def test_source_snapshot_of_another_topic_by_the_same_name_is_refused(embedded_kafka: str) -> None:
    kafka = new_topic(embedded_kafka)
    source = KafkaSource(kafka, Metrics(), threading.Event())
    other = {"offset": 5, "topic_id": "00000000-0000-0000-0000-000000000001"}
    with pytest.raises(TopicReplaced, match=r"run\.recovery_dir"):
        source.build_part("in", f"{kafka.topic}/0", other)
