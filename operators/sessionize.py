"""Items keyed by scope in, slices out: the Bytewax edge of `session_core`.

Bytewax's own session window cannot serve: it never frees a key, has no maximum length, closes every session at the
end of an execution, and calls a backlog late after a stall.
"""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import cast

import bytewax.operators as op
from bytewax.dataflow import operator
from bytewax.operators import KeyedStream, StatefulBatchLogic

from operators.items import SessionControl, SessionEvent, SessionItem
from operators.metrics import Metrics
from operators.quiet_time import QuietTime
from operators.session_core import LateEvent, ScopeSessions
from operators.session_state import ScopeState, decode_state, encode_state
from operators.stream_time import StreamTime
from schemas.controls import Control
from schemas.settings import SessionSettings
from schemas.slice import Slice

Emitted = Slice | LateEvent | Control

_WAKE_MIN = timedelta(seconds=1)
"""Waking a key sooner than this for quiet time would only burn CPU: idle times are minutes."""


@dataclass(frozen=True)
class Sessionizer:
    """What the sessionizer of one process works with; the decoder and the source share the two clocks.

    `stop` is set when the process was asked to stop: then the end of the stream is not the end of the input, and open
    sessions stay in the snapshot.
    """

    settings: SessionSettings
    stream_time: StreamTime
    quiet_time: QuietTime
    metrics: Metrics
    stop: threading.Event

    def build(self, snapshot: bytes | None) -> "_SessionizeLogic":
        """Return the logic of one key, from its snapshot when there is one."""
        return _SessionizeLogic(self, None if snapshot is None else decode_state(snapshot))


class _SessionizeLogic(StatefulBatchLogic[list[SessionItem], Emitted, bytes]):
    """One scope. `_sessions` is None until the first item tells which scope it is."""

    def __init__(self, config: Sessionizer, state: ScopeState | None) -> None:
        self._config = config
        self._sessions: ScopeSessions | None = None
        if state is not None:
            self._resume(state)

    def on_batch(self, values: list[list[SessionItem]]) -> tuple[list[Emitted], bool]:
        out: list[Emitted] = []
        sessions = self._sessions
        partition, quiet_ms = -1, 0
        for value in chain.from_iterable(values):
            if isinstance(value, SessionEvent):
                if sessions is None:
                    sessions = self._start(ScopeState(value.scope))
                if value.partition != partition:
                    partition = value.partition
                    quiet_ms = self._config.quiet_time.now(partition)
                out += sessions.add(value, quiet_ms)
            elif isinstance(value, SessionControl):
                if sessions is None:
                    sessions = self._start(ScopeState(value.control.scope))
                out += sessions.control(value.control)
            elif sessions is not None:
                out += sessions.advance_stream(value.partition, value.stream_ms)
        return self._done(out)

    def on_notify(self) -> tuple[list[Emitted], bool]:
        out: list[Emitted] = []
        if self._sessions is not None:
            for partition, _ in list(self._sessions.quiet_deadlines()):
                out.extend(self._sessions.advance_quiet(partition, self._config.quiet_time.now(partition)))
        return self._done(out)

    def on_eof(self) -> tuple[list[Emitted], bool]:
        if self._config.stop.is_set() or self._sessions is None:
            return [], self.RETAIN
        out: list[Emitted] = []
        for partition, _ in list(self._sessions.stream_deadlines()):
            out.extend(self._sessions.advance_stream(partition, self._config.stream_time.now(partition)))
        return self._done([*out, *self._sessions.end()])

    def notify_at(self) -> datetime | None:
        """Ask to be woken when the first quiet deadline can have come: quiet time never runs faster than the clock."""
        if self._sessions is None:
            return None
        quiet = self._config.quiet_time
        waits_ms = [due_ms - quiet.now(partition) for partition, due_ms in self._sessions.quiet_deadlines()]
        if not waits_ms:
            return None
        return datetime.now(tz=UTC) + max(timedelta(milliseconds=min(waits_ms)), _WAKE_MIN)

    def snapshot(self) -> bytes:
        if self._sessions is None:
            msg = "a scope without state is discarded, so it is never asked for a snapshot"
            raise RuntimeError(msg)
        return encode_state(self._sessions.state)

    def _start(self, state: ScopeState) -> ScopeSessions:
        self._sessions = ScopeSessions(state, self._config.settings)
        return self._sessions

    def _resume(self, state: ScopeState) -> None:
        sessions = self._start(state)
        for partition, stream_ms in sessions.stream_times():
            self._config.stream_time.advance(partition, stream_ms)
        held = [session for session in state.sessions.values() if session.pending]
        self._config.metrics.sessions_open.inc(len(held))
        self._config.metrics.pending_events.inc(sum(len(session.pending) for session in held))
        self._arm(sessions)

    def _done(self, out: list[Emitted]) -> tuple[list[Emitted], bool]:
        if self._sessions is None:
            return out, self.DISCARD
        self._flush_counts(self._sessions)
        self._arm(self._sessions)
        return out, self._sessions.is_empty

    def _arm(self, sessions: ScopeSessions) -> None:
        """Ask to be woken by stream time on every partition that this scope's sessions are read from."""
        key = sessions.scope.key()
        for partition, due_ms in sessions.stream_deadlines():
            self._config.stream_time.arm(partition, key, due_ms)

    def _flush_counts(self, sessions: ScopeSessions) -> None:
        counts, metrics = sessions.counts, self._config.metrics
        if counts.events:
            metrics.event("event").inc(counts.events)
        if counts.duplicates:
            metrics.event("duplicate").inc(counts.duplicates)
        if counts.late:
            metrics.event("late").inc(counts.late)
        if counts.sessions:
            metrics.sessions.inc(counts.sessions)
        for reason, number in counts.slices.items():
            metrics.slice_cut(reason).inc(number)
        for trigger, number in counts.checkpoints.items():
            metrics.checkpoints.labels(trigger).inc(number)
        for reason, number in counts.skipped.items():
            metrics.skip(reason).inc(number)
        metrics.sessions_open.inc(counts.opened)
        metrics.pending_events.inc(counts.pending)
        sessions.counts = type(counts)()


@dataclass(frozen=True)
class SessionizeOut:
    """Streams of `sessionize`, keyed by scope: slices and forgets in order, and events that came too late."""

    slices: KeyedStream[Slice | Control]
    late: KeyedStream[LateEvent]


@operator
def sessionize(step_id: str, up: KeyedStream[list[SessionItem]], sessionizer: Sessionizer) -> SessionizeOut:
    """Cut the events of each session into slices. See `session_core` for the rules."""
    mixed = op.stateful_batch("sessions", up, sessionizer.build)
    split = op.branch("late", mixed, _is_late)
    return SessionizeOut(
        slices=cast("KeyedStream[Slice | Control]", split.falses),
        late=cast("KeyedStream[LateEvent]", split.trues),
    )


def _is_late(item: tuple[str, Emitted]) -> bool:
    return isinstance(item[1], LateEvent)
