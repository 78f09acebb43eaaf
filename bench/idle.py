"""What an idle process costs: `strandline ingest --from kafka` with open sessions, and nothing arriving.

    python bench/idle.py [--bootstrap HOST:PORT] [--sessions 2000] [--users 500] [--seconds 30]

Without --bootstrap the embedded broker serves. Prints the share of one core that the process used, by thread, and how
long a live message took from the producer's acknowledgement to the metric that counts it.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from operators.embedded_broker import EmbeddedBroker, free_port
from operators.kafka_client import Admin
from operators.kafka_sink import KafkaSink, Outgoing
from schemas.settings import KafkaSettings

TICKS = os.sysconf("SC_CLK_TCK")
READY_S = 60.0
SETTLE_S = 12.0
"""A snapshot interval and a bit: what the load left behind must not count as idle."""

LIVE_MESSAGES = 20
LIVE_EVERY_S = 1.0
"""At least so long between two live messages, and up to twice as long: in step with nothing."""


def message(user: str, session: str, number: int) -> bytes:
    now_ms = time.time_ns() // 1_000_000
    event = {
        "id": f"{session}-{number}",
        "author": "user",
        "timestamp": now_ms,
        "content": {"parts": [{"text": f"I would like to know where order A-{number} is."}]},
    }
    return json.dumps({"app": "idle", "userId": user, "sessionId": session, "event": event}).encode()


def cpu_s(pid: int) -> dict[int, float]:
    """Return the CPU seconds of each thread of `pid` so far."""
    used = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        used[int(task.name)] = (int(fields[11]) + int(fields[12])) / TICKS
    return used


def metric(port: int, name: str) -> float:
    """Return the sum of the samples called `name` on the process's /metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    found = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return sum(float(value) for series, value in found if series.split("{")[0] == name)


def wait_for(port: int, name: str, at_least: float, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            if metric(port, name) >= at_least:
                return
        except OSError:
            time.sleep(0.2)
        if time.monotonic() > deadline:
            sys.exit(f"{name} did not reach {at_least:,.0f} within {timeout_s:.0f} s")
        time.sleep(0.01)


@contextmanager
def ingest(kafka: KafkaSettings, folder: Path, port: int) -> Iterator[int]:
    """Run the command with its state under `folder`, and give its process id."""
    command = [sys.executable, "-m", "cli.main", "ingest", "--from", "kafka", "--bootstrap", kafka.bootstrap]
    command += ["--topic", kafka.topic, "--store", str(folder / "store"), "--json"]
    root = str(Path(__file__).parents[1])
    settings = {"PYTHONPATH": root, "STRANDLINE_RUN__METRICS_PORT": str(port)}
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **settings}, stdout=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)


def live_delays_s(kafka: KafkaSettings, port: int) -> list[float]:
    """Return how long each of some single messages took until it was counted."""
    writer = KafkaSink(kafka).build("live", 0, 1)
    delays = []
    for number in range(LIVE_MESSAGES):
        time.sleep(random.uniform(LIVE_EVERY_S, 2 * LIVE_EVERY_S))
        before = metric(port, "strandline_events_total")
        writer.write_batch([Outgoing(kafka.topic, b"live", message("live", "live", number))])
        began = time.monotonic()
        wait_for(port, "strandline_events_total", before + 1, 10)
        delays.append(time.monotonic() - began)
    writer.close()
    return delays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", default="")
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        bootstrap = arguments.bootstrap or stack.enter_context(EmbeddedBroker()).bootstrap
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kafka = KafkaSettings(bootstrap=bootstrap, topic=f"idle-{uuid.uuid4().hex[:8]}")
        with Admin(kafka) as admin:
            admin.create([kafka.topic], 4)
        writer = KafkaSink(kafka).build("load", 0, 1)
        users = [f"user-{number % arguments.users}" for number in range(arguments.sessions)]
        writer.write_batch(
            [Outgoing(kafka.topic, user.encode(), message(user, f"s-{n}", n)) for n, user in enumerate(users)]
        )
        writer.close()
        port = free_port()
        pid = stack.enter_context(ingest(kafka, folder, port))
        wait_for(port, "strandline_sessions_open", arguments.sessions, READY_S)
        time.sleep(SETTLE_S)
        before, began = cpu_s(pid), time.monotonic()
        time.sleep(arguments.seconds)
        after, seconds = cpu_s(pid), time.monotonic() - began
        delays = live_delays_s(kafka, port)
    show(pid, {tid: used - before.get(tid, 0.0) for tid, used in after.items()}, seconds, delays)


def show(pid: int, used: dict[int, float], seconds: float, delays: list[float]) -> None:
    table = Table("thread", "CPU s", "% of a core", title=f"idle for {seconds:.0f} s")
    for tid, cpu in sorted(used.items(), key=lambda pair: -pair[1]):
        if cpu:
            table.add_row("main" if tid == pid else str(tid), f"{cpu:.2f}", f"{100 * cpu / seconds:.2f}")
    total = sum(used.values())
    table.add_row("all", f"{total:.2f}", f"{100 * total / seconds:.2f}")
    console = Console()
    console.print(table)
    console.print(f"a live message is counted after {statistics.median(delays):.3f} s, at most {max(delays):.3f} s")


if __name__ == "__main__":
    main()
