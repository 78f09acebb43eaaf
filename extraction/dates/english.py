"""What follows from relative expressions in English.

Reckoned here and not by the library, which reads "a week from today" as a week ago and "three days from today" as
today, and knows neither "this weekend" nor "the end of the month" (see docs/decisions).
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from extraction.dates.languages import ENGLISH_BEFORE
from extraction.dates.periods import Interval, month_around, period_readings, shifted, whole_month
from extraction.dates.words import MONTHS, NUMBER_WORDS, month_number


def english_intervals(text: str, day: date) -> Iterator[Interval]:
    """Give every interval that the relative expressions of `text` may mean on `day`."""
    for pattern, reckon in _RELATIVE:
        for match in pattern.finditer(text):
            try:
                yield from reckon(match, day)
            except (OverflowError, ValueError):  # "in 9999999 days": no such day exists, so nothing follows from it
                continue


def _in_month(match: re.Match[str], day: date) -> Iterator[Interval]:
    yield from month_around(month_number(match[1]), day)


def _single(day: date) -> Iterator[Interval]:
    yield day, day


def _unit(word: str) -> str:
    return word.lower().removesuffix("s")


def _count(word: str) -> int:
    word = word.lower()
    return int(word) if word.isdigit() else NUMBER_WORDS.get(word, 1)


def _fixed(match: re.Match[str], day: date) -> Iterator[Interval]:
    shifts = {"yesterday": -1, "last night": -1, "tomorrow": 1}
    return _single(shifted(day, shifts.get(match[0].lower(), 0), "day"))


def _beyond(match: re.Match[str], day: date) -> Iterator[Interval]:
    return _single(shifted(day, 2 if match[1].lower() == "after" else -2, "day"))


def _ahead(match: re.Match[str], day: date) -> Iterator[Interval]:
    return _single(shifted(day, _count(match[1]), _unit(match[2])))


def _ago(match: re.Match[str], day: date) -> Iterator[Interval]:
    return _single(shifted(day, -_count(match[1]), _unit(match[2])))


def _period(match: re.Match[str], day: date) -> Iterator[Interval]:
    return period_readings(ENGLISH_BEFORE[match[1].lower()], match[2].lower(), day)


def _month_end(_: re.Match[str], day: date) -> Iterator[Interval]:
    return _single(whole_month(day.year, day.month)[1])


_UNIT: Final = r"(days?|weeks?|months?|years?)"
_COUNT: Final = r"(\d{1,4}|an?|" + "|".join(NUMBER_WORDS) + r")"
_RELATIVE: Final = tuple(
    (re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE), reckon)
    for pattern, reckon in (
        (r"(?:today|tonight|this (?:morning|afternoon|evening)|yesterday|last night|tomorrow)", _fixed),
        (r"day (after|before) (?:tomorrow|yesterday)", _beyond),
        (rf"(?:in|within) {_COUNT} {_UNIT}", _ahead),
        (rf"{_COUNT} {_UNIT} (?:from (?:now|today)|later|hence)", _ahead),
        (rf"{_COUNT} {_UNIT} ago", _ago),
        (rf"({'|'.join(ENGLISH_BEFORE)}) (week|weekend|month|year)", _period),
        (r"end of (?:the|this) month", _month_end),
        (rf"(?:in|by|until|since|next|last|this|of|during)\s+({'|'.join(MONTHS)})", _in_month),
    )
)

ENGLISH_WORDS: Final = frozenset(
    "today tonight yesterday tomorrow morning afternoon evening night day days week weeks month months year years "
    "weekend".split()
) | frozenset(MONTHS)
"""One of them stands in every expression that `english_intervals` reads."""
