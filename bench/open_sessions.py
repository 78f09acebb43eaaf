"""Many open sessions: memory, the time of a snapshot, and how long a start takes after kill -9.

`python -m bench.open_sessions [--sessions N] [--users N] [--events N]` opens N sessions in a process of their own,
waits for snapshots, kills it, starts it again on the same recovery store and waits for the first message. Nothing is
compared: the columns say what a platform team must provide for.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from rich.console import Console
from rich.table import Table

from flows.run import run
from operators.decode import Decoder, decode
from operators.metrics import Metrics
from operators.quiet_time import QuietTime
from operators.sessionize import Sessionizer, sessionize
from operators.stream_time import StreamTime
from schemas.message import Message
from schemas.settings import DecodeSettings, SessionSettings

START_MS = 1_700_000_000_000
SNAPSHOT_S = 2.0
PAUSE = "pause"


class _Partition(StatefulSourcePartition[Message, int]):
    """Gives every message once, says so, and then one more message a second for as long as it is let."""

    def __init__(self, total: int, users: int, sessions: int, done: int) -> None:
        self._total, self._users, self._sessions, self._done = total, users, sessions, done
        self._told = done > 0
        self._asked = time.monotonic()
        self._longest_s = 0.0

    def next_batch(self) -> list[Message]:
        self._note_pause()
        if self._done >= self._total:
            if not self._told:
                print("all read", flush=True)
                self._told = True
            elif self._done == self._total:
                print("resumed", flush=True)
            self._done += 1
            return [self._message(self._done % self._total)]
        batch = [self._message(n) for n in range(self._done, min(self._done + 1000, self._total))]
        self._done += len(batch)
        return batch

    def next_awake(self) -> datetime | None:
        return datetime.now(UTC) + timedelta(seconds=0.2) if self._done >= self._total else None

    def snapshot(self) -> int:
        return min(self._done, self._total)

    def _note_pause(self) -> None:
        """Say how long it was since the last batch was asked for, when longer than ever: most of that is a snapshot."""
        paused_s, self._asked = time.monotonic() - self._asked, time.monotonic()
        if paused_s > self._longest_s and not self._told:
            self._longest_s = paused_s
            print(f"{PAUSE} {paused_s:.2f}", flush=True)

    def _message(self, number: int) -> Message:
        session = number % self._sessions
        event = {"id": f"e{number}", "author": "user", "timestamp": START_MS + number // 1_000}
        event["content"] = {"parts": [{"text": f"This is what the user said in event {number} of this conversation."}]}
        place = {"app": "bench", "userId": f"user-{session % self._users}", "sessionId": f"session-{session}"}
        return Message(json.dumps({**place, "event": event}).encode(), "bench", 0, number, START_MS + number // 1_000)


class _Source(FixedPartitionedSource[Message, int]):
    def __init__(self, total: int, users: int, sessions: int) -> None:
        self._all = (total, users, sessions)

    def list_parts(self) -> list[str]:
        return ["0"]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> _Partition:
        return _Partition(*self._all, resume_state or 0)


class _Nothing(DynamicSink[object]):
    class _Part(StatelessSinkPartition[object]):
        def write_batch(self, items: list[object]) -> None:
            pass

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_Nothing._Part":
        return self._Part()


def child(args: argparse.Namespace, folder: Path) -> None:
    metrics, stream_time, stop = Metrics(), StreamTime(), threading.Event()
    flow = Dataflow("bench")
    messages = op.input("in", flow, _Source(args.sessions * args.events, args.users, args.sessions))
    decoded = decode("decode", messages, Decoder(DecodeSettings(), stream_time, metrics))
    cut = sessionize(
        "sessionize", decoded.items, Sessionizer(SessionSettings(), stream_time, QuietTime(), metrics, stop)
    )
    op.output("out", cut.slices, _Nothing())
    op.output("late", cut.late, _Nothing())
    run(flow, recovery=folder, snapshot_interval_s=SNAPSHOT_S)


def start(args: argparse.Namespace, folder: Path) -> subprocess.Popen[str]:
    numbers = ["--sessions", str(args.sessions), "--users", str(args.users), "--events", str(args.events)]
    command = [sys.executable, "-m", "bench.open_sessions", *numbers, "--child", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], word: str) -> tuple[float, float]:
    """Return the seconds until the process prints `word`, and those of its longest pause until then."""
    began, longest_s = time.monotonic(), 0.0
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == word:
            return time.monotonic() - began, longest_s
        if line.startswith(PAUSE):
            longest_s = float(line.split()[1])
    msg = f"the process ended before it said {word!r}"
    raise RuntimeError(msg)


def rss_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(args: argparse.Namespace) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "recovery"
        process = start(args, folder)
        read_s, pause_s = wait_for(process, "all read")
        time.sleep(3 * SNAPSHOT_S)
        rss = rss_mb(process.pid)
        before, began = cpu_s(process.pid), time.monotonic()
        time.sleep(5 * SNAPSHOT_S)
        idle = (cpu_s(process.pid) - before) / (time.monotonic() - began)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        process = start(args, folder)
        resume_s, _ = wait_for(process, "resumed")
        resumed_rss = rss_mb(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    return [
        ("sessions open", f"{args.sessions:,}"),
        ("users", f"{args.users:,}"),
        ("events pending", f"{args.sessions * args.events:,}"),
        ("read with recovery on, events/s", f"{args.sessions * args.events / read_s:,.0f}"),
        ("resident memory, MB", f"{rss:,.0f}"),
        ("longest pause for a snapshot, s", f"{pause_s:.2f}"),
        ("recovery store, MB", f"{size:,.0f}"),
        ("CPU with one message each 0.2 s, share of a core", f"{idle:.1%}"),
        ("start after kill -9 until the first message, s", f"{resume_s:.1f}"),
        ("resident memory after that, MB", f"{resumed_rss:,.0f}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=200_000)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=3)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args, args.child)
        return
    table = Table("what", "measured", title="Open sessions")
    for row in measure(args):
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
