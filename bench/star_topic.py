"""A Kafka topic of real support dialogues (STAR), as many times over as messages are asked for."""

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from kafka import KafkaAdminClient, KafkaProducer

PARTITIONS = 4
_BETWEEN_MS = 3_600_000
"""One copy ends so long before the next: longer than the silence that ends a session."""

_FLUSH_S = 120


class DataMissing(Exception):
    """The dialogues are not there."""


def data_file() -> Path:
    """Return the file of dialogues: under STRANDLINE_SHARED, or under `shared` beside the project.

    :raises DataMissing: It is in neither place.
    """
    folder = Path(os.environ.get("STRANDLINE_SHARED") or Path(__file__).parents[2] / "shared")
    path = folder / "data" / "star_events.jsonl.gz"
    if not path.is_file():
        msg = f"{path} is not there; name the folder that holds data/{path.name} with STRANDLINE_SHARED"
        raise DataMissing(msg)
    return path


def messages(path: Path, count: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Give key (the user), value and time (ms) of `count` messages, copy after copy.

    Sessions are renamed in each copy. The last copy keeps its times and the others go before it, so that no message is
    of the future however many there are.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    copies = -(-count // len(events))
    span_ms = events[-1]["event"]["timestamp"] - events[0]["event"]["timestamp"] + _BETWEEN_MS
    left = count
    for copy in range(copies):
        shift_ms = (copies - 1 - copy) * span_ms
        for one in events[:left]:
            ts_ms = one["event"]["timestamp"] - shift_ms
            moved = one | {"sessionId": f"{one['sessionId']}-{copy}", "event": one["event"] | {"timestamp": ts_ms}}
            yield one["userId"].encode(), json.dumps(moved, separators=(",", ":")).encode(), ts_ms
        left -= len(events)


@contextmanager
def star_topic(bootstrap: str, count: int) -> Iterator[str]:
    """Make a topic of `count` messages, keyed by user; give its name, and delete it at the end."""
    path = data_file()
    name = f"strandline-bench-{uuid4().hex[:8]}"
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        # The events are of years ago: with any retention by time the broker would delete them at once.
        config = {"num_partitions": PARTITIONS, "replication_factor": 1, "configs": {"retention.ms": "-1"}}
        admin.create_topics({name: config}, wait_for_metadata=True)
        try:
            producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=50, batch_size=128 * 1024)
            for key, value, ts_ms in messages(path, count):
                producer.send(name, value, key=key, timestamp_ms=ts_ms)
            producer.flush(timeout=_FLUSH_S)
            producer.close()
            yield name
        finally:
            admin.delete_topics([name])
