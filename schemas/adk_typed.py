"""The common message, decoded in one step: an envelope around one ADK event, in camelCase, with nothing unusual in it.

Nine in ten messages of a busy topic look so, and decoding straight into types costs a quarter of walking
dictionaries. Whatever else a message holds - another shape, another casing, metadata, an error, a switch of memory, a
wrong type - is left to `detect` and `adk`, which alone say what is valid. Where both read a message they agree; a
test holds them to it.
"""

from typing import Annotated, Any

import msgspec

from schemas.adk import MAX_NAME_CHARS, MS_FROM, tool_call, tool_result
from schemas.detect import MAX_ID_CHARS, Unreadable
from schemas.events import Event, ToolCall, ToolResult
from schemas.settings import DecodeSettings
from schemas.timezones import STATE_NAMES
from schemas.trim import trim_text

_Absent = Annotated[str, msgspec.Meta(min_length=1, max_length=0)]
"""No value is of this type: a message with such a field, even null, is not common."""

_ScopePart = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_CHARS // 3)]
"""A third of what app, user and session may have together; longer ones are not common."""

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
_Author = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS // 2)]
_Speaker = Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS // 2)]
"""Author and speaker share `MAX_NAME_CHARS`."""

_Time = Annotated[int, msgspec.Meta(gt=0)] | Annotated[float, msgspec.Meta(gt=0)]


class _Tool(msgspec.Struct, gc=False):
    name: str = ""
    id: str = ""
    args: Any = None
    response: Any = None


class _Part(msgspec.Struct, rename="camel", gc=False):
    text: str = ""
    thought: bool = False
    function_call: _Tool | None = None
    function_response: _Tool | None = None
    snake_call: None = msgspec.field(default=None, name="function_call")
    snake_response: None = msgspec.field(default=None, name="function_response")


class _Content(msgspec.Struct, gc=False):
    parts: list[_Part] = []


class _Actions(msgspec.Struct, gc=False):
    stateDelta: dict[str, msgspec.Raw] = {}  # noqa: N815 - as it stands in the message
    state_delta: None = None
    compaction: None = None


class _Event(msgspec.Struct, gc=False):
    """`id`, `author` and `timestamp` have no default: an event without one of them is not common.

    Fields of type None make an event with a value there uncommon: checked by the decoder, they cost nothing.
    """

    id: _Name
    author: _Author
    timestamp: _Time
    content: _Content
    actions: _Actions | None = None
    partial: bool = False
    customMetadata: None = None  # noqa: N815
    custom_metadata: None = None
    errorCode: None = None  # noqa: N815
    errorMessage: None = None  # noqa: N815
    error_code: None = None
    error_message: None = None
    speaker: None = None


class TypedEnvelope(msgspec.Struct, gc=False):
    """The message. The last fields are those by which `detect` would know another shape, or another scope."""

    app: _ScopePart
    userId: _ScopePart  # noqa: N815
    sessionId: _ScopePart  # noqa: N815
    event: _Event
    speaker: _Speaker = ""
    timezone: None = None
    type: None = None
    session: None = None
    events: None = None
    eval_cases: _Absent = ""
    evalCases: _Absent = ""  # noqa: N815


_decode = msgspec.json.Decoder(TypedEnvelope).decode
_TELLING = frozenset(("temp:no_memory", *STATE_NAMES))
"""What in a change of state tells of the event or its session."""


def decode_common(value: bytes) -> TypedEnvelope | None:
    """Return the message when it is a common one, else None; never raises."""
    try:
        found = _decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    event = found.event
    if event.partial:
        return None
    if event.actions is not None and not _TELLING.isdisjoint(event.actions.stateDelta):
        return None
    return found


def common_event(found: TypedEnvelope, record_ts_ms: int, settings: DecodeSettings) -> Event | None:
    """Return the event of a common message; None when it turns out to be unusual after all.

    :arg record_ts_ms: The record's time, milliseconds.
    """
    event = found.event
    stamp = event.timestamp
    ts_ms = stamp if isinstance(stamp, int) and stamp >= MS_FROM else round(stamp * 1000)
    parts = event.content.parts
    if ts_ms > record_ts_ms + settings.future_tolerance_s * 1000 or len(parts) > settings.max_parts:
        return None
    speaker = "" if found.speaker == found.userId else found.speaker
    if (
        len(parts) == 1
        and (only := parts[0]).text
        and not only.thought
        and only.function_call is None
        and only.function_response is None
    ):
        return Event(event.id, event.author, ts_ms, trim_text(only.text, settings.max_text_chars), speaker)
    try:
        return _event_of(found, ts_ms, speaker, settings)
    except (Unreadable, RecursionError):
        return None


def _event_of(found: TypedEnvelope, ts_ms: int, speaker: str, settings: DecodeSettings) -> Event | None:
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    room = settings.max_event_chars
    for part in found.event.content.parts:
        if part.thought:
            continue
        if part.text:
            texts.append(part.text)
        if (call := part.function_call) is not None:
            calls.append(tool_call(call.id, call.name, call.args, settings, room))
            room -= len(calls[-1].args)
        if (result := part.function_response) is not None:
            results.append(tool_result(result.id, result.name, result.response, settings, room))
            room -= len(results[-1].text)
    if not (texts or calls or results):
        return None
    text = trim_text("\n".join(texts), settings.max_text_chars)
    return Event(found.event.id, found.event.author, ts_ms, text, speaker, tuple(calls), tuple(results))
