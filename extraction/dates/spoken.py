"""What a text speaks of, said on a given day, and whether a date follows from it."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from extraction.dates.english import ENGLISH_WORDS, english_intervals
from extraction.dates.foreign import FOREIGN_WORDS, foreign_intervals
from extraction.dates.languages import AFTER_WEEKDAY, BEFORE_WEEKDAY
from extraction.dates.periods import Interval, day_exists, weekday_readings, whole_month
from extraction.dates.stated import WEEKDAY_WORDS, find_dates
from extraction.dates.words import WEEKDAYS, words_of

_FIRST: Final = date(2, 1, 1)
_LAST: Final = date(9998, 12, 31)
"""A year inside the calendar on either side, so that no week or month around a day falls out of it."""

_LEAP_YEARS_APART: Final = 8
"""At most, around a year like 1900."""

_DIGIT: Final = re.compile(r"\d")
_WORD_BEFORE: Final = re.compile(r"(\w+)\s+$")
_WORD_AFTER: Final = re.compile(r"\s+(" + "|".join(AFTER_WEEKDAY) + r")(?!\w)", re.IGNORECASE)
_ANY_WORDS: Final = ENGLISH_WORDS | FOREIGN_WORDS | WEEKDAY_WORDS


def parse_when(when: str) -> Interval | None:
    """Return the interval that a claim's `when` names, or None when it is neither `date` nor `date/date` in order."""
    parts = when.split("/")
    if len(parts) > 2 or any(not re.fullmatch(r"\d{4}-\d{2}-\d{2}", part) for part in parts):
        return None
    try:
        first, last = date.fromisoformat(parts[0]), date.fromisoformat(parts[-1])
    except ValueError:
        return None
    return (first, last) if first <= last else None


def intervals(text: str, day: date) -> frozenset[Interval]:
    """Return every interval that `text`, said on `day`, states or implies.

    `day` is the day where the speaker was. White space in `text` is folded to single blanks.
    """
    words = words_of(text)
    has_digit = _DIGIT.search(text) is not None
    if not has_digit and _ANY_WORDS.isdisjoint(words):
        return frozenset()
    day = min(max(day, _FIRST), _LAST)
    found: set[Interval] = set()
    if has_digit or not WEEKDAY_WORDS.isdisjoint(words):
        for stated in find_dates(text):
            for value in stated.values:
                found.update(_of_value(value, day, text[: stated.start], text[stated.end :]))
    if not ENGLISH_WORDS.isdisjoint(words):
        found.update(english_intervals(text, day))
    if not FOREIGN_WORDS.isdisjoint(words):
        found.update(foreign_intervals(text, day, words))
    return frozenset(found)


def follows(value: str, spoken: frozenset[Interval]) -> bool:
    """Return whether a date value of `find_dates` follows from the intervals that the sources speak of."""
    if value in WEEKDAYS:
        return any(first == last and first.weekday() == WEEKDAYS.index(value) for first, last in spoken)
    if value.startswith("--"):
        return any(first == last and f"--{first:%m-%d}" == value for first, last in spoken)
    if len(value) == 7:
        return any(f"{first:%Y-%m}" == value == f"{last:%Y-%m}" for first, last in spoken)
    return any(first.isoformat() == value or last.isoformat() == value for first, last in spoken)


def _of_value(value: str, day: date, before: str, after: str) -> Iterator[Interval]:
    if value in WEEKDAYS:
        yield from weekday_readings(WEEKDAYS.index(value), day, _step(before, after))
    elif value.startswith("--"):
        month, number = int(value[2:4]), int(value[5:7])
        reach = _LEAP_YEARS_APART if value == "--02-29" else 1
        around_year = range(max(day.year - reach, date.min.year), min(day.year + reach, date.max.year) + 1)
        years = [y for y in around_year if day_exists(y, month, number)]
        around = [date(y, month, number) for y in years]
        past, ahead = [d for d in around if d <= day], [d for d in around if d >= day]
        for nearest in (*past[-1:], *ahead[:1]):
            yield nearest, nearest
    elif len(value) == 7:
        yield whole_month(int(value[:4]), int(value[5:]))
    else:
        exact = date.fromisoformat(value)
        yield exact, exact


def _step(before: str, after: str) -> int | None:
    """Return which of a weekday's days is meant, by the words around it: next 1, last -1, this 0, or None."""
    word = _WORD_BEFORE.search(before[-40:])
    step = BEFORE_WEEKDAY.get(word[1].lower()) if word else None
    if step is None and (word := _WORD_AFTER.match(after)):
        return AFTER_WEEKDAY[word[1].lower()]
    return step
