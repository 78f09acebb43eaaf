"""Dates in text: those that are stated, and those that follow from an expression like "next Friday" or "übermorgen".

Everything a text says about time becomes intervals of days, `(first, last)`, reckoned from the day it was said. Where
language is ambiguous (whose week does "last week" mean?) every common reading is given: the code asks whether a date
can follow from the words, not which one was meant.
"""

from extraction.dates.periods import Interval
from extraction.dates.spoken import follows, intervals, parse_when
from extraction.dates.stated import StatedDate, find_dates
from extraction.dates.words import MONTHS, NUMBER_WORDS, WEEKDAYS

__all__ = [
    "MONTHS",
    "NUMBER_WORDS",
    "WEEKDAYS",
    "Interval",
    "StatedDate",
    "find_dates",
    "follows",
    "intervals",
    "parse_when",
]
