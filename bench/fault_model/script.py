"""Writes the events of a small session, line by line, and remembers which line is which."""

import random
from dataclasses import dataclass, field
from typing import Final

from bench.fault_model.record import Outside, Told
from schemas.events import Event, ToolCall, ToolResult
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason

_FIRST_MS: Final = 1_772_366_400_000
"""2026-03-01 12:00 UTC."""

_DAY_MS: Final = 86_400_000
_TURN_MS: Final = 20_000


@dataclass
class Script:
    """A session in the making."""

    name: str
    rng: random.Random
    events: list[Event] = field(default_factory=list)
    bait: dict[str, list[Told]] = field(default_factory=dict)
    _shown: int = 0

    def __post_init__(self) -> None:
        self._start_ms = _FIRST_MS + self.rng.randrange(200) * _DAY_MS + self.rng.randrange(3600) * 1000

    def user(self, text: str, speaker: str = "") -> int:
        """Let the user, or `speaker`, say `text`; return the ordinal of the line."""
        return self._add("user", text=text, speaker=speaker)

    def agent(self, text: str) -> int:
        """Let the agent say `text`; return the ordinal of the line."""
        return self._add("support", text=text)

    def tool(self, name: str, args: str, result: str) -> int:
        """Let the agent call a tool; return the ordinal of the line with its result."""
        self._add("support", calls=(ToolCall(f"c{len(self.events)}", name, args),))
        return self._add("support", results=(ToolResult(f"c{len(self.events) - 1}", name, result),))

    def withheld(self, text: str) -> None:
        """Let the user say what is not to be remembered: it has no line."""
        self._add("user", text=text, withheld=True)

    def tempt(self, name: str, *told: Told) -> None:
        """Tell the server what a faulty model would state, under the bait `name`."""
        self.bait.setdefault(name, []).extend(told)

    def finish(self, user: str, meant_for: tuple[str, ...]) -> tuple[Slice, Outside]:
        """Return the slice, and what the server is told of it."""
        piece = Slice(Scope("scenes", user), self.name, SliceReason.CLOSED, 0, tuple(self.events))
        return piece, Outside(bait=self.bait, meant_for=meant_for)

    def _add(self, author: str, withheld: bool = False, **said: object) -> int:
        number = len(self.events)
        made = {"id": f"{self.name}-{number}", "author": author, "ts_ms": self._start_ms + number * _TURN_MS}
        self.events.append(Event(**made, withheld=withheld, **said))  # type: ignore[arg-type]
        self._shown += not withheld
        return self._shown
