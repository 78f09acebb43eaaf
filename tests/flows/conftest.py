"""Runs of the whole flow in this process, and of the command as a user starts it."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.ingest import build
from flows.run import run
from flows.services import Job, opened
from flows.summary import summarize
from memory.store import Store
from schemas.detect import Place
from schemas.scope import Scope
from schemas.settings import Settings

SAMPLE = Path(__file__).parents[2] / "cli" / "demo_data" / "sessions.jsonl"


class Bench:
    """A folder with a store in it, and what can be done with it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.store = folder / "store"

    def settings(self, **sections) -> Settings:
        defaults = {"store": {"url": str(self.store)}, "run": {"dead_letter_dir": str(self.folder / "letters")}}
        return Settings.model_validate({**defaults, **sections})

    def ingest(self, source, stop=None, **sections):
        """Run the flow in this process and return the summary."""
        job = Job(
            settings=self.settings(**sections),
            source=str(source),
            until_end=source == "kafka",
            stop=stop or threading.Event(),
            place_of=lambda message: Place(Scope("local", "local"), Path(message.topic).name.split(".")[0]),
        )
        with opened(job) as services:
            run(build(services.steps), recovery=services.recovery, snapshot_interval_s=0.5)
            return summarize(job.metrics, services.census.statuses, 1.0)

    def bank(self, *scopes):
        """Return everything that is remembered of `scopes`, in an order of its own."""
        rows = []
        with Store.open(self.settings()) as store:
            for scope in scopes:
                bank = store.bank(scope)
                rows += [repr(claim) for claim in bank.claims()] + [repr(episode) for episode in bank.episodes()]
        return sorted(rows)

    def claims(self, scope):
        with Store.open(self.settings()) as store:
            return store.bank(scope).claims()

    def command(self, *arguments, **options) -> subprocess.Popen:
        """Start the command as a user would."""
        return subprocess.Popen(
            [sys.executable, "-m", "cli.main", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            **options,
        )

    def run_command(self, *arguments, timeout=120):
        process = self.command(*arguments)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def lines() -> list[bytes]:
    return SAMPLE.read_bytes().splitlines()


@pytest.fixture
def scopes(lines: list[bytes]) -> list[Scope]:
    found = set()
    for document in map(json.loads, lines):
        found.add(Scope(document.get("app") or document["appName"], document["userId"]))
    return sorted(found)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write messages (dicts or bytes) to a file of JSON lines."""

    def write_lines(*messages, name="input.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(b"\n".join(m if isinstance(m, bytes) else json.dumps(m).encode() for m in messages) + b"\n")
        return path

    return write_lines
