"""Relative time, reckoned from the day it was said."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.dates import find_dates, follows, intervals, parse_when

SATURDAY = date(2026, 3, 14)


def day(text):
    return (date.fromisoformat(text), date.fromisoformat(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see you today", day("2026-03-14")),
        ("it broke yesterday", day("2026-03-13")),
        ("call me Tomorrow", day("2026-03-15")),
        ("the day after tomorrow", day("2026-03-16")),
        ("next Friday", day("2026-03-20")),
        ("last Friday", day("2026-03-13")),
        ("on Tuesday", day("2026-03-17")),
        ("in three days", day("2026-03-17")),
        ("2 weeks ago", day("2026-02-28")),
        ("in a month", day("2026-04-14")),
        ("last week", (date(2026, 3, 2), date(2026, 3, 8))),
        ("next month", (date(2026, 4, 1), date(2026, 4, 30))),
        ("this weekend", (date(2026, 3, 14), date(2026, 3, 15))),
        ("end of the month", day("2026-03-31")),
        ("my birthday is May 15th", day("2026-05-15")),
        ("on 2026-12-24", day("2026-12-24")),
        ("in May", (date(2026, 5, 1), date(2026, 5, 31))),
    ],
)
def test_intervals_follow_from_the_words(text, expected):
    assert expected in intervals(text, SATURDAY)


@pytest.mark.parametrize("text", ["", "my order is late", "you may go", "in 9999999 years", "I am 30"])
def test_intervals_of_words_that_say_no_date(text):
    assert intervals(text, SATURDAY) == frozenset()


def test_intervals_of_next_friday_said_on_a_monday_has_both_readings_and_no_other():
    monday = date(2026, 3, 9)
    assert intervals("next Friday", monday) == {day("2026-03-13"), day("2026-03-20")}


def test_follows_checks_partial_dates_and_weekdays():
    spoken = intervals("next Friday", SATURDAY)
    assert follows("2026-03-20", spoken)
    assert follows("--03-20", spoken)
    assert follows("friday", spoken)
    assert not follows("monday", spoken)
    assert not follows("2026-03-21", spoken)
    assert not follows("2026-04", spoken)


@pytest.mark.parametrize(
    ("when", "valid"),
    [
        ("2026-03-14", True),
        ("2026-03-14/2026-03-20", True),
        ("2026-03-20/2026-03-14", False),
        ("2026-02-30", False),
        ("20260314", False),
        ("2026-W11-6", False),
        ("tomorrow", False),
        ("", False),
    ],
)
def test_parse_when(when, valid):
    assert (parse_when(when) is not None) is valid


@given(st.text(max_size=80), st.dates())
def test_intervals_are_always_in_order(text, said_on):
    assert all(first <= last for first, last in intervals(text, said_on))


@given(
    st.sampled_from(
        ["in 9999 years", "9999 weeks ago", "last week", "next weekend", "on Monday", "yesterday", "Feb 29"]
    ),
    st.dates(),
)
def test_intervals_at_the_ends_of_the_calendar(text, said_on):
    assert all(first <= last for first, last in intervals(text, said_on))
    assert all(one.start < one.end for one in find_dates(text))
