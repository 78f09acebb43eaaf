"""One form for what is written in many: how texts are compared, for values and for quotes.

A model copies "don’t" as "don't", a no-break space as a space and "１２" as "12". None of that changes what was said,
so none of it counts; everything else does.
"""

import re
from typing import Final
from unicodedata import category, normalize

QUOTES: Final = (
    "\"'`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f"
    "\u2032\u2033\u2039\u203a\u00ab\u00bb\u300c\u300d\uff07\uff02"
)
"""Quotation marks and apostrophes, straight and typographic."""

DASHES: Final = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
"""Hyphens, dashes and the minus sign."""

_INVISIBLE: Final = (
    *(0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
)
"""Soft hyphen, zero-width characters, marks of writing direction, selectors of variants: nobody reads them."""

_VISIBLE: Final = str.maketrans(dict.fromkeys(map(chr, _INVISIBLE), ""))
_DASHED: Final = str.maketrans(dict.fromkeys(DASHES, "-"))
_QUOTED: Final = str.maketrans(dict.fromkeys(QUOTES, "'"))
_FOREIGN_DIGIT: Final = re.compile(r"[^\D0-9]")
_DASH_RUN: Final = re.compile(r"--+")
NO_SPACES_FROM: Final = "\u2e80"
"""Scripts that part words by spaces end before here."""


def fold(text: str) -> str:
    """Return `text` with every run of white space, line breaks of any alphabet included, as one space."""
    return " ".join(text.split())


def canonical(text: str) -> str:
    """Return `text` as values are compared: NFKC, every digit 0-9, every dash "-", white space folded. Case is kept."""
    return fold(text) if text.isascii() else fold(_plain(text))


def normalise(text: str) -> str:
    """Return `text` as quotes are compared: as `canonical`, with case, marks of quotation and runs of dashes folded."""
    if not text.isascii():
        text = normalize("NFKC", normalize("NFD", text).casefold())
        text = normalize("NFKC", _plain(text).casefold())
    else:
        text = text.casefold()
    text = text.translate(_QUOTED)
    return fold(_DASH_RUN.sub("-", text) if "--" in text else text)


def _plain(text: str) -> str:
    text = normalize("NFKC", text.translate(_VISIBLE)).translate(_DASHED)
    return _FOREIGN_DIGIT.sub(lambda digit: str(int(digit[0])), text)


def spans_words(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]`, of a normalised text, cuts no word and no number at either end.

    "like" is not said in "dislike", "I can" not in "I can't", "12" not in "12.50", "smoker" not in "non-smoker".
    """
    return not _joins(text, start) and not _joins(text, end)


_PREFIX: Final = re.compile(r"(?<!\w)(?:non|anti|un|ex|half|semi)$")
_NEGATION: Final = re.compile(r"(?:n't|'t)(?!\w)")
_IN_NUMBERS: Final = frozenset(".,:/")


def _joins(text: str, at: int) -> bool:
    """Whether the characters on either side of the place `at` belong to one word or number."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if left.isalnum() and right.isalnum():
        return left < NO_SPACES_FROM and right < NO_SPACES_FROM
    if left.isalnum():
        return _carries_on(text, at, left, text[at + 1 : at + 2]) or (right == "'" and bool(_NEGATION.match(text, at)))
    if right.isalnum():
        return _carries_on(text, at - 1, text[max(0, at - 2) : at - 1], right)
    return _is_mark(right)


def _carries_on(text: str, at: int, before: str, after: str) -> bool:
    """Whether the mark at `at` joins the characters on either side of it: "2026-05", "12.50", "non-smoker"."""
    mark = text[at]
    if mark == "-":
        return before.isalnum() and after.isalnum() and (before.isdigit() or after.isdigit() or _is_prefix(text, at))
    if mark in _IN_NUMBERS:
        return before.isdigit() and after.isdigit()
    return _is_mark(mark)


def _is_prefix(text: str, hyphen: int) -> bool:
    return _PREFIX.search(text, max(0, hyphen - 6), hyphen) is not None


def _is_mark(char: str) -> bool:
    """Whether `char` is written over the one before it, and has no form composed with it."""
    return not char.isascii() and category(char).startswith("M")
