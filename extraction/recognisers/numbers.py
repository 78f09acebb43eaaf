"""Numbers, in figures and in words."""

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from extraction.dates import NUMBER_WORDS
from extraction.recognisers.entity import Entity, Found

FIGURES: Final = r"\d+(?:[.,'’]\d+)*"
"""A number in figures, whichever marks group its digits."""

_NUMBER: Final = re.compile(rf"(?<![\w.,]){FIGURES}")
_ANY_NUMBER: Final = re.compile(FIGURES)
_DECIMAL_COMMA: Final = re.compile(r",\d{3}$")
_WORD: Final = re.compile(r"[a-z]+")

_TENS: Final = {
    word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6}
_UNITS: Final = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
_ONE: Final = "|".join(sorted((*_UNITS, *_TENS), key=len, reverse=True))
WORDS: Final = rf"(?:(?:a|{_ONE})(?:[ -](?:and )?(?:{_ONE}|hundred|thousand|million))*)"
"""A number in English words, as a pattern in small letters: "twenty-five", "a hundred and twenty", "two thousand"."""

_PHRASE: Final = re.compile(rf"(?<!\w){WORDS}(?!\w)", re.IGNORECASE)
_SPELT: Final = re.compile(rf"(?<![a-z])(?:{'|'.join((*_TENS, *_SCALES))})", re.IGNORECASE)


def number_value(raw: str) -> str:
    """Return the plain decimal form of a written number: "1,234.50" and "1.234,50" give "1234.5".

    Of two marks the last is the decimal one. A single comma before exactly three digits groups thousands, a single
    point is decimal. What is no number ("1.2.3", a version) is returned as it stands.
    """
    digits = raw.replace("'", "").replace("’", "")
    points, commas = digits.count("."), digits.count(",")
    if points and commas:
        group, mark = (",", ".") if digits.rfind(".") > digits.rfind(",") else (".", ",")
        digits = digits.replace(group, "").replace(mark, ".")
    elif commas == 1 and not _DECIMAL_COMMA.search(digits):
        digits = digits.replace(",", ".")
    elif commas or points > 1:
        groups = re.split(r"[.,]", digits)
        if any(len(g) != 3 for g in groups[1:]) or len(groups[0]) > 3:
            return raw
        digits = "".join(groups)
    try:
        return plain(Decimal(digits))
    except InvalidOperation:
        return raw


def plain(value: Decimal) -> str:
    """Return `value` without an exponent and without zeros that say nothing."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def spoken_value(phrase: str) -> int:
    """Return the number that a phrase of `WORDS` says: "one hundred and fifty" gives 150."""
    total = part = 0
    for word in _WORD.findall(phrase.lower()):
        if word in _TENS:
            part += _TENS[word]
        elif word == "hundred":
            part = (part or 1) * 100
        elif word in _SCALES:
            total, part = total + (part or 1) * _SCALES[word], 0
        elif word == "a":
            part = part or 1
        elif word != "and":
            part += NUMBER_WORDS[word]
    return total + part


def find_numbers(text: str) -> Found:
    """Yield the numbers in figures that stand by themselves."""
    for m in _NUMBER.finditer(text):
        yield m.start(), m.end(), Entity("number", number_value(m[0]), m[0])


def number_pool(text: str) -> frozenset[str]:
    """Return every number that `text`, in canonical form, holds anywhere, in words or figures."""
    pool = {number_value(m[0]) for m in _ANY_NUMBER.finditer(text)}
    lower = text.lower()
    pool.update(str(n) for w in _WORD.findall(lower) if (n := NUMBER_WORDS.get(w)) is not None)
    if _SPELT.search(lower):
        pool.update(str(spoken_value(m[0])) for m in _PHRASE.finditer(lower))
    return frozenset(pool)
