"""A slice as the model is shown it: one line an event, numbered, dated, fenced.

White space inside an event is folded to single spaces, so no text can start a line of its own: whatever a user types,
a line that begins with `[n]` is ours.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from hashlib import blake2b
from typing import Final

from extraction.folding import fold
from extraction.withholding import withheld_by_words
from schemas.events import USER_AUTHOR, Event, ToolResult
from schemas.slice import Slice
from schemas.timezones import day_of, first_timezone

PARTS: Final = ("instruction", "user", "agent", "tool_call", "tool_result", "context")
"""The parts that `strandline_prompt_tokens_total` tells apart."""

BYTES_PER_TOKEN: Final = 4
"""UTF-8 bytes: about four characters of English, and about one and a third of Chinese, as tokenizers have it."""

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_NAME_CHARS: Final = 80
_MARKUP: Final = str.maketrans("", "", "[]():<>!")
_SECRET: Final = secrets.token_bytes(16)


@dataclass(frozen=True, slots=True)
class Line:
    """One shown event.

    `day` is the day on which it happened where the user was: what "tomorrow" in it is reckoned from. `text` is what was
    said, `evidence` every piece that was shown (text, error, arguments, results): each with white space folded. A quote
    must lie inside one piece.
    """

    ordinal: int
    event: Event
    day: date
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The fenced text of a slice and the way back from its ordinals to events.

    `lines` are the shown events, ordinal n at index n - 1. `tokens` is the estimate by part, of the transcript alone.
    `withheld` is what was said in the events left out as withheld: for the rules alone, nobody is shown it.
    """

    text: str
    lines: tuple[Line, ...]
    tokens: dict[str, int]
    withheld: tuple[str, ...] = ()

    def line(self, ordinal: int) -> Line | None:
        """Return the line `[ordinal]`, or None when there is none."""
        return self.lines[ordinal - 1] if 0 < ordinal <= len(self.lines) else None

    def event(self, ordinal: int) -> Event | None:
        """Return the event behind line `[ordinal]`, or None when there is none."""
        line = self.line(ordinal)
        return line.event if line else None


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` is (see `BYTES_PER_TOKEN`)."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size // BYTES_PER_TOKEN)


def build_transcript(
    piece: Slice, memory_tools: tuple[str, ...] = (), nonce: str = "", timezone: str = "UTC"
) -> Transcript:
    """Return the transcript of `piece`.

    Left out: events that are withheld, by a flag or by somebody's words (`extraction.withholding`); calls of
    `memory_tools` and what they returned (memories are no evidence); events with nothing to show. `nonce` marks the
    fence; by default it is derived from the slice and a secret of this process, so that nobody who writes into a
    session can know it. `timezone` is where the days of events that name none are reckoned.
    """
    nonce = nonce or blake2b(piece.id.encode(), key=_SECRET, digest_size=4).hexdigest()
    asked_memory = {call.id for event in piece.events for call in event.calls if call.name in memory_tools and call.id}
    rows = [f"Transcript {nonce}:"]
    lines: list[Line] = []
    tokens = dict.fromkeys(PARTS, 0)
    day = None
    withheld: list[str] = []
    hidden = withheld_by_words(piece.events)
    for event in piece.events:
        shown = tuple(_pieces(event, memory_tools, asked_memory))
        if event.withheld or event.id in hidden:
            withheld += (piece_.evidence for piece_ in shown)
            continue
        if not shown:
            continue
        # A slice that was set aside by another process may name a zone that is unknown here.
        today = day_of(event.ts_ms, first_timezone(event.timezone) or timezone)
        if today != day:
            day = today
            rows.append(f"== {day.isoformat()} {WEEKDAYS[day.weekday()]} ==")
        ordinal = len(lines) + 1
        rows.append(f"[{ordinal}] {_label(event)}" + "".join(piece_.shown for piece_ in shown))
        spoken = " ".join(piece_.evidence for piece_ in shown if piece_.is_spoken)
        lines.append(Line(ordinal, event, today, spoken, tuple(piece_.evidence for piece_ in shown)))
        for piece_ in shown:
            tokens[piece_.part] += estimate_tokens(piece_.shown)
    rows.append(f"End of transcript {nonce}")
    return Transcript("\n".join(rows), tuple(lines), tokens, tuple(withheld))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of an event: its form on the line, what of it is evidence, and the part its tokens count to."""

    shown: str
    evidence: str
    part: str
    is_spoken: bool = False


def _pieces(event: Event, memory_tools: tuple[str, ...], asked_memory: set[str]) -> Iterator[_Piece]:
    speech = "user" if event.author == USER_AUTHOR else "agent"
    if text := fold(event.text):
        yield _Piece(f": {text}", text, speech, is_spoken=True)
    if error := fold(event.error):
        yield _Piece(f" ! {error}", error, speech)
    for call in event.calls:
        if call.name not in memory_tools:
            args = fold(call.args)
            yield _Piece(f" -> {_name(call.name)}({args})", args, "tool_call")
    for result in event.results:
        if not _is_memory(result, memory_tools, asked_memory):
            answer = fold(result.text)
            yield _Piece(f" <- {_name(result.name)}: {answer}", answer, "tool_result")


def _is_memory(result: ToolResult, memory_tools: tuple[str, ...], asked_memory: set[str]) -> bool:
    """A result may carry no name of its own: then the call it answers decides."""
    return result.name in memory_tools or result.id in asked_memory


def _label(event: Event) -> str:
    if event.author == USER_AUTHOR:
        return f"{USER_AUTHOR} ({_name(event.speaker)})" if event.speaker else USER_AUTHOR
    name = _name(event.author)
    return "agent" if name in ("", USER_AUTHOR) else name


def _name(raw: str) -> str:
    """Return a name that cannot be taken for the marks around it, nor for a line of its own."""
    return fold(raw.translate(_MARKUP))[:_NAME_CHARS]
