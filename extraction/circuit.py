"""The circuit before the model: whether calls go out, wait, or go out one by one, for all calls of a process together.

Closed, every call passes. After `model.circuit_failures` faults of health in a row it opens: calls wait in a queue, and
every `model.circuit_probe_s` exactly one of them goes out as a probe. A probe that is answered closes the circuit; one
that fails leaves it open. A probe that hangs does not hold back the next: a provider that is back is found within one
interval, however long a call may take. A `hold`, which a provider asks for with Retry-After, lets nothing out until its
time has come. After either the queue goes out one by one over `RAMP_S`, so that a reviving provider is not stormed.

Only calls that went out since the last change count: those sent to a provider before it came back say nothing of now.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

import structlog

from extraction.errors import ProviderFault
from extraction.signals import NOBODY, Signals
from schemas.settings import ModelSettings

RAMP_S: Final = 2.0
"""In this time as many calls go out as may be under way at once; then whoever still waits goes."""

MAX_HOLD_S: Final = 3600.0
"""A longer hold is tried out after this time: a wrong date in one header must not end a process's work for good."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave for one call; `epoch` says since which change of the circuit it holds."""

    epoch: int
    is_probe: bool = False


class Circuit:
    """Use it on one event loop, whose clock is its own."""

    def __init__(self, model: ModelSettings, signals: Signals = NOBODY) -> None:
        """Begin closed."""
        self._limit = model.circuit_failures
        self._probe_s = model.circuit_probe_s
        self._gap_s = RAMP_S / model.max_in_flight
        self._signals = signals
        self._pass = Pass(0)
        self._open = False
        self._guarded = False  # somebody may have to wait: it is open, held, or on its ramp
        self._failures = 0
        self._words = ""
        self._opened_at = 0.0
        self._held_until = 0.0
        self._next_at = 0.0  # not before then does the next of the queue go out
        self._calm_at = 0.0  # from then on, if it is closed, everybody passes
        self._queue: dict[asyncio.Future[Pass], int] = {}  # in order of arrival, with the calls each has lost
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        """Whether no call but a probe goes out."""
        return self._open

    def passing(self) -> Pass | None:
        """Return leave for a call at once, or None when it must `wait`."""
        return None if self._guarded else self._pass

    async def wait(self, left_s: float, lost: int) -> Pass:
        """Return leave for a call when it may go out.

        Args:
            left_s: Seconds after which the wait is given up.
            lost: Calls that the slice has lost so far. The one with the fewest is the probe, so that a slice on which
                the provider fails whenever it is asked does not keep the circuit open for the others.

        Raises:
            ProviderFault: The time is up; with the provider's last words.
        """
        began = _now()
        future: asyncio.Future[Pass] = asyncio.get_running_loop().create_future()
        self._queue[future] = lost
        self._advance()
        try:
            async with asyncio.timeout(left_s):
                return await future
        except TimeoutError:
            message = f"no call was made for {_now() - began:.0f} s, the provider does not serve: {self._words}"
            raise ProviderFault(message) from None
        finally:
            self._queue.pop(future, None)

    def still(self, leave: Pass) -> bool:
        """Whether `leave` holds after a wait elsewhere."""
        return leave.epoch == self._pass.epoch and _now() >= self._held_until

    def answered(self, leave: Pass) -> None:
        """Take note that the provider gave an answer to the call that had `leave`: it is well."""
        if leave.epoch != self._pass.epoch:
            return
        self._failures = 0
        if self._open:
            now = _now()
            log.warning("the model endpoint serves again", after_s=round(now - self._opened_at, 1))
            self._change(is_open=False)
            self._next_at = max(now, self._held_until)
            self._calm_at = self._next_at + RAMP_S
            self._advance()

    def failed(self, leave: Pass, words: str) -> None:
        """Take note of a fault of health; `words` are the provider's own, bounded."""
        if leave.epoch != self._pass.epoch:
            return
        self._words = words
        self._failures += 1
        if not self._open and self._failures >= self._limit:
            log.warning(
                "the model endpoint does not serve; calls wait, one goes out now and then to ask",
                faults=self._failures,
                every_s=self._probe_s,
                error=words,
            )
            self._change(is_open=True)
            self._opened_at = _now()
            self._next_at = max(self._opened_at + self._probe_s, self._held_until)
            self._advance()

    def hold(self, seconds: float, words: str) -> None:
        """Let nothing out for `seconds`, as a provider asked for with `words`; the longest of several holds counts."""
        now = _now()
        until = now + min(seconds, MAX_HOLD_S)
        if until <= self._held_until:
            return
        if now >= self._held_until:
            log.warning("the model endpoint asks for a pause of all calls", seconds=round(seconds, 1), error=words)
        self._words = words
        self._guarded = True
        self._held_until = until
        self._next_at = max(until, self._next_at)
        self._calm_at = self._next_at + RAMP_S
        self._advance()

    def _change(self, *, is_open: bool) -> None:
        self._open = is_open
        self._guarded = True
        self._failures = 0
        self._pass = Pass(self._pass.epoch + 1)
        self._signals.circuit_open(is_open)

    def _advance(self) -> None:
        """Let out whoever may go now, and come back when the next may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = _now()
        if not self._open and now >= self._calm_at:
            self._guarded = False
            while self._queue:
                self._let_out(next(iter(self._queue)))
            return
        if self._queue and now >= self._next_at:
            self._let_out(min(self._queue, key=self._queue.__getitem__) if self._open else next(iter(self._queue)))
            self._next_at = now + (self._probe_s if self._open else self._gap_s)
        if self._queue:
            at = self._next_at if self._open else min(self._next_at, self._calm_at)
            self._timer = asyncio.get_running_loop().call_at(at, self._advance)

    def _let_out(self, future: asyncio.Future[Pass]) -> None:
        del self._queue[future]
        if not future.done():  # a wait that was given up in this moment
            future.set_result(Pass(self._pass.epoch, is_probe=True) if self._open else self._pass)


def _now() -> float:
    return asyncio.get_running_loop().time()
