"""What the Kafka tests share: a topic with numbered messages, and running a source to its end."""

import itertools
import threading
import time
import uuid
from collections.abc import Iterable

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, run_main
from kafka import KafkaProducer

from operators.kafka_client import Admin
from operators.kafka_source import KafkaSource, Position
from operators.metrics import Metrics
from schemas.message import Message
from schemas.settings import KafkaSettings


def new_topic(bootstrap: str, partitions: int = 4, **more: object) -> KafkaSettings:
    """Make a topic of its own for one test; return settings that name it."""
    name = uuid.uuid4().hex[:12]
    options = {"fetch_max_wait_ms": 20, "topic": f"t-{name}", "group": f"g-{name}"} | more
    kafka = KafkaSettings(bootstrap=bootstrap, **options)
    with Admin(kafka) as admin:
        admin.create([kafka.topic], partitions)
    return kafka


def produce(kafka: KafkaSettings, values: Iterable[bytes], partition: int | None = None, **options: object) -> None:
    """Write the values, keyed by their number, so that they spread; wait for the acknowledgements."""
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap, linger_ms=5, **options)
    futures = [
        producer.send(
            kafka.topic, value, key=b"%d" % (number % 50), partition=partition, headers=[("n", b"%d" % number)]
        )
        for number, value in enumerate(values)
    ]
    producer.flush(timeout=30)
    for future in futures:
        future.get(timeout=0)
    producer.close(timeout=5)


def read_to_end(kafka: KafkaSettings, metrics: Metrics | None = None) -> list[Message]:
    """Run a dataflow over the whole topic with `until_end`."""
    source = KafkaSource(kafka, metrics or Metrics(), threading.Event(), until_end=True)
    out: list[Message] = []
    flow = Dataflow("read")
    op.output("out", op.input("in", flow, source), TestingSink(out))
    try:
        run_main(flow)
    finally:
        source.close(done=True)
    return out


def pump(
    source: KafkaSource, resume: dict[str, Position] | None = None, at_most: int | None = None, timeout_s: float = 30.0
) -> tuple[list[Message], dict[str, Position]]:
    """Drive a source as Bytewax would, until it ends or `at_most` messages came; return them and the snapshots."""
    parts = {name: source.build_part("in", name, (resume or {}).get(name)) for name in source.list_parts()}
    positions: dict[str, Position] = {}
    got: list[Message] = []
    deadline = time.monotonic() + timeout_s
    for name in itertools.cycle(list(parts)):
        if not parts or (at_most is not None and len(got) >= at_most):
            break
        if name not in parts:
            continue
        assert time.monotonic() < deadline, f"only {len(got)} messages came in time"
        try:
            batch = list(parts[name].next_batch())
        except StopIteration:
            positions[name] = parts.pop(name).snapshot()
            continue
        got.extend(batch)
        if not batch:
            time.sleep(0.001)
    return got, positions | {name: part.snapshot() for name, part in parts.items()}


def places(messages: Iterable[Message]) -> list[tuple[int, int]]:
    """Return partition and offset of each message, sorted."""
    return sorted((message.partition, message.offset) for message in messages)
