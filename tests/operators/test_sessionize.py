"""Decode and sessionize on a real dataflow, over real events."""

import json
import threading
from datetime import timedelta

import bytewax.operators as op
import pytest
from bytewax.dataflow import Dataflow
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import TestingSink, TestingSource, cluster_main, run_main

from operators.decode import Decoder, decode
from operators.file_source import FileSource
from operators.metrics import Metrics
from operators.quiet_time import QuietTime
from operators.sessionize import Sessionizer, sessionize
from operators.stream_time import StreamTime
from schemas.message import Message
from schemas.settings import DecodeSettings, SessionSettings
from schemas.slice import Slice

DAY = 86_400_000


class Run:
    """One run of messages to slices; what came out is in `slices`, `late` and `invalid`."""

    def __init__(self, source, sessions=None, stop=None, recovery=None):
        self.metrics, self.slices, self.late, self.invalid = Metrics(), [], [], []
        stop, stream_time = stop or threading.Event(), StreamTime()
        flow = Dataflow("test")
        self.most_open = 0.0
        messages = op.map("watch", op.input("in", flow, source), self._watch)
        decoded = decode("decode", messages, Decoder(DecodeSettings(), stream_time, self.metrics))
        sessionizer = Sessionizer(sessions or SessionSettings(), stream_time, QuietTime(), self.metrics, stop)
        cut = sessionize("sessionize", decoded.items, sessionizer)
        op.output("slices", cut.slices, TestingSink(self.slices))
        op.output("late", cut.late, TestingSink(self.late))
        op.output("invalid", decoded.invalid, TestingSink(self.invalid))
        if recovery is None:
            run_main(flow)
        else:
            cluster_main(flow, [], 0, epoch_interval=timedelta(0), recovery_config=RecoveryConfig(recovery))

    def _watch(self, message):
        if message.offset % 200 == 0:
            self.most_open = max(self.most_open, self.metrics.total("strandline_sessions_open"))
        return message

    def events(self):
        return sorted((key, s.session_id, e.id) for key, s in self.slices if isinstance(s, Slice) for e in s.events)


START = 1_500_000_000_000


def message(user, session, number, after_ms, partition=0):
    """An event some milliseconds after the start."""
    ts_ms = START + after_ms
    event = {"id": f"{session}-{number}", "author": "user", "content": {"parts": [{"text": "hi"}]}, "timestamp": ts_ms}
    value = {"app": "shop", "userId": user, "sessionId": session, "event": event}
    return Message(json.dumps(value).encode(), "t", partition, number, ts_ms)


def test_star_dialogues_are_cut_one_slice_each(shared):
    run = Run(FileSource(str(shared / "data" / "star_events.jsonl.gz"), threading.Event()))
    assert len(run.slices) == 3637
    assert len({(key, s.session_id) for key, s in run.slices}) == 3637
    assert run.metrics.total("strandline_events_total", outcome="event") == 89_581
    assert run.metrics.total("strandline_sessions_open") == 0
    assert run.metrics.total("strandline_pending_events") == 0
    assert run.invalid == run.late == []
    assert run.most_open < 200


def test_backlog_closes_sessions_as_it_is_read():
    inp = [message(f"u{n}", f"s{n}", 0, n * DAY) for n in range(1, 50)]
    run = Run(TestingSource(inp, batch_size=5))
    assert run.metrics.by_label("strandline_slices_total", "reason") == {"idle": 48.0, "end_of_input": 1.0}


def test_one_event_without_a_time_does_not_hold_a_backlog_in_memory():
    timeless = json.loads(message("x", "x", 0, 0).value)
    del timeless["event"]["timestamp"]
    inp = [message(f"u{n}", f"s{n}", 0, n * DAY) for n in range(1, 100)]
    inp.insert(50, Message(json.dumps(timeless).encode(), "t", 0, 999, START + 2_000 * DAY))
    run = Run(TestingSource(inp, batch_size=5))
    assert run.metrics.by_label("strandline_slices_total", "reason") == {"idle": 99.0, "end_of_input": 1.0}


def test_time_of_one_partition_does_not_close_sessions_of_another():
    inp = [message("a", "s", 0, DAY, partition=0), message("b", "t", 0, 9 * DAY, partition=1)]
    run = Run(TestingSource(inp))
    assert run.metrics.by_label("strandline_slices_total", "reason") == {"end_of_input": 2.0}


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_slices_do_not_depend_on_how_messages_come_in_batches(batch_size):
    inp = [message(f"u{n % 3}", f"s{n % 6}", n, DAY + (n * 7 % 60) * 900_000) for n in range(120)]
    cut = sorted((s.session_id, [e.id for e in s.events]) for _, s in Run(TestingSource(inp, batch_size)).slices)
    assert cut == sorted((s.session_id, [e.id for e in s.events]) for _, s in Run(TestingSource(inp, 17)).slices)


def test_stop_keeps_sessions_open_and_a_resume_ends_them(tmp_path):
    init_db_dir(tmp_path, 1)
    stop = threading.Event()
    inp = [message("a", "s", n, DAY + n) for n in range(10)]
    stop.set()
    inp = [*inp[:6], TestingSource.EOF(), *inp[6:]]
    first = Run(TestingSource(inp), stop=stop, recovery=tmp_path)
    assert first.slices == []
    stop.clear()
    second = Run(TestingSource(inp), stop=stop, recovery=tmp_path)
    assert len(second.slices) == 1
    assert len(second.events()) == 10
