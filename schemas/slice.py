"""The events of one session between two watermarks: the unit of extraction."""

from enum import StrEnum
from hashlib import blake2b

import msgspec

from schemas.events import Event
from schemas.scope import Scope


class SliceReason(StrEnum):
    """Which trigger cut a slice."""

    CLOSED = "closed"
    IDLE = "idle"
    CHECKPOINT = "checkpoint"
    END_OF_INPUT = "end_of_input"


class Slice(msgspec.Struct, frozen=True, gc=False):
    """Events of one session, in order of (time, id), each in exactly one live slice.

    `seq` counts the slices of the session from 0: above 0 an earlier part of the record exists.
    """

    scope: Scope
    session_id: str
    reason: SliceReason
    seq: int
    events: tuple[Event, ...]

    @property
    def id(self) -> str:
        """A 128-bit hex digest of scope, session and event ids: the same events make the same slice."""
        digest = blake2b(digest_size=16)
        for part in (self.scope.app, self.scope.user, self.session_id, *(e.id for e in self.events)):
            raw = part.encode()
            digest.update(len(raw).to_bytes(4, "big"))
            digest.update(raw)
        return digest.hexdigest()

    @property
    def first_ts_ms(self) -> int:
        """Time of the oldest event, milliseconds since the epoch."""
        return self.events[0].ts_ms

    @property
    def last_ts_ms(self) -> int:
        """Time of the newest event, milliseconds since the epoch."""
        return self.events[-1].ts_ms

    @property
    def n_chars(self) -> int:
        """Characters of all events."""
        return sum(event.n_chars for event in self.events)
