"""Secrets are masked before anything is read: what the patterns never see they cannot write down."""

import re
from typing import Final

MASK: Final = "\N{FULL BLOCK}"
"""Stands for one character of a secret. Of the same width, so that spans of a masked line are spans of the line."""

_KINDS: Final = (
    r"(?:(?:bank|card|security|debit|credit|online)\W)?(?:pin(?: ?code| number)?|pass ?(?:word|code|phrase)|cvv2?|cvc2?|"
    r"security (?:code|answer)|access code|one[- ]time (?:code|password)|otp|secret(?: (?:code|word|answer))?|api key|"
    r"social security number|ssn|maiden name|pet(?:'s name| i had as a child)?)"
)
_TOLD: Final = re.compile(
    rf"\b{_KINDS}\b(?:\s+(?:is|was|it'?s|number|code|for [\w ]{{1,20}} is))*\s*(?::|=|#|-|,)?\s*(?P<secret>[^\s,;]+)",
    re.I,
)
_ASKED: Final = re.compile(
    r"\b(?:pin|pass ?(?:word|code|phrase)|cvv2?|cvc2?|security (?:code|answer|question)|enter the code|one[- ]time (?:code|password)|"
    r"otp|maiden name|name of the pet|social security number)\b",
    re.I,
)
_ANSWER: Final = re.compile(r"\S*\d\S*")
_SECRET_SHAPE: Final = re.compile(r"\S*[\d@#$%^&*_]\S*")
_CARD: Final = re.compile(r"\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}\b")
_KEY: Final = re.compile(r"\b(?:sk|pk|ghp|xox[bp])[-_][A-Za-z0-9_-]{12,}")
_SHORT_ANSWER_WORDS: Final = 4


def hide_secrets(text: str, asked: str = "") -> str:
    """Return `text`, as long as before, with each secret in it replaced by `MASK`.

    A secret is a value named as a PIN, password, CVV and the like, a card number, an API key, or a short answer to
    `asked`, the agent's line before it, when that asked for such a value.
    """
    spans = [m.span() for pattern in (_CARD, _KEY) for m in pattern.finditer(text)]
    spans += [m.span("secret") for m in _TOLD.finditer(text) if _SECRET_SHAPE.fullmatch(m["secret"])]
    if asked and _ASKED.search(asked):
        is_short = len(text.split()) <= _SHORT_ANSWER_WORDS
        spans += [(0, len(text))] if is_short else [m.span() for m in _ANSWER.finditer(text)]
    for start, end in spans:
        text = text[:start] + MASK * (end - start) + text[end:]
    return text
