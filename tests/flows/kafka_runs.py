"""What the tests from Kafka share: a topic with messages in it, and the command that reads it."""

import json
import time
import urllib.request
import uuid
from collections.abc import Sequence

from infra.apache_kafka import free_ports

from operators.kafka_client import Admin
from operators.kafka_sink import KafkaSink, Outgoing
from schemas.settings import KafkaSettings


def message(user: str, number: int, text: str = "Where is my order?") -> bytes:
    """Return an event of now, the `number`th of the user's one session."""
    event = {"id": f"{user}-{number}", "author": "user", "content": {"parts": [{"text": text}]}}
    event["timestamp"] = time.time_ns() // 1_000_000
    return json.dumps({"app": "shop", "userId": user, "sessionId": f"s-{user}", "event": event}).encode()


def new_topic(bootstrap: str, partitions: int = 4) -> KafkaSettings:
    """Make a topic of the test's own; return settings that name it."""
    kafka = KafkaSettings(bootstrap=bootstrap, topic=f"events-{uuid.uuid4().hex[:8]}")
    with Admin(kafka) as admin:
        admin.create([kafka.topic], partitions)
    return kafka


def send(kafka: KafkaSettings, messages: Sequence[bytes]) -> None:
    """Send the messages, keyed by user, and wait until they are there."""
    partition = KafkaSink(kafka).build("test", 0, 1)
    partition.write_batch([Outgoing(kafka.topic, user_of(line), line) for line in messages])
    partition.close()


def user_of(line: bytes) -> bytes | None:
    try:
        return str(json.loads(line)["userId"]).encode()
    except ValueError:
        return None


def produce(bootstrap: str, messages: Sequence[bytes]) -> KafkaSettings:
    """Make a topic of four partitions and send the messages."""
    kafka = new_topic(bootstrap)
    send(kafka, messages)
    return kafka


def command_of(bench, kafka: KafkaSettings, *more: str) -> tuple[object, ...]:
    """Return the arguments that read the topic into the bench's store."""
    where = ("--from", "kafka", "--bootstrap", kafka.bootstrap, "--topic", kafka.topic)
    return ("ingest", *where, "--store", bench.store, *more)


class Watched:
    """The command running with /metrics, so that a test can wait for what it has done."""

    def __init__(self, bench, monkeypatch, *arguments: object) -> None:
        (self._port,) = free_ports(1)
        monkeypatch.setenv("STRANDLINE_RUN__METRICS_PORT", str(self._port))
        self.process = bench.command(*arguments)

    def wait_for(self, name: str, value: float, timeout_s: float = 30.0) -> None:
        """Wait until the samples called `name` add up to `value`."""
        deadline = time.monotonic() + timeout_s
        while (found := self._sum(name)) < value:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, f"{name} stands at {found}, not at {value}"
            time.sleep(0.05)

    def stop(self) -> tuple[int, str, str]:
        """Send SIGTERM; return the exit code, stdout and stderr."""
        self.process.terminate()
        return self.ended()

    def ended(self, timeout_s: float = 30.0) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, out, err

    def _sum(self, name: str) -> float:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=5) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return 0.0
        series = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return sum(float(value) for one, value in series if one.split("{")[0] == name)
