"""One Apache Kafka broker for the tests marked `kafka`: from its Maven artefacts, in KRaft mode, without a container.

`KAFKA_BOOTSTRAP` names a plain listener of a broker that is already there; else one is started, when `java` and `mvn`
are on the path. The started one also listens with SASL (PLAIN and SCRAM-SHA-256) and with TLS.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from kafka.errors import KafkaError as ClientError

USER = "app"
PASSWORD = "app-secret"

_HERE = Path(__file__).parent / "kafka"
_CACHE = Path(__file__).parents[2] / ".cache" / "kafka"
_CLUSTER_ID = "c3RyYW5kbGluZS10ZXN0cw"
_START_S = 60.0
_MAVEN_S = 300.0


class KafkaNotToBeHad(Exception):
    """Why no Apache Kafka can be had here; the tests that need it are skipped with this."""


@dataclass(frozen=True)
class ApacheKafka:
    """Where it listens. `sasl`, `tls` and `cafile` are empty for a broker that was there before (KAFKA_BOOTSTRAP)."""

    bootstrap: str
    sasl: str = ""
    tls: str = ""
    cafile: str = ""


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _jars() -> Path:
    """Return the folder of the broker's jars, fetched once by Maven."""
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            msg = f"{tool} is not on the path, and KAFKA_BOOTSTRAP is not set"
            raise KafkaNotToBeHad(msg)
    lib = _CACHE / "lib"
    done = _CACHE / "complete"
    if not done.exists():
        command = ["mvn", "-q", "-B", "-f", str(_HERE / "pom.xml"), "dependency:copy-dependencies"]
        try:
            fetched = subprocess.run(
                [*command, f"-DoutputDirectory={lib}"], capture_output=True, text=True, timeout=_MAVEN_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            msg = f"Maven did not bring Apache Kafka within {_MAVEN_S:.0f} s"
            raise KafkaNotToBeHad(msg) from error
        if fetched.returncode != 0:
            msg = f"Maven did not bring Apache Kafka: {fetched.stdout.strip()[-500:]}"
            raise KafkaNotToBeHad(msg)
        done.touch()
    return lib


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Make a self-signed certificate for 127.0.0.1; return the broker's key store (PEM) and what clients must trust."""
    key, cert, store = folder / "key.pem", folder / "ca.pem", folder / "store.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        + ["-keyout", str(key), "-out", str(cert), *names],
        check=True,
        capture_output=True,
    )
    store.write_text(key.read_text() + cert.read_text())
    return store, cert


def _properties(folder: Path, plain: int, sasl: int, tls: int, controller: int) -> str:
    jaas = "org.apache.kafka.common.security"
    store, _ = _certificate(folder)
    lines = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},SSL://127.0.0.1:{tls},"
        f"CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},"
        f"SSL://127.0.0.1:{tls}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,"
        "CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{jaas}.plain.PlainLoginModule required "
        f'user_{USER}="{PASSWORD}";',
        "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": f"{jaas}.scram.ScramLoginModule required;",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        "log.retention.ms": "-1",
        "log.dirs": str(folder / "data"),
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def _wait(bootstrap: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", int(bootstrap.rpartition(":")[2]))) != 0:
                time.sleep(0.1)
                continue
        try:
            with KafkaAdminClient(bootstrap_servers=bootstrap, bootstrap_timeout_ms=2000) as admin:
                admin.list_topics()
                return
        except ClientError:
            time.sleep(0.2)
    msg = f"Apache Kafka did not come up: {log.read_text()[-2000:]}"
    raise RuntimeError(msg)


@contextmanager
def start(folder: Path) -> Iterator[ApacheKafka]:
    """Run a broker with its data in `folder`; raise `KafkaNotToBeHad` when that cannot be done here."""
    lib = _jars()
    plain, sasl, tls, controller = _free_ports(4)
    config, log = folder / "server.properties", folder / "broker.log"
    config.write_text(_properties(folder, plain, sasl, tls, controller))
    java = ["java", "-Xmx384m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{lib}/*"]
    tool = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(config)]
    subprocess.run([*java, *tool], check=True, capture_output=True, timeout=_START_S)
    with log.open("wb") as out:
        process = subprocess.Popen([*java, "kafka.Kafka", str(config)], stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait(f"127.0.0.1:{plain}", process, log)
        yield ApacheKafka(f"127.0.0.1:{plain}", f"127.0.0.1:{sasl}", f"127.0.0.1:{tls}", str(folder / "ca.pem"))
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """Give a running Apache Kafka, or skip and say why there is none."""
    there = os.environ.get("KAFKA_BOOTSTRAP", "")
    if there:
        yield ApacheKafka(there)
        return
    try:
        broker = start(tmp_path_factory.mktemp("kafka"))
        running = broker.__enter__()
    except KafkaNotToBeHad as error:
        pytest.skip(f"no Apache Kafka: {error}")
    try:
        yield running
    finally:
        broker.__exit__(None, None, None)
