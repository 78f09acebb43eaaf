"""Secrets are masked before anything is read: what the patterns never see they cannot write down."""

import re
from typing import Final

MASK: Final = "\N{FULL BLOCK}"
"""Stands for one character of a secret. Of the same width, so that spans of a masked line are spans of the line."""

_KINDS: Final = (
    r"(?:(?:bank|card|security|debit|credit|online)\W)?(?:pin(?: ?code| number)?|pass ?(?:word|code|phrase)|cvv2?"
    r"|cvc2?|"
    r"security (?:code|answer)|one[- ]time (?:code|password)|otp|secret (?:code|word|answer)|api key"
    r"|social security number|ssn)"
)
_TOLD: Final = re.compile(
    rf"\b{_KINDS}(?![\w-])(?:\s+(?:is|was|it'?s|number|code|for [\w ]{{1,20}} is))*\s*(?::|=|#|-"
    r"|,)?\s*(?P<secret>[^\s,;]+)",
    re.I,
)
_SECRET_SHAPE: Final = re.compile(r"\S*[\d@#$%^&*_]\S*")
_LONG: Final = re.compile(r"\b\d(?:[ -]?\d){13,18}\b")
_KEY: Final = re.compile(r"\b(?:sk|pk|ghp|xox[bp])[-_][A-Za-z0-9_-]{12,}")
_ASKS_DIGITS: Final = re.compile(r"\b(?:pin|cvv2?|cvc2?|security code|one[- ]time (?:code|password)|otp)\b", re.I)
_ASKS_WORDS: Final = re.compile(
    r"\b(?:pass ?(?:word|code|phrase)|security (?:answer|question)|maiden name|name of the pet"
    r"|social security number)\b",
    re.I,
)
_SHORT_DIGITS: Final = re.compile(r"(?<![\w.,/:$€£-])(?P<secret>\d{3,6})(?![\w/:-]|[.,]\d)")
_OTHER_NUMBER: Final = re.compile(
    r"\b(?:account|acct?|order|booking|flight|room|ticket|case)\W*(?:(?:number|no|id|is)\W*)*$", re.I
)
_SHORT_ANSWER_WORDS: Final = 4


def hide_secrets(text: str, asked: str = "") -> str:
    """Return `text`, as long as before, with each secret in it replaced by `MASK`.

    A secret is a value named as a PIN, password, CVV and the like, a card number, an API key, or what answers `asked`,
    the agent's line before it, when that asked for such a value.
    """
    spans = [m.span() for m in _KEY.finditer(text)] + [m.span() for m in _LONG.finditer(text) if _is_card(m[0])]
    spans += [m.span("secret") for m in _TOLD.finditer(text) if _SECRET_SHAPE.fullmatch(m["secret"])]
    if asked and _ASKS_DIGITS.search(asked):
        spans += [m.span() for m in _SHORT_DIGITS.finditer(text) if not _OTHER_NUMBER.search(text[: m.start()])]
    if asked and _ASKS_WORDS.search(asked) and len(text.split()) <= _SHORT_ANSWER_WORDS:
        spans.append((0, len(text)))
    for start, end in spans:
        text = text[:start] + MASK * (end - start) + text[end:]
    return text


def _is_card(raw: str) -> bool:
    """Whether 14 to 19 digits pass Luhn's check, as the numbers of payment cards do."""
    digits = [int(c) for c in reversed(raw) if c.isdigit()]
    doubled = (2 * d - 9 * (d > 4) for d in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
