"""Amounts of money: "$12.50", "12,50 USD", "USD 12.5", "1 234,50 €", "fifty dollars", "10-20 euros".

Cheap because it starts from the figures, which are rare, and looks for a currency on either side.
"""

import re
from decimal import Decimal
from typing import Final

from extraction.recognisers.entity import Entity, Found
from extraction.recognisers.numbers import FIGURES, WORDS, number_value, plain, spoken_value

_CURRENCIES: Final = {
    "$": "USD", "us$": "USD", "dollar": "USD", "buck": "USD", "c$": "CAD", "ca$": "CAD", "a$": "AUD", "au$": "AUD",
    "€": "EUR", "euro": "EUR", "£": "GBP", "pound": "GBP", "quid": "GBP", "¥": "JPY", "yen": "JPY", "₹": "INR",
    "rupee": "INR", "franken": "CHF", "₩": "KRW", "zł": "PLN", "fr.": "CHF", "sfr": "CHF",
}  # fmt: skip
_CODES: Final = "CHF|JPY|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|KRW|SGD|HKD|ZAR|ILS|AED|SAR|THB"
_SIGN: Final = rf"(?:(?i:us|ca?|au?)?\$|[€£¥₹₩]|(?<![A-Za-z])(?:(?i:usd|eur|gbp)|{_CODES})(?![A-Za-z]))"
_NAME: Final = r"(?:(?i:dollars?|bucks?|euros?|pounds?|quid|yen|rupees?|franken|zł)(?!\w))"
_TIMES: Final = r"(?:k(?!\w)|(?:\s(?:thousand|million|billion)|m|bn)(?!\w))?"
_MULTIPLIERS: Final = {"k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "bn": 10**9, "billion": 10**9}

_MONEY: Final = re.compile(r"\d(?:\d?\d?(?: \d{3})+(?:[.,]\d\d?)?(?![\d.,]*\d)|\d*(?:[.,'’]\d+)*)")
"""Figures, their thousands parted by spaces or as `FIGURES` has it; begun with a digit alone, it is found fast."""
_TIMES_AT: Final = re.compile(_TIMES)
_AFTER: Final = re.compile(rf"\s?(?P<sign>{_SIGN}|{_NAME})(?!\d)")
_BEFORE: Final = re.compile(rf"(?P<sign>{_SIGN}|(?<!\w)(?i:fr\.|sfr))\s?$")
_SIGNS: Final = frozenset("$€£¥₹₩.")
_BEFORE_CHARS: Final = 6
_RANGE: Final = re.compile(rf"(?<![\w.,])(?P<low>{FIGURES})\s?(?:-|to|and|or|bis|und|oder)\s?$")
_RANGE_CHARS: Final = 24
_CENTS: Final = re.compile(r",? (?:and )?(?P<cents>\d\d?)(?: cents?(?!\w))", re.IGNORECASE)
_SPOKEN: Final = re.compile(
    rf"(?<!\w)(?P<number>{WORDS}) (?P<sign>dollars?|bucks?|euros?|pounds?|quid|yen|rupees?)(?!\w)"
    rf"(?:(?: and)? (?P<cents>{WORDS})(?: cents?)?(?!\w))?",
    re.IGNORECASE,
)
_NAMES: Final = ("dollar", "buck", "euro", "pound", "quid", "yen", "rupee")
_CURRENCY: Final = re.compile(rf"{_SIGN}|(?<!\w){_NAME}")


def find_amounts(text: str) -> Found:
    """Yield the amounts in figures, and the lower ends of their ranges ("10-20 euros")."""
    done = 0
    for m in _MONEY.finditer(text):
        start, end = m.span()
        times = _TIMES_AT.match(text, end)
        scale = times[0].strip().lower() if times else ""
        end += len(times[0]) if times else 0
        sign = None
        if (
            _may_sign(text, start)
            and (sign := _BEFORE.search(text, max(done, start - _BEFORE_CHARS), start)) is not None
        ):
            start = sign.start()
        elif (sign := _AFTER.match(text, end)) is not None and not _is_joined(text, start):
            end = sign.end()
        else:
            continue
        currency, values = _currency(sign["sign"]), _readings(m[0], scale, is_after=start < m.start())
        if cents := _CENTS.match(text, end):
            values, end = (plain(Decimal(values[0]) + Decimal(int(cents["cents"])) / 100), *values), cents.end()
        if low := _RANGE.search(text, max(done, start - _RANGE_CHARS), start):
            yield low.start("low"), low.end("low"), _amount(currency, _readings(low["low"], scale), low["low"])
        yield start, end, _amount(currency, values, text[start:end])
        done = end


def _may_sign(text: str, start: int) -> bool:
    """Whether a sign or code of a currency may end right before figures, as the character there tells."""
    before = text[max(0, start - 2) : start].rstrip()[-1:]
    return before.isalpha() or before in _SIGNS


def _amount(currency: str, values: tuple[str, ...], raw: str) -> Entity:
    first, *others = (f"{currency} {value}" for value in dict.fromkeys(values))
    return Entity("amount", first, raw, tuple(others))


def _is_joined(text: str, start: int) -> bool:
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_.,")


def _readings(figures: str, scale: str, *, is_after: bool = False) -> tuple[str, ...]:
    """Return what the figures may mean, likeliest first.

    Money seldom has three decimals, so "1.234" is a thousand and more. "2 500 €" may be two things at 500 €, and
    "€2 500 ..." (`is_after` the sign) 500 things.
    """
    groups = figures.split(" ")
    values: list[str] = []
    for written in ("".join(groups), groups[0] if is_after else groups[-1]) if len(groups) > 1 else (figures,):
        whole, point, decimals = written.partition(".")
        if point and len(decimals) == 3 and decimals.isdigit() and len(whole) <= 3 and whole[0] != "0":
            values.append(whole + decimals)
        values.append(number_value(written))
    if scale not in _MULTIPLIERS:
        return tuple(values)
    times = _MULTIPLIERS[scale]
    return tuple(plain(Decimal(one) * times) if one.replace(".", "", 1).isdigit() else one for one in values)


def find_spoken_amounts(text: str) -> Found:
    """Yield the amounts in words: "fifty dollars", "twelve dollars fifty", "twelve dollars and fifty cents"."""
    if not names_currency(text):
        return
    for m in _SPOKEN.finditer(text):
        whole = spoken_value(m["number"])
        cents = spoken_value(m["cents"]) if m["cents"] else 0
        has_cents = 0 < cents < 100
        value = plain(Decimal(whole) + Decimal(cents) / 100) if has_cents else str(whole)
        end = m.end() if has_cents or not m["cents"] else m.end("sign")
        yield m.start(), end, Entity("amount", f"{_currency(m['sign'])} {value}", text[m.start() : end])


def names_currency(text: str) -> bool:
    """Return whether `text` holds the name of a currency, in words."""
    lower = text.lower()
    return any(name in lower for name in _NAMES)


def loose_currencies(text: str) -> frozenset[str]:
    """Return the currencies that `text`, in canonical form, names away from any amount, as three-letter codes.

    So {"total": 9.9, "currency": "USD"} states an amount, and "I paid $12 for 500 lamps" does not state one of $500.
    """
    for start, end, _ in (*find_amounts(text), *find_spoken_amounts(text)):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return frozenset(_currency(m[0]) for m in _CURRENCY.finditer(text))


def _currency(sign: str) -> str:
    lower = sign.lower()
    return _CURRENCIES.get(lower) or _CURRENCIES.get(lower.removesuffix("s")) or sign.upper()
