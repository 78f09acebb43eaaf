"""The values in a text that must be neither invented nor lost: identifiers, amounts, dates, e-mails, phones, numbers.

Each is normalised so that equal values compare equal, however they are written: "$12.50", "12,50 USD" and "USD 12.5"
are one amount, and "125.0" is another.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final
from unicodedata import normalize

from extraction.dates import MONTHS, NUMBER_WORDS, find_dates
from extraction.transcript import fold


@dataclass(frozen=True, slots=True)
class Entity:
    """One value found in a text.

    `kind` is identifier, amount, date, email, phone or number. `value` is the normalised form; `alternatives` are other
    readings of an ambiguous one (03/04/2026); `raw` is how it was written.
    """

    kind: str
    value: str
    raw: str = field(compare=False)
    alternatives: tuple[str, ...] = field(default=(), compare=False)


_DASHES: Final = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))

_CURRENCIES: Final = {
    "$": "USD", "us$": "USD", "dollar": "USD", "buck": "USD", "c$": "CAD", "a$": "AUD",
    "€": "EUR", "euro": "EUR", "£": "GBP", "pound": "GBP", "¥": "JPY", "yen": "JPY", "₹": "INR", "rupee": "INR",
}  # fmt: skip
_CODES: Final = "CHF|JPY|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|KRW|SGD|HKD|ZAR|ILS|AED|SAR|THB"
_SIGN: Final = rf"(?:(?i:us|c|a)?\$|[€£¥₹]|(?<![A-Za-z])(?:(?i:usd|eur|gbp)|{_CODES})(?![A-Za-z]))"
_NAME: Final = r"(?:(?i:dollars?|bucks?|euros?|pounds?|yen|rupees?)(?!\w))"
_NUM: Final = r"\d+(?:[.,'’]\d+)*"
_TIMES: Final = r"(?:k(?!\w)|(?:\s(?:thousand|million|billion)|m|bn)(?!\w))?"
_MULTIPLIERS: Final = {"k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "bn": 10**9, "billion": 10**9}

_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_AMOUNT: Final = re.compile(
    rf"(?<![\w.,])(?P<n1>{_NUM})(?P<t1>{_TIMES})\s?(?P<c1>{_SIGN}|{_NAME})(?![\d])"
    rf"|(?P<c2>{_SIGN})\s?(?P<n2>{_NUM})(?P<t2>{_TIMES})"
)
_CURRENCY: Final = re.compile(rf"{_SIGN}|(?<!\w){_NAME}")
_PHONE: Final = re.compile(
    r"(?<![\w-])(?:\+\d[\d\s().-]{6,18}\d|\(\d{2,5}\)[\s.-]?\d[\d\s.-]{4,12}\d|\d{3}[-. ]\d{3}[-. ]\d{4}|\d{3}-\d{4})"
    r"(?![\w-])"
)
_TOKEN: Final = re.compile(r"(?<![\w@])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?!\w)")
_NAMED_ID: Final = re.compile(
    r"(?<!\w)(?:orders?|tickets?|cases?|bookings?|invoices?|reservations?|confirmation|accounts?|customers?|members?"
    r"|membership|references?|ref|tracking|policy|claim)\b[\s:.#]*(?:(?:number|no|id|is|code)\b[\s:.#]*)*"
    r"(?P<id>\d{3,})(?![\w]|[.,]\d)|#(?P<hash>\d{3,})(?!\w)",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(rf"(?<![\w.,]){_NUM}")
_ANY_NUMBER: Final = re.compile(_NUM)
_DIGIT: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[A-Za-z]+")
_YEAR_WORD: Final = re.compile(
    rf"(?:early|mid|late|pre|post|since|until)[-_](?:19|20)\d\d|(?:{'|'.join(m[:3] for m in MONTHS)})[a-z]*[-_]\d+",
    re.IGNORECASE,
)
_UNIT_NUMBER: Final = re.compile(r"\d+[a-z]{0,3}", re.IGNORECASE)

LONG_DIGITS: Final = 5
"""A run of so many digits is an identifier; shorter ones only after a word like "order"."""


def canonical(text: str) -> str:
    """Return `text` as values are compared: NFKC, every dash as "-", white space folded. Case is kept."""
    return fold(normalize("NFKC", text).translate(_DASHES))


def normalise(text: str) -> str:
    """Return `text` as quotes are compared: NFKC, case and white space folded."""
    return fold(normalize("NFKC", text).casefold())


def number_value(raw: str) -> str:
    """Return the plain decimal form of a written number: "1,234.50" and "1.234,50" give "1234.5".

    Of two marks the last is the decimal one. A single comma before exactly three digits groups thousands, a single
    point is decimal. What is no number ("1.2.3", a version) is returned as it stands.
    """
    digits = raw.replace("'", "").replace("’", "")
    points, commas = digits.count("."), digits.count(",")
    if points and commas:
        group, mark = (",", ".") if digits.rfind(".") > digits.rfind(",") else (".", ",")
        digits = digits.replace(group, "").replace(mark, ".")
    elif commas == 1 and not re.search(r",\d{3}$", digits):
        digits = digits.replace(",", ".")
    elif commas or points > 1:
        groups = re.split(r"[.,]", digits)
        if any(len(g) != 3 for g in groups[1:]) or len(groups[0]) > 3:
            return raw
        digits = "".join(groups)
    try:
        return _plain(Decimal(digits))
    except InvalidOperation:
        return raw


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def find_entities(text: str) -> list[Entity]:
    """Return the entities of `text`; no two overlap, and the more telling kind wins a span."""
    rest = canonical(text)
    found: list[Entity] = []
    for scan in _SCANNERS if _DIGIT.search(rest) else _WORD_SCANNERS:
        spans = []
        for start, end, entity in scan(rest):
            found.append(entity)
            spans.append((start, end))
        for start, end in spans:
            rest = f"{rest[:start]}{' ' * (end - start)}{rest[end:]}"
    return found


def number_pool(text: str) -> frozenset[str]:
    """Return every number that `text` contains anywhere, in words or figures: what a bare number may rest on."""
    plain = canonical(text)
    pool = {number_value(m[0]) for m in _ANY_NUMBER.finditer(plain)}
    pool.update(str(n) for w in _WORD.findall(plain) if (n := NUMBER_WORDS.get(w.lower())) is not None)
    return frozenset(pool)


def currencies(text: str) -> frozenset[str]:
    """Return the currencies that `text` names, as three-letter codes."""
    return frozenset(_currency(m[0]) for m in _CURRENCY.finditer(canonical(text)))


def stands_in(needle: str, hay: str) -> bool:
    """Return whether `needle` stands in `hay` as a whole: "A-100" does not stand in "A-1001" nor in "A-100-7"."""
    edge = r"(?<!\w)(?<!\w[-_]){}(?!\w|[-_]\w)".format(re.escape(needle))
    return re.search(edge, hay) is not None


_Found = Iterator[tuple[int, int, Entity]]


def _emails(text: str) -> _Found:
    for m in _EMAIL.finditer(text) if "@" in text else ():
        yield m.start(), m.end(), Entity("email", m[0].casefold(), m[0])


def _dates(text: str) -> _Found:
    for one in find_dates(text):
        raw = text[one.start : one.end]
        yield one.start, one.end, Entity("date", one.values[0], raw, one.values[1:])


def _amounts(text: str) -> _Found:
    for m in _AMOUNT.finditer(text):
        raw_number, times = m["n1"] or m["n2"], (m["t1"] or m["t2"] or "").strip().lower()
        value = number_value(raw_number)
        if times:
            value = _plain(Decimal(value) * _MULTIPLIERS[times]) if value.replace(".", "").isdigit() else value
        yield m.start(), m.end(), Entity("amount", f"{_currency(m['c1'] or m['c2'])} {value}", m[0])


def _currency(sign: str) -> str:
    return _CURRENCIES.get(sign.lower()) or _CURRENCIES.get(sign.lower().removesuffix("s")) or sign.upper()


def _phones(text: str) -> _Found:
    for m in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", m[0])
        if 7 <= len(digits) <= 15:
            yield m.start(), m.end(), Entity("phone", digits, m[0])


def _named_ids(text: str) -> _Found:
    for m in _NAMED_ID.finditer(text):
        group = "id" if m["id"] else "hash"
        yield m.start(group), m.end(group), Entity("identifier", m[group], m[group])


def _identifiers(text: str) -> _Found:
    for m in _TOKEN.finditer(text):
        if not m[0].isalpha() and _is_identifier(m[0]):
            yield m.start(), m.end(), Entity("identifier", m[0].casefold(), m[0])


def _is_identifier(token: str) -> bool:
    """Tell an identifier from words that merely hold digits.

    Digits alone are one when they are many, or in three groups or more; letters with at least three digits are one,
    unless it is a year ("mid-2026") or figures with units ("5th-16th"); so is a code of six capitals and digits.
    """
    groups = re.split(r"[-_]", token)
    digits = sum(c.isdigit() for c in token)
    if all(group.isdigit() for group in groups):
        return digits >= LONG_DIGITS if len(groups) == 1 else len(groups) >= 3 and digits >= 9
    if _YEAR_WORD.fullmatch(token) or all(_UNIT_NUMBER.fullmatch(group) for group in groups):
        return False
    if token[0].isalpha():
        return digits >= 3 or (len(token) == 6 and token.isalnum() and token.isupper() and digits >= 2)
    return digits >= 3 and len(token) >= 8


def _numbers(text: str) -> _Found:
    for m in _NUMBER.finditer(text):
        yield m.start(), m.end(), Entity("number", number_value(m[0]), m[0])


_SCANNERS: Final[tuple[Callable[[str], _Found], ...]] = (
    _emails,
    _dates,
    _amounts,
    _named_ids,
    _phones,
    _identifiers,
    _numbers,
)
_WORD_SCANNERS: Final = (_emails, _dates)
"""What can be found in a text without a digit, which most turns are: e-mail addresses and names of weekdays."""
