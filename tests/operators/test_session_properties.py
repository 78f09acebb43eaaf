"""What must hold for any history of a user's sessions: each event that was sent stands in exactly one slice.

Histories are drawn by hypothesis: up to 200 events in 5 sessions, in any order, sent once or often, in whole sessions
or in parts, on a partition whose other users move time on at will, with crashes that lose everything since the last
snapshot.
"""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from operators.items import SessionEvent
from operators.session_core import LateEvent, ScopeSessions
from operators.session_state import ScopeState, decode_state, encode_state
from schemas.controls import Control, ControlKind
from schemas.events import Event, ToolCall, ToolResult
from schemas.scope import Scope
from schemas.settings import SessionSettings

SCOPE = Scope("shop", "ann")
START = 1_500_000_000_000


@st.composite
def sent(draw):
    """Return the events of each session: (session id, event), some of them calls and their results."""
    found = []
    for session in range(draw(st.integers(1, 5))):
        gaps = draw(st.lists(st.sampled_from([0, 1, 900, 20_000, 400_000, 4_000_000, 90_000_000]), max_size=40))
        ts_ms = START + draw(st.integers(0, 10_000_000))
        for number, gap in enumerate(gaps):
            ts_ms += gap
            kind = draw(st.sampled_from("ttttcr"))
            calls = (ToolCall(f"c{number // 2}", "look", "{}"),) if kind == "c" else ()
            results = (ToolResult(f"c{number // 2}", "look", "{}"),) if kind == "r" else ()
            found.append((f"s{session}", Event(f"s{session}-{number}", "user", ts_ms, "hi", "", calls, results)))
    return found


@st.composite
def histories(draw):
    """Return what was sent, and the steps: indexes of events, and what else happens in between."""
    events = draw(sent())
    order = draw(st.permutations(range(len(events)))) if draw(st.booleans()) else list(range(len(events)))
    again = draw(st.lists(st.integers(0, len(events) - 1), max_size=60)) if events else []
    steps = [*order, *again]
    for step in draw(st.lists(st.sampled_from(["snap", "crash", "time", "tick", "quiet", "close"]), max_size=25)):
        steps.insert(draw(st.integers(0, len(steps))), step)
    return events, steps


policies = st.builds(
    SessionSettings,
    idle_after_s=st.sampled_from([None, 60.0, 1800.0]),
    lateness_s=st.sampled_from([0.0, 30.0]),
    checkpoint_events=st.sampled_from([2, 7, 200]),
    checkpoint_chars=st.sampled_from([None, 10, 48_000]),
    checkpoint_age_s=st.sampled_from([None, 600.0]),
    tombstone_s=st.just(3.0e8),
)


class Stream:
    """A partition that can crash: what came out since the last snapshot is undone, and its input comes again."""

    def __init__(self, policy):
        self.policy = policy
        self.core = ScopeSessions(ScopeState(SCOPE), policy)
        self.saved, self.out, self.kept, self.done, self.replay = encode_state(self.core.state), [], [], [], []
        self.now_ms = self.saved_ms = 0

    def step(self, step, events):
        self.replay.append(step)
        self._do(step, events)

    def snap(self):
        self.saved, self.saved_ms = encode_state(self.core.state), self.now_ms
        self.kept += self.out
        self.out, self.replay = [], []

    def crash(self, events):
        self.core = ScopeSessions(decode_state(self.saved), self.policy)
        again, self.out, self.now_ms = self.replay, [], self.saved_ms
        for step in again:
            self._do(step, events)

    def end(self):
        self.out += self.core.end()
        return self.kept + self.out

    def _do(self, step, events):
        if isinstance(step, int):
            session_id, event = events[step]
            self.now_ms = max(self.now_ms, event.ts_ms)
            self.out += self.core.add(SessionEvent(SCOPE, session_id, event, 0, self.now_ms), 0)
        elif step == "time":
            self.now_ms += 3_000_000
        elif step == "tick":
            self.out += self.core.advance_stream(0, self.now_ms)
        elif step == "quiet":
            self.out += self.core.advance_quiet(0, 2_000_000)
        elif step == "close":
            self.out += self.core.control(Control(ControlKind.SESSION_CLOSED, SCOPE, self.now_ms, "s0"))


@settings(max_examples=300, deadline=None)
@given(histories(), policies)
def test_every_event_sent_stands_in_exactly_one_slice(history, policy):
    events, steps = history
    stream = Stream(policy)
    for step in steps:
        if step == "snap":
            stream.snap()
        elif step == "crash":
            stream.crash(events)
        else:
            stream.step(step, events)
    out = stream.end()
    assert not any(isinstance(item, LateEvent) for item in out)
    given_out = Counter((piece.session_id, event.id) for piece in out for event in piece.events)
    assert given_out == Counter({(session_id, event.id): 1 for session_id, event in events})


@settings(max_examples=100, deadline=None)
@given(histories(), policies)
def test_slices_are_in_order_and_numbered(history, policy):
    events, steps = history
    stream = Stream(policy)
    for step in steps:
        if step not in ("snap", "crash"):
            stream.step(step, events)
    numbers: dict[str, int] = {}
    for piece in stream.end():
        keys = [(event.ts_ms, event.id) for event in piece.events]
        assert keys == sorted(keys)
        assert piece.seq == numbers.get(piece.session_id, 0)
        numbers[piece.session_id] = piece.seq + 1
