"""Stories of one scope's sessions: given these events, these slices."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.session_core import LateEvent, ScopeSessions
from operators.session_state import ScopeState, SnapshotTooNew, decode_state, encode_state
from schemas.controls import Control, ControlKind
from schemas.events import Event, ToolCall, ToolResult
from schemas.scope import Scope
from schemas.settings import SessionSettings
from schemas.slice import Slice, SliceReason

SCOPE = Scope("shop", "ann")
MINUTE = 60_000


def said(number: int, ts_ms: int, author: str = "user", **more) -> Event:
    return Event(id=f"e{number}", author=author, ts_ms=ts_ms, text=f"text {number}", **more)


def sessions(**settings) -> ScopeSessions:
    return ScopeSessions(ScopeState(SCOPE), SessionSettings(**settings))


def feed(core: ScopeSessions, events, session="s", partition=0, wall_ms=0):
    """Feed events of one partition in order and return what came out."""
    out, stream = [], 0
    for event in events:
        stream = max(stream, event.ts_ms)
        out += core.add(session, event, partition, stream, wall_ms)
    return out


def ids(piece: Slice) -> list[str]:
    return [event.id for event in piece.events]


def test_gap_by_stream_time_cuts_what_came_before():
    core = sessions(idle_after_s=1800)
    out = feed(core, [said(1, 1_000), said(2, 5_000), said(3, 5_000 + 31 * MINUTE)])
    assert [(piece.reason, ids(piece), piece.seq) for piece in out] == [(SliceReason.IDLE, ["e1", "e2"], 0)]
    assert [(piece.reason, ids(piece), piece.seq) for piece in core.end()] == [(SliceReason.END_OF_INPUT, ["e3"], 1)]


def test_gap_just_below_idle_does_not_cut():
    core = sessions(idle_after_s=1800)
    assert feed(core, [said(1, 1_000), said(2, 1_000 + 1_800_000 - 1)]) == []


def test_another_session_of_the_partition_moves_time_on():
    core = sessions(idle_after_s=1800)
    feed(core, [said(1, 1_000)], session="a")
    out = core.add("b", said(2, 40 * MINUTE), 0, 40 * MINUTE, 0)
    assert [(piece.session_id, piece.reason) for piece in out] == [("a", SliceReason.IDLE)]


def test_old_session_read_after_new_ones_is_not_cut_event_by_event():
    core = sessions(idle_after_s=1800)
    now = 400 * 24 * 60 * MINUTE
    out = [core.add("old", said(n, n * 1_000), 0, now, 0) for n in range(1, 6)]
    assert out == [[], [], [], [], []]
    (piece,) = core.end()
    assert ids(piece) == ["e1", "e2", "e3", "e4", "e5"]


def test_duplicates_are_counted_and_change_nothing():
    core = sessions()
    feed(core, [said(1, 1_000), said(1, 1_000), said(2, 2_000), said(1, 1_000)])
    assert (core.counts.events, core.counts.duplicates) == (2, 2)
    (piece,) = core.end()
    assert ids(piece) == ["e1", "e2"]


def test_events_out_of_order_come_out_in_order():
    core = sessions()
    feed(core, [said(3, 3_000), said(1, 1_000), said(2, 2_000)])
    (piece,) = core.end()
    assert ids(piece) == ["e1", "e2", "e3"]


def test_late_event_goes_into_the_next_slice_and_is_marked():
    core = sessions(idle_after_s=1800)
    feed(core, [said(1, 1_000), said(2, 9_000)])
    (piece,) = core.control(Control(ControlKind.SESSION_CLOSED, SCOPE, 10_000, "s"))
    assert piece.reason is SliceReason.CLOSED
    feed(core, [said(1, 1_000), said(3, 5_000)])
    (late,) = core.end()
    assert [(event.id, event.late) for event in late.events] == [("e3", True)]
    assert late.seq == 1


def test_event_older_than_the_id_memory_is_set_aside():
    core = sessions(id_memory=2)
    feed(core, [said(1, 1_000), said(2, 2_000), said(3, 3_000), said(4, 4_000)])
    out = core.add("s", said(9, 1_500), 0, 4_000, 0)
    assert out == [LateEvent(SCOPE, "s", said(9, 1_500))]
    assert core.counts.late == 1


def test_checkpoint_keeps_back_what_is_younger_than_the_lateness():
    core = sessions(checkpoint_events=4, lateness_s=10)
    out = feed(core, [said(1, 1_000), said(2, 2_000), said(3, 3_000), said(4, 12_500)])
    assert [(piece.reason, ids(piece)) for piece in out] == [(SliceReason.CHECKPOINT, ["e1", "e2"])]
    assert ids(core.end()[0]) == ["e3", "e4"]


def test_checkpoint_does_not_part_a_call_from_its_response():
    call = said(2, 2_000, "agent", calls=(ToolCall("c1", "look", "{}"),))
    answer = Event(id="e4", author="agent", ts_ms=20_000, results=(ToolResult("c1", "look", "{}"),))
    core = sessions(checkpoint_events=4, lateness_s=10)
    out = feed(core, [said(1, 1_000), call, said(3, 3_000), answer])
    assert [ids(piece) for piece in out] == [["e1"]]
    assert ids(core.end()[0]) == ["e2", "e3", "e4"]


def test_checkpoint_is_forced_at_twice_the_ceiling():
    core = sessions(checkpoint_events=2, lateness_s=60)
    out = feed(core, [said(n, 1_000 + n) for n in range(1, 5)])
    assert [ids(piece) for piece in out] == [["e1", "e2", "e3", "e4"]]


def test_checkpoint_by_age_of_the_oldest_pending_event():
    core = sessions(
        idle_after_s=None, checkpoint_events=None, checkpoint_chars=None, checkpoint_age_s=3600, lateness_s=1
    )
    out = feed(core, [said(1, 0), said(2, 30 * MINUTE), said(3, 61 * MINUTE)])
    assert [(piece.reason, ids(piece)) for piece in out] == [(SliceReason.CHECKPOINT, ["e1"])]


def test_wall_clock_closes_what_no_stream_time_closes():
    core = sessions(idle_after_s=60)
    feed(core, [said(1, 1_000)], wall_ms=5_000)
    assert core.advance_wall(64_999) == []
    assert [piece.reason for piece in core.advance_wall(65_000)] == [SliceReason.IDLE]


def test_tombstone_goes_and_with_it_the_scope():
    core = sessions(idle_after_s=60, tombstone_s=600)
    feed(core, [said(1, 1_000)])
    core.advance_stream(0, 62_000)
    assert not core.is_empty
    core.advance_stream(0, 1_000 + 600_000)
    assert core.is_empty


def test_session_without_user_text_is_skipped_and_counted():
    core = sessions()
    feed(core, [said(1, 1_000, "agent"), said(2, 2_000, "agent")])
    assert core.end() == []
    assert core.counts.skipped == {"no_user_text": 1}


def test_no_memory_drops_what_is_pending_and_what_follows():
    core = sessions()
    feed(core, [said(1, 1_000)])
    core.switch_memory("s", 0, 1_000, off=True)
    feed(core, [said(2, 2_000)])
    assert core.end() == []
    core.switch_memory("s", 0, 2_000, off=False)
    feed(core, [said(3, 3_000)])
    assert [ids(piece) for piece in core.end()] == [["e3"]]
    assert core.counts.skipped == {"no_memory": 2}


def test_consent_off_holds_for_every_session_of_the_user_until_it_is_given():
    core = sessions()
    feed(core, [said(1, 1_000)])
    assert core.control(Control(ControlKind.CONSENT, SCOPE, 1_500, consent=False)) == []
    feed(core, [said(2, 2_000)], session="other")
    assert core.end() == []
    core.control(Control(ControlKind.CONSENT, SCOPE, 2_500, consent=True))
    feed(core, [said(3, 3_000)])
    assert [ids(piece) for piece in core.end()] == [["e3"]]


def test_forget_drops_what_is_pending_and_is_passed_on():
    core = sessions()
    feed(core, [said(1, 1_000)], session="a")
    feed(core, [said(2, 1_000)], session="b")
    forget = Control(ControlKind.SESSION_FORGET, SCOPE, 2_000, "a")
    assert core.control(forget) == [forget]
    assert [piece.session_id for piece in core.end()] == ["b"]


def test_snapshot_comes_back_as_it_was():
    core = sessions()
    feed(core, [said(1, 1_000), said(2, 2_000)])
    again = ScopeSessions(decode_state(encode_state(core.state)), SessionSettings())
    assert again.state == core.state
    assert again.end() == core.end()


def test_snapshot_of_a_newer_version_is_refused():
    newer = msgspec.msgpack.encode([99, [["shop", "ann"], {}, True]])
    with pytest.raises(SnapshotTooNew, match="version 99"):
        decode_state(newer)


@given(
    order=st.permutations(range(40)),
    again=st.lists(st.integers(0, 39), max_size=20),
    cuts=st.sets(st.integers(0, 59), max_size=6),
)
def test_every_event_stands_in_exactly_one_slice(order, again, cuts):
    """Any order, any repetition, and a crash with a resume at any point give each event exactly once."""
    events = [said(n, n * 20_000) for n in range(40)]
    settings = SessionSettings(idle_after_s=1800, checkpoint_events=7, lateness_s=30)
    core, out, stream = ScopeSessions(ScopeState(SCOPE), settings), [], 0
    for step, n in enumerate([*order, *again]):
        stream = max(stream, events[n].ts_ms)
        out += core.add("s", events[n], 0, stream, 0)
        if step in cuts:
            core = ScopeSessions(decode_state(encode_state(core.state)), settings)
    out += core.end()
    given_out = [event.id for piece in out for event in piece.events]
    assert sorted(given_out) == sorted(event.id for event in events)
