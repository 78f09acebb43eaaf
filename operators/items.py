"""What travels from `decode` to `sessionize`, keyed by scope."""

import msgspec

from schemas.controls import Control
from schemas.events import Event
from schemas.scope import Scope


class SessionEvent(msgspec.Struct, frozen=True, gc=False):
    """An event with its place; `event` None when a session only switches its memory.

    `partition` is where it was read, `stream_ms` the stream time there with this event counted in. `no_memory` switches
    the session's memory off (True) or on again (False).
    """

    scope: Scope
    session_id: str
    event: Event | None
    partition: int
    stream_ms: int
    no_memory: bool | None = None


class SessionControl(msgspec.Struct, frozen=True, gc=False):
    """A control message and the partition it was read from."""

    control: Control
    partition: int


class Tick(msgspec.Struct, frozen=True, gc=False):
    """Tells the sessions of a scope that the stream time of a partition has reached what they wait for."""

    partition: int
    stream_ms: int


SessionItem = SessionEvent | SessionControl | Tick
