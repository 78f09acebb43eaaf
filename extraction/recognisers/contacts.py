"""E-mail addresses, telephone numbers and addresses on the web."""

import re
from typing import Final

from extraction.recognisers.entity import Entity, Found

_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE: Final = re.compile(
    r"(?<![\w-])(?:(?:\+|00)[1-9][\d\s().-]{6,18}\d|\(\d{2,5}\)[\s.-]?\d[\d\s.-]{4,12}\d|\d{3}[-. ]\d{3}[-. ]\d{4}"
    r"|\d{3}-\d{4}|0\d{2,4}[ /-]\d{5,9})(?![\w-])"
)
_TRUNK_ZERO: Final = re.compile(r"^(\+|00)(\d{1,3}) ?\(0\)")
_NO_DIGIT: Final = re.compile(r"\D")
MIN_PHONE_DIGITS: Final = 7
MAX_PHONE_DIGITS: Final = 15
"""E.164 allows no more."""

_DOMAINS: Final = "com|org|net|edu|gov|io|dev|app|ai|info|co|eu|de|at|ch|uk|fr|nl|es|it|pl|us|ca|au|in|jp"
_URL: Final = re.compile(
    rf"(?<![\w@.-])(?:(?:https?|ftp)://[^\s<>\"'`]+|(?:www\.[\w-]+(?:\.[\w-]+)+|[\w-]+(?:\.[\w-]+)*\.(?:{_DOMAINS})"
    rf"(?![\w.-]*\w))(?::\d+)?(?:[/?#][^\s<>\"'`]*)?)",
    re.IGNORECASE,
)
_DOTTED: Final = re.compile(r"[A-Za-z]\.[A-Za-z]|://")
_SCHEME: Final = re.compile(r"^(?:https?|ftp)://", re.IGNORECASE)
_TRAILING: Final = ".,;:!?)]}*_"


def find_emails(text: str) -> Found:
    """Yield the e-mail addresses, case folded."""
    for m in _EMAIL.finditer(text) if "@" in text else ():
        yield m.start(), m.end(), Entity("email", m[0].casefold(), m[0])


def find_phones(text: str) -> Found:
    """Yield the telephone numbers as digits alone; "+49 (0)30", "0049 30" and "+49 30" are one."""
    for m in _PHONE.finditer(text):
        digits = _NO_DIGIT.sub("", _TRUNK_ZERO.sub(r"\1\2", m[0])).removeprefix("00")
        if MIN_PHONE_DIGITS <= len(digits) <= MAX_PHONE_DIGITS:
            yield m.start(), m.end(), Entity("phone", digits, m[0])


def find_urls(text: str) -> Found:
    """Yield the addresses on the web: no scheme, host in small letters, no punctuation of the sentence at the end."""
    for m in _URL.finditer(text) if _DOTTED.search(text) else ():
        raw = m[0].rstrip(_TRAILING)
        if raw.count("(") > raw.count(")") and m[0][len(raw) :].startswith(")"):
            raw += ")"
        bare = _SCHEME.sub("", raw)
        if not bare:
            continue
        end = next((n for n, char in enumerate(bare) if char in "/?#"), len(bare))
        value = bare[:end].casefold() + bare[end:].rstrip("/")
        yield m.start(), m.start() + len(raw), Entity("url", value, raw)


def is_part_of_url(value: str, url: str) -> bool:
    """Return whether `value` is `url`, or its beginning up to where a part of it ends: its host, a folder."""
    return url == value or (url.startswith(value) and url[len(value)] in "/?#:")
