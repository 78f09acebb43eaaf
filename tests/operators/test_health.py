import json
import threading
import time
import urllib.error
import urllib.request

import pytest

from operators.health import ANSWER_AGE_S, STALE_AFTER_S, HealthServer, Heartbeat, PortUnusable, Readiness
from operators.metrics import Metrics


def get(server, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_metrics_are_served_under_the_names_of_the_contract():
    metrics = Metrics()
    metrics.event("event").inc(3)
    with HealthServer("127.0.0.1", 0, metrics, Heartbeat(), {}) as server:
        status, body = get(server, "/metrics")
    assert status == 200
    assert 'strandline_events_total{outcome="event"} 3.0' in body


def test_healthz_turns_red_when_the_dataflow_makes_no_progress():
    now = [0.0]
    heartbeat = Heartbeat(lambda: now[0])
    with HealthServer("127.0.0.1", 0, Metrics(), heartbeat, {}) as server:
        assert get(server, "/healthz")[0] == 200
        now[0] = STALE_AFTER_S + 1
        assert get(server, "/healthz")[0] == 503
        heartbeat.beat()
        assert get(server, "/healthz")[0] == 200


def ready(server, times=50):
    """Ask until the first round of checks is through."""
    for _ in range(times):
        status, body = get(server, "/readyz")
        if "not asked yet" not in body:
            break
        time.sleep(0.02)
    return status, body


def test_readyz_names_what_cannot_be_reached():
    def down():
        msg = "nothing listens"
        raise ConnectionError(msg)

    checks = {"store": lambda: None, "kafka": down}
    with HealthServer("127.0.0.1", 0, Metrics(), Heartbeat(), checks) as server:
        status, body = ready(server)
        assert status == 503
        assert json.loads(body) == {"store": "ok", "kafka": "ConnectionError: nothing listens"}
        assert get(server, "/other")[0] == 404
    with HealthServer("127.0.0.1", 0, Metrics(), Heartbeat(), {"store": lambda: None}) as server:
        assert ready(server)[0] == 200


def test_readyz_answers_at_once_and_red_while_a_check_hangs():
    hanging = threading.Event()
    with HealthServer("127.0.0.1", 0, Metrics(), Heartbeat(), {"kafka": lambda: hanging.wait(10)}) as server:
        started = time.monotonic()
        assert get(server, "/readyz")[0] == 503
        assert time.monotonic() - started < 1
        hanging.set()


def test_a_good_answer_that_has_grown_old_is_believed_no_more():
    now = [0.0]
    readiness = Readiness({"store": lambda: None}, lambda: now[0])
    readiness.ask()
    assert readiness.states() == {"store": "ok"}
    now[0] = ANSWER_AGE_S + 5
    assert readiness.states() == {"store": "no answer for 25 s"}


def test_a_taken_port_is_named_with_the_setting():
    with HealthServer("127.0.0.1", 0, Metrics(), Heartbeat(), {}) as server:
        with pytest.raises(PortUnusable, match=rf"127.0.0.1:{server.port}.*run.metrics_port"):
            HealthServer("127.0.0.1", server.port, Metrics(), Heartbeat(), {})
