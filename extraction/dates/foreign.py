"""What follows from relative expressions in the other `languages`.

A regular expression finds the words; the library says which day they mean. Of a period ("nächste Woche") and of a
weekday with such a word it would give one reading or none, so these get all of theirs from `periods`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from extraction.dates.languages import LANGUAGES, Language
from extraction.dates.library import day_meant
from extraction.dates.periods import Interval, month_around, period_readings, whole_month
from extraction.dates.stated import named_month


@dataclass(frozen=True, slots=True)
class _Finder:
    """The patterns of one language, and the words one of which stands in whatever they find."""

    language: Language
    day_words: frozenset[str]
    unit_words: frozenset[str]
    month_words: frozenset[str]
    days: re.Pattern[str]
    counted: re.Pattern[str]
    before: re.Pattern[str]
    after: re.Pattern[str] | None
    month: re.Pattern[str]
    month_end: re.Pattern[str]


def _finder(one: Language) -> _Finder:
    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)

    periods = "|".join(sorted(one.periods, key=len, reverse=True))
    return _Finder(
        language=one,
        day_words=frozenset(one.day_words.split()),
        unit_words=frozenset(one.unit_words.split()),
        month_words=frozenset(one.months.split()),
        days=compiled("|".join(one.days)),
        counted=compiled(
            rf"(?P<how>{'|'.join(one.counted)}) (?P<count>\d{{1,4}}|{'|'.join(one.counts)}) (?P<unit>{one.units})"
        ),
        before=compiled(rf"(?P<step>{'|'.join(one.before)}) (?P<period>{periods})"),
        after=compiled(rf"(?P<period>{periods}) (?P<step>{'|'.join(one.after)})") if one.after else None,
        month=compiled(rf"(?:{one.in_month}) (?P<month>{'|'.join(one.months.split())})"),
        month_end=compiled(one.month_end),
    )


_FINDERS: Final = tuple(_finder(one) for one in LANGUAGES)

FOREIGN_WORDS: Final = frozenset().union(
    *(finder.day_words | finder.unit_words | finder.month_words for finder in _FINDERS)
)
"""One of them stands in every expression that `foreign_intervals` reads."""


def foreign_intervals(text: str, day: date, words: frozenset[str]) -> Iterator[Interval]:
    """Give every interval that the relative expressions of `text`, whose words are `words`, may mean on `day`."""
    for finder in _FINDERS:
        marks = finder.language.marks
        if marks and marks.isdisjoint(words):
            continue
        if not finder.day_words.isdisjoint(words):
            yield from _asked((match[0] for match in finder.days.finditer(text)), finder.language, day)
        if not finder.unit_words.isdisjoint(words):
            yield from _asked(_counted(finder, text), finder.language, day)
            yield from _periods(finder, text, day)
        if not finder.month_words.isdisjoint(words):
            for match in finder.month.finditer(text):
                if month := named_month(match["month"]):
                    yield from month_around(month, day)


def _asked(expressions: Iterable[str], language: Language, day: date) -> Iterator[Interval]:
    for expression in expressions:
        there = day_meant(_known(expression, language), day, language.code)
        if there is not None:
            yield there, there


def _known(expression: str, language: Language) -> str:
    """Return an expression as the library has it."""
    lower = expression.lower().replace("’", "'")
    return language.synonyms.get(lower, lower)


def _counted(finder: _Finder, text: str) -> Iterator[str]:
    """Give what is counted with the number in figures: the library knows not all of them in words."""
    language = finder.language
    for match in finder.counted.finditer(text):
        count = language.counts.get(match["count"].lower(), match["count"])
        yield f"{_known(match['how'], language)} {count} {match['unit']}"


def _periods(finder: _Finder, text: str, day: date) -> Iterator[Interval]:
    language = finder.language
    for pattern, steps in ((finder.before, language.before), (finder.after, language.after)):
        for match in pattern.finditer(text) if pattern else ():
            yield from period_readings(steps[match["step"].lower()], language.periods[match["period"].lower()], day)
    if finder.month_end.search(text):
        last = whole_month(day.year, day.month)[1]
        yield last, last
