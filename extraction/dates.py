"""Dates in text: those that are stated, and those that follow from an expression like "next Friday".

Everything a text says about time becomes intervals of days, `(first, last)`, reckoned from the day it was said. Where
English is ambiguous (whose week does "last week" mean?) every common reading is given: the code asks whether a date
can follow from the words, not which one was meant.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

Interval = tuple[date, date]

MONTHS: Final = "january february march april may june july august september october november december".split()
WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
NUMBER_WORDS: Final = {
    word: number
    for number, words in enumerate(
        "zero|one first|two second|three third|four fourth|five fifth|six sixth|seven seventh|eight eighth|nine ninth"
        "|ten tenth|eleven eleventh|twelve twelfth|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
        "|twenty".split("|")
    )
    for word in words.split()
}

_MONTH: Final = r"(?P<month>" + "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in MONTHS) + r"|sept)\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d{2})"
_STATED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\w]){_YEAR}[-/](?P<month_number>\d{{1,2}})[-/](?P<day>\d{{1,2}})(?:t\d{{2}}:\d{{2}}[\d:.]*(?:z|[+-]\d{{2}}:?\d{{2}})?)?(?!\w)",
        rf"(?<!\w){_DAY}(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR})?(?!\w)",
        rf"(?<!\w){_MONTH}\s+(?:the\s+)?{_DAY}(?!\s*[:.]\d)(?:,?\s+{_YEAR})?(?!\w)",
        rf"(?<!\w){_MONTH},?\s+{_YEAR}(?!\w)",
    )
)
_NUMERIC: Final = re.compile(
    rf"(?<![\w./-])(?P<first>\d{{1,2}})(?P<mark>[./])(?P<second>\d{{1,2}})(?P=mark){_YEAR}(?!\w)"
)
_WEEKDAY: Final = re.compile(r"(?<!\w)(" + "|".join(WEEKDAYS) + r")s?(?!\w)", re.IGNORECASE)
_MONTH_ALONE: Final = re.compile(
    r"(?<!\w)(?:(?:in|by|until|since|next|last|this|of|during)\s+)(" + "|".join(MONTHS) + r")(?!\w)", re.IGNORECASE
)
_DIGIT: Final = re.compile(r"\d")
_FIRST: Final = date(2, 1, 1)
_LAST: Final = date(9998, 12, 31)
"""A year inside the calendar on either side, so that no week or month around a day falls out of it."""


@dataclass(frozen=True, slots=True)
class StatedDate:
    """A date found at `start:end` of a text.

    `values` are its readings, most likely first: "2026-05-15", "--05-15" when no year is said, "2026-05" when no day
    is said, or the name of a weekday.
    """

    start: int
    end: int
    values: tuple[str, ...]


def find_dates(text: str) -> list[StatedDate]:
    """Return the dates that `text` states, in the order in which they stand; none overlaps another."""
    found: list[StatedDate] = []
    if _DIGIT.search(text):
        for pattern in _STATED:
            found += [
                StatedDate(m.start(), m.end(), (v,)) for m in pattern.finditer(text) if (v := _value(m.groupdict()))
            ]
        for match in _NUMERIC.finditer(text):
            if values := tuple(_numeric_readings(match)):
                found.append(StatedDate(match.start(), match.end(), values))
    found += [StatedDate(m.start(), m.end(), (m[1].lower(),)) for m in _WEEKDAY.finditer(text)]
    found.sort(key=lambda one: (one.start, -one.end))
    apart: list[StatedDate] = []
    for one in found:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return apart


def _value(parts: dict[str, str | None]) -> str:
    """Return the canonical text of what a pattern caught, or nothing when no such day exists."""
    number, name, year = parts.get("month_number"), parts.get("month"), parts.get("year")
    month = int(number) if number else _month_number(name or "")
    raw_day = parts.get("day")
    if raw_day is None:
        return f"{year}-{month:02d}"
    if not _exists(int(year or 2000), month, int(raw_day)):
        return ""
    return f"{year}-{month:02d}-{int(raw_day):02d}" if year else f"--{month:02d}-{int(raw_day):02d}"


def _numeric_readings(match: re.Match[str]) -> Iterator[str]:
    """With dots the day stands first; with slashes the month may (American), so both readings count."""
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if _exists(year, second, first):
        yield f"{year}-{second:02d}-{first:02d}"
    if match["mark"] == "/" and first != second and _exists(year, first, second):
        yield f"{year}-{first:02d}-{second:02d}"


def _exists(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def _month_number(name: str) -> int:
    return next((n for n, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3])), 0)


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
    """Return every interval that `text`, said on `day`, states or implies."""
    day = min(max(day, _FIRST), _LAST)
    found: set[Interval] = set()
    for stated in find_dates(text):
        for value in stated.values:
            found.update(_of_value(value, day, text[: stated.start]))
    for match in _MONTH_ALONE.finditer(text):
        month = _month_number(match[1])
        found.update(_month(day.year + shift, month) for shift in (-1, 0, 1))
    for pattern, reckon in _RELATIVE:
        for match in pattern.finditer(text):
            try:
                found.update(reckon(match, day))
            except (OverflowError, ValueError):  # "in 9999999 days": no such day exists, so nothing follows from it
                continue
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


def _of_value(value: str, day: date, before: str) -> Iterator[Interval]:
    if value in WEEKDAYS:
        yield from _weekday(WEEKDAYS.index(value), day, before)
    elif value.startswith("--"):
        month, number = int(value[2:4]), int(value[5:7])
        years = [y for y in (day.year - 1, day.year, day.year + 1) if _exists(y, month, number)]
        around = [date(y, month, number) for y in years]
        past, ahead = [d for d in around if d <= day], [d for d in around if d >= day]
        for nearest in (*past[-1:], *ahead[:1]):
            yield nearest, nearest
    elif len(value) == 7:
        yield _month(int(value[:4]), int(value[5:]))
    else:
        exact = date.fromisoformat(value)
        yield exact, exact


def _weekday(wanted: int, day: date, before: str) -> Iterator[Interval]:
    """Give the days a weekday may mean, by the word in front of it: next, last, this, or none."""
    monday = day - timedelta(days=day.weekday())
    ahead = day + timedelta(days=(wanted - day.weekday() - 1) % 7 + 1)
    back = day - timedelta(days=(day.weekday() - wanted - 1) % 7 + 1)
    word = re.search(r"(\w+)\s+$", before)
    match word[1].lower() if word else "":
        case "next":
            days = {ahead, monday + timedelta(days=7 + wanted)}
        case "last" | "past" | "previous":
            days = {back, monday + timedelta(days=wanted - 7)}
        case "this" | "coming":
            days = {ahead, monday + timedelta(days=wanted)}
        case _:
            days = {ahead, back, monday + timedelta(days=wanted)}
    for one in days:
        yield one, one


def _month(year: int, month: int) -> Interval:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _months_on(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _shifted(day: date, count: int, unit: str) -> Iterator[Interval]:
    unit = unit.lower()
    if unit.startswith("month"):
        there = _months_on(day, count)
    elif unit.startswith("year"):
        there = _months_on(day, 12 * count)
    else:
        there = day + timedelta(days=count * (7 if unit.startswith("week") else 1))
    yield there, there


def _count(word: str) -> int:
    word = word.lower()
    return int(word) if word.isdigit() else NUMBER_WORDS.get(word, 1)


def _fixed(match: re.Match[str], day: date) -> Iterator[Interval]:
    shifts = {"yesterday": -1, "last night": -1, "tomorrow": 1}
    yield from _shifted(day, shifts.get(match[0].lower(), 0), "day")


def _beyond(match: re.Match[str], day: date) -> Iterator[Interval]:
    yield from _shifted(day, 2 if match[1].lower() == "after" else -2, "day")


def _ahead(match: re.Match[str], day: date) -> Iterator[Interval]:
    yield from _shifted(day, _count(match[1]), match[2])


def _ago(match: re.Match[str], day: date) -> Iterator[Interval]:
    yield from _shifted(day, -_count(match[1]), match[2])


def _span(match: re.Match[str], day: date) -> Iterator[Interval]:
    """Give the readings of "last week", "this month", "next year", "this weekend"."""
    step = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}.get(match[1].lower(), 0)
    unit = match[2].lower()
    if unit == "year":
        yield date(day.year + step, 1, 1), date(day.year + step, 12, 31)
    elif unit == "month":
        there = _months_on(day.replace(day=1), step)
        yield _month(there.year, there.month)
        if step:
            yield (day, _months_on(day, 1)) if step > 0 else (_months_on(day, -1), day)
    else:
        monday = day - timedelta(days=day.weekday()) + timedelta(days=7 * step)
        if unit == "weekend":
            yield monday + timedelta(days=5), monday + timedelta(days=6)
            return
        yield monday, monday + timedelta(days=6)
        yield monday, monday + timedelta(days=4)
        yield monday - timedelta(days=1), monday + timedelta(days=5)
        if step:
            week = timedelta(days=7)
            yield (day, day + week) if step > 0 else (day - week, day)
            one = timedelta(days=1)
            yield (day + one, day + week) if step > 0 else (day - week, day - one)


def _month_end(_: re.Match[str], day: date) -> Iterator[Interval]:
    last = _month(day.year, day.month)[1]
    yield last, last


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
        (r"(last|past|previous|this|next|coming) (week|weekend|month|year)", _span),
        (r"end of (?:the|this) month", _month_end),
    )
)
