"""English names of months, weekdays and numbers, and the words of a text."""

import re
from typing import Final

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

_WORD: Final = re.compile(r"[^\W\d_]+")


def words_of(text: str) -> frozenset[str]:
    """Return the words of `text` in lower case: by them most texts are known to speak of no date."""
    return frozenset(_WORD.findall(text.lower()))


def month_number(name: str) -> int:
    """Return the month of an English name or its first letters; 0 when there is none."""
    return next((n for n, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3])), 0)
