"""Weeks, months and weekdays around a day: every common reading of each."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta

Interval = tuple[date, date]
"""The first and the last day; both are the same for a single day."""


def day_exists(year: int, month: int, day: int) -> bool:
    """Return whether the calendar has such a day."""
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def whole_month(year: int, month: int) -> Interval:
    """Return the first and the last day of a month."""
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def months_on(day: date, months: int) -> date:
    """Return the same day so many months later, or the last of that month when it is shorter.

    :raises ValueError: It is outside the calendar.
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not date.min.year <= year <= date.max.year:
        msg = f"there is no year {year}"
        raise ValueError(msg)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def shifted(day: date, count: int, unit: str) -> date:
    """Return the day that lies `count` of `unit` (day, week, month or year) away.

    :raises ValueError, OverflowError: It is outside the calendar.
    """
    match unit:
        case "month":
            return months_on(day, count)
        case "year":
            return months_on(day, 12 * count)
        case _:
            return day + timedelta(days=count * (7 if unit == "week" else 1))


def weekday_readings(wanted: int, day: date, step: int | None) -> Iterator[Interval]:
    """Give the days a weekday (Monday is 0) may mean: with 1 the next, with -1 the last, with 0 this one, else any."""
    monday = day - timedelta(days=day.weekday())
    ahead = day + timedelta(days=(wanted - day.weekday() - 1) % 7 + 1)
    back = day - timedelta(days=(day.weekday() - wanted - 1) % 7 + 1)
    match step:
        case 1:
            days = {ahead, monday + timedelta(days=7 + wanted)}
        case -1:
            days = {back, monday + timedelta(days=wanted - 7)}
        case 0:
            days = {ahead, monday + timedelta(days=wanted)}
        case _:
            days = {ahead, back, monday + timedelta(days=wanted)}
    for one in days:
        yield one, one


def period_readings(step: int, unit: str, day: date) -> Iterator[Interval]:
    """Give the readings of "last week" (-1), "this month" (0), "next year" (1), "this weekend"."""
    if unit == "year":
        yield date(day.year + step, 1, 1), date(day.year + step, 12, 31)
    elif unit == "month":
        there = months_on(day.replace(day=1), step)
        yield whole_month(there.year, there.month)
        if step:
            yield (day, months_on(day, 1)) if step > 0 else (months_on(day, -1), day)
    else:
        monday = day - timedelta(days=day.weekday()) + timedelta(days=7 * step)
        if unit == "weekend":
            yield monday + timedelta(days=5), monday + timedelta(days=6)
            return
        yield monday, monday + timedelta(days=6)
        yield monday, monday + timedelta(days=4)
        yield monday - timedelta(days=1), monday + timedelta(days=5)
        if step:
            week, one = timedelta(days=7), timedelta(days=1)
            yield (day, day + week) if step > 0 else (day - week, day)
            yield (day + one, day + week) if step > 0 else (day - week, day - one)


def month_around(month: int, day: date) -> Iterator[Interval]:
    """Give the readings of a month without a year: last year's, this year's and the next one's."""
    for shift in (-1, 0, 1):
        yield whole_month(day.year + shift, month)
