"""A model that serves nothing for two minutes at full load: what is asked meanwhile, what is lost, how soon it goes on.

`python -m bench.outage [--down S] [--how 503|cut] [--in-flight N] [--lines N]`. `strandline ingest` reads real
dialogues into an embedded store; the model is a server in a process of its own, with log-normal latencies of a second.
Once all slots have been in use for a while, it answers 503 (or closes connections) for `--down` seconds, also to the
calls that were under way. Two rows, one after the other: the circuit as it is set by default, and without it, which
leaves the back-off of each call alone.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.slow_model import Call, SlowModel
from bench.star_topic import data_file

ROOT = Path(__file__).parents[1]
LOADED_S = 10.0
"""All slots are in use for so long before the outage begins: what is compared with."""

FULL_WAIT_S = 60.0
DONE_S = 900.0
NEVER = 10_000
"""Faults in a row that do not come: with this setting the circuit never opens."""

ROWS: dict[str, dict[str, str]] = {
    "circuit": {},
    "no circuit": {"STRANDLINE_MODEL__CIRCUIT_FAILURES": str(NEVER)},
}


@dataclass(frozen=True)
class Outage:
    """When it began and ended, and when all slots were first in use before it, by the monotonic clock."""

    full: float
    down: float
    back: float


def run_row(environment: dict[str, str], lines: Path, arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Run one row; return what was seen, by name.

    :raises SystemExit: The run failed, or it was over before the outage began.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, SlowModel(mean_s=1.0, seed=3) as model:
        settings = {
            "PYTHONPATH": str(ROOT),
            "STRANDLINE_MODEL__BASE_URL": model.base_url,
            "STRANDLINE_MODEL__NAME": "strandline-offline",
            "STRANDLINE_MODEL__MAX_IN_FLIGHT": str(arguments.in_flight),
        }
        command = [sys.executable, "-m", "cli.main", "ingest", "--from", str(lines), "--store", f"{folder}/store"]
        process = subprocess.Popen(
            [*command, "--json"],
            cwd=folder,
            env={**os.environ, **settings, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            outage = strike(model, arguments, process)
            out, err = process.communicate(timeout=arguments.down + DONE_S)
        finally:
            process.kill()
        if process.returncode != 0:
            sys.exit(f"the run failed with {process.returncode}:\n{err[-2000:]}")
        return seen(model.calls(), outage, json.loads(out), arguments.in_flight)


def strike(model: SlowModel, arguments: argparse.Namespace, process: subprocess.Popen[str]) -> Outage:
    deadline = time.monotonic() + FULL_WAIT_S
    while model.told(calls=False)["under_way"] < arguments.in_flight:
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"the model was never fully used; use fewer than {arguments.in_flight} slots or more lines")
        time.sleep(0.02)
    full = time.monotonic()
    time.sleep(LOADED_S)
    return Outage(full, time.monotonic(), model.go_down(arguments.down, arguments.how))


def seen(calls: list[Call], outage: Outage, summary: dict[str, Any], limit: int) -> list[tuple[str, str]]:
    down, back = outage.down, outage.back
    answered = sorted(call.ended for call in calls if call.status == 200)
    before = sum(outage.full <= at < down for at in answered) / (down - outage.full)
    asked = sorted(call.arrived for call in calls if down <= call.arrived < back)
    extractions = summary["extractions"]
    ends = ("first_pass", "retry_pass", "rejected", "to_retry")
    lost = sum(summary["slices"].values()) - sum(extractions[end] for end in ends)
    first = next(at for at in answered if at >= back)
    return [
        ("answers/s before", f"{before:.1f}"),
        ("requests while down", f"{len(asked):,}"),
        ("of these in the first 10 s", f"{sum(at < down + 10 for at in asked):,}"),
        ("slices cut", f"{sum(summary['slices'].values()):,}"),
        ("slices lost", f"{lost:,}"),
        ("slices rejected", f"{extractions['rejected']:,}"),
        ("slices to retry", f"{extractions['to_retry']:,}"),
        ("transport retries", f"{extractions['transport_retries']:,}"),
        ("first request after the return, s", f"{min(c.arrived for c in calls if c.arrived >= back) - back:.1f}"),
        ("first answer after the return, s", f"{first - back:.1f}"),
        ("all slots in use after the return, s", full_again(calls, back, limit)),
        ("whole run, s", f"{summary['elapsed_s']:.0f}"),
    ]


def full_again(calls: list[Call], back: float, limit: int) -> str:
    """Return after how many seconds `limit` calls were under way again."""
    served = [call for call in calls if call.arrived >= back]
    changes = sorted([(call.arrived, 1) for call in served] + [(call.ended, -1) for call in served])
    for (at, _), under_way in zip(changes, accumulate(change for _, change in changes), strict=True):
        if under_way >= limit:
            return f"{at - back:.1f}"
    return "never"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--down", type=float, default=120.0, help="seconds without the model")
    parser.add_argument("--how", choices=("503", "cut"), default="503")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--lines", type=int, default=40_000, help="events read, of the dialogues' file")
    parser.add_argument("--only", choices=tuple(ROWS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        lines = Path(folder) / "dialogues.jsonl"
        with gzip.open(data_file()) as file, lines.open("wb") as part:
            part.writelines(islice(file, arguments.lines))
        found = {row: run_row(ROWS[row], lines, arguments) for row in ([arguments.only] if arguments.only else ROWS)}
    table = Table("what", title=f"down for {arguments.down:.0f} s ({arguments.how}), {arguments.in_flight} slots")
    for row in found:
        table.add_column(row, justify="right")
    for cells in zip(*found.values(), strict=True):
        table.add_row(cells[0][0], *(value for _, value in cells))
    Console().print(table)


if __name__ == "__main__":
    main()
