"""Control messages: what a sender says about a session or a user, on the same topic as the events."""

from enum import StrEnum

import msgspec

from schemas.scope import Scope


class ControlKind(StrEnum):
    """What a control message asks for."""

    SESSION_CLOSED = "session.closed"
    USER_FORGET = "user.forget"
    SESSION_FORGET = "session.forget"
    CONSENT = "consent"


class Control(msgspec.Struct, frozen=True, gc=False):
    """A control message, decoded.

    `session_id` is set for the two session kinds and empty otherwise. `consent` has a meaning for `CONSENT` only.
    `ts_ms` is when it was said: a forget covers what happened up to then, and nothing later.
    """

    kind: ControlKind
    scope: Scope
    ts_ms: int
    session_id: str = ""
    consent: bool = True
