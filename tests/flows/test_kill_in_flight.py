"""kill -9 with 256 calls at the model: no slice is lost, none is stored twice; how many were asked again is printed.

STRANDLINE_KILLS says how often the process is killed, over the whole file of dialogues; without it, three times over
the first part of it.
"""

import gzip
import json
import os
import random
import time
from collections import Counter

import pytest
from kafka_runs import Watched, command_of, produce

from bench.slow_model import SlowModel
from memory.store import Store
from schemas.scope import Scope

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

ASKED = int(os.environ.get("STRANDLINE_KILLS", "0"))
KILLS = ASKED or 3
LINES = None if ASKED else 16_000
IN_FLIGHT = 256
WORK_S = 4.0
START_S = 4.0
"""At most so long after the model was fully used, or after it was started, a process is killed."""

MEAN_S = 4.0
"""Mean latency of the model: long enough that a process on a busy machine keeps all slots in use."""

FILL_S = 20.0
"""So long is waited for the model to be fully used: towards the end of the topic it never is again."""


def star_lines(shared):
    with gzip.open(shared / "data" / "star_events.jsonl.gz") as file:
        return file.read().splitlines()[:LINES]


def wait_until_full(model, run):
    deadline = time.monotonic() + FILL_S
    while model.told(calls=False)["under_way"] < IN_FLIGHT and time.monotonic() < deadline:
        assert run.process.poll() is None, run.process.communicate()
        time.sleep(0.02)


def test_killed_with_256_calls_under_way_no_slice_is_lost_and_none_is_stored_twice(
    bench, embedded_kafka, shared, tmp_path, monkeypatch
):
    lines = star_lines(shared)
    documents = [json.loads(line) for line in lines]
    scopes = sorted({Scope(document["app"], document["userId"]) for document in documents})
    undisturbed = bench.folder / "undisturbed.jsonl"
    undisturbed.write_bytes(b"\n".join(lines) + b"\n")
    bench.ingest(undisturbed)

    monkeypatch.delenv("STRANDLINE_KILLS", raising=False)  # the command knows it for no setting
    monkeypatch.setenv("STRANDLINE_RUN__SNAPSHOT_INTERVAL_S", "0.5")
    monkeypatch.setenv("STRANDLINE_KAFKA__FETCH_MAX_WAIT_MS", "20")
    monkeypatch.setenv("STRANDLINE_MODEL__NAME", "strandline-offline")
    monkeypatch.setenv("STRANDLINE_MODEL__MAX_IN_FLIGHT", str(IN_FLIGHT))
    kafka = produce(embedded_kafka, lines)
    other = type(bench)(tmp_path / "other")
    other.folder.mkdir()
    moments = random.Random(20_250_301)
    at_kill = []
    with SlowModel(mean_s=MEAN_S, seed=7) as model:
        monkeypatch.setenv("STRANDLINE_MODEL__BASE_URL", model.base_url)
        for number in range(KILLS):
            run = Watched(other, monkeypatch, *command_of(other, kafka, "--json"))
            if number % 4 == 3:
                time.sleep(moments.uniform(0.0, START_S))
            else:
                wait_until_full(model, run)
                time.sleep(moments.uniform(0.0, WORK_S))
            at_kill.append(model.told(calls=False)["under_way"])
            assert run.process.poll() is None, run.process.communicate()
            run.process.kill()
            run.process.communicate()
        code, out, err = other.run_command(*command_of(other, kafka, "--until-end", "--json"), timeout=900)
        assert code == 0, err
        told = model.told()

    with Store.open(other.settings()) as store:
        episodes = [one for scope in scopes for one in store.bank(scope).episodes()]
    left, asked = json.loads(out)["events"], sum(call["first"] for call in told["calls"])
    print(f"{KILLS} kills, under way at each: {at_kill}; the last run read {left} of {len(lines)} events")
    print(f"{asked} slices asked, {len(episodes)} stored, {asked - len(episodes)} asked again")
    assert told["most"] == IN_FLIGHT
    assert left < len(lines), "no process came as far as a snapshot"
    assert Counter(event for one in episodes for event in one.events) == Counter(d["event"]["id"] for d in documents)
    assert other.bank(*scopes) == bench.bank(*scopes)
