"""The documents a sender may put on the input topic, as senders should; `schemas.detect` accepts more.

One Kafka message, or one line of a file, holds one of them. An ADK event or a whole ADK session is taken as ADK
serialises it, Java or Python, so its own fields are left open here.
"""

from typing import Any

import msgspec

from schemas.controls import ControlKind


class _Scoped(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whose memory it is, as every document states it."""

    app: str
    user_id: str


class EventEnvelope(_Scoped, frozen=True, kw_only=True):
    """One ADK event of a session. `speaker` names who spoke when it was somebody else than the user.

    `timezone` is the IANA name of the time zone that the user was in, for the days that are meant by "tomorrow".
    """

    session_id: str
    event: dict[str, Any]
    speaker: str = ""
    timezone: str = ""


class EventsEnvelope(_Scoped, frozen=True, kw_only=True):
    """Several ADK events of one session, in any order; they may have been sent before."""

    session_id: str
    events: list[dict[str, Any]]
    speaker: str = ""
    timezone: str = ""


class SessionEnvelope(_Scoped, frozen=True, kw_only=True):
    """A whole ADK session, as often as its sender likes: what was sent before is known by its event ids."""

    session: dict[str, Any]
    session_id: str | msgspec.UnsetType = msgspec.UNSET
    timezone: str = ""


class _ControlDocument(_Scoped, frozen=True, kw_only=True, tag_field="type"):
    """`timestamp` is when it was said: milliseconds as a whole number, seconds as a fraction; absent: the message's."""

    timestamp: int | float | msgspec.UnsetType = msgspec.UNSET


class SessionClosed(_ControlDocument, frozen=True, kw_only=True, tag=ControlKind.SESSION_CLOSED.value):
    """The session has ended: its last slice is cut now."""

    session_id: str


class SessionForget(_ControlDocument, frozen=True, kw_only=True, tag=ControlKind.SESSION_FORGET.value):
    """What this session contributed must be deleted."""

    session_id: str


class UserForget(_ControlDocument, frozen=True, kw_only=True, tag=ControlKind.USER_FORGET.value):
    """Everything of this user must be deleted."""


class Consent(_ControlDocument, frozen=True, kw_only=True, tag=ControlKind.CONSENT.value):
    """From now on the user's sessions may, or may not, be remembered."""

    consent: bool


INPUT_DOCUMENTS: tuple[type[msgspec.Struct], ...] = (
    EventEnvelope,
    EventsEnvelope,
    SessionEnvelope,
    SessionClosed,
    SessionForget,
    UserForget,
    Consent,
)
"""Every document of the contract."""
