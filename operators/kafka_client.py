"""How Strandline reaches Kafka: settings to client options, time-outs on every call, and errors that say what to do."""

import difflib
import gc
import logging
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from kafka import KafkaAdminClient
from kafka.errors import KafkaError as ClientError
from kafka.errors import TopicAlreadyExistsError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from kafka.errors import for_code as error_for_code
from kafka.net.compat import KafkaNetClient

from operators.kafka_errors import KafkaUnavailable, TopicMissing
from operators.kafka_probe import addresses, diagnose
from schemas.settings import KafkaSettings

_FIRST_TRY = 0.35
"""Share of the time that the first attempt gets; what it fails of is then looked into, and may end the waiting."""

_PROBE_S = 2.0
"""Time for looking into a failure, kept back from the attempts: a user is told within `request_timeout_s`."""

_RECONNECT_MAX_MS = 1000
_MAX_REQUEST = 32 * 1024 * 1024
"""Twice the largest message that is decoded: the topic's own max.message.bytes decides, not the client."""

_FETCH_BYTES = 4 * 1024 * 1024
"""Of one partition in one answer. kafka-python asks a broker again only when all it had is read, so every answer
costs a wait; at its own 1 MiB the waits are a fifth of the time in which a backlog is read."""

_ALIKE = 5

log = logging.getLogger(__name__)


class Topic(msgspec.Struct, frozen=True):
    """A topic as the cluster describes it. `topic_id` is empty on brokers that know none (before 2.8)."""

    name: str
    topic_id: str
    partitions: tuple[int, ...]


class _Demote(logging.Handler):
    """Pass on what the client logs, but as `debug` of our own: its warnings are no news for a user, our errors are."""

    def emit(self, record: logging.LogRecord) -> None:
        log.debug("%s: %s", record.name, record.getMessage())


def _quiet_client() -> None:
    """Keep kafka-python's records off stderr, and its debug records, which hold passwords and values, off all logs."""
    theirs = logging.getLogger("kafka")
    if not any(isinstance(handler, _Demote) for handler in theirs.handlers):
        theirs.addHandler(_Demote())
        theirs.setLevel(logging.WARNING)
        theirs.propagate = False


def client_config(kafka: KafkaSettings) -> dict[str, Any]:
    """Return the options that all of kafka-python's clients share.

    Raises:
        KafkaUnavailable: when the settings cannot work whatever the broker: no address, no user, no such file.
    """
    try:
        places = addresses(kafka.bootstrap)
    except ValueError as error:
        raise KafkaUnavailable(str(error)) from error
    config: dict[str, Any] = {
        "bootstrap_servers": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in places],
        "client_id": "strandline",
        "security_protocol": kafka.security_protocol,
        "request_timeout_ms": int(kafka.request_timeout_s * 1000),
        "reconnect_backoff_max_ms": _RECONNECT_MAX_MS,
    }
    if kafka.security_protocol.startswith("SASL_"):
        if not kafka.sasl_username or not kafka.sasl_password.get_secret_value():
            msg = (
                f"kafka.security_protocol is {kafka.security_protocol}, but kafka.sasl_username or "
                "kafka.sasl_password is empty; set both"
            )
            raise KafkaUnavailable(msg)
        config["sasl_mechanism"] = kafka.sasl_mechanism
        config["sasl_plain_username"] = kafka.sasl_username
        config["sasl_plain_password"] = kafka.sasl_password.get_secret_value()
    if kafka.security_protocol in {"SSL", "SASL_SSL"}:
        for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile"):
            path = getattr(kafka, name)
            if path is not None and not Path(path).is_file():
                msg = f"kafka.{name} is {path!r}, but there is no such file"
                raise KafkaUnavailable(msg)
            config[name] = path
    return config


def consumer_config(kafka: KafkaSettings) -> dict[str, Any]:
    """Return the options of a consumer without a group: the recovery store keeps the offsets, and a gap must raise."""
    return client_config(kafka) | {
        "auto_offset_reset": "none",
        "enable_auto_commit": False,
        "allow_auto_create_topics": False,
        "fetch_max_wait_ms": kafka.fetch_max_wait_ms,
        "max_poll_records": kafka.batch_size,
        "max_partition_fetch_bytes": _FETCH_BYTES,
        "isolation_level": "read_committed",
        "metrics_enabled": False,
    }


def producer_config(kafka: KafkaSettings, delivery_timeout_s: float) -> dict[str, Any]:
    """Return the options of an idempotent producer that waits `delivery_timeout_s` seconds at most for all replicas."""
    request_ms = int(kafka.request_timeout_s * 1000)
    return client_config(kafka) | {
        "enable_idempotence": True,
        "acks": "all",
        "compression_type": "lz4",
        "linger_ms": 5,
        "allow_auto_create_topics": False,
        "max_block_ms": request_ms,
        "max_request_size": _MAX_REQUEST,
        "delivery_timeout_ms": max(int(delivery_timeout_s * 1000), request_ms + 1000),
        "metrics_enabled": False,
    }


C = TypeVar("C")


def connect(factory: Callable[..., C], kafka: KafkaSettings, config: Mapping[str, Any]) -> C:
    """Build a client of kafka-python that has met its cluster, within `kafka.request_timeout_s` seconds.

    A broker that does not answer is tried until the time is over, for it may be starting; one that answers and refuses
    (password, mechanism, TLS) is told of at once.

    Raises:
        KafkaUnavailable: with the reason in one sentence.
    """
    _quiet_client()
    probe_s = min(_PROBE_S, kafka.request_timeout_s / 4)
    deadline = time.monotonic() + kafka.request_timeout_s - probe_s
    reason = ""
    for share in (_FIRST_TRY, 1.0):
        left = max(0.1, deadline - time.monotonic())
        networks: list[KafkaNetClient] = []

        def keep(networks: list[KafkaNetClient] = networks, **options: Any) -> KafkaNetClient:
            networks.append(KafkaNetClient(**options))
            return networks[-1]

        try:
            return factory(**config, bootstrap_timeout_ms=int(left * share * 1000), kafka_client=keep)
        except (ClientError, ValueError, OSError) as error:
            reason = f"{type(error).__name__}: {error}"
        _drop(networks)
        found = diagnose(kafka, probe_s)
        if found is not None and (found.lasting or share == 1.0):
            raise KafkaUnavailable(found.sentence)
    raise _unusable(kafka, reason)


def _drop(networks: list[KafkaNetClient]) -> None:
    """Close what a client that was never built leaves behind: the thread that drives it, and its sockets.

    kafka-python leaves the sockets of failed attempts to the garbage collector; it is run here, so that a process that
    tries often does not run out of files.
    """
    while networks:
        try:
            networks.pop().close()
        except ClientError as error:
            log.debug("a half-open Kafka client did not close cleanly: %s", error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def _unusable(kafka: KafkaSettings, reason: str) -> KafkaUnavailable:
    return KafkaUnavailable(
        f"{kafka.bootstrap} answers, but the client cannot use it ({reason}); check the broker's advertised.listeners, "
        "and its version (2.1 or newer)"
    )


class Admin:
    """The few questions that Strandline asks of a cluster; a context manager. Not to be shared between threads.

    Raises `KafkaUnavailable` on construction and from every method when the cluster cannot be reached.
    """

    def __init__(self, kafka: KafkaSettings) -> None:
        """Connect; raise `KafkaUnavailable` when that cannot be done."""
        self._kafka = kafka
        self.client: KafkaAdminClient = connect(KafkaAdminClient, kafka, client_config(kafka))

    def __enter__(self) -> "Admin":
        """Return itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def topics(self, names: Iterable[str]) -> list[Topic]:
        """Return the named topics in that order.

        Raises:
            TopicMissing: for the first that is not there or may not be seen.
        """
        wanted = list(names)
        rows = {row["name"]: row for row in self._ask(lambda: self.client.describe_topics(wanted))}
        found = []
        for name in wanted:
            row = rows.get(name, {"error_code": UnknownTopicOrPartitionError.errno})
            if row["error_code"]:
                self._raise_for(name, row["error_code"])
            partitions = sorted(part["partition_index"] for part in row["partitions"])
            found.append(Topic(name, str(row.get("topic_id") or ""), tuple(partitions)))
        return found

    def create(self, names: Iterable[str], partitions: int, replication: int = 1) -> None:
        """Create those of the named topics that are not there yet, and wait until they can be used.

        For demos, tests and development: a deployment makes its topics itself, with the replication that it wants.
        """
        for name in names:
            options = {name: {"num_partitions": partitions, "replication_factor": replication}}
            try:
                self._ask(lambda options=options: self.client.create_topics(options, wait_for_metadata=True))  # type: ignore[misc]
            except TopicAlreadyExistsError:
                log.debug("topic %s is there already", name)

    def _raise_for(self, name: str, code: int) -> None:
        kind = error_for_code(code)
        if kind is TopicAuthorizationFailedError:
            user = self._kafka.sasl_username
            msg = f"user {user!r} may not describe topic {name!r} at {self._kafka.bootstrap}; grant that right"
            raise KafkaUnavailable(msg)
        if kind is not UnknownTopicOrPartitionError and not kind.__name__.startswith("InvalidTopic"):
            msg = f"{self._kafka.bootstrap} cannot describe topic {name!r} ({kind.__name__}); try again later"
            raise KafkaUnavailable(msg)
        existing = self._ask(self.client.list_topics)
        alike = difflib.get_close_matches(name, existing, n=_ALIKE, cutoff=0.5)
        raise TopicMissing(name, self._kafka.bootstrap, alike)

    def _ask(self, call: Callable[[], C]) -> C:
        try:
            return call()
        except TopicAlreadyExistsError:
            raise
        except ClientError as error:
            raise _unusable(self._kafka, f"{type(error).__name__}: {error}") from error


def check(kafka: KafkaSettings, topics: Iterable[str] | None = None) -> None:
    """Return when the brokers can be used and the topics (`kafka.topic` by default) are there, else say why not.

    Raises:
        KafkaUnavailable: no broker, wrong password or mechanism, TLS mismatch; told within `request_timeout_s` seconds.
        TopicMissing: one of the topics is not there.
    """
    with Admin(kafka) as admin:
        admin.topics((kafka.topic,) if topics is None else topics)
