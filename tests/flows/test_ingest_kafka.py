"""The same through a broker, and through kills and stops of the process."""

import json
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from kafka_runs import command_of, produce

SAMPLE = Path(__file__).parents[2] / "cli" / "demo_data" / "sessions.jsonl"


def counts(summary):
    return {
        name: getattr(summary, name) for name in summary.__struct_fields__ if name not in ("elapsed_s", "events_per_s")
    }


def test_a_topic_gives_the_same_counts_and_the_same_bank_as_the_file(bench, embedded_kafka, lines, scopes, tmp_path):
    from_file = bench.ingest(SAMPLE)
    expected = bench.bank(*scopes)
    kafka = produce(embedded_kafka, lines)
    other = type(bench)(tmp_path / "other")
    from_topic = other.ingest("kafka", kafka=kafka.model_dump())
    assert other.bank(*scopes) == expected
    file_counts, topic_counts = counts(from_file), counts(from_topic)
    assert sum(vars_of(file_counts.pop("slices"))) == sum(vars_of(topic_counts.pop("slices")))
    assert file_counts == topic_counts


def vars_of(struct):
    return [getattr(struct, name) for name in struct.__struct_fields__]


@pytest.mark.slow
def test_killed_in_the_middle_and_started_again_gives_the_bank_of_an_undisturbed_run(
    bench, embedded_kafka, lines, scopes, tmp_path, monkeypatch
):
    bench.ingest(SAMPLE)
    expected = bench.bank(*scopes)
    kafka = produce(embedded_kafka, lines)
    monkeypatch.setenv("STRANDLINE_RUN__SNAPSHOT_INTERVAL_S", "0.2")
    monkeypatch.setenv("STRANDLINE_MODEL__MAX_IN_FLIGHT", "1")
    other = type(bench)(tmp_path / "other")
    other.folder.mkdir()
    killed = 0
    for wait_s in (2.2, 2.5, 2.8, 3.1):
        process = other.command(*command_of(other, kafka, "--until-end", "--json"))
        time.sleep(wait_s)
        killed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
    code, _, err = other.run_command(*command_of(other, kafka, "--until-end", "--json"))
    assert code == 0, err
    assert killed > 0
    assert other.bank(*scopes) == expected


def test_sigterm_ends_with_0_loses_nothing_and_repeats_nothing(bench, embedded_kafka, lines, scopes, tmp_path):
    bench.ingest(SAMPLE)
    expected = bench.bank(*scopes)
    kafka = produce(embedded_kafka, lines)
    other = type(bench)(tmp_path / "other")
    other.folder.mkdir()
    process = other.command(*command_of(other, kafka, "--json"))
    time.sleep(4)
    process.send_signal(signal.SIGTERM)
    started = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert time.monotonic() - started < 15
    first = json.loads(out)
    code, out, err = other.run_command(*command_of(other, kafka, "--until-end", "--json"))
    assert code == 0, err
    second = json.loads(out)
    assert first["events"] + second["events"] == 934
    assert first["slices"]["end_of_input"] == 0
    assert other.bank(*scopes) == expected


def test_missing_topic_is_told_in_one_sentence_within_ten_seconds(bench, embedded_kafka):
    started = time.monotonic()
    code, out, err = bench.run_command(
        "ingest", "--from", "kafka", "--bootstrap", embedded_kafka, "--topic", "not-there", "--store", bench.store
    )
    assert time.monotonic() - started < 10
    assert (code, out) == (1, "")
    assert len(err.strip().splitlines()) == 1
    assert "not-there" in err


def test_dead_broker_is_told_in_one_sentence_within_ten_seconds(bench):
    started = time.monotonic()
    code, _, err = bench.run_command("ingest", "--from", "kafka", "--bootstrap", "127.0.0.1:1", "--store", bench.store)
    assert time.monotonic() - started < 10
    assert code == 1
    assert len(err.strip().splitlines()) == 1
    assert "127.0.0.1:1" in err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--from", "kafka", "--store", "s"), "--bootstrap"),
        (("--from", "nowhere.jsonl", "--store", "s"), "nowhere.jsonl"),
        (("--from", SAMPLE), "--store"),
        (("--from", SAMPLE, "--store", "s", "--until-end"), "--until-end"),
        (("--from", SAMPLE, "--store", "s", "--sessions-out", "o"), "--dry-run"),
    ],
)
def test_forgotten_settings_are_named_with_the_remedy(bench, arguments, word):
    code, out, err = bench.run_command("ingest", *arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert word in err


class Refusing(BaseHTTPRequestHandler):
    """Answers every call as OpenAI answers a wrong key."""

    def do_POST(self):
        body = json.dumps({"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def test_wrong_model_key_stops_the_run_with_one_sentence(bench, monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("STRANDLINE_MODEL__BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("STRANDLINE_MODEL__API_KEY", "sk-secret")
    code, out, err = bench.run_command("ingest", "--from", SAMPLE, "--store", bench.store, "--json")
    server.shutdown()
    server.server_close()
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "model.api_key" in err
    assert "sk-secret" not in err


def test_strict_exits_3_when_input_was_invalid(bench, write):
    path = write(b"no JSON")
    assert bench.run_command("ingest", "--from", path, "--store", bench.store, "--json")[0] == 0
    assert bench.run_command("ingest", "--from", path, "--store", bench.store, "--json", "--strict")[0] == 3
