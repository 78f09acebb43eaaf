"""Why a Kafka broker cannot be used: one connection of our own that asks, step by step, and tells in one sentence.

kafka-python tells of a wrong password, a wrong mechanism or a missing TLS only as a time-out ("Unable to bootstrap").
After such a failure the way is walked again here: name, connection, TLS, SASL handshake, authentication. The frames are
those of the Kafka protocol (SaslHandshake v1, SaslAuthenticate v0), which every broker since 1.0 speaks.
"""

import socket
import ssl
import struct
from dataclasses import dataclass

from kafka.net.sasl import get_sasl_mechanism

from schemas.settings import KafkaSettings

_SASL_HANDSHAKE = 17
_SASL_AUTHENTICATE = 36
_UNSUPPORTED_MECHANISM = 33
_ILLEGAL_SASL_STATE = 34
_MAX_FRAME = 1 << 20
_DEFAULT_PORT = 9092


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong and what to do. `lasting`: trying again cannot help, for the broker answered and refused."""

    sentence: str
    lasting: bool = False


class _Closed(Exception):
    """The other side closed the connection, or talks something that is not Kafka."""


class _Found(Exception):
    """Ends the walk with what was found."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__(diagnosis.sentence)
        self.diagnosis = diagnosis


def addresses(bootstrap: str) -> list[tuple[str, int]]:
    """Return host and port of each address in `bootstrap`; a missing port is 9092.

    Raises:
        ValueError: when an address is no host:port, or there is none; the message is a sentence for the user.
    """
    found: list[tuple[str, int]] = []
    for part in (piece.strip() for piece in bootstrap.split(",")):
        if not part:
            continue
        host, colon, port = part.rpartition(":")
        if not colon:
            host, port = part, str(_DEFAULT_PORT)
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            msg = f"kafka.bootstrap has {part!r}, which is not host:port"
            raise ValueError(msg)
        found.append((host.strip("[]"), int(port)))
    if not found:
        msg = "kafka.bootstrap is empty: set it to host:port of a broker (--bootstrap, or STRANDLINE_KAFKA__BOOTSTRAP)"
        raise ValueError(msg)
    return found


def diagnose(kafka: KafkaSettings, timeout_s: float) -> Diagnosis | None:
    """Return what stands between us and the brokers of `kafka.bootstrap`; None when nothing does.

    Each address is tried within its share of `timeout_s` seconds; one that answers and refuses says more than one that
    does not answer.
    """
    places = addresses(kafka.bootstrap)
    found: Diagnosis | None = None
    for host, port in places:
        one = _diagnose_one(kafka, host, port, timeout_s / len(places))
        if one is None or one.lasting:
            return one
        found = found or one
    return found


def _diagnose_one(kafka: KafkaSettings, host: str, port: int, timeout_s: float) -> Diagnosis | None:
    place = f"{host}:{port}"
    try:
        with _reach(host, port, timeout_s) as connection:
            if kafka.security_protocol not in {"SSL", "SASL_SSL"}:
                _ask_sasl(kafka, connection, place)
            else:
                with _secure(kafka, connection, host, place) as secure:
                    _ask_sasl(kafka, secure, place)
    except _Found as found:
        return found.diagnosis
    return None


def _reach(host: str, port: int, timeout_s: float) -> socket.socket:
    try:
        return socket.create_connection((host, port), timeout_s)
    except socket.gaierror as error:
        raise _Found(Diagnosis(f"kafka.bootstrap: there is no host {host!r}; check the name")) from error
    except TimeoutError as error:
        raise _Found(
            Diagnosis(f"nothing answers at {host}:{port}; check kafka.bootstrap and the network between")
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise _Found(
            Diagnosis(f"nothing listens at {host}:{port} ({reason}); start the broker or check kafka.bootstrap")
        ) from error


def _secure(kafka: KafkaSettings, connection: socket.socket, host: str, place: str) -> ssl.SSLSocket:
    try:
        return tls_context(kafka).wrap_socket(connection, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        raise _Found(
            Diagnosis(
                f"the certificate of {place} is not trusted ({error.verify_message}); set kafka.ssl_cafile to the "
                "authority that signed it",
                lasting=True,
            )
        ) from error
    except TimeoutError as error:
        raise _Found(Diagnosis(f"{place} accepts connections but does not answer a TLS handshake")) from error
    except (ssl.SSLError, OSError) as error:
        raise _Found(
            Diagnosis(
                f"{place} does not speak TLS, which kafka.security_protocol={kafka.security_protocol} wants, or "
                "refuses our certificate; check the port, the protocol and kafka.ssl_certfile",
                lasting=True,
            )
        ) from error


def tls_context(kafka: KafkaSettings) -> ssl.SSLContext:
    """Return the TLS context that `kafka` asks for: host names and certificates are always checked.

    Raises:
        ssl.SSLError, OSError: when a certificate file cannot be read.
    """
    context = ssl.create_default_context(cafile=kafka.ssl_cafile)
    if kafka.ssl_certfile:
        context.load_cert_chain(kafka.ssl_certfile, kafka.ssl_keyfile)
    return context


def _ask_sasl(kafka: KafkaSettings, connection: socket.socket, place: str) -> None:
    """Ask for SASL even when none is set: the answer tells whether the listener wants it."""
    protocol = kafka.security_protocol
    try:
        code, offered = _handshake(connection, kafka.sasl_mechanism)
        mechanisms = ", ".join(offered)
        if not protocol.startswith("SASL_"):
            if code != _ILLEGAL_SASL_STATE:
                raise _Found(
                    Diagnosis(
                        f"{place} wants SASL ({mechanisms}), but kafka.security_protocol is {protocol}; set it to "
                        f"{'SASL_SSL' if protocol == 'SSL' else 'SASL_PLAINTEXT'}, with kafka.sasl_username and "
                        "kafka.sasl_password",
                        lasting=True,
                    )
                )
            return
        if code == _ILLEGAL_SASL_STATE:
            raise _Found(
                Diagnosis(
                    f"{place} wants no SASL, but kafka.security_protocol is {protocol}; set it to "
                    f"{protocol.removeprefix('SASL_')}",
                    lasting=True,
                )
            )
        if code == _UNSUPPORTED_MECHANISM:
            raise _Found(
                Diagnosis(
                    f"{place} does not offer the SASL mechanism {kafka.sasl_mechanism}; set kafka.sasl_mechanism to "
                    f"one of: {mechanisms}",
                    lasting=True,
                )
            )
        if not _authenticated(kafka, connection):
            raise _Found(
                Diagnosis(
                    f"authentication failed for user {kafka.sasl_username!r} with {kafka.sasl_mechanism} at {place}; "
                    "check kafka.sasl_username, kafka.sasl_password and kafka.sasl_mechanism",
                    lasting=True,
                )
            )
    except TimeoutError as error:
        raise _Found(
            Diagnosis(f"{place} accepts connections but does not answer; it may be busy, or no Kafka broker")
        ) from error
    except (_Closed, OSError) as error:
        raise _Found(
            Diagnosis(
                f"{place} closes the connection at the first request; is it a Kafka broker, and does this port want "
                f"TLS? kafka.security_protocol is {protocol}"
            )
        ) from error


def _authenticated(kafka: KafkaSettings, connection: socket.socket) -> bool:
    """Whether the broker takes our user and password; one that just hangs up does not."""
    mechanism = get_sasl_mechanism(kafka.sasl_mechanism)(
        security_protocol=kafka.security_protocol,
        sasl_mechanism=kafka.sasl_mechanism,
        sasl_plain_username=kafka.sasl_username,
        sasl_plain_password=kafka.sasl_password.get_secret_value(),
    )
    try:
        while not mechanism.is_done():
            token = mechanism.auth_bytes()
            reply = _ask(connection, _SASL_AUTHENTICATE, 0, struct.pack(">i", len(token)) + token)
            code, message_length = struct.unpack_from(">hh", reply)
            if code:
                return False
            mechanism.receive(reply[4 + max(0, message_length) + 4 :])
    except (_Closed, ConnectionError, ValueError):
        return False
    return bool(mechanism.is_authenticated())


def _handshake(connection: socket.socket, mechanism: str) -> tuple[int, list[str]]:
    """Return the error code and the mechanisms that the listener offers."""
    reply = _ask(connection, _SASL_HANDSHAKE, 1, _string(mechanism))
    code, count = struct.unpack_from(">hi", reply)
    names, at = [], 6
    for _ in range(max(0, count)):
        (length,) = struct.unpack_from(">h", reply, at)
        names.append(reply[at + 2 : at + 2 + length].decode())
        at += 2 + length
    return code, names


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack(">h", len(raw)) + raw


def _ask(connection: socket.socket, api: int, version: int, body: bytes) -> bytes:
    """Send one request (header version 1) and return the body of its answer."""
    request = struct.pack(">hhi", api, version, 1) + _string("strandline") + body
    connection.sendall(struct.pack(">i", len(request)) + request)
    (length,) = struct.unpack(">i", _read(connection, 4))
    if not 4 <= length <= _MAX_FRAME:
        msg = f"a frame of {length} bytes"
        raise _Closed(msg)
    return _read(connection, length)[4:]


def _read(connection: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        piece = connection.recv(count - len(got))
        if not piece:
            msg = "the connection was closed"
            raise _Closed(msg)
        got += piece
    return got
