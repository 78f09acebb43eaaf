"""What stands between a slice and a call, in this order: the day's budget, the circuit, the rates."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from extraction.circuit import Circuit, Pass
from extraction.errors import ModelConfigurationError
from extraction.rate import Rates
from extraction.signals import NOBODY, Signals
from extraction.spend import DailySpend
from schemas.settings import Settings


@dataclass(slots=True)
class Budget:
    """What one slice may still use: `until` is a time of the event loop's clock, `retries` counts transport retries.

    `calls` are the requests that were sent for it; a slice may leave without any. `said` is what they hold of users'
    words, white space folded: an error that echoes it must not be told.
    `probes` of the retries were asked of a provider that was known to be down; they say nothing of this slice, and are
    not held against it.
    """

    until: float
    retries: int = 0
    probes: int = 0
    calls: int = 0
    said: str = ""

    @property
    def left_s(self) -> float:
        """Seconds that are left; never below zero."""
        return max(0.0, self.until - asyncio.get_running_loop().time())

    @property
    def own_retries(self) -> int:
        """Retries that count towards `model.transport_retries`."""
        return self.retries - self.probes


class Admission:
    """Shared by all calls of a process."""

    def __init__(self, circuit: Circuit, rates: Rates, spend: DailySpend | None = None) -> None:
        """Take the three; `spend` None is no budget."""
        self.circuit = circuit
        self.rates = rates
        self.spend = spend

    async def enter(self, budget: Budget, tokens: float) -> Pass:
        """Return leave for a call of about `tokens` when it may go out.

        A wait for the own rates or the own budget is not the provider's doing, and is added to what the slice has left.

        Raises:
            ProviderFault: The slice's time is up, or the day's budget is spent and is not waited for.
        """
        clock = asyncio.get_running_loop().time
        while True:
            if self.spend is not None and self.spend.is_spent():
                began = clock()
                await self.spend.wait()
                budget.until += clock() - began
            leave = self.circuit.passing() or await self.circuit.wait(budget.left_s, budget.own_retries)
            if not self.rates.limits or (wait_s := self.rates.reserve(clock(), tokens)) <= 0:
                return leave
            await asyncio.sleep(wait_s)
            budget.until += wait_s
            if self.circuit.still(leave) and (self.spend is None or not self.spend.is_spent()):
                return leave

    def failed(self, leave: Pass, words: str) -> None:
        """Take note of a fault of the provider's health; `words` are its own, bounded."""
        was_open = self.circuit.is_open
        self.circuit.failed(leave, words)
        if self.circuit.is_open and not was_open:
            self.rates.forgo(asyncio.get_running_loop().time())


def admission_for(
    settings: Settings, *, waits_for_budget: bool = False, spend_file: Path | None = None, signals: Signals = NOBODY
) -> Admission:
    """Return the admission that `settings` ask for.

    Args:
        settings: The settings; of `prices`, only whether there is one for the model.
        waits_for_budget: Whether calls wait for the next day once `model.daily_budget_usd` is spent. A run that ends
            by itself should not: its slices go to `retry`.
        spend_file: Where the day's spend is kept over a restart; None: nowhere.
        signals: Told of every change.

    Raises:
        ModelConfigurationError: There is a daily budget and the model has no price, or the spend cannot be read.
    """
    model = settings.model
    spend = None
    if model.daily_budget_usd:
        if model.name not in settings.prices:
            message = (
                f"model.daily_budget_usd is {model.daily_budget_usd:g} and `prices` has none for model.name "
                f"{model.name!r}, so its calls would count as free. Remedy: state prices.{model.name} in US dollars "
                "per million tokens, as in input: 0.4, cached: 0.1, output: 1.6."
            )
            raise ModelConfigurationError(message)
        spend = DailySpend(model.daily_budget_usd, waits=waits_for_budget, file=spend_file, signals=signals)
    return Admission(Circuit(model, signals), Rates(model), spend)
