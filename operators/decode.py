"""Messages in, session events and controls out; what cannot be read goes aside with its reason and its bytes.

`decode_message` says what one message holds and knows no time but the record's. `Decoder` goes through messages in
the order of their partitions, puts the stream time on every item, and wakes the sessions that waited for it.
"""

import codecs
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

import bytewax.operators as op
import msgspec
from bytewax.dataflow import Stream, operator
from bytewax.operators import KeyedStream

from operators.items import SessionControl, SessionEvent, SessionItem, Tick
from operators.metrics import Metrics
from operators.stream_time import StreamTime
from schemas.adk import Left, millis, parse_event, state_flag
from schemas.adk_typed import common_event, decode_common
from schemas.controls import Control, ControlKind
from schemas.detect import Place, RawControl, RawSession, Reason, Unreadable, detect, place_from_headers
from schemas.events import Event
from schemas.message import Message
from schemas.scope import Scope
from schemas.settings import DecodeSettings

Keyed = tuple[str, list[SessionItem]]
"""A scope's key, and items of that scope in their order."""

_SCOPES_KEPT = 10_000
"""Scopes whose key is kept at hand, for making one costs more than looking it up; and sessions whose newest borrowed
time is."""


class Invalid(msgspec.Struct, frozen=True, gc=False):
    """A message that could not be read, whole or in part: the first reason, what is wrong for people, and the message.

    `count` is how many things in it could not be read: events, or 1 for the message itself.
    """

    reason: str
    detail: str
    message: Message
    count: int = 1


class Found(msgspec.Struct, frozen=True, gc=False):
    """One event of a message. `borrowed_time`: its own time is missing or wrong, and the record's was taken."""

    scope: Scope
    session_id: str
    event: Event | None
    no_memory: bool | None = None
    borrowed_time: bool = False


class FoundControl(msgspec.Struct, frozen=True, gc=False):
    """A control message. `borrowed_time`: it states no time, and the record's was taken."""

    control: Control
    borrowed_time: bool = False


class Decoded(msgspec.Struct):
    """All that one message amounts to; the counts are of its events."""

    found: list[Found | FoundControl] = []
    invalid: Invalid | None = None
    left: dict[str, int] = {}
    clocks_ahead: int = 0


def decode_message(message: Message, settings: DecodeSettings, now_ms: int, place: Place | None = None) -> Decoded:
    """Return what `message` holds. Never raises for anything that stands in a message.

    `now_ms` is the record's time where the input has none. `place` serves for bare events of a file.
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
        found = detect(_parse(value), place_from_headers(message.headers), place)
        if isinstance(found, RawControl):
            out.found.append(_control(found, record_ts_ms))
            return out
        for session in found:
            _decode_session(session, message, record_ts_ms, settings, out)
    except Unreadable as exc:
        out.invalid = Invalid(exc.reason, str(exc), message)
    except RecursionError:
        out.invalid = Invalid(Reason.NOT_JSON, "nested too deeply to be read", message)
    if not (out.found or out.invalid or out.left):
        out.left["no_events"] = 1
    return out


def _parse(value: bytes) -> object:
    try:
        return msgspec.json.decode(value.removeprefix(codecs.BOM_UTF8))
    except (msgspec.MsgspecError, UnicodeError) as exc:
        if b"\\ud" in value.lower():
            return _parse_half_characters(value)
        raise Unreadable(Reason.NOT_JSON, f"not JSON: {exc}") from exc


def _parse_half_characters(value: bytes) -> object:
    """Parse a message in which a sender has cut a character, such as an emoji, in two; the half becomes U+FFFD."""
    try:
        text = json.dumps(json.loads(value), ensure_ascii=False)
    except (ValueError, UnicodeError) as exc:
        raise Unreadable(Reason.NOT_JSON, f"not JSON: {exc}") from exc
    return msgspec.json.decode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _control(found: RawControl, record_ts_ms: int) -> FoundControl:
    ts_ms = millis(found.body.get("timestamp"))
    consent = found.body.get("consent", found.body.get("granted"))
    if found.kind is ControlKind.CONSENT and not isinstance(consent, bool):
        msg = "a consent message needs consent: true or false"
        raise Unreadable(Reason.WRONG_TYPE, msg)
    control = Control(
        found.kind, found.scope, min(ts_ms or record_ts_ms, record_ts_ms), found.session_id, consent is not False
    )
    return FoundControl(control, borrowed_time=not ts_ms)


def _decode_session(
    session: RawSession, message: Message, record_ts_ms: int, settings: DecodeSettings, out: Decoded
) -> None:
    scope, session_id = session.place.scope, session.place.session_id
    switched = state_flag(session.state)
    if switched is not None:
        out.found.append(Found(scope, session_id, None, switched))
    for raw in session.events:
        try:
            parsed = parse_event(raw, scope.user, record_ts_ms, settings)
        except Unreadable as exc:
            before = out.invalid
            if before is None:
                out.invalid = Invalid(exc.reason, f"event {raw.position}: {exc}", message)
            else:
                out.invalid = msgspec.structs.replace(before, count=before.count + 1)
            continue
        if isinstance(parsed, Left):
            out.left[parsed.value] = out.left.get(parsed.value, 0) + 1
            continue
        out.clocks_ahead += parsed.clock_ahead
        out.found.append(Found(scope, session_id, parsed.event, parsed.no_memory, parsed.borrowed_time))


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
        self._scopes: dict[tuple[str, str], tuple[str, Scope]] = {}
        self._borrowed: dict[tuple[str, str], int] = {}

    def __call__(self, messages: list[Message]) -> list[Keyed | Invalid]:
        """Return the items of each scope together, in their order, and ticks for the keys whose time has come.

        What Bytewax does for every keyed item it then does once a scope.
        """
        items: dict[str, list[SessionItem]] = {}
        invalid: list[Invalid] = []
        now_ms = time.time_ns() // 1_000_000
        for message in messages:
            if not self._common(message, now_ms, items):
                self._any(message, now_ms, items, invalid)
        for partition in {message.partition for message in messages}:
            tick = Tick(partition, self._stream_time.now(partition))
            for key in self._stream_time.due(partition):
                items.setdefault(key, []).append(tick)
        return [*items.items(), *invalid]

    def _common(self, message: Message, now_ms: int, items: dict[str, list[SessionItem]]) -> bool:
        """Decode a common message; False when it is not one."""
        value = message.value
        if value is None or len(value) > self._settings.max_message_bytes:
            return False
        found = decode_common(value)
        if found is None:
            return False
        event = common_event(found, message.ts_ms if message.ts_ms > 0 else now_ms, self._settings)
        if event is None:
            return False
        key, scope = self._scopes.get((found.app, found.userId)) or self._scope(found.app, found.userId)
        partition = message.partition
        stream_ms = self._stream_time.advance(partition, event.ts_ms)
        item = SessionEvent(scope, found.sessionId, event, partition, stream_ms)
        if key in items:
            items[key].append(item)
        else:
            items[key] = [item]
        return True

    def _any(self, message: Message, now_ms: int, items: dict[str, list[SessionItem]], invalid: list[Invalid]) -> None:
        decoded = decode_message(message, self._settings, now_ms, self._place_of(message))
        self._count(decoded)
        if decoded.invalid is not None:
            invalid.append(decoded.invalid)
        for found in decoded.found:
            if isinstance(found, FoundControl):
                items.setdefault(found.control.scope.key(), []).append(self._stamped_control(found, message))
            else:
                key, item = self._stamped(found, message.partition)
                items.setdefault(key, []).append(item)

    def _stamped(self, found: Found, partition: int) -> tuple[str, SessionItem]:
        """Put the stream time on an event; one with a borrowed time takes part in it but does not move it on.

        The record's time of a backfill is today: taken for stream time it would make every session of the past idle. Of
        several in one session each is a millisecond after the one before, for equal times would be put in order of ids.
        """
        key, scope = self._scope(found.scope.app, found.scope.user)
        event, stream_ms = found.event, self._stream_time.now(partition)
        if event is not None and not found.borrowed_time:
            stream_ms = self._stream_time.advance(partition, event.ts_ms)
        elif event is not None:
            borrowed_ms = min(event.ts_ms, stream_ms + 1) if stream_ms else event.ts_ms
            event = msgspec.structs.replace(event, ts_ms=self._after_last(key, found.session_id, borrowed_ms))
        return key, SessionEvent(scope, found.session_id, event, partition, stream_ms, found.no_memory)

    def _after_last(self, key: str, session_id: str, borrowed_ms: int) -> int:
        if len(self._borrowed) >= _SCOPES_KEPT:
            self._borrowed.clear()
        last_ms = self._borrowed.get((key, session_id), -1)
        self._borrowed[key, session_id] = ts_ms = max(borrowed_ms, last_ms + 1)
        return ts_ms

    def _stamped_control(self, found: FoundControl, message: Message) -> SessionControl:
        """Give a control without a time the stream time where the input has no record time: a file is read later."""
        control, stream_ms = found.control, self._stream_time.now(message.partition)
        if found.borrowed_time and message.ts_ms <= 0 < stream_ms:
            control = msgspec.structs.replace(control, ts_ms=min(control.ts_ms, stream_ms))
        return SessionControl(control, message.partition)

    def _scope(self, app: str, user: str) -> tuple[str, Scope]:
        found = self._scopes.get((app, user))
        if found is None:
            if len(self._scopes) >= _SCOPES_KEPT:
                self._scopes.clear()
            scope = Scope(app, user)
            self._scopes[app, user] = found = (scope.key(), scope)
        return found

    def _count(self, decoded: Decoded) -> None:
        metrics = self._metrics
        for label, number in decoded.left.items():
            if label == Left.PARTIAL:
                metrics.event("partial").inc(number)
            else:
                metrics.skip(label).inc(number)
        if decoded.invalid is not None:
            metrics.event("invalid").inc(decoded.invalid.count)
        controls = sum(isinstance(found, FoundControl) for found in decoded.found)
        if controls:
            metrics.event("control").inc(controls)
        if decoded.clocks_ahead:
            metrics.clocks_ahead.inc(decoded.clocks_ahead)


@dataclass(frozen=True)
class DecodeOut:
    """Streams of `decode`: items keyed by scope, those of one batch together and in order; what could not be read."""

    items: KeyedStream[list[SessionItem]]
    invalid: Stream[Invalid]


@operator
def decode(step_id: str, up: Stream[Message], decoder: Decoder) -> DecodeOut:
    """Decode messages; sessions' items come keyed by scope."""
    # Split by batch, not by `op.branch`: that would ask a question of every single item.
    mixed = op.flat_map_batch("messages", up, decoder)
    items = op.flat_map_batch("items", mixed, lambda batch: [one for one in batch if isinstance(one, tuple)])
    invalid = op.flat_map_batch("invalid", mixed, lambda batch: [one for one in batch if isinstance(one, Invalid)])
    return DecodeOut(items=items, invalid=invalid)
