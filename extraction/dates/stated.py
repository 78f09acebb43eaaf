"""Dates that a text states: "2026-05-15", "May 15th", "5. März", "am 3.4.2026", "Tuesday", "Dienstag"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extraction.dates.languages import LANGUAGES
from extraction.dates.library import month_meant, weekday_meant
from extraction.dates.periods import day_exists
from extraction.dates.words import MONTHS, WEEKDAYS, month_number, words_of

_MONTH: Final = r"(?P<month>" + "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in MONTHS) + r"|sept)\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d{2})"

_MONTH_LANGUAGE: Final = {name: one.code for one in LANGUAGES for name in one.months.split()}
_WEEKDAY_LANGUAGE: Final = {name: one.code for one in LANGUAGES for name in one.weekdays.split()}
_SYNONYMS: Final = {word: other for one in LANGUAGES for word, other in one.synonyms.items()}
_OTHER_MONTH: Final = r"(?P<other_month>" + "|".join(sorted(_MONTH_LANGUAGE, key=len, reverse=True)) + r")\.?"


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_ISO: Final = _compiled(
    rf"(?<![\w]){_YEAR}[-/](?P<month_number>\d{{1,2}})[-/](?P<day>\d{{1,2}})(?:t\d{{2}}:\d{{2}}[\d:.]*(?:z|[+-]\d{{2}}:?\d{{2}})?)?(?!\w)",
    # German without a year, only after such a word: "version 3.4." is none, nor is "I am 1.8."
    r"(?<!\w)(?:(?<!\bi )am|vom|bis|zum|ab|dem|den)\s+(?P<stated>(?P<day>\d{1,2})\.(?P<month_number>\d{1,2})\.)(?!\d)",
)
_NAMED: Final = _compiled(
    rf"(?<!\w){_DAY}(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR})?(?!\w)",
    rf"(?<!\w){_MONTH}\s+(?:the\s+)?{_DAY}(?!\s*[:.]\d)(?:,?\s+{_YEAR})?(?!\w)",
    rf"(?<!\w){_MONTH},?\s+{_YEAR}(?!\w)",
)
_NAMED_OTHERWISE: Final = _compiled(
    rf"(?<![\w.])(?P<day>\d{{1,2}})(?:\.|er|º)?\s*(?:de\s+)?{_OTHER_MONTH}(?:,?\s+(?:del?\s+)?{_YEAR})?(?!\w)",
    rf"(?<!\w){_OTHER_MONTH}\s+(?:del?\s+)?{_YEAR}(?!\w)",
)
_NUMERIC: Final = re.compile(
    rf"(?<![\w./-])(?P<first>\d{{1,2}})(?P<mark>[./])(?P<second>\d{{1,2}})(?P=mark){_YEAR}(?!\w)"
)
# "Santo Domingo" is a city and Domingo a name, so it is a day only after an article.
_WEEKDAY: Final = re.compile(
    r"(?<!\w)("
    + "|".join((*WEEKDAYS, *(name for name in _WEEKDAY_LANGUAGE if name != "domingo")))
    + r"|(?<=\bel )domingo|(?<=\beste )domingo|(?<=\blos )domingo)s?(?!\w)",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d")

MONTH_WORDS: Final = frozenset((*MONTHS, *(m[:3] for m in MONTHS), "sept"))
"""The words that name a month in English, full or cut."""

OTHER_MONTH_WORDS: Final = frozenset(_MONTH_LANGUAGE)
"""Those that name one in another language."""

WEEKDAY_WORDS: Final = frozenset(name + s for name in (*WEEKDAYS, *_WEEKDAY_LANGUAGE) for s in ("", "s"))
"""The words that name a weekday in any language."""


@dataclass(frozen=True, slots=True)
class StatedDate:
    """A date found at `start:end` of a text.

    `values` are its readings, most likely first: "2026-05-15", "--05-15" when no year is said, "2026-05" when no day
    is said, or the English name of a weekday.
    """

    start: int
    end: int
    values: tuple[str, ...]


def find_dates(text: str) -> list[StatedDate]:
    """Return the dates that `text` states, in the order in which they stand; none overlaps another."""
    words = words_of(text)
    found: list[StatedDate] = []
    if _DIGIT.search(text):
        patterns = _ISO
        if not MONTH_WORDS.isdisjoint(words):
            patterns += _NAMED
        if not OTHER_MONTH_WORDS.isdisjoint(words):
            patterns += _NAMED_OTHERWISE
        for pattern in patterns:
            whole = "stated" if "stated" in pattern.groupindex else 0
            found += [
                StatedDate(m.start(whole), m.end(whole), (v,))
                for m in pattern.finditer(text)
                if (v := _value(m.groupdict()))
            ]
        for match in _NUMERIC.finditer(text):
            if values := tuple(_numeric_readings(match)):
                found.append(StatedDate(match.start(), match.end(), values))
    if not WEEKDAY_WORDS.isdisjoint(words):
        found += [
            StatedDate(m.start(), m.end(), (v,)) for m in _WEEKDAY.finditer(text) if (v := _weekday(m[1].lower()))
        ]
    found.sort(key=lambda one: (one.start, -one.end))
    apart: list[StatedDate] = []
    for one in found:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return apart


def named_month(name: str) -> int:
    """Return the month that `name` means in a language other than English, 0 when it is none."""
    language = _MONTH_LANGUAGE.get(name.lower())
    return month_meant(name.lower(), language) if language else 0


def _weekday(name: str) -> str:
    language = _WEEKDAY_LANGUAGE.get(name)
    return weekday_meant(_SYNONYMS.get(name, name), language) if language else name


def _value(parts: dict[str, str | None]) -> str:
    """Return the canonical text of what a pattern caught, or nothing when no such day exists."""
    number, name, year = parts.get("month_number"), parts.get("month"), parts.get("year")
    month = int(number) if number else month_number(name) if name else named_month(parts.get("other_month") or "")
    raw_day = parts.get("day")
    if raw_day is None:
        return f"{year}-{month:02d}" if month else ""
    if not day_exists(int(year or 2000), month, int(raw_day)):
        return ""
    return f"{year}-{month:02d}-{int(raw_day):02d}" if year else f"--{month:02d}-{int(raw_day):02d}"


def _numeric_readings(match: re.Match[str]) -> Iterator[str]:
    """With dots the day stands first; with slashes the month may (American), so both readings count."""
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if day_exists(year, second, first):
        yield f"{year}-{second:02d}-{first:02d}"
    if match["mark"] == "/" and first != second and day_exists(year, first, second):
        yield f"{year}-{first:02d}-{second:02d}"
