"""How the sessions of one scope become slices: a state machine without a clock, a thread or a dataflow.

Time comes in two kinds, both passed in. Stream time is the newest event time read from the partition, carried by
every item in the order of the partition, so that a backlog read at any speed gives the same slices. Wall time decides
only when nothing is read any more. A session is idle when either has moved on by `idle_after_s` since its last event
came.
"""

from collections.abc import Iterator

import msgspec

from operators.session_cut import checkpoint_length, in_order
from operators.session_state import ScopeState, SessionState, id_hash
from schemas.controls import Control, ControlKind
from schemas.events import USER_AUTHOR, Event
from schemas.scope import Scope
from schemas.settings import SessionSettings
from schemas.slice import Slice, SliceReason

NEVER = 2**62
"""A time, in milliseconds, that does not come."""


class LateEvent(msgspec.Struct, frozen=True, gc=False):
    """An event older than anything its session remembers: it may have been seen, so it is set aside."""

    scope: Scope
    session_id: str
    event: Event


class Counts(msgspec.Struct):
    """What happened since the last reading, by the labels of the metrics."""

    events: int = 0
    duplicates: int = 0
    late: int = 0
    sessions: int = 0
    slices: dict[str, int] = {}
    skipped: dict[str, int] = {}
    opened: int = 0
    pending: int = 0

    def skip(self, reason: str, by: int = 1) -> None:
        """Count `by` things left out for `reason`."""
        self.skipped[reason] = self.skipped.get(reason, 0) + by


class ScopeSessions:
    """The sessions of one scope. Every method returns what is to be given out, in order."""

    def __init__(self, state: ScopeState, settings: SessionSettings) -> None:
        """Go on from `state`: a snapshot's, or `ScopeState(scope)` for a scope never seen."""
        self.scope = state.scope
        self.state = state
        self.counts = Counts()
        self._settings = settings
        self._idle_ms = NEVER if settings.idle_after_s is None else int(settings.idle_after_s * 1000)
        self._age_ms = NEVER if settings.checkpoint_age_s is None else int(settings.checkpoint_age_s * 1000)
        self._tombstone_ms = int(settings.tombstone_s * 1000)
        self._max_events = settings.checkpoint_events or NEVER
        self._max_chars = settings.checkpoint_chars or NEVER
        self.next_stream_ms, self.next_wall_ms = self._deadlines()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is remembered, so that the key itself can go."""
        return not self.state.sessions and self.state.consent

    def add(
        self, session_id: str, event: Event, partition: int, stream_ms: int, wall_ms: int
    ) -> list[Slice | LateEvent]:
        """Take one event. `stream_ms` is the partition's stream time once this event is counted in."""
        out: list[Slice | LateEvent] = []
        if stream_ms >= self.next_stream_ms:
            out.extend(self.advance_stream(partition, stream_ms))
        session = self._open(session_id, partition, stream_ms)
        hashed = id_hash(event.id)
        if hashed in session.seen:
            self.counts.duplicates += 1
            return out
        if event.ts_ms <= session.forgotten_ts_ms:
            self.counts.late += 1
            out.append(LateEvent(self.scope, session_id, event))
            return out
        self._remember(session, hashed, event.ts_ms)
        self.counts.events += 1
        session.active_stream_ms, session.active_wall_ms = stream_ms, wall_ms
        if not self.state.consent or session.no_memory:
            session.watermark_ts_ms = max(session.watermark_ts_ms, event.ts_ms)
            self.counts.skip("no_consent" if not self.state.consent else "no_memory")
            self._note_deadlines(session)
            return out
        self._append(session, event, stream_ms)
        self._note_deadlines(session)
        if len(session.pending) >= self._max_events or session.pending_chars >= self._max_chars:
            out.extend(self._checkpoint(session_id, session, stream_ms))
        return out

    def switch_memory(self, session_id: str, partition: int, stream_ms: int, *, off: bool) -> None:
        """Follow `temp:no_memory`: while it is on, what the session holds and will hold is not extracted."""
        session = self._open(session_id, partition, stream_ms)
        session.no_memory = off
        session.active_stream_ms = max(session.active_stream_ms, stream_ms)
        if off:
            self._drop_pending(session, "no_memory")
        self._note_deadlines(session)

    def control(self, control: Control) -> list[Slice | Control]:
        """Follow a control message; a forget is passed on, after everything that was cut before it."""
        out: list[Slice | Control] = []
        if control.kind is ControlKind.SESSION_CLOSED:
            session = self.state.sessions.get(control.session_id)
            if session is not None:
                out.extend(self._cut(control.session_id, session, len(session.pending), SliceReason.CLOSED))
            return out
        if control.kind is ControlKind.CONSENT:
            self.state.consent = control.consent
        if control.kind is not ControlKind.CONSENT or not control.consent:
            reason = "no_consent" if control.kind is ControlKind.CONSENT else "forgotten"
            for session_id, session in self.state.sessions.items():
                if control.kind is not ControlKind.SESSION_FORGET or session_id == control.session_id:
                    self._drop_pending(session, reason)
        if control.kind is not ControlKind.CONSENT:
            out.append(control)
        return out

    def advance_stream(self, partition: int, stream_ms: int) -> list[Slice]:
        """Cut what has become idle or old by the stream time of `partition`, and free what need not be remembered."""
        out: list[Slice] = []
        for session_id, session in list(self.state.sessions.items()):
            if session.partition != partition:
                continue
            if not session.pending:
                if stream_ms - session.active_stream_ms >= self._tombstone_ms:
                    del self.state.sessions[session_id]
            elif stream_ms - session.active_stream_ms >= self._idle_ms:
                out.extend(self._cut(session_id, session, len(session.pending), SliceReason.IDLE))
            elif stream_ms - session.pending_since_ms >= self._age_ms:
                out.extend(self._checkpoint(session_id, session, stream_ms))
        self.next_stream_ms, self.next_wall_ms = self._deadlines()
        return out

    def advance_wall(self, wall_ms: int) -> list[Slice]:
        """Cut what has become idle by the clock on the wall, and free what need not be remembered."""
        out: list[Slice] = []
        for session_id, session in list(self.state.sessions.items()):
            still_ms = wall_ms - session.active_wall_ms
            if not session.pending:
                if still_ms >= self._tombstone_ms:
                    del self.state.sessions[session_id]
            elif still_ms >= self._idle_ms:
                out.extend(self._cut(session_id, session, len(session.pending), SliceReason.IDLE))
        self.next_stream_ms, self.next_wall_ms = self._deadlines()
        return out

    def end(self) -> list[Slice]:
        """Cut everything: the input was bounded and is at its end."""
        out: list[Slice] = []
        for session_id, session in self.state.sessions.items():
            out.extend(self._cut(session_id, session, len(session.pending), SliceReason.END_OF_INPUT))
        return out

    def stream_times(self) -> Iterator[tuple[int, int]]:
        """Give (partition, stream time) as far as this scope has seen it: what a restarted process begins with."""
        for session in self.state.sessions.values():
            yield session.partition, session.active_stream_ms

    def _open(self, session_id: str, partition: int, stream_ms: int) -> SessionState:
        session = self.state.sessions.get(session_id)
        if session is None:
            session = SessionState(partition, active_stream_ms=stream_ms)
            self.state.sessions[session_id] = session
            self.counts.sessions += 1
        session.partition = partition
        return session

    def _remember(self, session: SessionState, hashed: int, ts_ms: int) -> None:
        session.seen[hashed] = ts_ms
        if len(session.seen) > self._settings.id_memory:
            oldest = next(iter(session.seen))
            session.forgotten_ts_ms = max(session.forgotten_ts_ms, session.seen.pop(oldest))

    def _append(self, session: SessionState, event: Event, stream_ms: int) -> None:
        if event.ts_ms < session.watermark_ts_ms:
            event = msgspec.structs.replace(event, late=True)
        if not session.pending:
            session.pending_since_ms = stream_ms
            self.counts.opened += 1
        session.pending.append(event)
        session.pending_chars += event.n_chars
        self.counts.pending += 1
        if event.author == USER_AUTHOR and event.text:
            session.has_user_text = True

    def _checkpoint(self, session_id: str, session: SessionState, stream_ms: int) -> list[Slice]:
        force = (
            len(session.pending) >= 2 * self._max_events
            or session.pending_chars >= 2 * self._max_chars
            or stream_ms - session.pending_since_ms >= 2 * self._age_ms
        )
        session.pending = in_order(session.pending)
        length = checkpoint_length(session.pending, int(self._settings.lateness_s * 1000), force=force)
        out = self._cut(session_id, session, length, SliceReason.CHECKPOINT) if length else []
        session.pending_since_ms = stream_ms if length else session.pending_since_ms
        return out

    def _cut(self, session_id: str, session: SessionState, length: int, reason: SliceReason) -> list[Slice]:
        """Give out the first `length` pending events as a slice, or count why they are left out."""
        if not length:
            return []
        ordered = in_order(session.pending)
        events, rest = tuple(ordered[:length]), ordered[length:]
        session.watermark_ts_ms = max(session.watermark_ts_ms, events[-1].ts_ms)
        self.counts.pending -= length
        self.counts.opened -= not rest
        session.pending = rest
        session.pending_chars = sum(event.n_chars for event in rest)
        if not session.has_user_text:
            self.counts.skip("no_user_text")
            return []
        if len(events) < self._settings.min_events:
            self.counts.skip("few_events")
            return []
        piece = Slice(self.scope, session_id, reason, session.seq, events)
        session.seq += 1
        self.counts.slices[reason] = self.counts.slices.get(reason, 0) + 1
        return [piece]

    def _drop_pending(self, session: SessionState, reason: str) -> None:
        if session.pending:
            self.counts.skip(reason, len(session.pending))
            self.counts.pending -= len(session.pending)
            self.counts.opened -= 1
            session.watermark_ts_ms = max(session.watermark_ts_ms, *(e.ts_ms for e in session.pending))
            session.pending, session.pending_chars = [], 0

    def _stream_deadline(self, session: SessionState) -> int:
        if not session.pending:
            return session.active_stream_ms + self._tombstone_ms
        return min(session.active_stream_ms + self._idle_ms, session.pending_since_ms + self._age_ms)

    def _wall_deadline(self, session: SessionState) -> int:
        return session.active_wall_ms + (self._idle_ms if session.pending else self._tombstone_ms)

    def _note_deadlines(self, session: SessionState) -> None:
        """Keep the two next deadlines as lower bounds: an early call finds nothing and reckons anew."""
        self.next_stream_ms = min(self.next_stream_ms, self._stream_deadline(session))
        self.next_wall_ms = min(self.next_wall_ms, self._wall_deadline(session))

    def _deadlines(self) -> tuple[int, int]:
        sessions = self.state.sessions.values()
        return (
            min(map(self._stream_deadline, sessions), default=NEVER),
            min(map(self._wall_deadline, sessions), default=NEVER),
        )
