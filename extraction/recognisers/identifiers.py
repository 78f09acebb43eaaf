"""Identifiers: of orders, tickets, cases, accounts, and whatever else mixes letters and digits."""

import re
from typing import Final

from extraction.dates import MONTHS
from extraction.recognisers.entity import Entity, Found

LONG_DIGITS: Final = 5
"""A run of so many digits is an identifier; shorter ones only after a word like "order"."""

_TOKEN: Final = re.compile(r"(?<![\w@])(?=[A-Za-z_-]*\d)[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?!\w)")
_NAMED_ID: Final = re.compile(
    r"(?<!\w)(?:orders?|tickets?|cases?|bookings?|invoices?|reservations?|confirmation|accounts?|customers?|members?"
    r"|membership|references?|ref|tracking|policy|claim|konto|kontonummer|kundennummer|bestellung|bestellnummer"
    r"|rechnung|vorgang|auftrag)\b[\s:.#]*(?:(?:number|nummer|no|nr|id|is|ist|code)\b[\s:.#]*)*"
    r"(?P<id>\d{3,})(?![\w]|[.,]\d)|#(?P<hash>\d{3,})(?!\w)",
    re.IGNORECASE,
)
_THREE_DIGITS: Final = re.compile(r"\d\d\d")
_SEPARATORS: Final = re.compile(r"[-_]")
_YEAR_WORD: Final = re.compile(
    rf"(?:early|mid|late|pre|post|since|until)[-_](?:19|20)\d\d|(?:{'|'.join(m[:3] for m in MONTHS)})[a-z]*[-_]\d+",
    re.IGNORECASE,
)
_UNIT_NUMBER: Final = re.compile(r"\d+[a-z]{0,3}", re.IGNORECASE)

_IBAN: Final = re.compile(r"(?<![\w-])[A-Za-z]{2}\d\d(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,3})?(?![\w-])")
_IBAN_SIZES: Final = range(15, 35)
"""Norway's has 15 characters, the standard allows 34 (ISO 13616)."""
_ACCOUNT: Final = re.compile(
    r"(?<!\w)(?:accounts?|acct|konto|kontonummer|iban|sort code)\b[\s:.#]*(?:(?:number|nummer|no|nr|id|is"
    r"|ist)\b[\s:.#]*)*"
    r"(?P<id>[A-Za-z]{0,2}\d{2,}(?:[ -]\d{2,})+)(?![\w-])",
    re.IGNORECASE,
)
_MIN_ACCOUNT_DIGITS: Final = 6
_ACCOUNT_WORDS: Final = ("acc", "kont", "iban", "sort")


def find_accounts(text: str) -> Found:
    """Yield bank accounts as one word: an IBAN by its check digits, other grouped digits by the word before them."""
    for m in _IBAN.finditer(text) if _THREE_DIGITS.search(text) else ():
        value = m[0].replace(" ", "")
        while len(value) >= _IBAN_SIZES.start and not is_iban(value):
            value = _without_last_group(m[0], value)
        if is_iban(value):
            end = m.start() + _length_written(m[0], len(value))
            yield m.start(), end, Entity("identifier", value.casefold(), text[m.start() : end])
    lower = text.lower()
    if any(word in lower for word in _ACCOUNT_WORDS):
        for m in _ACCOUNT.finditer(text):
            value = re.sub(r"[ -]", "", m["id"])
            if sum(map(str.isdigit, value)) >= _MIN_ACCOUNT_DIGITS:
                yield m.start("id"), m.end("id"), Entity("identifier", value.casefold(), m["id"])


def is_iban(value: str) -> bool:
    """Return whether `value`, without spaces, has the length and the check digits of an IBAN (ISO 7064, mod 97)."""
    if len(value) not in _IBAN_SIZES or not value.isalnum() or not value.isascii():
        return False
    turned = value[4:] + value[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _without_last_group(written: str, value: str) -> str:
    """Return `value` without the last of the groups it is written in: it may be the next word of the sentence."""
    kept = written[: _length_written(written, len(value))].rpartition(" ")[0]
    return kept.replace(" ", "")


def _length_written(written: str, size: int) -> int:
    """Return how far into `written` its first `size` characters reach, spaces not counted."""
    for n, char in enumerate(written, 1):
        size -= char != " "
        if not size:
            return n
    return len(written)


def find_named_ids(text: str) -> Found:
    """Yield short numbers that the word before them makes identifiers: "order 1001", "#4711"."""
    for m in _NAMED_ID.finditer(text) if _THREE_DIGITS.search(text) else ():
        group = "id" if m["id"] else "hash"
        yield m.start(group), m.end(group), Entity("identifier", m[group], m[group])


def find_identifiers(text: str) -> Found:
    """Yield tokens that are identifiers by their own shape: "A-1001", "XK7P2Q", a UUID."""
    for m in _TOKEN.finditer(text):
        if _is_identifier(m[0]):
            yield m.start(), m.end(), Entity("identifier", m[0].casefold(), m[0])


def _is_identifier(token: str) -> bool:
    """Tell an identifier from words that merely hold digits.

    Digits alone are one when they are many, or in three groups or more; letters with at least three digits are one,
    unless it is a year ("mid-2026") or figures with units ("5th-16th"); so is a code of six capitals and digits.
    """
    groups = _SEPARATORS.split(token)
    digits = sum(map(str.isdigit, token))
    if all(map(str.isdigit, groups)):
        return digits >= LONG_DIGITS if len(groups) == 1 else len(groups) >= 3 and digits >= 9
    if _YEAR_WORD.fullmatch(token) or all(map(_UNIT_NUMBER.fullmatch, groups)):
        return False
    if token[0].isalpha():
        return digits >= 3 or (len(token) == 6 and token.isalnum() and token.isupper() and digits >= 2)
    return digits >= 3 and len(token) >= 8
