"""What the model may cost a day: `model.daily_budget_usd`, reckoned from the priced answers of one UTC day.

It stops between calls only, so a day costs more than the budget by at most the calls under way when it is reached. An
answer that never came whole, or that came after its time-out, has no price here though a provider may charge for it.
"""

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final

import msgspec
import structlog

from extraction.errors import ModelConfigurationError, ProviderFault
from extraction.signals import NOBODY, Signals

LOOK_EVERY_S: Final = 20.0
"""How often a call that waits for the next day looks at the clock, which may be set, and shows that it is alive."""

log = structlog.get_logger(__name__)


class _Row(msgspec.Struct):
    """The file: a day, as ISO 8601 writes it, and US dollars."""

    day: date
    spent_usd: float


class DailySpend:
    """The spend of the day, kept in a file if there is one, so that a process that crashes again and again knows it."""

    def __init__(
        self,
        limit_usd: float,
        *,
        waits: bool,
        file: Path | None = None,
        signals: Signals = NOBODY,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Take up the day's spend from `file`.

        Args:
            limit_usd: US dollars a day.
            waits: Whether calls wait for the next day once it is spent; else they are refused.
            file: Where the spend is kept; it is made when missing.
            signals: Told what is spent, and whether calls wait or are refused.
            now: The time in UTC.

        Raises:
            ModelConfigurationError: The file is there and cannot be read, or it cannot be written.
        """
        self._limit_usd = limit_usd
        self._waits = waits
        self._file = file
        self._signals = signals
        self._now = now
        self._paused = False
        self._row = _read(file) or _Row(now().date(), 0.0)
        try:
            self._keep()
        except OSError as exc:
            message = (
                f"what the model costs today cannot be kept in {file}: {exc.strerror}. Remedy: let this process write "
                "there, or name another run.recovery_dir."
            )
            raise ModelConfigurationError(message) from exc
        signals.budget_spent_usd(self._row.spent_usd)
        self.is_spent()

    def is_spent(self) -> bool:
        """Return whether the day's budget is reached. Another day, later or earlier, begins with nothing spent."""
        if (today := self._now().date()) != self._row.day:
            self._row = _Row(today, 0.0)
            self._signals.budget_spent_usd(0.0)
        spent = self._row.spent_usd >= self._limit_usd
        if spent != self._paused:
            self._pause(spent)
        return spent

    def add(self, usd: float) -> None:
        """Add what an answer cost, and keep it.

        Raises:
            OSError: The file cannot be written.
        """
        self.is_spent()  # begins a new day
        self._row.spent_usd += usd
        self._keep()
        self._signals.budget_spent_usd(self._row.spent_usd)

    def _keep(self) -> None:
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        beside = self._file.with_name(f"{self._file.name}.new")
        with beside.open("wb") as file:
            file.write(msgspec.json.encode(self._row))
            file.flush()
            os.fsync(file.fileno())  # else a power cut could leave an empty file in place of a whole one
        os.replace(beside, self._file)

    async def wait(self) -> None:
        """Return when there is budget again: tomorrow.

        Raises:
            ProviderFault: It is spent, and calls do not wait.
        """
        while self.is_spent():
            if not self._waits:
                message = (
                    f"the daily budget of ${self._limit_usd:g} is spent; raise model.daily_budget_usd, or feed the "
                    "slice again from 00:00 UTC on with `strandline replay retry`"
                )
                raise ProviderFault(message)
            await asyncio.sleep(min(self._left_s(), LOOK_EVERY_S))
            self._signals.alive()

    def _left_s(self) -> float:
        now = self._now()
        return (datetime.combine(now.date() + timedelta(days=1), time(), UTC) - now).total_seconds()

    def _pause(self, paused: bool) -> None:  # noqa: FBT001
        self._paused = paused
        self._signals.budget_paused(paused)
        if not paused:
            log.warning("a new day, the model is called again", budget_usd=self._limit_usd)
            return
        log.warning(
            "the daily budget is spent, the model is called no more today",
            budget_usd=self._limit_usd,
            spent_usd=round(self._row.spent_usd, 6),
            resumes="by itself at 00:00 UTC" if self._waits else "with `strandline replay retry` from 00:00 UTC on",
        )


def _read(file: Path | None) -> _Row | None:
    if file is None:
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Row)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as exc:
        message = (
            f"the file {file} should hold what the model cost today and cannot be read: {exc}. Remedy: mend it, or "
            "remove it, and the day's spend counts from 0."
        )
        raise ModelConfigurationError(message) from exc
