"""The secrets that a transcript holds, and whether a text discloses one of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from extraction.folding import DASHES, NO_SPACES_FROM, QUOTES, normalise
from extraction.secrecy import MIN_CHARS, mask, secret_spans
from extraction.transcript import Transcript
from schemas.events import USER_AUTHOR

_PUNCTUATION: Final = " .,;:!?\"'()[]{}<>\\"
_GROUPING: Final = re.compile(r"(?<=\d)[ .-]+(?=\d)")
_GROUPED_DIGITS: Final = 8
"""So many digits are found however they are grouped (card numbers, SSN); fewer only as they were written."""
_VARIANTS: Final = {" ": r"\s+", "'": f"[{re.escape(QUOTES)}]", "-": f"[{re.escape(DASHES)}]+"}
"""Characters of a normalised text, and what they may have been."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one line shows: `text` is what was said, `pieces` all of it, arguments and results of tools included."""

    ordinal: int
    is_user: bool
    text: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpokenSecrets:
    """Every secret of one transcript.

    `values` are its normalised forms with the ordinal of the line that stated it first. `masked` is what was said, line
    by line, with the secrets masked.
    """

    values: tuple[tuple[str, int], ...]
    masked: tuple[str, ...]

    @classmethod
    def of(cls, transcript: Transcript) -> "SpokenSecrets":
        """Return the secrets in all that `transcript` shows: words, arguments and results of tools, errors."""
        return cls.told(
            Said(line.ordinal, line.event.author == USER_AUTHOR, line.text, line.evidence) for line in transcript.lines
        )

    @classmethod
    def told(cls, lines: Iterable[Said]) -> "SpokenSecrets":
        """Return the secrets in `lines`. What a user says is read as an answer to the agent's line before it."""
        values: dict[str, int] = {}
        masked: list[str] = []
        asked = ""
        for line in lines:
            said = line.text
            for piece in line.pieces:
                spans = secret_spans(piece, asked if line.is_user and piece == line.text else "")
                for start, end in spans:
                    for form in _forms(piece[start:end]):
                        values.setdefault(form, line.ordinal)
                if piece == line.text:
                    said = mask(piece, spans)
            masked.append(said)
            if line.text and not line.is_user:
                asked = line.text
        return cls(tuple(values.items()), tuple(masked))

    def hide_in(self, text: str) -> str:
        """Return `text`, as long as before, with every secret masked that it says again, wherever that is."""
        for value, _ in self.values:
            for match in re.finditer(_written(value), text, re.I):
                if not _cuts(text, match.start(), match.end()):
                    text = mask(text, [match.span()])
        return text

    def find_in(self, *texts: str) -> int | None:
        """Return the ordinal of the line whose secret stands in one of `texts`, or None."""
        if not self.values:
            return None
        for text in texts:
            plain = normalise(text)
            packed = _GROUPING.sub("", plain)
            for value, ordinal in self.values:
                if _stands(value, plain) or (len(value) >= _GROUPED_DIGITS and value.isdigit() and value in packed):
                    return ordinal
        return None


def _forms(raw: str) -> set[str]:
    """Return the forms of a secret that may not be told: as written, and its digits alone when it has nothing else."""
    plain = normalise(raw)
    bare = plain.strip(_PUNCTUATION) or plain
    packed = _GROUPING.sub("", bare)
    return {form for form in (bare, packed if packed.isdigit() else bare) if len(form) >= MIN_CHARS}


def _stands(value: str, text: str) -> bool:
    """Whether `value` stands in `text` cutting no number and no word: "pin4821" tells "4821", "48210" does not."""
    start = text.find(value)
    while start >= 0:
        if not _cuts(text, start, start + len(value)):
            return True
        start = text.find(value, start + 1)
    return False


def _written(value: str) -> str:
    """Return a pattern of the ways in which `value` may be written: spaces folded, long numbers grouped."""
    gap = r"[ .-]*" if len(value) >= _GROUPED_DIGITS and value.isdigit() else ""
    return gap.join(_VARIANTS.get(char) or re.escape(char) for char in value)


def _cuts(text: str, start: int, end: int) -> bool:
    """Whether the span of `text` begins or ends within a number or a word."""
    return _joined(text[:start][-1:], text[start]) or _joined(text[end - 1], text[end : end + 1])


def _joined(left: str, right: str) -> bool:
    if left.isdigit() and right.isdigit():
        return True
    return left.isalpha() and right.isalpha() and max(left, right) < NO_SPACES_FROM
