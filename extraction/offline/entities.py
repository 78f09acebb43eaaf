"""What must not be invented and must not be lost: identifiers, amounts, e-mail addresses, as they were written."""

import re
from collections.abc import Iterator
from typing import Final

EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
AMOUNT: Final = re.compile(
    r"(?<![\w-])[$€£¥]\s?\d(?:[\d,.]*\d)?|(?<![\w.,-])\d(?:[\d,.]*\d)?\s?(?:[$€£¥]|(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?|credits?)\b)",
    re.I,
)
CODE: Final = re.compile(
    r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+\b|\b(?=\w*\d)[A-Z]{1,6}\d{2,}[A-Z0-9]*\b"
)
NUMBER: Final = re.compile(r"(?<![\w.,/:-])\d{5,}(?![\w/:-]|[.,]\d)")
_DATE_LIKE: Final = re.compile(r"\d{4}-\d\d-\d\d")


def codes(text: str) -> list[str]:
    """Return the identifiers in `text`: codes of letters and digits, and runs of five and more digits."""
    bare = EMAIL.sub(lambda m: " " * len(m[0]), text)
    found = [m for pattern in (CODE, NUMBER) for m in pattern.finditer(bare) if not _DATE_LIKE.fullmatch(m[0])]
    return [m[0] for m in sorted(found, key=re.Match.start)]


def entities(text: str) -> Iterator[str]:
    """Yield every entity in `text`, verbatim: e-mail addresses, amounts, identifiers."""
    for pattern in (EMAIL, AMOUNT):
        for match in pattern.finditer(text):
            yield match[0]
    yield from codes(text)
