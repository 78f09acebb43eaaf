"""What a message is: found by its shape, never by configuration.

Five shapes are known: a control message; an envelope around one event, several or a session; a whole ADK session; a
bare ADK event whose scope stands in the Kafka headers; and an ADK evaluation file, whose cases are short sessions.
ADK for Java writes camelCase, ADK for Python either casing; every name is looked up in both.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from schemas.controls import ControlKind
from schemas.scope import Scope
from schemas.timezones import first_timezone, state_timezone

_CONTROL_KINDS = frozenset(kind.value for kind in ControlKind)

MAX_ID_CHARS = 1024
"""The longest app, user, session or event id: ids are held in state and written with every claim."""

NO_CHARACTER = "\N{REPLACEMENT CHARACTER}"
"""Stands where half a character was, such as an emoji that a sender cut in two."""

APP_NAMES = ("app", "appName", "app_name")
USER_NAMES = ("userId", "user_id", "user")
SESSION_NAMES = ("sessionId", "session_id")


class Reason(StrEnum):
    """Why a message or an event was not understood (metric label `reason` of the dead letters)."""

    NOT_JSON = "not_json"
    TOO_LARGE = "too_large"
    BAD_HEADER = "bad_header"
    BAD_ID = "bad_id"
    BAD_TIME = "bad_time"
    NO_EVENT = "no_event"
    NO_SCOPE = "no_scope"
    NO_SESSION = "no_session"
    NOT_AN_OBJECT = "not_an_object"
    TOO_MANY_PARTS = "too_many_parts"
    UNKNOWN_SHAPE = "unknown_shape"
    WRONG_TYPE = "wrong_type"


class Unreadable(ValueError):
    """A message or event that is not understood; the text says what and where."""

    def __init__(self, reason: Reason, detail: str) -> None:
        """Keep `reason` for metrics and `detail` for people."""
        super().__init__(detail)
        self.reason = reason


class Place(msgspec.Struct, frozen=True):
    """The session that a bare event belongs to: from headers, or from the command's options for a file."""

    scope: Scope
    session_id: str


class RawEvent(msgspec.Struct, frozen=True):
    """One event as its sender wrote it, and what stood around it. `position` counts within the message.

    `timezone` is that of the envelope or of the session's state, empty when neither names one.
    """

    body: Mapping[str, Any]
    position: int
    speaker: str = ""
    timezone: str = ""


class RawSession(msgspec.Struct, frozen=True):
    """Events of one session from one message. `state` is the session's, when the message carried it."""

    place: Place
    events: tuple[RawEvent, ...]
    state: Mapping[str, Any] = {}


class RawControl(msgspec.Struct, frozen=True):
    """A control message, its place checked and its kind known."""

    kind: ControlKind
    scope: Scope
    session_id: str
    body: Mapping[str, Any]


def first_of(body: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """Return the value of the first of `names` that is there and not null, else None."""
    for name in names:
        value = body.get(name)
        if value is not None:
            return value
    return None


def detect(  # noqa: PLR0911 - one return a shape
    document: Any, place: Place | None, file_place: Place | None = None
) -> list[RawSession] | RawControl:
    """Return what `document` holds.

    `place`, from the headers, serves for bare events and for what an envelope leaves out. `file_place` serves for bare
    events only: an envelope that names no user must not be taken for somebody's.

    :raises Unreadable: It has none of the known shapes, or no scope, or a scope of the wrong type.
    """
    if isinstance(document, list):
        return _from_list(document, place, file_place)
    if not isinstance(document, dict):
        raise Unreadable(Reason.NOT_AN_OBJECT, f"a message must be a JSON object, not {type(document).__name__}")
    kind = document.get("type")
    if isinstance(kind, str) and kind in _CONTROL_KINDS:
        return _control(document, place)
    if "eval_cases" in document or "evalCases" in document:
        return _eval_set(document)
    inner = document.get("session")
    if isinstance(inner, dict):
        timezone = first_timezone(document.get("timezone"), inner.get("timezone"))
        return [_whole_session(inner, _place_of(document, place, inner), timezone)]
    if "events" in document and "event" not in document and "id" in document and not _has(document, SESSION_NAMES):
        timezone = first_timezone(document.get("timezone"))
        return [_whole_session(document, _place_of(document, place, document), timezone)]
    if "event" in document or "events" in document:
        return [_envelope(document, place)]
    if "author" in document or "invocationId" in document or "invocation_id" in document:
        place = place or file_place
        if place is None:
            raise Unreadable(
                Reason.NO_SCOPE,
                "a bare event needs the headers app, userId and sessionId, or an envelope "
                '{"app", "userId", "sessionId", "event"} around it',
            )
        return [
            RawSession(place, (RawEvent(document, 0, _speaker(document), first_timezone(document.get("timezone"))),))
        ]
    names = ", ".join(sorted(map(str, document))[:8])
    raise Unreadable(
        Reason.UNKNOWN_SHAPE, f"neither an event, an envelope, a session nor a control message; it has: {names}"
    )


def place_from_headers(headers: tuple[tuple[str, bytes], ...]) -> Place | None:
    """Return the session that the Kafka headers app, userId and sessionId name; None when one is missing.

    Case, `-`, `_` and a leading `strandline-` do not matter.

    :raises Unreadable: A header is not UTF-8.
    """
    found: dict[str, str] = {}
    for name, raw in headers:
        plain = name.lower().replace("-", "").replace("_", "").removeprefix("strandline")
        part = {"app": "app", "appname": "app", "user": "user", "userid": "user", "session": "s", "sessionid": "s"}.get(
            plain
        )
        if part is None or raw is None:
            continue
        try:
            found[part] = raw.decode()
        except UnicodeDecodeError as exc:
            raise Unreadable(Reason.BAD_HEADER, f"header {name} is not UTF-8") from exc
    if found.keys() < {"app", "user", "s"} or not all(found.values()):
        return None
    return Place(Scope(found["app"], found["user"]), found["s"])


def _has(document: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    return any(name in document for name in names)


def limited(value: str, what: str) -> str:
    """Return `value`.

    :raises Unreadable: It is longer than `MAX_ID_CHARS`, or was not readable as a whole.
    """
    if len(value) > MAX_ID_CHARS:
        raise Unreadable(Reason.TOO_LARGE, f"{what} has {len(value)} characters, more than {MAX_ID_CHARS}")
    if NO_CHARACTER in value:
        raise Unreadable(Reason.BAD_ID, f"{what} holds what is no character, so it may stand for somebody else's")
    return value


def _id(value: Any, what: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise Unreadable(Reason.WRONG_TYPE, f"{what} must be a string, not {type(value).__name__}")
    text = str(value)
    if not text:
        raise Unreadable(Reason.NO_SCOPE, f"{what} is empty")
    return limited(text, what)


def _scope_of(document: Mapping[str, Any], place: Place | None) -> Scope:
    app = first_of(document, APP_NAMES)
    user = first_of(document, USER_NAMES)
    if place is not None:
        app = place.scope.app if app is None else app
        user = place.scope.user if user is None else user
    if app is None or user is None:
        missing = " and ".join(name for name, value in (("app", app), ("userId", user)) if value is None)
        verb = "is" if app is not None or user is not None else "are"
        raise Unreadable(Reason.NO_SCOPE, f"{missing} {verb} missing: whose memory this is cannot be told")
    return Scope(_id(app, "app"), _id(user, "userId"))


def _place_of(document: Mapping[str, Any], place: Place | None, session: Mapping[str, Any] | None = None) -> Place:
    """Read the scope from `document`, from the session inside it, or from `place`, in this order."""
    merged = {**(session or {}), **{k: v for k, v in document.items() if k in APP_NAMES + USER_NAMES and v is not None}}
    scope = _scope_of(merged, place)
    session_id = first_of(document, SESSION_NAMES)
    if session_id is None and session is not None:
        session_id = session.get("id")
    if session_id is None and place is not None:
        session_id = place.session_id
    if session_id is None:
        raise Unreadable(Reason.NO_SESSION, "sessionId is missing")
    return Place(scope, _id(session_id, "sessionId"))


def _speaker(document: Mapping[str, Any]) -> str:
    value = document.get("speaker")
    return value if isinstance(value, str) else ""


def _array(value: Any, what: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unreadable(Reason.WRONG_TYPE, f"{what} must be an array, not {type(value).__name__}")
    return value


def _object(value: Any, what: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable(Reason.WRONG_TYPE, f"{what} must be an object, not {type(value).__name__}")
    return value


def _events(items: Any, speaker: str = "", timezone: str = "") -> tuple[RawEvent, ...]:
    return tuple(RawEvent(item, n, speaker, timezone) for n, item in enumerate(_array(items, "events")))


def _whole_session(session: Mapping[str, Any], place: Place, timezone: str) -> RawSession:
    state = session.get("state")
    state = state if isinstance(state, dict) else {}
    timezone = state_timezone(state) or timezone
    return RawSession(place, _events(session.get("events"), timezone=timezone), state)


def _envelope(document: Mapping[str, Any], place: Place | None) -> RawSession:
    where = _place_of(document, place)
    speaker, timezone = _speaker(document), first_timezone(document.get("timezone"))
    if document.get("event") is not None and document.get("events") is not None:
        raise Unreadable(Reason.UNKNOWN_SHAPE, "an envelope holds event or events, not both")
    if document.get("event") is not None:
        return RawSession(where, (RawEvent(document["event"], 0, speaker, timezone),))
    if document.get("events") is None:
        raise Unreadable(Reason.NO_EVENT, "the envelope holds no event: event is null")
    return RawSession(where, _events(document["events"], speaker, timezone))


def _control(document: Mapping[str, Any], place: Place | None) -> RawControl:
    kind = ControlKind(document["type"])
    if kind in (ControlKind.SESSION_CLOSED, ControlKind.SESSION_FORGET):
        where = _place_of(document, place)
        return RawControl(kind, where.scope, where.session_id, document)
    return RawControl(kind, _scope_of(document, place), "", document)


def _from_list(items: list[Any], place: Place | None, file_place: Place | None) -> list[RawSession]:
    """Read a JSON array: sessions, or the turns of an ADK test file (query, expected_tool_use, reference)."""
    if items and all(isinstance(item, dict) and "query" in item for item in items):
        place = place or file_place
        if place is None:
            raise Unreadable(Reason.NO_SCOPE, "a test file names no user: pass --app, --user and --session")
        return [RawSession(place, _turns(items))]
    found: list[RawSession] = []
    for item in items:
        part = [] if isinstance(item, list) else detect(item, place, file_place)
        if isinstance(part, RawControl) or isinstance(item, list):
            raise Unreadable(Reason.UNKNOWN_SHAPE, "an array may hold sessions, envelopes and events only")
        found.extend(part)
    return found


def _turns(items: list[Any]) -> tuple[RawEvent, ...]:
    bodies: list[dict[str, Any]] = []
    for item in items:
        bodies.append({"author": "user", "content": {"parts": [{"text": item["query"]}]}})
        for tool in _array(item.get("expected_tool_use"), "expected_tool_use"):
            call = _object(tool, "a tool use")
            part = {"functionCall": {"name": call.get("tool_name", ""), "args": call.get("tool_input")}}
            bodies.append({"author": "agent", "content": {"parts": [part]}})
        if item.get("reference"):
            bodies.append({"author": "agent", "content": {"parts": [{"text": item["reference"]}]}})
    return tuple(RawEvent(body, n) for n, body in enumerate(bodies))


def _eval_set(document: Mapping[str, Any]) -> list[RawSession]:
    """Read an ADK evaluation set: each case is a session of its own, its invocations are turns."""
    found: list[RawSession] = []
    for item in _array(first_of(document, ("eval_cases", "evalCases")), "eval_cases"):
        case = _object(item, "an eval case")
        where = _object(first_of(case, ("session_input", "sessionInput")), "session_input")
        place = Place(_scope_of(where, None), _id(first_of(case, ("eval_id", "evalId")), "eval_id"))
        bodies: list[dict[str, Any]] = []
        for invocation in _array(case.get("conversation"), "conversation"):
            turn = _object(invocation, "an invocation")
            stamp = first_of(turn, ("creation_timestamp", "creationTimestamp"))
            for author, names in (
                ("user", ("user_content", "userContent")),
                ("agent", ("final_response", "finalResponse")),
            ):
                content = first_of(turn, names)
                if content is not None:
                    bodies.append({"author": author, "content": content, "timestamp": stamp or None})
        found.append(RawSession(place, tuple(RawEvent(body, n) for n, body in enumerate(bodies))))
    return found
