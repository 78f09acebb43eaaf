"""The values in a text that must be neither invented nor lost: identifiers, amounts, dates, e-mails, phones, numbers.

Each is normalised so that equal values compare equal, however they are written: "$12.50", "12,50 USD" and "USD 12.5"
are one amount, and "125.0" is another. What each kind is stands in `extraction.recognisers`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

import regex

from extraction.dates import find_dates
from extraction.errors import ModelConfigurationError
from extraction.folding import canonical
from extraction.recognisers.amounts import find_amounts, find_spoken_amounts, names_currency
from extraction.recognisers.contacts import find_emails, find_phones, find_urls
from extraction.recognisers.entity import Entity, Found
from extraction.recognisers.identifiers import find_accounts, find_identifiers, find_named_ids
from extraction.recognisers.numbers import find_numbers

__all__ = [
    "NO_PATTERNS",
    "Entity",
    "Patterns",
    "compile_patterns",
    "find_entities",
    "may_hold",
    "stands_alone",
    "stands_in",
]

Patterns = tuple[tuple[str, regex.Pattern[str]], ...]
"""A deployment's own kinds of entity: the name and what is one."""

NO_PATTERNS: Final[Patterns] = ()

PATTERN_S: Final = 2.0
"""Seconds for one pattern over one text: a thousand times what a good one takes."""

_DIGIT: Final = re.compile(r"\d")
_NEED_SIGNS: Final = frozenset(("identifier", "amount", "email", "phone", "number"))
"""Kinds of which no entity can stand in a text without a digit, an @ or the name of a currency."""


_JOINING: Final = "-_.,:/'+@"
"""Marks that make one number or date of two."""


def compile_patterns(patterns: Mapping[str, str]) -> Patterns:
    """Return the setting `extraction.patterns`, whose expressions are checked where settings are, ready for use."""
    return tuple((name, regex.compile(pattern, regex.IGNORECASE)) for name, pattern in patterns.items())


def find_entities(text: str, patterns: Patterns = NO_PATTERNS, *, numbers: bool = True) -> list[Entity]:
    """Return the entities of `text`, bare numbers only if `numbers`.

    Of the kinds known everywhere no two overlap, and the more telling kind wins a span. What matches one of `patterns`
    is found besides, so that a pattern of a deployment never makes an identifier unseen.
    """
    rest = canonical(text)
    found = [
        Entity(name, match[0].casefold(), match[0])
        for name, pattern in patterns
        for match in _matches(name, pattern, rest)
        if match[0].strip()
    ]
    for scan in _SCANNERS if _DIGIT.search(rest) else _WORD_SCANNERS:
        spans = list(scan(rest))
        for start, end, entity in spans:
            found.append(entity)
            rest = f"{rest[:start]}{' ' * (end - start)}{rest[end:]}"
    if numbers:
        found += [entity for _, _, entity in find_numbers(rest)]
    return found


def _matches(name: str, pattern: regex.Pattern[str], text: str) -> Iterator[regex.Match[str]]:
    """Yield what a deployment's pattern finds; a pattern that never comes to an end must not stop the process.

    :raises ModelConfigurationError: It took longer than `PATTERN_S`.
    """
    try:
        yield from pattern.finditer(text, timeout=PATTERN_S)
    except TimeoutError:
        msg = (
            f"extraction.patterns.{name} took longer than {PATTERN_S:g} s over {len(text)} characters. Remedy: "
            "write it without a repetition in a repetition, such as (a+)+."
        )
        raise ModelConfigurationError(msg) from None


def may_hold(text: str, kinds: Collection[str]) -> bool:
    """Return whether `text` may hold entities of `kinds`: most turns have no digit, and need not be read for ids."""
    return not _NEED_SIGNS.issuperset(kinds) or "@" in text or _DIGIT.search(text) is not None or names_currency(text)


def stands_in(needle: str, hay: str) -> bool:
    """Return whether `needle` stands in `hay` as a whole: "A-100" does not stand in "A-1001" nor in "A-100-7"."""
    return _stands(needle, hay, "-_")


def stands_alone(needle: str, hay: str) -> bool:
    """Return whether `needle` stands in `hay` and no mark joins it to more: "50 USD" does not in "12.50 USD"."""
    return _stands(needle, hay, _JOINING)


def _stands(needle: str, hay: str, joining: str) -> bool:
    start = hay.find(needle) if needle else -1
    while start >= 0:
        end = start + len(needle)
        if not _joined(hay[max(0, start - 2) : start][::-1], joining) and not _joined(hay[end : end + 2], joining):
            return True
        start = hay.find(needle, start + 1)
    return False


def _joined(beside: str, joining: str) -> bool:
    """Whether the two characters beside a span, nearest first, carry on the word or number in it."""
    if not beside:
        return False
    return beside[0].isalnum() or beside[0] == "_" or (beside[0] in joining and beside[1:].isalnum())


def _dates(text: str) -> Found:
    for one in find_dates(text):
        raw = text[one.start : one.end]
        yield one.start, one.end, Entity("date", one.values[0], raw, one.values[1:])


_SCANNERS: Final[tuple[Callable[[str], Found], ...]] = (
    find_emails,
    find_urls,
    _dates,
    find_accounts,
    find_amounts,
    find_spoken_amounts,
    find_named_ids,
    find_phones,
    find_identifiers,
)
_WORD_SCANNERS: Final = (find_emails, find_urls, _dates, find_spoken_amounts)
"""What can be found in a text without a digit, which most turns are."""
