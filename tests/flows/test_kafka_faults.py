"""What a user of the command sees when Apache Kafka does what it does in real life."""

import importlib.util
import json
import signal
import time

import pytest
from infra.apache_kafka import PASSWORD, USER, ApacheKafka, Broker
from kafka import KafkaAdminClient, TopicPartition
from kafka_runs import Watched, command_of, message, new_topic, produce, send

from operators.kafka_offsets import INTERVAL_S

pytestmark = pytest.mark.kafka


def one_line(err):
    """Return the only line of what was told."""
    (line,) = err.strip().splitlines()
    return line


def test_broker_restarts_and_the_run_goes_on_without_loss_or_repeat(bench, own_apache_kafka: Broker, monkeypatch):
    kafka = produce(own_apache_kafka.where.bootstrap, [message(f"u{n % 50}", n) for n in range(1000)])
    run = Watched(bench, monkeypatch, *command_of(bench, kafka, "--json"))
    run.wait_for("strandline_events_total", 1000)
    own_apache_kafka.stop()
    time.sleep(1)
    own_apache_kafka.start()
    send(kafka, [b"no JSON", *(message(f"u{n % 50}", n) for n in range(1000, 2000))])
    run.wait_for("strandline_events_total", 2001)
    run.wait_for("strandline_dead_letters_total", 1)
    code, out, err = run.stop()
    summary = json.loads(out)
    assert code == 0, err
    assert (summary["events"], summary["invalid"], summary["duplicates"]) == (2000, 1, 0)


def test_topic_made_anew_under_a_run_ends_it_with_one_sentence(bench, apache_kafka: ApacheKafka, monkeypatch):
    kafka = produce(apache_kafka.bootstrap, [message("ann", n) for n in range(10)])
    run = Watched(bench, monkeypatch, *command_of(bench, kafka, "--dry-run", "--json"))
    run.wait_for("strandline_events_total", 10)
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap) as admin:
        admin.delete_topics([kafka.topic])
        deadline = time.monotonic() + 20
        while kafka.topic in admin.list_topics():
            assert time.monotonic() < deadline, "the topic does not go away"
            time.sleep(0.1)
        admin.create_topics({kafka.topic: {"num_partitions": 4, "replication_factor": 1}}, wait_for_metadata=True)
    code, out, err = run.ended()
    assert (code, out) == (1, "")
    assert f"topic '{kafka.topic}'" in one_line(err)
    assert "made again" in err or "made anew" in err
    assert "run.recovery_dir" in err


@pytest.mark.parametrize("policy", ["fail", "earliest"])
def test_deleted_messages_stop_the_run_or_are_counted(bench, apache_kafka: ApacheKafka, monkeypatch, policy):
    monkeypatch.setenv("STRANDLINE_RUN__RECOVERY_DIR", str(bench.folder / "recovery"))
    monkeypatch.setenv("STRANDLINE_KAFKA__ON_GAP", policy)
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    arguments = command_of(bench, kafka, "--dry-run", "--until-end", "--json")
    send(kafka, [message("ann", n) for n in range(10)])
    code, _, err = bench.run_command(*arguments)
    assert code == 0, err
    send(kafka, [message("ann", n) for n in range(10, 20)])
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap) as admin:
        admin.delete_records({TopicPartition(kafka.topic, 0): 15})
    code, out, err = bench.run_command(*arguments)
    if policy == "fail":
        assert (code, out) == (1, "")
        assert "5 offsets are lost" in one_line(err)
        assert "kafka.on_gap=earliest" in err
    else:
        assert code == 0, err
        assert json.loads(out)["events"] == 5
        assert "going on behind a gap" in one_line(err)


def test_added_partitions_are_told_of_and_read_at_the_next_start(bench, apache_kafka: ApacheKafka, monkeypatch):
    monkeypatch.setenv("STRANDLINE_RUN__RECOVERY_DIR", str(bench.folder / "recovery"))
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    send(kafka, [message("ann", n) for n in range(10)])
    run = Watched(bench, monkeypatch, *command_of(bench, kafka, "--dry-run", "--json"))
    run.wait_for("strandline_events_total", 10)
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap) as admin:
        admin.create_partitions({kafka.topic: 3})
    time.sleep(INTERVAL_S + 2)
    send(kafka, [message(f"u{n}", n) for n in range(30)])
    code, out, err = run.stop()
    assert code == 0, err
    assert "has 3 partitions now, and had 1 at the start: restart to read the new ones" in one_line(err)
    first = json.loads(out)["events"]
    code, out, err = bench.run_command(*command_of(bench, kafka, "--dry-run", "--until-end", "--json"))
    assert code == 0, err
    assert first + json.loads(out)["events"] == 40


def test_snappy_is_read_or_its_package_is_named(bench, apache_kafka: ApacheKafka):
    kafka = new_topic(apache_kafka.bootstrap, partitions=1)
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap) as admin:
        options = {"num_partitions": 1, "replication_factor": 1, "configs": {"compression.type": "snappy"}}
        admin.create_topics({f"{kafka.topic}-s": options}, wait_for_metadata=True)
    kafka = kafka.model_copy(update={"topic": f"{kafka.topic}-s"})
    send(kafka, [message("ann", 1)])
    code, out, err = bench.run_command(*command_of(bench, kafka, "--dry-run", "--until-end", "--json"))
    if importlib.util.find_spec("snappy") is None:
        assert (code, out) == (1, "")
        assert "pip install python-snappy" in one_line(err)
    else:
        assert json.loads(out)["events"] == 1


def test_message_as_large_as_the_broker_takes_is_read_and_trimmed(bench, apache_kafka: ApacheKafka):
    value = message("ann", 1, text="word " * 209_000)
    assert 1_045_000 < len(value) < 1_048_000
    kafka = produce(apache_kafka.bootstrap, [value])
    slices = bench.folder / "slices.jsonl"
    arguments = command_of(bench, kafka, "--dry-run", "--sessions-out", slices, "--until-end", "--json")
    code, out, err = bench.run_command(*arguments)
    assert code == 0, err
    summary = json.loads(out)
    assert (summary["events"], summary["invalid"]) == (1, 0)
    assert 20_000 <= json.loads(slices.read_text())["n_chars"] < 21_000


def test_right_password_is_let_in_and_a_wrong_one_is_told_without_showing_it(
    bench, apache_kafka: ApacheKafka, monkeypatch
):
    if not apache_kafka.sasl:
        pytest.skip("the broker of KAFKA_BOOTSTRAP has no SASL listener that is known here")
    kafka = produce(apache_kafka.bootstrap, [message("ann", 1)])
    kafka = kafka.model_copy(update={"bootstrap": apache_kafka.sasl})
    monkeypatch.setenv("STRANDLINE_KAFKA__SECURITY_PROTOCOL", "SASL_PLAINTEXT")
    monkeypatch.setenv("STRANDLINE_KAFKA__SASL_USERNAME", USER)
    monkeypatch.setenv("STRANDLINE_KAFKA__SASL_PASSWORD", PASSWORD)
    arguments = command_of(bench, kafka, "--dry-run", "--until-end", "--json")
    code, out, err = bench.run_command(*arguments)
    assert code == 0, err
    assert json.loads(out)["events"] == 1
    monkeypatch.setenv("STRANDLINE_KAFKA__SASL_PASSWORD", "not-the-word")
    began = time.monotonic()
    code, out, err = bench.run_command(*arguments)
    assert time.monotonic() - began < 12
    assert (code, out) == (1, "")
    assert one_line(err) == (
        f"Error: authentication failed for user '{USER}' with PLAIN at {apache_kafka.sasl}; check "
        "kafka.sasl_username, kafka.sasl_password and kafka.sasl_mechanism"
    )


def test_sigterm_while_it_starts_ends_with_0(bench, apache_kafka: ApacheKafka, monkeypatch):
    kafka = produce(apache_kafka.bootstrap, [message("ann", 1)])
    run = Watched(bench, monkeypatch, *command_of(bench, kafka, "--json"))
    deadline = time.monotonic() + 20
    while not bench.store.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    run.process.send_signal(signal.SIGTERM)
    code, _, err = run.ended()
    assert (code, err) == (0, "")
