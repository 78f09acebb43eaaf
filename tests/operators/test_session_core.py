"""Stories of one scope's sessions: given these events, these slices."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.items import SessionEvent
from operators.session_core import LateEvent, ScopeSessions
from operators.session_state import ScopeState, SessionState, SnapshotTooNew, decode_state, encode_state
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


def add(core: ScopeSessions, event, stream_ms, session="s", partition=0, quiet_ms=0, no_memory=None):
    return core.add(SessionEvent(SCOPE, session, event, partition, stream_ms, no_memory), quiet_ms)


def feed(core: ScopeSessions, events, session="s", partition=0, quiet_ms=0):
    """Feed events of one partition in order and return what came out."""
    out, stream = [], 0
    for event in events:
        stream = max(stream, event.ts_ms)
        out += add(core, event, stream, session, partition, quiet_ms)
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
    out = add(core, said(2, 40 * MINUTE), 40 * MINUTE, "b")
    assert [(piece.session_id, piece.reason) for piece in out] == [("a", SliceReason.IDLE)]


def test_old_session_read_after_new_ones_is_not_cut_event_by_event():
    core = sessions(idle_after_s=1800)
    now = 400 * 24 * 60 * MINUTE
    out = [add(core, said(n, n * 1_000), now, "old") for n in range(1, 6)]
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
    core = sessions(id_memory=4)
    feed(core, [said(n, n * 1_000) for n in range(1, 9)])
    assert add(core, said(99, 1_500), 8_000) == [LateEvent(SCOPE, "s", said(99, 1_500))]
    assert core.counts.late == 1


def test_events_of_one_moment_are_all_new_however_many():
    """A whole session without times: every event bears the record's."""
    core = sessions(id_memory=100, checkpoint_events=50, lateness_s=0)
    out = feed(core, [said(n, 5_000) for n in range(1_000)]) + core.end()
    assert sum(len(piece.events) for piece in out) == 1_000
    assert core.counts.late == 0


def test_checkpoint_keeps_back_what_is_younger_than_the_lateness():
    core = sessions(checkpoint_events=4, lateness_s=10)
    out = feed(core, [said(1, 1_000), said(2, 2_000), said(3, 3_000), said(4, 12_500)])
    assert [(piece.reason, ids(piece)) for piece in out] == [(SliceReason.CHECKPOINT, ["e1", "e2"])]
    assert ids(core.end()[0]) == ["e3", "e4"]


def test_checkpoint_does_not_part_a_call_from_its_response():
    call = said(3, 3_000, "agent", calls=(ToolCall("c1", "look", "{}"),))
    answer = Event(id="e5", author="agent", ts_ms=20_000, results=(ToolResult("c1", "look", "{}"),))
    core = sessions(checkpoint_events=5, lateness_s=10)
    out = feed(core, [said(1, 1_000), said(2, 2_000, "agent"), call, said(4, 4_000), answer])
    assert [ids(piece) for piece in out] == [["e1", "e2"]]
    assert ids(core.end()[0]) == ["e3", "e4", "e5"]


def test_checkpoint_does_not_part_what_the_user_said_from_the_answer():
    core = sessions(checkpoint_events=4, lateness_s=10)
    out = feed(core, [said(1, 1_000), said(2, 2_000, "agent"), said(3, 3_000), said(4, 20_000, "agent")])
    assert [ids(piece) for piece in out] == [["e1", "e2"]]
    assert ids(core.end()[0]) == ["e3", "e4"]


def test_checkpoint_is_forced_at_twice_the_ceiling():
    core = sessions(checkpoint_events=2, lateness_s=60)
    out = feed(core, [said(n, 1_000 + n) for n in range(1, 5)])
    assert [ids(piece) for piece in out] == [["e1", "e2", "e3", "e4"]]


def test_forced_checkpoint_still_keeps_back_what_is_young():
    call = said(1, 1_000, "agent", calls=(ToolCall("c1", "look", "{}"),))
    core = sessions(checkpoint_events=2, lateness_s=10)
    out = feed(core, [call, said(2, 2_000), said(3, 3_000), said(4, 40_000)])
    assert [ids(piece) for piece in out] == [["e1", "e2", "e3"]]


def test_checkpoint_by_age_of_the_oldest_pending_event():
    core = sessions(
        idle_after_s=None, checkpoint_events=None, checkpoint_chars=None, checkpoint_age_s=3600, lateness_s=1
    )
    out = feed(core, [said(1, 0), said(2, 30 * MINUTE), said(3, 61 * MINUTE)])
    assert [(piece.reason, ids(piece)) for piece in out] == [(SliceReason.CHECKPOINT, ["e1"])]


def test_checkpoints_are_counted_by_the_trigger_that_was_due():
    core = sessions(checkpoint_events=4, checkpoint_chars=100, checkpoint_age_s=60, lateness_s=0, idle_after_s=3_600)
    feed(core, [said(n, n * 10) for n in range(1, 5)])
    feed(core, [Event(id="e5", author="user", ts_ms=50, text="x" * 120)])
    feed(core, [said(6, 60), said(7, 70_000)])
    assert core.counts.checkpoints == {"events": 1, "chars": 1, "age": 1}


def test_quiet_time_closes_what_no_stream_time_closes():
    core = sessions(idle_after_s=60, lateness_s=0)
    feed(core, [said(1, 1_000)], quiet_ms=5_000)
    assert core.advance_quiet(0, 64_999) == []
    assert [piece.reason for piece in core.advance_quiet(0, 65_000)] == [SliceReason.IDLE]


def test_a_resumed_session_has_not_been_quiet_however_long_the_process_was_down():
    core = sessions(idle_after_s=60, lateness_s=0)
    feed(core, [said(1, 1_000)], quiet_ms=1_000_000)
    resumed = ScopeSessions(decode_state(encode_state(core.state)), SessionSettings(idle_after_s=60, lateness_s=0))
    assert resumed.advance_quiet(0, 59_999) == []
    assert feed(resumed, [said(2, 2_000)], quiet_ms=59_999) == []
    (piece,) = resumed.advance_quiet(0, 119_999)
    assert ids(piece) == ["e1", "e2"]


def test_tombstone_goes_and_with_it_the_scope():
    core = sessions(idle_after_s=60, tombstone_s=600, lateness_s=0)
    feed(core, [said(1, 1_000)])
    core.advance_stream(0, 62_000)
    assert not core.is_empty
    core.advance_stream(0, 1_000 + 600_000)
    assert core.is_empty


def test_session_without_user_text_is_skipped_and_counted():
    core = sessions()
    feed(core, [said(1, 1_000, "agent"), said(2, 2_000, "agent")])
    assert core.end() == []
    assert core.counts.skipped == {"no_user_text": 2}


def test_no_memory_drops_what_is_pending_and_what_follows():
    core = sessions()
    feed(core, [said(1, 1_000)])
    add(core, None, 1_000, no_memory=True)
    feed(core, [said(2, 2_000)])
    assert core.end() == []
    add(core, None, 2_000, no_memory=False)
    feed(core, [said(3, 3_000)])
    assert [ids(piece) for piece in core.end()] == [["e3"]]
    assert core.counts.skipped == {"no_memory": 2}


def test_no_memory_outlives_the_state_of_its_session():
    core = sessions(idle_after_s=60, tombstone_s=600, lateness_s=0)
    add(core, said(1, 1_000), 1_000, no_memory=True)
    core.advance_stream(0, 10**9)
    assert core.state.sessions == {}
    assert not core.is_empty
    again = ScopeSessions(decode_state(encode_state(core.state)), SessionSettings())
    add(again, said(2, 10**9), 10**9)
    assert again.end() == []


def test_switch_of_memory_in_an_event_is_not_obeyed_again_when_the_event_is_repeated():
    core = sessions()
    story = [(said(1, 1_000), None), (said(2, 2_000), True), (said(3, 3_000), False), (said(4, 4_000), None)]
    for _ in range(2):
        for event, switch in story:
            add(core, event, 4_000, no_memory=switch)
    assert [ids(piece) for piece in core.end()] == [["e3", "e4"]]


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


def test_forget_covers_what_happened_up_to_its_time_and_nothing_later():
    core = sessions()
    feed(core, [said(1, 1_000), said(2, 2_000)])
    core.control(Control(ControlKind.USER_FORGET, SCOPE, 1_500))
    assert add(core, said(3, 1_200), 2_000) == []
    assert [ids(piece) for piece in core.end()] == [["e2"]]
    assert core.counts.skipped == {"forgotten": 2}


def test_an_unanswered_call_does_not_make_every_event_try_a_checkpoint():
    """Sessions whose age checkpoint must wait are looked at again later, not at every event."""
    core = sessions(
        idle_after_s=None, checkpoint_events=None, checkpoint_chars=None, checkpoint_age_s=3600, lateness_s=60
    )
    for n in range(200):
        call = Event(f"c{n}", "user", 1_000 + n, "look", calls=(ToolCall("x", "look", "{}"),))
        add(core, call, 1_000 + n, f"s{n}")
    tries = 0
    real = core._checkpoint

    def counted(*arguments):
        nonlocal tries
        tries += 1
        return real(*arguments)

    core._checkpoint = counted
    for n in range(300):
        now = 3_700_000 + n
        add(core, said(n, now), now, "other")
    assert tries == 200


def test_many_sessions_of_one_scope_are_not_gone_through_at_every_event():
    core = sessions(idle_after_s=1800)
    looked = 0
    real = core._stream._deadline_of

    def counted(session_id, partition):
        nonlocal looked
        looked += 1
        return real(session_id, partition)

    core._stream._deadline_of = counted
    for n in range(2_000):
        add(core, said(n, n * 8_000), n * 8_000, f"s{n}")
    assert looked < 8 * 2_000


def test_sessions_on_two_partitions_keep_their_own_time():
    core = sessions(idle_after_s=1800)
    feed(core, [said(1, 90 * MINUTE)], session="a", partition=0)
    feed(core, [said(2, 1_000)], session="b", partition=1)
    assert add(core, said(3, 95 * MINUTE), 95 * MINUTE, "a") == []
    assert [piece.session_id for piece in add(core, said(4, 40 * MINUTE), 40 * MINUTE, "c", 1)] == ["b"]


def test_a_session_that_is_done_holds_its_ids_in_eight_bytes_each():
    core = sessions()
    feed(core, [said(n, n) for n in range(1, 101)])
    core.control(Control(ControlKind.SESSION_CLOSED, SCOPE, 1, "s"))
    assert (len(core.state.sessions["s"].ids), core.state.sessions["s"].seen) == (800, {})
    feed(core, [said(n, n) for n in range(1, 101)])
    assert core.counts.duplicates == 100


def test_newest_time_zone_of_a_session_holds_for_its_later_events():
    core = sessions()
    feed(core, [said(1, 1_000), said(2, 2_000, timezone="Asia/Tokyo"), said(3, 3_000)])
    core = ScopeSessions(decode_state(encode_state(core.state)), SessionSettings())
    feed(core, [said(4, 4_000), said(5, 5_000, timezone="Europe/Berlin"), said(6, 6_000)])
    feed(core, [said(7, 7_000)], session="other")
    zones = {event.id: event.timezone for piece in core.end() for event in piece.events}
    tokyo, berlin = "Asia/Tokyo", "Europe/Berlin"
    assert zones == {"e1": "", "e2": tokyo, "e3": tokyo, "e4": tokyo, "e5": berlin, "e6": berlin, "e7": ""}


def test_time_zones_follow_the_events_times_and_not_their_arrival():
    zoned = [said(1, 1_000), said(2, 2_000, timezone="Asia/Tokyo"), said(3, 3_000)]
    for order in (zoned, zoned[::-1], [zoned[2], zoned[0], zoned[1]]):
        core = sessions()
        feed(core, order)
        assert [event.timezone for event in core.end()[0].events] == ["", "Asia/Tokyo", "Asia/Tokyo"]


def test_a_late_event_does_not_take_the_time_zone_back():
    core = sessions(checkpoint_events=2, lateness_s=0)
    feed(core, [said(1, 1_000), said(2, 10_000, timezone="Asia/Tokyo"), said(3, 5_000, timezone="America/New_York")])
    feed(core, [said(4, 20_000)])
    zones = {event.id: event.timezone for piece in core.end() for event in piece.events}
    assert zones.get("e4", "Asia/Tokyo") == "Asia/Tokyo"
    assert core.state.sessions["s"].timezone == "Asia/Tokyo"


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
        out += add(core, events[n], stream)
        if step in cuts:
            core = ScopeSessions(decode_state(encode_state(core.state)), settings)
    out += core.end()
    given_out = [event.id for piece in out for event in piece.events]
    assert sorted(given_out) == sorted(event.id for event in events)


def test_a_stored_snapshot_of_version_1_can_be_read_for_ever():
    """The file was written by version 1; it is never written again."""
    state = decode_state((Path(__file__).parent / "snapshots" / "scope_v1.msgpack").read_bytes())
    event = Event(
        "e1",
        "user",
        1_500_000_000_000,
        "hi",
        "Bob",
        (ToolCall("c", "look", "{}"),),
        (ToolResult("c", "look", "[]"),),
        "E: x",
        True,
        True,
        True,
    )
    assert state == ScopeState(
        scope=SCOPE,
        sessions={
            "open": SessionState(
                partition=3,
                pending=[event],
                pending_chars=9,
                pending_since_ms=11,
                seen={5: 7},
                ids=b"",
                forgotten_ts_ms=12,
                watermark_ts_ms=13,
                seq=2,
                active_stream_ms=14,
                active_quiet_ms=15,
                retry_age_ms=16,
                erased_ts_ms=17,
                has_user_text=True,
            ),
            "done": SessionState(partition=1, ids=b"12345678", watermark_ts_ms=99, seq=1),
        },
        consent=False,
        no_memory={"quiet"},
        erased_ts_ms=42,
    )


def test_a_session_of_100_000_events_over_60_days_is_cut_as_it_goes_and_stays_small():
    core = sessions(checkpoint_age_s=6 * 3600.0)
    step_ms = 60 * 24 * 3_600_000 // 100_000
    out, most_pending, most_bytes = [], 0, 0
    for n in range(100_000):
        now = 1_500_000_000_000 + n * step_ms
        out += add(core, said(n, now), now)
        most_pending = max(most_pending, len(core.state.sessions["s"].pending))
        if n % 5_000 == 0:
            most_bytes = max(most_bytes, len(encode_state(core.state)))
    out += core.end()
    assert sum(len(piece.events) for piece in out) == 100_000
    assert {piece.reason for piece in out} == {SliceReason.CHECKPOINT, SliceReason.END_OF_INPUT}
    assert len(out) > 400
    assert most_pending <= 400
    assert most_bytes < 1_000_000
