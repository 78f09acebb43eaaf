"""kill -9 at any moment: nothing is lost and nothing stands twice, on Apache Kafka and with real dialogues.

STRANDLINE_KILLS says how often the process is killed, over the whole file of dialogues; without it, four times over
the first part of it.
"""

import gzip
import json
import os
import random
import time
from collections import Counter

import pytest
from infra.apache_kafka import ApacheKafka
from kafka_runs import Watched, command_of, produce

from memory.store import Store
from schemas.scope import Scope

pytestmark = [pytest.mark.slow, pytest.mark.kafka, pytest.mark.timeout(1500)]

ASKED = int(os.environ.get("STRANDLINE_KILLS", "0"))
KILLS = ASKED or 4
LINES = None if ASKED else 8_000
WORK_S = 6.0
START_S = 3.0
"""At most so long after it began to read, or after it was started, a process is killed."""


def star_lines(shared):
    with gzip.open(shared / "data" / "star_events.jsonl.gz") as file:
        return file.read().splitlines()[:LINES]


def test_killed_at_random_moments_no_event_is_lost_and_none_stands_twice(
    bench, apache_kafka: ApacheKafka, shared, tmp_path, monkeypatch
):
    lines = star_lines(shared)
    documents = [json.loads(line) for line in lines]
    scopes = sorted({Scope(document["app"], document["userId"]) for document in documents})
    undisturbed = bench.folder / "undisturbed.jsonl"
    undisturbed.write_bytes(b"\n".join(lines) + b"\n")
    bench.ingest(undisturbed)

    monkeypatch.delenv("STRANDLINE_KILLS", raising=False)  # the command knows it for no setting
    # A snapshot waits for what was taken before it, so small batches make for many snapshots between two kills.
    monkeypatch.setenv("STRANDLINE_RUN__SNAPSHOT_INTERVAL_S", "0.5")
    monkeypatch.setenv("STRANDLINE_KAFKA__BATCH_SIZE", "100")
    kafka = produce(apache_kafka.bootstrap, lines)
    other = type(bench)(tmp_path / "other")
    other.folder.mkdir()
    moments = random.Random(20_240_817)
    for number in range(KILLS):
        run = Watched(other, monkeypatch, *command_of(other, kafka, "--json"))
        if number % 4 == 3:
            time.sleep(moments.uniform(0.0, START_S))
        else:
            run.wait_for("strandline_build_info", 1)
            time.sleep(moments.uniform(0.0, WORK_S))
        assert run.process.poll() is None, run.process.communicate()
        run.process.kill()
        run.process.communicate()
    code, out, err = other.run_command(*command_of(other, kafka, "--until-end", "--json"), timeout=900)
    assert code == 0, err
    left = json.loads(out)["events"]
    print(f"{KILLS} kills; the last run read {left} of {len(lines)} events")
    assert left < len(lines), "every process was killed before it had done anything"

    with Store.open(other.settings()) as store:
        found = Counter(event for scope in scopes for one in store.bank(scope).episodes() for event in one.events)
    assert found == Counter(document["event"]["id"] for document in documents)
    assert other.bank(*scopes) == bench.bank(*scopes)
