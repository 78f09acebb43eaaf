"""What dateparser says that words mean: the one place that asks it.

It is asked only for what `languages` has found, one expression at a time, for a call takes a quarter of a millisecond;
answers are kept, since everybody says "morgen" on the same day. It is loaded when first needed: a text in English or
without a date never does.
"""

from datetime import date, datetime, time
from functools import lru_cache
from typing import Final

from extraction.dates.words import WEEKDAYS

_ANSWERS_KEPT: Final = 8192
_NAMES_KEPT: Final = 512
_FIXED_DAY: Final = date(2000, 1, 1)
"""Names of months and weekdays mean the same on any day; never the machine's own is looked at."""


@lru_cache(maxsize=_ANSWERS_KEPT)
def day_meant(expression: str, day: date, language: str) -> date | None:
    """Return the day that a relative expression in `language` (ISO 639-1) means on `day`, None when there is none."""
    return _ask(expression, day, language, "relative-time")


@lru_cache(maxsize=_NAMES_KEPT)
def month_meant(name: str, language: str) -> int:
    """Return the month (1 to 12) of a name in `language`, 0 when it is none."""
    there = _ask(f"1 {name} 2000", _FIXED_DAY, language, "absolute-time")
    return there.month if there else 0


@lru_cache(maxsize=_NAMES_KEPT)
def weekday_meant(name: str, language: str) -> str:
    """Return the English name of a weekday in `language`, empty when it is none."""
    there = _ask(name, _FIXED_DAY, language, "absolute-time")
    return WEEKDAYS[there.weekday()] if there else ""


def _ask(expression: str, day: date, language: str, parser: str) -> date | None:
    from dateparser.date import DateDataParser  # noqa: PLC0415 - a twentieth of a second, see above

    settings = {"RELATIVE_BASE": datetime.combine(day, time(12)), "PARSERS": [parser]}  # noqa: DTZ001 - a user's own day
    found = DateDataParser(languages=[language], settings=settings).get_date_data(expression).date_obj
    return found.date() if found else None
