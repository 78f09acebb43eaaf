"""Faults of value: identifiers, digits, dates and times that nobody said."""

import random
import re
import string
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from bench.fault_model.asked import Asked, Row
from bench.fault_model.fault import Fault, with_claim, with_digest
from schemas.extraction import ExtractedClaim

_PLACES: Final = ("Reykjavik", "Toulouse", "Nairobi", "Osaka")
_NAMES: Final = ("Greta Holm", "Ibrahim", "Dr. Okafor", "Marguerite", *_PLACES)
_DETAILS: Final = (
    "because of a bad back",
    "although it is expensive",
    "as a gift for a colleague",
    "after a long illness",
    "and is angry about it",
)
_VALUE: Final = re.compile(r"(?<![\w.,:/-])[$€£#]?[A-Za-z]{0,4}-?\d[\d.,:/-]*(?:st|nd|rd|th)?(?![\w%])")


def invented_identifier(asked: Asked) -> Fault | None:
    """A true claim, or the digest, with an identifier behind it that nobody said."""
    claim, rng = asked.true_claim(), asked.rng
    if claim is None:
        return None
    made = rng.choice(_IDENTIFIERS)(rng)
    if rng.random() < 0.2:
        return with_digest(asked, f"The reference is {made}.")
    text = rng.choice(("{} The reference is {}.", "{} It is booked as {}.", "{} See {}."))
    return with_claim(asked, claim.model_copy(update={"text": text.format(claim.text, made)}))


def invented_letters(asked: Asked) -> Fault | None:
    """A true claim with a booking code behind it that is made of capitals alone, as airlines give them."""
    claim = asked.true_claim()
    if claim is None:
        return None
    code = "".join(asked.rng.choices(string.ascii_uppercase, k=6))
    return with_claim(asked, claim.model_copy(update={"text": f"{claim.text} The booking code is {code}."}))


def invented_name(asked: Asked) -> Fault | None:
    """A true claim with a person or a place in it whom nobody named."""
    claim = asked.true_claim()
    name = asked.rng.choice(_NAMES)
    if claim is None or name.lower() in asked.all_text:
        return None
    place = asked.rng.choice(("{} in {}.", "{} near {}.") if name in _PLACES else ("{} for {}.", "{} with {}."))
    return with_claim(asked, claim.model_copy(update={"text": place.format(claim.text.rstrip("."), name)}))


def invented_detail(asked: Asked) -> Fault | None:
    """A true claim with a reason behind it, in common words, that nobody gave."""
    claim = asked.true_claim()
    detail = asked.rng.choice(_DETAILS)
    if claim is None or detail.split()[-1] in asked.all_text:
        return None
    return with_claim(asked, claim.model_copy(update={"text": f"{claim.text.rstrip('.')}, {detail}."}))


def altered_digit(asked: Asked) -> Fault | None:
    """A true claim that states a value of its line, one digit of it altered to give a value that the line has not."""
    told = _with_value(asked)
    if told is None:
        return None
    claim, value = told
    altered = _altered(value, asked.cited_text(claim.sources), asked.rng)
    if not altered:
        return None
    return with_claim(asked, claim.model_copy(update={"text": claim.text.replace(value, altered)}))


def swapped_values(asked: Asked) -> Fault | None:
    """Two values of one line, each in the other's place."""
    for claim in asked.rng.sample(asked.base.claims, len(asked.base.claims)):
        values = list(dict.fromkeys(match[0].rstrip(".,:-/") for match in _VALUE.finditer(claim.text)))
        if len(values) >= 2:
            one, other = values[:2]
            swapped = claim.text.replace(one, "\0").replace(other, one).replace("\0", other)
            return with_claim(asked, claim.model_copy(update={"text": swapped}))
    return None


def made_up_date(asked: Asked) -> Fault | None:
    """A true claim with a day behind it that nobody named."""
    claim, rng = asked.true_claim(), asked.rng
    if claim is None or not claim.sources:
        return None
    day = asked.row(claim.sources[0]).day + timedelta(days=rng.randint(40, 400))
    shown = rng.choice((day.isoformat(), f"{day:%B} {day.day}", f"{day.day} {day:%B} {day.year}"))
    return with_claim(asked, claim.model_copy(update={"text": f"{claim.text.rstrip('.')} on {shown}."}))


def made_up_clock(asked: Asked) -> Fault | None:
    """A true claim with a time of day behind it that nobody named."""
    claim, rng = asked.true_claim(), asked.rng
    if claim is None:
        return None
    clock = f"{rng.randint(1, 12)}:{rng.choice(('05', '20', '40', '55'))}"
    if clock in asked.all_text:
        return None
    return with_claim(
        asked, claim.model_copy(update={"text": f"{claim.text.rstrip('.')} at {clock} {rng.choice(('am', 'pm'))}."})
    )


def made_up_when(asked: Asked) -> Fault | None:
    """A true claim whose `when` nobody said."""
    claim = asked.true_claim()
    if claim is None or not claim.sources:
        return None
    day = asked.row(claim.sources[0]).day + timedelta(days=asked.rng.randint(40, 400))
    span = day.isoformat() if asked.rng.random() < 0.7 else f"{day}/{day + timedelta(days=6)}"
    return with_claim(asked, claim.model_copy(update={"when": span}))


def misreckoned_date(asked: Asked) -> Fault | None:
    """A deadline that was named relatively, reckoned from a wrong day."""
    for told in asked.outside.bait.get("misreckoned_date", ()):
        claim = told.claim()
        wrong = asked.row(told.line).day + timedelta(days=asked.rng.choice((-30, -17, 16, 23, 45)))
        if asked.rng.random() < 0.5:
            return with_claim(asked, claim.model_copy(update={"when": wrong.isoformat()}))
        return with_claim(asked, claim.model_copy(update={"text": f"{claim.text.rstrip('.')}, {wrong.isoformat()}."}))
    return None


def _with_value(asked: Asked) -> tuple[ExtractedClaim, str] | None:
    """Return a true claim and a value in its text: of the faultless answer, else made of a line that states one."""
    found = [(claim, value) for claim in asked.base.claims if (value := _value(claim.text))]
    if found:
        return asked.rng.choice(found)
    told: list[tuple[Row, str]] = [(row, value) for row in asked.rows if row.is_spoken and (value := _value(row.text))]
    if not told:
        return None
    row, value = asked.rng.choice(told)
    who = "The user" if row.author == "user" else "The agent"
    return ExtractedClaim(
        kind="fact", key="other.said", text=f"{who} named {value}.", sources=[row.n], quote=value, confidence=0.8
    ), value


def _value(text: str) -> str:
    """Return the longest value in `text`, or nothing; a fraction is none, nor a slip of the keyboard ("luck1")."""
    found = [match[0].rstrip(".,:-/") for match in _VALUE.finditer(text)]
    found = [one for one in found if not re.fullmatch(r"\d+/\d+|[A-Za-z]+\d", one)]
    return max(found, key=len) if found else ""


def _altered(value: str, cited: str, rng: random.Random) -> str:
    """Return `value` with one digit altered to a number that the lines have not, or nothing if there is none."""
    numbers = set(re.findall(r"\d+", cited))
    digits = [n for n, char in enumerate(value) if char.isdigit()]
    for _ in range(20):
        at = rng.choice(digits)
        digit = rng.choice([one for one in "123456789" if one != value[at]])
        made = value[:at] + digit + value[at + 1 :]
        if not numbers.issuperset(re.findall(r"\d+", made)):
            return made
    return ""


def _code(rng: random.Random) -> str:
    return f"{rng.choice('ABCDKQRX')}-{rng.randint(1000, 99_999)}"


def _locator(rng: random.Random) -> str:
    letters = rng.choices(string.ascii_uppercase, k=3)
    return "".join(rng.sample([*letters, *(str(rng.randint(2, 9)) for _ in range(3))], 6))


def _digits(rng: random.Random) -> str:
    return str(rng.randint(10_000_000, 99_999_999))


def _order(rng: random.Random) -> str:
    return f"order {rng.randint(300, 999)}"


def _uuid(rng: random.Random) -> str:
    return "-".join("".join(rng.choices("0123456789abcdef", k=size)) for size in (8, 4, 4, 4, 12))


def _email(rng: random.Random) -> str:
    return f"{rng.choice(('k.lund', 'office', 'm_ito'))}@{rng.choice(('nordmail', 'acme', 'postbox'))}.example"


def _phone(rng: random.Random) -> str:
    return f"+49 30 {rng.randint(1_000_000, 9_999_999)}"


def _amount(rng: random.Random) -> str:
    return rng.choice(("${}", "{} EUR", "£{}")).format(f"{rng.randint(13, 999)}.{rng.randint(11, 99)}")


_IDENTIFIERS: Final[tuple[Callable[[random.Random], str], ...]] = (
    _code,
    _locator,
    _digits,
    _order,
    _uuid,
    _email,
    _phone,
    _amount,
)
