"""Relative time, reckoned from the day it was said."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.dates import WEEKDAYS, find_dates, follows, intervals, parse_when
from extraction.dates.languages import LANGUAGES
from extraction.dates.library import day_meant, month_meant, weekday_meant

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("heute", {day("2026-03-14")}),
        ("bis morgen!", {day("2026-03-15")}),
        ("Übermorgen", {day("2026-03-16")}),
        ("vorgestern war ich da", {day("2026-03-12")}),
        ("in drei Tagen", {day("2026-03-17")}),
        ("in 14 Tagen", {day("2026-03-28")}),
        ("vor drei Tagen", {day("2026-03-11")}),
        ("in zwei Wochen", {day("2026-03-28")}),
        ("vor einem Monat", {day("2026-02-14")}),
        ("am Dienstag", {day("2026-03-10"), day("2026-03-17")}),
        ("letzten Freitag", {day("2026-03-06"), day("2026-03-13")}),
        ("nächsten Freitag", {day("2026-03-20")}),
        ("am 5. März", {day("2026-03-05"), day("2027-03-05")}),
        ("5. Oktober 2025", {day("2025-10-05")}),
        ("am 3.4.2026", {day("2026-04-03")}),
        ("bis zum 3.4.", {day("2025-04-03"), day("2026-04-03")}),
        ("am 29. Februar", {day("2024-02-29"), day("2028-02-29")}),
        ("nächstes Wochenende", {(date(2026, 3, 21), date(2026, 3, 22))}),
        ("Ende des Monats", {day("2026-03-31")}),
        ("im März 2025", {(date(2025, 3, 1), date(2025, 3, 31))}),
        ("pasado mañana", {day("2026-03-16")}),
        ("hace dos semanas", {day("2026-02-28")}),
        ("el viernes que viene", {day("2026-03-20")}),
        ("5 de marzo de 2026", {day("2026-03-05")}),
        ("je suis venu hier", {day("2026-03-13")}),
        ("il y a trois jours", {day("2026-03-11")}),
        ("vendredi dernier", {day("2026-03-06"), day("2026-03-13")}),
    ],
)
def test_intervals_in_other_languages_and_no_others(text, expected):
    found = intervals(text, SATURDAY)
    if "März 2025" in text:
        assert expected <= found
    else:
        assert found == expected


def test_intervals_of_naechste_woche_are_those_of_next_week():
    week = intervals("nächste Woche", SATURDAY)
    assert week == intervals("next week", SATURDAY) == intervals("in der kommenden Woche", SATURDAY)
    assert (date(2026, 3, 16), date(2026, 3, 22)) in week
    assert (date(2026, 3, 9), date(2026, 3, 15)) not in week


@pytest.mark.parametrize(
    "text",
    [
        "Guten Morgen",
        "am Morgen esse ich Brot",
        "Ich bin hier",
        "por la mañana",
        "Santo Domingo",
        "in 9999 Jahren",
        "Python 3.4.",
        "I am 1.8.",
        "am 31.2.2026",
        "am 30. Februar",
        "in keinen Tagen",
    ],
)
def test_intervals_of_words_of_other_languages_that_say_no_date(text):
    assert intervals(text, SATURDAY) == frozenset()


@pytest.mark.parametrize("said_on", [date(2025, 1, 1) + timedelta(days=30 * n) for n in range(13)])
def test_intervals_are_reckoned_from_the_day_it_was_said_and_never_from_today(said_on):
    assert intervals("gestern", said_on) == {(said_on - timedelta(days=1),) * 2} == intervals("yesterday", said_on)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.code)
def test_the_library_knows_every_word_that_is_looked_for(language):
    known = [language.synonyms.get(word, word) for word in language.weekdays.split()]
    assert {weekday_meant(word, language.code) for word in known} == set(WEEKDAYS)
    assert {month_meant(word, language.code) for word in language.months.split()} == set(range(1, 13))
    units = [word for word in language.unit_words.split() if re.fullmatch(language.units, word)]
    assert len(units) >= 7
    for how in language.counted:
        for unit in units:
            assert day_meant(f"{language.synonyms.get(how, how)} 2 {unit}", SATURDAY, language.code), (how, unit)


@given(
    st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(1, 400), st.sampled_from("day week month year".split())
)
def test_the_library_and_this_reckon_alike(said_on, count, unit):
    word = {"day": "Tagen", "week": "Wochen", "month": "Monaten", "year": "Jahren"}[unit]
    assert intervals(f"in {count} {word}", said_on) == intervals(f"in {count} {unit}s", said_on)
    assert intervals(f"vor {count} {word}", said_on) == intervals(f"{count} {unit}s ago", said_on)


def test_the_library_is_told_the_day():
    assert day_meant("morgen", date(1999, 12, 31), "de") == date(2000, 1, 1)


_NUMBER = st.integers(1, 31).map(str)
_STATEMENTS = st.one_of(
    st.dates(date(1900, 1, 1), date(2099, 12, 31)).map(str),
    st.tuples(_NUMBER, st.sampled_from("March Feb September".split())).map(" ".join),
    st.tuples(_NUMBER, st.sampled_from(". März|. Februar 2024| de mayo de 2020| août".split("|"))).map("".join),
    st.sampled_from("Tuesday|next Friday|am Dienstag|el domingo|mardi|May 2025|Mai 2025|am 3.4.|3/4/2026".split("|")),
)


@given(st.lists(_STATEMENTS, min_size=1, max_size=4), st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_whatever_date_a_text_states_follows_from_itself(parts, said_on):
    text = " and ".join(parts)
    spoken = intervals(text, said_on)
    for stated in find_dates(text):
        assert all(follows(value, spoken) for value in stated.values)


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
        + ["in 9999 Jahren", "vor 9999 Wochen", "vorgestern", "in 14 Tagen", "letzten Dienstag", "im Mai"]
    ),
    st.dates(),
)
def test_intervals_at_the_ends_of_the_calendar(text, said_on):
    assert all(first <= last for first, last in intervals(text, said_on))
    assert all(one.start < one.end for one in find_dates(text))
