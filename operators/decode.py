"""Messages in, session events and controls out; what cannot be read goes aside with its reason and its bytes."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import bytewax.operators as op
import msgspec
from bytewax.dataflow import Stream, operator
from bytewax.operators import KeyedStream

from operators.metrics import Metrics
from operators.stream_time import StreamTime
from schemas.adk import Left, millis, parse_event, state_flag
from schemas.controls import Control, ControlKind
from schemas.detect import Place, RawControl, RawSession, Reason, Unreadable, detect, place_from_headers
from schemas.events import Event
from schemas.message import Message
from schemas.scope import Scope
from schemas.settings import DecodeSettings


class SessionEvent(msgspec.Struct, frozen=True, gc=False):
    """An event with its place; `event` None when a session only switches its memory.

    `partition` is where it was read, `stream_ms` the stream time there with this event counted in. `no_memory`
    switches the session's memory off or on.
    """

    scope: Scope
    session_id: str
    event: Event | None
    partition: int
    no_memory: bool | None = None
    stream_ms: int = 0


class SessionControl(msgspec.Struct, frozen=True, gc=False):
    """A control message and the partition it was read from."""

    control: Control
    partition: int


class Invalid(msgspec.Struct, frozen=True, gc=False):
    """What could not be read: the reason (a bounded set), what is wrong for people, and the original message."""

    reason: str
    detail: str
    message: Message


class Decoded(msgspec.Struct):
    """All that one message amounts to; the counts are of its events."""

    items: list[SessionEvent | SessionControl] = []
    invalid: list[Invalid] = []
    left: dict[str, int] = {}
    clocks_ahead: int = 0


def decode_message(
    message: Message, settings: DecodeSettings, now_ms: int, default_place: Place | None = None
) -> Decoded:
    """Return what `message` holds. Never raises for anything that stands in a message.

    `now_ms` is the record's time where the input has none. `default_place` serves for bare events of a file.
    """
    out = Decoded()
    value = message.value or b""
    record_ts_ms = message.ts_ms if message.ts_ms > 0 else now_ms
    if not value.strip():
        out.left["empty_message"] = 1
        return out
    try:
        if len(value) > settings.max_message_bytes:
            msg = f"{len(value)} bytes, more than decode.max_message_bytes={settings.max_message_bytes}"
            raise Unreadable(Reason.TOO_LARGE, msg)
        found = detect(_parse(value), place_from_headers(message.headers) or default_place)
        if isinstance(found, RawControl):
            out.items.append(SessionControl(_control(found, record_ts_ms), message.partition))
            return out
    except Unreadable as exc:
        out.invalid.append(Invalid(exc.reason, str(exc), message))
        return out
    for session in found:
        _decode_session(session, message, record_ts_ms, settings, out)
    return out


def _parse(value: bytes) -> object:
    try:
        return msgspec.json.decode(value)
    except (msgspec.MsgspecError, UnicodeError) as exc:
        raise Unreadable(Reason.NOT_JSON, f"not JSON: {exc}") from exc
    except RecursionError as exc:
        raise Unreadable(Reason.NOT_JSON, "nested too deeply to be read") from exc


def _control(found: RawControl, record_ts_ms: int) -> Control:
    ts_ms = millis(found.body.get("timestamp")) or record_ts_ms
    consent = found.body.get("consent", found.body.get("granted"))
    if found.kind is ControlKind.CONSENT and not isinstance(consent, bool):
        msg = "a consent message needs consent: true or false"
        raise Unreadable(Reason.WRONG_TYPE, msg)
    return Control(found.kind, found.scope, min(ts_ms, record_ts_ms), found.session_id, consent is not False)


def _decode_session(
    session: RawSession, message: Message, record_ts_ms: int, settings: DecodeSettings, out: Decoded
) -> None:
    scope, session_id = session.place.scope, session.place.session_id
    switched = state_flag(session.state)
    if switched is not None:
        out.items.append(SessionEvent(scope, session_id, None, message.partition, switched))
    for raw in session.events:
        try:
            parsed = parse_event(raw, scope.user, record_ts_ms, settings)
        except Unreadable as exc:
            out.invalid.append(Invalid(exc.reason, f"event {raw.position}: {exc}", message))
            continue
        if isinstance(parsed, Left):
            out.left[parsed.value] = out.left.get(parsed.value, 0) + 1
            continue
        out.clocks_ahead += parsed.clock_ahead
        out.items.append(SessionEvent(scope, session_id, parsed.event, message.partition, parsed.no_memory))


class Tick(msgspec.Struct, frozen=True, gc=False):
    """Tells the sessions of a scope that the stream time of a partition has reached what they wait for."""

    partition: int
    stream_ms: int


SessionItem = SessionEvent | SessionControl | Tick


class Decoder:
    """Decodes batches of messages and keeps the stream time of their partitions."""

    def __init__(
        self,
        settings: DecodeSettings,
        stream_time: StreamTime,
        metrics: Metrics,
        place_of: Callable[[Message], Place | None] = lambda message: None,
    ) -> None:
        """Share `stream_time` with the sessionizer of the same process; `place_of` places bare events of a file."""
        self._settings = settings
        self._stream_time = stream_time
        self._metrics = metrics
        self._place_of = place_of

    def __call__(self, messages: list[Message]) -> list[tuple[str, SessionItem] | Invalid]:
        """Return what `messages` hold, in their order, then a tick for every key whose time has come."""
        out: list[tuple[str, SessionItem] | Invalid] = []
        now_ms = time.time_ns() // 1_000_000
        partitions: set[int] = set()
        for message in messages:
            decoded = decode_message(message, self._settings, now_ms, self._place_of(message))
            self._count(decoded)
            partitions.add(message.partition)
            out.extend(decoded.invalid)
            for item in decoded.items:
                out.append(self._stamped(item))
        for partition in partitions:
            tick = Tick(partition, self._stream_time.now(partition))
            out.extend((key, tick) for key in self._stream_time.due(partition))
        return out

    def _stamped(self, item: SessionEvent | SessionControl) -> tuple[str, SessionItem]:
        if isinstance(item, SessionControl):
            return item.control.scope.key(), item
        ts_ms = item.event.ts_ms if item.event is not None else 0
        stream_ms = self._stream_time.advance(item.partition, ts_ms)
        return item.scope.key(), msgspec.structs.replace(item, stream_ms=stream_ms)

    def _count(self, decoded: Decoded) -> None:
        metrics = self._metrics
        for label, number in decoded.left.items():
            if label == Left.PARTIAL:
                metrics.event("partial").inc(number)
            else:
                metrics.skip(label).inc(number)
        if decoded.invalid:
            metrics.event("invalid").inc(len(decoded.invalid))
        controls = sum(isinstance(item, SessionControl) for item in decoded.items)
        if controls:
            metrics.event("control").inc(controls)
        if decoded.clocks_ahead:
            metrics.clocks_ahead.inc(decoded.clocks_ahead)


@dataclass(frozen=True)
class DecodeOut:
    """Streams of `decode`: items keyed by scope, and what could not be read."""

    items: KeyedStream[SessionItem]
    invalid: Stream[Invalid]


@operator
def decode(step_id: str, up: Stream[Message], decoder: Decoder) -> DecodeOut:
    """Decode messages; sessions' items come keyed by scope."""
    mixed = op.flat_map_batch("messages", up, decoder)
    split = op.branch("invalid", mixed, _is_invalid)
    return DecodeOut(
        items=cast("KeyedStream[SessionItem]", split.falses),
        invalid=cast("Stream[Invalid]", split.trues),
    )


def _is_invalid(item: tuple[str, SessionItem] | Invalid) -> bool:
    return isinstance(item, Invalid)
