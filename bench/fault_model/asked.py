"""A request as the server reads it: the lines of its transcript, the faultless answer, and what it was told besides.

The lines are read here anew, not by `extraction`: a fault must not be planted by the eyes of the rules.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Final

from bench.fault_model.record import Outside
from schemas.extraction import ExtractedClaim, Extraction

_FENCE: Final = re.compile(r"Transcript (\S+):\n(.*)\nEnd of transcript \1", re.DOTALL)
_ROW: Final = re.compile(r"\[(\d+)\] ([^:<>!()\[\]]*?)(?: \(([^()]*)\))?( -> | <- | ! |: )(.*)")
_DAY: Final = re.compile(r"== (\d{4}-\d\d-\d\d)")
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]*")
_MIN_WORDS: Final = 4
"""A shorter sentence is said in every dialogue, and proves nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: its ordinal, its day, who said it, and its text; `is_spoken` is false for tools and errors."""

    n: int
    day: date
    author: str
    speaker: str
    text: str
    is_spoken: bool

    @property
    def is_users_own(self) -> bool:
        """Whether the user of the slice said it."""
        return self.is_spoken and self.author == "user" and not self.speaker

    @property
    def sentences(self) -> list[str]:
        """Its sentences of some length that hold no digit, so that none states a value or a PIN."""
        if not self.is_spoken:
            return []
        found = (match[0].strip() for match in _SENTENCE.finditer(self.text))
        return [one for one in found if len(one.split()) >= _MIN_WORDS and not re.search(r"\d", one)]


@dataclass(frozen=True)
class Asked:
    """What a plant has to work with; `rng` is the only source of chance."""

    rows: tuple[Row, ...]
    base: Extraction
    outside: Outside
    rng: random.Random

    @cached_property
    def all_text(self) -> str:
        """The whole transcript, in small letters."""
        return "\n".join(row.text for row in self.rows).lower()

    def row(self, n: int) -> Row:
        """Return line `n`, which exists."""
        return self.rows[n - 1]

    def cited_text(self, sources: Sequence[int]) -> str:
        """Return the text of the lines `sources`, in small letters."""
        return "\n".join(self.row(n).text for n in sources if 0 < n <= len(self.rows)).lower()

    def sentence(self, *, own: bool = False) -> tuple[Row, str] | None:
        """Return some sentence and its line, of the user's own lines alone if `own`."""
        said = [(row, one) for row in self.rows if row.is_users_own or not own for one in row.sentences]
        return self.rng.choice(said) if said else None

    def true_claim(self) -> ExtractedClaim | None:
        """Return a claim of the faultless answer; where it has none, one that repeats the user's own words."""
        if self.base.claims:
            return self.rng.choice(self.base.claims)
        return self.saying()

    def saying(self) -> ExtractedClaim | None:
        """Return a true claim that repeats a sentence of the user's, or None when they said none of some length."""
        said = self.sentence(own=True)
        if said is None:
            return None
        row, words = said
        return ExtractedClaim(
            kind="fact",
            key="other.said",
            text=f'The user said: "{words}"',
            sources=[row.n],
            quote=words,
            confidence=0.8,
        )


def rows_of(prompt: str) -> tuple[Row, ...]:
    """Return the lines of the transcript in `prompt`, ordinal n at index n - 1.

    Raises:
        ValueError: there is no fenced transcript in it.
    """
    return tuple(_rows(body_of(prompt)))


def body_of(prompt: str) -> str:
    """Return what stands within the fence, which is the same for the same events whatever the nonce.

    Raises:
        ValueError: there is no fenced transcript in it.
    """
    if not (fence := _FENCE.search(prompt)):
        msg = "the prompt holds no transcript between its fences; the fault model only answers the extractor"
        raise ValueError(msg)
    return fence[2]


def _rows(body: str) -> Iterator[Row]:
    day = date.min
    for row in body.split("\n"):
        if header := _DAY.match(row):
            day = date.fromisoformat(header[1])
        elif shown := _ROW.fullmatch(row):
            n, author, speaker, mark, text = shown.groups()
            yield Row(int(n), day, author, speaker or "", text, mark == ": ")


def first_prompt(messages: Sequence[Mapping[str, object]]) -> str:
    """Return the text of the first user message."""
    return next(str(one["content"]) for one in messages if one.get("role") == "user")
