"""What the calls of a process tell whoever watches it; every function is called on the event loop of the calls."""

from collections.abc import Callable
from dataclasses import dataclass


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Signals:
    """Functions that are told of a change, and `alive`, called some times a minute while calls wait for the budget."""

    circuit_open: Callable[[bool], None] = _ignore
    budget_spent_usd: Callable[[float], None] = _ignore
    budget_paused: Callable[[bool], None] = _ignore
    alive: Callable[[], None] = lambda: None


NOBODY = Signals()
