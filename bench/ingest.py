"""Messages of a Kafka topic to slices, without extraction: Strandline beside a bare loop and two other libraries.

`python -m bench.ingest [--messages N] [--bootstrap HOST:PORT] [--only NAME] [--rounds N]`. A broker is started when
neither `--bootstrap` nor KAFKA_BOOTSTRAP names one. Every row is a fresh process that reads the whole topic; in each
round the rows run one after the other, so that what else the machine does falls on all of them, and ratios are taken
within a round.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.star_topic import star_topic
from bench.stopwatch import Measurement

ROOT = Path(__file__).parents[1]
MESSAGES = 358_324
"""The dialogues four times over."""

ROUNDS = 3
_BUDGET_S = 600.0
"""No round is begun that might not end within this; Bytewax's window alone takes more than a minute."""

_ROW_S = 240.0
_QUIX_PYTHON = ROOT / ".cache" / "quix" / "bin" / "python"
_NO_QUIX = """\
quix is skipped: Quix Streams is not installed. It stays out of Strandline's environment; give it one of its own:
  python3 -m venv .cache/quix && .cache/quix/bin/pip install quixstreams msgspec"""


@dataclass(frozen=True)
class Row:
    """One program that is measured."""

    name: str
    module: str
    python: str = sys.executable
    env: dict[str, str] = field(default_factory=dict)


def rows() -> list[Row]:
    """Return the rows that can be run here; the first is what the others are compared with."""
    found = [
        Row("bare loop", "bare"),
        Row("strandline", "strandline"),
        Row("bytewax window", "bytewax_window"),
        Row("bytewax window, tuned", "bytewax_window", env={"BENCH_TUNED": "1"}),
    ]
    python = sys.executable if importlib.util.find_spec("quixstreams") is not None else str(_QUIX_PYTHON)
    if not Path(python).exists():
        print(_NO_QUIX, file=sys.stderr)
        return found
    ways = {"quix, state": "state", "quix, bytes": "bytes"}
    found += [Row(name, "quix", python=python, env={"BENCH_QUIX": way}) for name, way in ways.items()]
    return found


def measure(row: Row, bootstrap: str, topic: str, messages: int) -> Measurement | str:
    """Run one row once; return what was measured, or why nothing was."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        command = [row.python, "-m", f"bench.ingest_rows.{row.module}", "--bootstrap", bootstrap, "--topic", topic]
        command += ["--messages", str(messages), "--folder", folder]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=os.environ | row.env,
                capture_output=True,
                text=True,
                timeout=_ROW_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"not done after {_ROW_S:.0f} s"
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()[-600:]}"
    return Measurement(**json.loads(done.stdout.strip().splitlines()[-1]))


def run_rounds(chosen: list[Row], bootstrap: str, topic: str, messages: int, rounds: int) -> list[list[Measurement]]:
    """Return the measurements of each round that could be finished, in the order of `chosen`.

    :raises SystemExit: A row failed.
    """
    started = time.monotonic()
    found: list[list[Measurement]] = []
    for number in range(rounds):
        spent = time.monotonic() - started
        if found and spent + spent / len(found) > _BUDGET_S:
            print(f"stopped after {number} rounds: another would take more than {_BUDGET_S:.0f} s", file=sys.stderr)
            break
        one_round = []
        for row in chosen:
            result = measure(row, bootstrap, topic, messages)
            if isinstance(result, str):
                sys.exit(f"{row.name}: {result}")
            print(f"round {number + 1}, {row.name}: {result.messages / result.wall_s:,.0f}/s", file=sys.stderr)
            one_round.append(result)
        found.append(one_round)
    return found


def table(chosen: list[Row], found: list[list[Measurement]]) -> Iterator[str]:
    """Give the lines of the table: medians, and the least and the most in brackets."""
    yield (f"{'':<27}{'events/s':>24}{'ratio':>22}{'us CPU/event':>20}{'whole process':>15}{'peak MB':>9}{'slices':>9}")
    for index, row in enumerate(chosen):
        runs = [one_round[index] for one_round in found]
        rates = [run.messages / run.wall_s for run in runs]
        yardstick = [one_round[0].messages / one_round[0].wall_s for one_round in found]
        ratios = [rate / other for rate, other in zip(rates, yardstick, strict=True)]
        cpus = [1e6 * run.cpu_s / run.messages for run in runs]
        yield (
            f"{row.name:<27}{_spread(rates, ',.0f'):>24}{_spread(ratios, '.2f'):>22}{_spread(cpus, '.1f'):>20}"
            f"{median(1e6 * run.whole_cpu_s / run.messages for run in runs):>15.1f}"
            f"{median(run.peak_mb for run in runs):>9.0f}{median(run.slices for run in runs):>9,.0f}"
        )


def _spread(values: list[float], form: str) -> str:
    return f"{median(values):{form}} ({min(values):{form}}-{max(values):{form}})"


@contextmanager
def broker(asked: str) -> Iterator[str]:
    """Give the address of the broker to use; start one when none is named."""
    if asked:
        yield asked
        return
    sys.path.insert(0, str(ROOT / "tests"))
    from infra.apache_kafka import Broker, KafkaNotToBeHad  # noqa: PLC0415

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-kafka-")))
        try:
            running = stack.enter_context(Broker(folder))
        except KafkaNotToBeHad as error:
            sys.exit(f"no Apache Kafka: {error}")
        yield running.where.bootstrap


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    parser.add_argument("--bootstrap", default=os.environ.get("KAFKA_BOOTSTRAP", ""))
    parser.add_argument("--only", metavar="NAME", action="append", help="a row by the start of its name; repeatable")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    there = rows()
    chosen = [row for row in there if not asked.only or row.name.startswith(tuple(asked.only))]
    if not chosen:
        parser.error(f"--only names none of: {', '.join(row.name for row in there)}")
    with broker(asked.bootstrap) as bootstrap, star_topic(bootstrap, asked.messages) as topic:
        found = run_rounds(chosen, bootstrap, topic, asked.messages, asked.rounds)
    print(f"{asked.messages:,} messages, {len(found)} rounds: median (least-most); the ratio is to {chosen[0].name}")
    for line in table(chosen, found):
        print(line)


if __name__ == "__main__":
    main()
