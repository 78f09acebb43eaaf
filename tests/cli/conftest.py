"""A filled store for the commands to read, and an environment that states no settings."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from cli.logs import PACKAGES
from memory.store import Store
from schemas.claim import Claim, Episode
from schemas.load_settings import load
from schemas.outcome import ExtractionOutcome, Outcome
from schemas.scope import Scope

SCOPE = Scope("desk", "ann")
DAY_MS = 86_400_000
START_MS = 1_700_000_000_000


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith(("STRANDLINE_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def logging_put_back() -> Iterator[None]:
    """Commands set up logging for their whole process; the tests that follow must not see it."""
    loggers = [logging.getLogger(name) for name in ("", *PACKAGES)]
    before = [(logger, logger.level, list(logger.handlers)) for logger in loggers]
    yield
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers
    structlog.reset_defaults()


def outcome(session_id: str, day: int, key: str, text: str, quote: str, number: int) -> Outcome:
    at_ms = START_MS + day * DAY_MS
    claim = Claim(
        id=f"00000000-0000-0000-0000-{number:012d}",
        scope=SCOPE,
        session_id=session_id,
        slice_id=f"slice-{session_id}",
        kind="fact",
        key=key,
        about="user",
        text=text,
        sources=(f"{session_id}-e1",),
        quote=quote,
        confidence=0.9,
        observed_at_ms=at_ms,
        authority="user_claim",
    )
    episode = Episode(
        id=f"00000000-0000-0000-0001-{number:012d}",
        scope=SCOPE,
        session_id=session_id,
        slice_id=f"slice-{session_id}",
        text=f"Ann told where things stand: {text}",
        sources=(f"{session_id}-e1",),
        events=(f"{session_id}-e1",),
        first_ts_ms=at_ms,
        last_ts_ms=at_ms,
    )
    return Outcome(
        scope=SCOPE,
        session_id=session_id,
        slice_id=f"slice-{session_id}",
        event_ids=(f"{session_id}-e1",),
        first_ts_ms=at_ms,
        last_ts_ms=at_ms,
        status=ExtractionOutcome.FIRST_PASS,
        model="m",
        prompt_version="1",
        claims=(claim,),
        episode=episode,
    )


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A folder store in which Ann of the desk has moved from Lyon to Porto, and has an unsafe quote."""
    folder = str(tmp_path / "store")
    with Store.open(load(None, {"store.url": folder}).settings) as opened:
        opened.bank(SCOPE).apply(
            [
                outcome("s1", 0, "location.home", "The user lives in Lyon.", "I live in Lyon", 1),
                outcome("s2", 1, "location.home", "The user lives in Porto.", "I moved to Porto", 2),
                outcome("s3", 2, "possession", "The user owns a boat.", "my \x1b[31mboat", 3),
            ]
        )
    return folder
