"""One ADK event, Java or Python, either casing, as an `Event`.

Shapes follow google-adk 2.13 for Python and 1.8 for Java as they serialise themselves: milliseconds as whole numbers in
Java, seconds as fractions in Python; customMetadata as an object in Python, as an array of {key, stringValue|...} in
Java.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any

import msgspec

from schemas.detect import RawEvent, Reason, Unreadable, first_of, limited
from schemas.events import USER_AUTHOR, Event, ToolCall, ToolResult
from schemas.scope import Scope
from schemas.settings import DecodeSettings
from schemas.timezones import first_timezone, state_timezone
from schemas.trim import trim_json, trim_text

MS_FROM = 10**12
"""A whole number from here on is milliseconds (2001); below it is seconds (until the year 33658)."""

MAX_NAME_CHARS = 200
"""Characters kept of the names of authors, speakers and tools."""

NO_MEMORY_NAMES = frozenset({"no_memory", "noMemory", "temp:no_memory"})

_encode_sorted = msgspec.json.Encoder(order="sorted").encode


class Left(StrEnum):
    """Why a readable event is left out; the value is a metric label."""

    PARTIAL = "partial"
    COMPACTION = "compaction"
    NO_CONTENT = "no_content"


class Parsed(msgspec.Struct, frozen=True):
    """An event, and what else its sender said.

    `clock_ahead`: its time lay in the future. `borrowed_time`: for that reason, or because it states none, it bears the
    record's time. `no_memory` switches the session's memory off, or on again.
    """

    event: Event
    clock_ahead: bool = False
    borrowed_time: bool = False
    no_memory: bool | None = None


def parse_event(raw: RawEvent, user: str, record_ts_ms: int, settings: DecodeSettings) -> Parsed | Left:
    """Return the event in `raw`, or why it is left out.

    `user` is the scope's user: a speaker of that name is nobody else. `record_ts_ms` stands in for a time that is
    missing or lies further ahead of it than `settings.future_tolerance_s`.

    :raises Unreadable: A field has the wrong type, or there are more parts than `settings.max_parts`.
    """
    body = raw.body
    if not isinstance(body, dict):
        raise Unreadable(Reason.WRONG_TYPE, f"an event must be an object, not {type(body).__name__}")
    if body.get("partial") is True:
        return Left.PARTIAL
    actions = _object(body, "actions")
    if actions.get("compaction") is not None:
        return Left.COMPACTION
    ts_ms, ahead = _time(body.get("timestamp"), record_ts_ms, settings)
    own_time = ts_ms is not None and not ahead
    text, calls, results = _parts(_object(body, "content"), settings)
    metadata = _metadata(first_of(body, ("customMetadata", "custom_metadata")))
    state = first_of(actions, ("stateDelta", "state_delta"))
    no_memory = _flag(state, "temp:no_memory")
    timezone = first_timezone(metadata.get("timezone")) or state_timezone(state)
    error = _error(body, settings)
    if not (text or calls or results or error or timezone) and no_memory is None:
        return Left.NO_CONTENT
    author = trim_text(_text_field(body, "author"), MAX_NAME_CHARS) or (
        "agent" if _role(body) == "model" else USER_AUTHOR
    )
    speaker = raw.speaker or _as_text(metadata.get("speaker")) or _as_text(body.get("speaker"))
    event_id = body.get("id")
    if event_id is not None and (isinstance(event_id, bool) or not isinstance(event_id, (str, int))):
        raise Unreadable(Reason.WRONG_TYPE, f"id must be a string, not {type(event_id).__name__}")
    event = Event(
        id=limited(str(event_id), "id") if event_id not in (None, "") else _derived_id(body, raw.position),
        author=author,
        ts_ms=ts_ms if ts_ms is not None and own_time else record_ts_ms,
        text=text,
        speaker="" if speaker == user else trim_text(speaker, MAX_NAME_CHARS),
        calls=calls,
        results=results,
        error=error,
        withheld=any(_truthy(metadata.get(name)) for name in NO_MEMORY_NAMES),
        derived_id=event_id in (None, ""),
        timezone=timezone or raw.timezone,
    )
    return Parsed(event, ahead, not own_time, no_memory)


def millis(value: Any) -> int | None:
    """Return a time as milliseconds since the epoch: whole milliseconds, seconds, or ISO text; None when there is none.

    :raises Unreadable: It is none of these, or negative.
    """
    if value is None:
        return None
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError as exc:
            raise Unreadable(Reason.BAD_TIME, f"timestamp {value[:40]!r} is not an ISO time") from exc
        value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unreadable(Reason.BAD_TIME, f"timestamp must be a number, not {type(value).__name__}")
    if value < 0:
        raise Unreadable(Reason.BAD_TIME, f"timestamp {value} is negative")
    if isinstance(value, int):
        return value if value >= MS_FROM else value * 1000
    return round(value * 1000) if value < MS_FROM else round(value)


def _time(value: Any, record_ts_ms: int, settings: DecodeSettings) -> tuple[int | None, bool]:
    """Return the time that the event states, if any, and whether it lies in the future."""
    ts_ms = millis(value) or None
    return ts_ms, ts_ms is not None and ts_ms > record_ts_ms + settings.future_tolerance_s * 1000


def _object(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable(Reason.WRONG_TYPE, f"{name} must be an object, not {type(value).__name__}")
    return value


def _text_field(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unreadable(Reason.WRONG_TYPE, f"{name} must be a string, not {type(value).__name__}")
    return value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _role(body: Mapping[str, Any]) -> str:
    return _as_text(_object(body, "content").get("role"))


def _parts(
    content: Mapping[str, Any], settings: DecodeSettings
) -> tuple[str, tuple[ToolCall, ...], tuple[ToolResult, ...]]:
    parts = content.get("parts")
    if parts is None:
        return "", (), ()
    if not isinstance(parts, list):
        raise Unreadable(Reason.WRONG_TYPE, f"content.parts must be an array, not {type(parts).__name__}")
    if len(parts) > settings.max_parts:
        raise Unreadable(
            Reason.TOO_MANY_PARTS, f"the event has {len(parts)} parts, more than decode.max_parts={settings.max_parts}"
        )
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    room = settings.max_event_chars
    for part in parts:
        if not isinstance(part, dict):
            raise Unreadable(Reason.WRONG_TYPE, f"a part must be an object, not {type(part).__name__}")
        if part.get("thought") is True:
            continue
        text = _text_field(part, "text")
        if text:
            texts.append(text)
        call = first_of(part, ("functionCall", "function_call"))
        if call is not None:
            calls.append(_call(call, settings, room))
            room -= len(calls[-1].args)
        result = first_of(part, ("functionResponse", "function_response"))
        if result is not None:
            results.append(_result(result, settings, room))
            room -= len(results[-1].text)
    return trim_text("\n".join(texts), settings.max_text_chars), tuple(calls), tuple(results)


def _call(call: Any, settings: DecodeSettings, room: int) -> ToolCall:
    if not isinstance(call, dict):
        raise Unreadable(Reason.WRONG_TYPE, f"functionCall must be an object, not {type(call).__name__}")
    return tool_call(_text_field(call, "id"), _text_field(call, "name"), call.get("args"), settings, room)


def _result(result: Any, settings: DecodeSettings, room: int) -> ToolResult:
    if not isinstance(result, dict):
        raise Unreadable(Reason.WRONG_TYPE, f"functionResponse must be an object, not {type(result).__name__}")
    name = _text_field(result, "name")
    return tool_result(_text_field(result, "id"), name, result.get("response"), settings, room)


def tool_call(call_id: str, name: str, args: Any, settings: DecodeSettings, room: int) -> ToolCall:
    """Return a call, trimmed; `room` is what is left of the event's characters.

    :raises Unreadable: Its id is too long.
    """
    text = trim_json(args or {}, min(settings.max_tool_args_chars, room), settings.max_array_items)
    return ToolCall(limited(call_id, "the id of a call"), trim_text(name, MAX_NAME_CHARS), text)


def tool_result(result_id: str, name: str, response: Any, settings: DecodeSettings, room: int) -> ToolResult:
    """Return a result, trimmed; `room` is what is left of the event's characters.

    :raises Unreadable: Its id is too long.
    """
    limit = settings.tool_result_chars.get(name, settings.max_tool_result_chars)
    text = trim_json(response, min(limit, room), settings.max_array_items)
    return ToolResult(limited(result_id, "the id of a result"), trim_text(name, MAX_NAME_CHARS), text)


def _metadata(value: Any) -> Mapping[str, Any]:
    """Read Python's object or Java's array of {key, stringValue|numericValue|...}."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return {}
    found: dict[str, Any] = {}
    for item in value:
        if isinstance(item, dict) and isinstance(item.get("key"), str):
            found[item["key"]] = next((v for k, v in item.items() if k != "key" and v is not None), None)
    return found


def _truthy(value: Any) -> bool:
    return value is True or value == 1 or (isinstance(value, str) and value.lower() in ("true", "1", "yes"))


def _flag(state: Any, name: str) -> bool | None:
    return _truthy(state[name]) if isinstance(state, dict) and name in state else None


def state_flag(state: Mapping[str, Any]) -> bool | None:
    """Return what a whole session's state says of memory: True switches it off, None says nothing."""
    return _flag(state, "temp:no_memory")


def _error(body: Mapping[str, Any], settings: DecodeSettings) -> str:
    code = first_of(body, ("errorCode", "error_code"))
    message = first_of(body, ("errorMessage", "error_message"))
    return trim_text(": ".join(str(part) for part in (code, message) if part), settings.max_tool_result_chars)


def _derived_id(body: Mapping[str, Any], position: int) -> str:
    """Work out a stable id from the content; the position counts only when no time tells two equal events apart."""
    raw = _encode_sorted({k: body.get(k) for k in ("author", "content", "timestamp", "invocationId", "invocation_id")})
    where = "" if body.get("timestamp") else f"#{position}"
    return f"derived-{blake2b(raw + where.encode(), digest_size=12).hexdigest()}"


def envelope(scope: Scope, session_id: str, event: Event) -> dict[str, Any]:
    """Return `event` as the message it could have come in, which is read back as the same event.

    A tool payload that was trimmed may come back trimmed once more.
    """
    parts: list[dict[str, Any]] = [{"text": event.text}] if event.text else []
    parts.extend({"functionCall": {"id": c.id, "name": c.name, "args": _json_or_text(c.args)}} for c in event.calls)
    parts.extend(
        {"functionResponse": {"id": r.id, "name": r.name, "response": _json_or_text(r.text)}} for r in event.results
    )
    body: dict[str, Any] = {"id": event.id, "author": event.author, "timestamp": event.ts_ms}
    body["content"] = {"parts": parts}
    if event.error:
        body["errorMessage"] = event.error
    if event.withheld:
        body["customMetadata"] = {"no_memory": True}
    found = {"app": scope.app, "userId": scope.user, "sessionId": session_id, "event": body}
    if event.speaker:
        found["speaker"] = event.speaker
    if event.timezone:
        found["timezone"] = event.timezone
    return found


def _json_or_text(text: str) -> Any:
    """Return what JSON text holds; one that was cut when it was trimmed stays text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
