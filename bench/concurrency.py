"""How much of the model's time `map_async` uses: 256 calls under way at once, log-normal latencies of a second.

`python -m bench.concurrency [--items N] [--limit N] [--rounds N]`. Each row is a fresh process: the plain way, a batch
gathered with `asyncio.gather` and then the next; `map_async` in a dataflow of one worker with recovery on; and the same
with the extraction client against a server of its own process, with all slots and with a quarter of them. The rows take
turns, round after round.

Ideal means that all slots are in use all the time: a call counts for the latency drawn for it, from when it began,
and the share is the sum of that by slots and seconds. *Steady* is taken from when all slots were first in use until the
last item was handed over, *whole* from the first one handed over until the last call ended, which no way can do
ideally, for at the end a few long calls are waited for.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table

from bench.concurrency_rows import SECOND_SLICES
from bench.slow_model import SlowModel

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Row:
    """One way to make the calls, the `limit`th part of all slots and the `items`th part of all calls."""

    name: str
    way: str
    limit: int = 1
    items: int = 1


ROWS = {
    "plain": Row("asyncio.gather, batches", "plain", items=8),
    "map_async": Row("map_async", "map_async"),
    "client": Row("extraction client", "client", items=2),
    "quarter": Row("extraction client, 1/4", "client", limit=4, items=4),
}
ITEMS = 10_240
LIMIT = 256
_ROW_S = 600.0


@dataclass(frozen=True)
class Measured:
    """One run of one row. Shares are of ideal, times seconds.

    `wait`: from hand-over until the call started, without the items that wait for another of their session. `blocked`:
    how long handing over took. `empty`: how long a slot stood empty between two calls.
    """

    per_s: float
    steady: float
    whole: float
    wait_p50: float
    wait_p99: float
    blocked_p99: float
    empty_p99: float
    peak: int
    cpu_ms: float


def measured(told: dict[str, list[float]], calls: list[tuple[float, float]], limit: int, cpu_s: float) -> Measured:
    """Reckon from what a row told, and from `calls`: when each began and which latency was drawn for it."""
    started, ended = sorted(told["started"]), sorted(told["ended"])
    begin, end = min(told["handed"]), ended[-1]
    first, last = started[limit - 1], max(told["handed"])

    def share(since: float, until: float) -> float:
        worked = sum(max(0.0, min(until, at + drawn) - max(since, at)) for at, drawn in calls)
        return worked / (limit * (until - since))

    waits = [
        at - handed
        for number, (handed, at) in enumerate(zip(told["handed"], told["started"], strict=True))
        if number % SECOND_SLICES != SECOND_SLICES - 1
    ]
    # The slot of the n-th call that starts is the one that the (n - limit)-th call that ended had left.
    empty = [after - before for before, after in zip(ended, started[limit:], strict=False) if after <= last]
    return Measured(
        per_s=sum(first <= at <= last for at in ended) / (last - first),
        steady=share(first, last),
        whole=share(begin, end),
        wait_p50=percentile(waits, 50),
        wait_p99=percentile(waits, 99),
        blocked_p99=percentile(told["blocked"], 99),
        empty_p99=percentile(empty, 99),
        peak=peak(started, ended),
        cpu_ms=1000 * cpu_s / len(started),
    )


def percentile(values: list[float], share: int) -> float:
    return quantiles(values, n=100, method="inclusive")[share - 1]


def peak(started: list[float], ended: list[float]) -> int:
    """Return the most calls that were under way at once."""
    changes = sorted([(at, 1) for at in started] + [(at, -1) for at in ended])
    return max(accumulate(change for _, change in changes))


def run_row(row: Row, items: int, limit: int, seed: int) -> Measured:
    """Run one row once.

    :raises SystemExit: It failed.
    """
    command = [sys.executable, "-m", "bench.concurrency_rows", row.way]
    command += ["--items", str(items), "--limit", str(limit), "--seed", str(seed)]
    with ExitStack() as stack:
        server = stack.enter_context(SlowModel(seed=seed)) if row.way == "client" else None
        if server is not None:
            command += ["--base-url", server.base_url]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_ROW_S, check=False)
        if done.returncode != 0:
            sys.exit(f"{row.name} failed:\n{done.stderr.strip()[-2000:]}")
        told = json.loads(done.stdout.splitlines()[-1])
        cpu_s = told.pop("cpu_s")
        if server is None:
            calls = list(zip(told["started"], told["latency_s"], strict=True))
        else:
            calls = [(call.arrived, call.latency_s) for call in server.calls()]
    return measured(told, calls, limit, cpu_s)


def show(found: dict[str, list[Measured]], items: int, limit: int) -> None:
    rounds = len(next(iter(found.values())))
    title = f"{items:,} calls, {limit} at once, {rounds} rounds: median (least-most)"
    table = Table("row", title=title)
    columns: dict[str, Callable[[Measured], float]] = {
        "calls/s, steady": lambda one: one.per_s,
        "of ideal, steady %": lambda one: 100 * one.steady,
        "of ideal, whole %": lambda one: 100 * one.whole,
        "wait p50 s": lambda one: one.wait_p50,
        "wait p99 s": lambda one: one.wait_p99,
        "blocked p99 ms": lambda one: 1000 * one.blocked_p99,
        "slot empty p99 ms": lambda one: 1000 * one.empty_p99,
        "peak": lambda one: one.peak,
        "CPU ms/call": lambda one: one.cpu_ms,
    }
    for column in columns:
        table.add_column(column, justify="right")
    for row, runs in found.items():
        table.add_row(ROWS[row].name, *(spread([value(one) for one in runs]) for value in columns.values()))
    Console(width=170).print(table)


def spread(values: list[float]) -> str:
    digits = 0 if max(values) >= 200 else 1 if max(values) >= 10 else 2
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=tuple(ROWS), action="append")
    arguments = parser.parse_args()
    if arguments.items < 16 * arguments.limit:
        parser.error("--items must be at least sixteen times --limit, else there is no steady state to measure")
    found: dict[str, list[Measured]] = {row: [] for row in arguments.only or ROWS}
    for number in range(arguments.rounds):
        for row, runs in found.items():
            chosen = ROWS[row]
            items, limit = arguments.items // chosen.items, arguments.limit // chosen.limit
            runs.append(run_row(chosen, items, limit, seed=number + 1))
            print(f"round {number + 1}, {chosen.name}: {runs[-1]}", file=sys.stderr, flush=True)
    show(found, arguments.items, arguments.limit)


if __name__ == "__main__":
    main()
