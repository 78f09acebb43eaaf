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


def free_ports(count: int) -> list[int]:
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


class Broker:
    """A broker that can be stopped and started again at the same ports, with its records. A context manager.

    Raises `KafkaNotToBeHad` on construction when none can be had here.
    """

    def __init__(self, folder: Path) -> None:
        """Format its data in `folder`; nothing runs yet."""
        self._folder = folder
        self._java = ["java", "-Xmx384m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
        self._java += ["-cp", f"{_jars()}/*"]
        self._process: subprocess.Popen[bytes] | None = None
        plain, sasl, tls, controller = free_ports(4)
        self._config = folder / "server.properties"
        self._config.write_text(_properties(folder, plain, sasl, tls, controller))
        tool = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(self._config)]
        subprocess.run([*self._java, *tool], check=True, capture_output=True, timeout=_START_S)
        self.where = ApacheKafka(f"127.0.0.1:{plain}", f"127.0.0.1:{sasl}", f"127.0.0.1:{tls}", str(folder / "ca.pem"))

    def start(self) -> None:
        """Start it and wait until it answers."""
        log = self._folder / "broker.log"
        with log.open("ab") as out:
            command = [*self._java, "kafka.Kafka", str(self._config)]
            self._process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _wait(self.where.bootstrap, self._process, log)

    def stop(self) -> None:
        """Stop it as an operator would; does nothing when it is not running."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> "Broker":
        """Start it."""
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop it."""
        self.stop()


def _or_skip(folder: Path) -> Broker:
    try:
        return Broker(folder)
    except KafkaNotToBeHad as error:
        pytest.skip(f"no Apache Kafka: {error}")


@pytest.fixture(scope="session")
def apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """Give a running Apache Kafka, or skip and say why there is none."""
    there = os.environ.get("KAFKA_BOOTSTRAP", "")
    if there:
        yield ApacheKafka(there)
        return
    with _or_skip(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker.where


@pytest.fixture
def own_apache_kafka(tmp_path: Path) -> Iterator[Broker]:
    """Give a running broker of the test's own, to be stopped and started; skip when there is none."""
    folder = tmp_path / "kafka"
    folder.mkdir()
    with _or_skip(folder) as broker:
        yield broker
