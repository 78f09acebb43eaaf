"""How the sessions of one scope become slices: a state machine without a clock, a thread or a dataflow.

Time comes in two kinds, both passed in. Stream time is the newest event time read from the partition, carried by
every item in the order of the partition, so that a backlog read at any speed gives the same slices. Quiet time
decides only when nothing is read any more. A session is idle when either has moved on by `idle_after_s` since its
last event came.
"""

from collections.abc import Iterator

import msgspec

from operators.deadlines import NEVER, Deadlines
from operators.items import SessionEvent
from operators.session_cut import checkpoint_length, in_order
from operators.session_state import ScopeState, SessionState, id_hash
from schemas.controls import Control, ControlKind
from schemas.events import USER_AUTHOR, Event
from schemas.scope import Scope
from schemas.settings import SessionSettings
from schemas.slice import Slice, SliceReason

_MEMORY_SLACK = 1.25
"""The id memory is trimmed when it is fuller by this: finding the oldest is then paid for by many events."""


class LateEvent(msgspec.Struct, frozen=True, gc=False):
    """An event older than anything its session remembers: it may have been seen, so it is set aside."""

    scope: Scope
    session_id: str
    event: Event


class Counts(msgspec.Struct):
    """What happened since the last reading, by the labels of the metrics; `skipped` counts events."""

    events: int = 0
    duplicates: int = 0
    late: int = 0
    sessions: int = 0
    slices: dict[str, int] = {}
    checkpoints: dict[str, int] = {}
    skipped: dict[str, int] = {}
    opened: int = 0
    pending: int = 0

    def skip(self, reason: str, by: int) -> None:
        """Count `by` events left out for `reason`."""
        self.skipped[reason] = self.skipped.get(reason, 0) + by


class ScopeSessions:
    """The sessions of one scope. Every method returns what is to be given out, in order."""

    def __init__(self, state: ScopeState, settings: SessionSettings) -> None:
        """Go on from `state`: a snapshot's, or `ScopeState(scope)` for a scope never seen.

        Quiet time begins anew with the process, so a session that was resumed has not been quiet yet.
        """
        self.scope = state.scope
        self.state = state
        self.counts = Counts()
        self._settings = settings
        self._idle_ms = NEVER if settings.idle_after_s is None else int(settings.idle_after_s * 1000)
        self._age_ms = NEVER if settings.checkpoint_age_s is None else int(settings.checkpoint_age_s * 1000)
        self._lateness_ms = int(settings.lateness_s * 1000)
        self._most_ids = settings.id_memory * _MEMORY_SLACK
        self._tombstone_ms = int(settings.tombstone_s * 1000)
        self._max_events = settings.checkpoint_events or NEVER
        self._max_chars = settings.checkpoint_chars or NEVER
        self._stream = Deadlines(self._stream_deadline)
        self._quiet = Deadlines(self._quiet_deadline)
        for session_id, session in state.sessions.items():
            session.active_quiet_ms = 0
            self._watch(session_id, session)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is remembered, so that the key itself can go."""
        return not self.state.sessions and self.state.consent and not self.state.no_memory

    def add(self, item: SessionEvent, quiet_ms: int) -> list[Slice | LateEvent]:
        """Take one event, or a switch of memory alone; `quiet_ms` is the quiet time of its partition."""
        session_id, partition, stream_ms, event = item.session_id, item.partition, item.stream_ms, item.event
        out: list[Slice | LateEvent] = []
        if event is None:
            if item.no_memory is not None and item.no_memory != (session_id in self.state.no_memory):
                session = self._open(session_id, partition, stream_ms, quiet_ms)
                self._switch(session_id, session, off=item.no_memory)
            return out
        if stream_ms >= self._stream.next(partition):
            out.extend(self.advance_stream(partition, stream_ms))
        known = self.state.sessions.get(session_id)
        if known is None or known.partition != partition or known.ids:
            session = self._open(session_id, partition, stream_ms, quiet_ms)
        else:
            session = known
        hashed = id_hash(event.id)
        if hashed in session.seen:
            self.counts.duplicates += 1
            return out
        if event.ts_ms < session.forgotten_ts_ms:
            self.counts.late += 1
            out.append(LateEvent(self.scope, session_id, event))
            return out
        session.seen[hashed] = event.ts_ms
        if len(session.seen) > self._most_ids:
            self._forget_oldest_ids(session)
        self.counts.events += 1
        session.active_stream_ms, session.active_quiet_ms = stream_ms, quiet_ms
        if item.no_memory is not None:
            self._switch(session_id, session, off=item.no_memory)
        reason = self._unwanted(session_id, session, event)
        if reason:
            session.watermark_ts_ms = max(session.watermark_ts_ms, event.ts_ms)
            self.counts.skip(reason, 1)
            return out
        self._append(session_id, session, event)
        if len(session.pending) >= self._max_events or session.pending_chars >= self._max_chars:
            out.extend(self._checkpoint(session_id, session, stream_ms))
        return out

    def control(self, control: Control) -> list[Slice | Control]:
        """Follow a control message; a forget is passed on, after everything that was cut before it."""
        session = self.state.sessions.get(control.session_id)
        if control.kind is ControlKind.SESSION_CLOSED:
            if session is None:
                return []
            return [*self._cut(control.session_id, session, len(session.pending), SliceReason.CLOSED)]
        if control.kind is ControlKind.CONSENT:
            self.state.consent = control.consent
            if not control.consent:
                for one in self.state.sessions.values():
                    self._drop_pending(one, NEVER, "no_consent")
            return []
        if control.kind is ControlKind.USER_FORGET:
            self.state.erased_ts_ms = max(self.state.erased_ts_ms, control.ts_ms)
            for one in self.state.sessions.values():
                self._drop_pending(one, control.ts_ms, "forgotten")
        elif session is not None:
            session.erased_ts_ms = max(session.erased_ts_ms, control.ts_ms)
            self._drop_pending(session, control.ts_ms, "forgotten")
        return [control]

    def advance_stream(self, partition: int, stream_ms: int) -> list[Slice]:
        """Cut what has become idle or old by the stream time of `partition`, and free what need not be remembered."""
        out: list[Slice] = []
        for session_id in self._stream.due(partition, stream_ms):
            session = self.state.sessions[session_id]
            if not session.pending:
                del self.state.sessions[session_id]
                continue
            if stream_ms - session.active_stream_ms >= self._idle_ms:
                out.extend(self._cut(session_id, session, len(session.pending), SliceReason.IDLE))
            else:
                out.extend(self._checkpoint(session_id, session, stream_ms))
            self._watch(session_id, session)
        return out

    def advance_quiet(self, partition: int, quiet_ms: int) -> list[Slice]:
        """Cut what has become idle by the quiet time of `partition`, and free what need not be remembered."""
        out: list[Slice] = []
        for session_id in self._quiet.due(partition, quiet_ms):
            session = self.state.sessions[session_id]
            if not session.pending:
                del self.state.sessions[session_id]
                continue
            out.extend(self._cut(session_id, session, len(session.pending), SliceReason.IDLE))
            self._watch(session_id, session)
        return out

    def end(self) -> list[Slice]:
        """Cut everything: the input was bounded and is at its end."""
        out: list[Slice] = []
        for session_id, session in self.state.sessions.items():
            out.extend(self._cut(session_id, session, len(session.pending), SliceReason.END_OF_INPUT))
        return out

    def stream_deadlines(self) -> Iterator[tuple[int, int]]:
        """Give (partition, stream time) before which nothing there is due."""
        for partition in self._stream.partitions():
            yield partition, self._stream.next(partition)

    def quiet_deadlines(self) -> Iterator[tuple[int, int]]:
        """Give (partition, quiet time) before which nothing there is due."""
        for partition in self._quiet.partitions():
            yield partition, self._quiet.next(partition)

    def stream_times(self) -> Iterator[tuple[int, int]]:
        """Give (partition, stream time) as far as this scope has seen it: what a restarted process begins with."""
        for session in self.state.sessions.values():
            yield session.partition, session.active_stream_ms

    def _open(self, session_id: str, partition: int, stream_ms: int, quiet_ms: int) -> SessionState:
        session = self.state.sessions.get(session_id)
        if session is None:
            session = SessionState(partition, active_stream_ms=stream_ms, active_quiet_ms=quiet_ms)
            self.state.sessions[session_id] = session
            self.counts.sessions += 1
            self._watch(session_id, session)
        elif session.partition != partition:
            session.partition, session.active_stream_ms, session.active_quiet_ms = partition, stream_ms, quiet_ms
            self._watch(session_id, session)
        if session.ids:
            session.unpack_ids()
        return session

    def _watch(self, session_id: str, session: SessionState) -> None:
        self._stream.watch(session_id, session.partition)
        self._quiet.watch(session_id, session.partition)

    def _forget_oldest_ids(self, session: SessionState) -> None:
        limit = self._settings.id_memory
        by_age = sorted(session.seen.items(), key=lambda pair: pair[1])
        session.forgotten_ts_ms = max(session.forgotten_ts_ms, by_age[-limit - 1][1])
        session.seen = dict(by_age[-limit:])

    def _unwanted(self, session_id: str, session: SessionState, event: Event) -> str:
        """Return why the event is not to be extracted, or nothing."""
        if event.ts_ms <= session.erased_ts_ms or event.ts_ms <= self.state.erased_ts_ms:
            return "forgotten"
        if not self.state.consent:
            return "no_consent"
        return "no_memory" if session_id in self.state.no_memory else ""

    def _switch(self, session_id: str, session: SessionState, *, off: bool) -> None:
        if off:
            self.state.no_memory.add(session_id)
            self._drop_pending(session, NEVER, "no_memory")
        else:
            self.state.no_memory.discard(session_id)

    def _append(self, session_id: str, session: SessionState, event: Event) -> None:
        if event.ts_ms < session.watermark_ts_ms:
            event = msgspec.structs.replace(event, late=True)
        session.pending.append(event)
        session.pending_chars += event.n_chars
        self.counts.pending += 1
        if len(session.pending) == 1:
            session.pending_since_ms = session.active_stream_ms
            session.retry_age_ms = 0
            self.counts.opened += 1
            self._watch(session_id, session)
        if event.author == USER_AUTHOR and event.text:
            session.has_user_text = True

    def _checkpoint(self, session_id: str, session: SessionState, stream_ms: int) -> list[Slice]:
        force = (
            len(session.pending) >= 2 * self._max_events
            or session.pending_chars >= 2 * self._max_chars
            or stream_ms - session.pending_since_ms >= 2 * self._age_ms
        )
        session.pending = in_order(session.pending)
        length = checkpoint_length(session.pending, self._lateness_ms, force=force)
        if not length:
            forced_ms = session.pending_since_ms + 2 * self._age_ms
            session.retry_age_ms = min(forced_ms, stream_ms + max(self._lateness_ms, 1_000))
            return []
        trigger = self._trigger(session)
        out = self._cut(session_id, session, length, SliceReason.CHECKPOINT)
        if out:
            self.counts.checkpoints[trigger] = self.counts.checkpoints.get(trigger, 0) + 1
        session.pending_since_ms = stream_ms
        session.retry_age_ms = 0
        return out

    def _trigger(self, session: SessionState) -> str:
        """Return which of the policy's triggers makes a checkpoint fall due; the first that does."""
        if len(session.pending) >= self._max_events:
            return "events"
        return "chars" if session.pending_chars >= self._max_chars else "age"

    def _cut(self, session_id: str, session: SessionState, length: int, reason: SliceReason) -> list[Slice]:
        """Give out the first `length` pending events as a slice, or count why they are left out."""
        if not length:
            return []
        ordered = in_order(session.pending)
        events = tuple(_in_timezone(session, ordered[:length]))
        self._keep_pending(session, ordered[length:])
        session.watermark_ts_ms = max(session.watermark_ts_ms, events[-1].ts_ms)
        if not session.pending:
            session.pack_ids()
        if not session.has_user_text:
            self.counts.skip("no_user_text", length)
            return []
        if length < self._settings.min_events:
            self.counts.skip("few_events", length)
            return []
        piece = Slice(self.scope, session_id, reason, session.seq, events)
        session.seq += 1
        self.counts.slices[reason] = self.counts.slices.get(reason, 0) + 1
        return [piece]

    def _drop_pending(self, session: SessionState, until_ms: int, reason: str) -> None:
        """Drop what is pending up to a time; the ids stay known, so that it does not come back by being sent again."""
        dropped = [event for event in session.pending if event.ts_ms <= until_ms]
        if dropped:
            self.counts.skip(reason, len(dropped))
            session.watermark_ts_ms = max(session.watermark_ts_ms, *(event.ts_ms for event in dropped))
            self._keep_pending(session, [event for event in session.pending if event.ts_ms > until_ms])

    def _keep_pending(self, session: SessionState, rest: list[Event]) -> None:
        self.counts.pending -= len(session.pending) - len(rest)
        self.counts.opened -= bool(session.pending) and not rest
        session.pending = rest
        session.pending_chars = sum(event.n_chars for event in rest)

    def _stream_deadline(self, session_id: str, partition: int) -> int | None:
        session = self.state.sessions.get(session_id)
        if session is None or session.partition != partition:
            return None
        if not session.pending:
            return session.active_stream_ms + self._tombstone_ms
        age_ms = session.retry_age_ms or session.pending_since_ms + self._age_ms
        return min(session.active_stream_ms + self._idle_ms, age_ms)

    def _quiet_deadline(self, session_id: str, partition: int) -> int | None:
        session = self.state.sessions.get(session_id)
        if session is None or session.partition != partition:
            return None
        return session.active_quiet_ms + (self._idle_ms if session.pending else self._tombstone_ms)


def _in_timezone(session: SessionState, ordered: list[Event]) -> list[Event]:
    """Put the zone that an event names on those after it that name none: by time, so that arrival does not matter."""
    if not session.timezone and not any([event.timezone for event in ordered]):
        return ordered
    out = []
    for event in ordered:
        if event.timezone and event.ts_ms >= session.timezone_ts_ms:
            session.timezone, session.timezone_ts_ms = event.timezone, event.ts_ms
        out.append(event if event.timezone else msgspec.structs.replace(event, timezone=session.timezone))
    return out
