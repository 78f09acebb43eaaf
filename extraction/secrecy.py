"""Where a text states a secret: PIN, password, CVV, access or one-time code, SSN, card number, API key, answer."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

MASK: Final = "\N{FULL BLOCK}"
"""Stands for one character of a secret. Of the same width, so that spans of a masked line are spans of the line."""

MIN_CHARS: Final = 3
"""Shorter is no secret: a CVV has three digits, and "security answer 2" is a label."""

Span = tuple[int, int]

_KINDS: Final = (
    r"(?:(?:bank|card|security|debit|credit|online)\W)?(?:pin(?: ?code| number)?|pass ?(?:word|code|phrase)|cvv2?"
    r"|cvc2?|"
    r"security (?:code|answer)|one[- ]time (?:code|password)|otp|secret (?:code|word|answer|key)|api[ _-]?key"
    r"|(?:access|auth|api|bearer) token|social security number|ssn)"
)
_NAMES: Final = (
    "pin",
    "pass",
    "cvv",
    "cvc",
    "security",
    "one-time",
    "one time",
    "otp",
    "secret",
    "api",
    "token",
    "ssn",
)
"""One of these stands in whatever `_TOLD` finds; looking for them first is many times cheaper."""

_TOLD: Final = re.compile(
    rf"\b{_KINDS}(?![\w-])(?:\s+(?:is|was|of|it'?s|number|code|for [\w ]{{1,20}} is))*\s*+(?::|=|#|-"
    r'|,)?\s*+(?:(?:either|maybe|probably)\s*+)?(?!\\?"\s*:)(?P<secret>[^\s,;]+)(?:,?\s+or\s+(?P<other>\d{3,6}\b))?',
    re.I,
)
_SECRET_SHAPE: Final = re.compile(r"\S*[\d@#$%^&*_]\S*")
_DIGITS: Final = re.compile(r"\d\d")
_LONG: Final = re.compile(r"\b\d(?:[ -]?\d){13,18}\b")
_CARD: Final = re.compile(r"\b(?:credit|debit|bank|payment|visa|master ?card|amex)\b|\bcard (?:number|no)\b", re.I)
"""Beside one of these a long number is a card's whatever its check digit: people mistype."""
_SSN: Final = re.compile(r"(?<![\w-])\d{3}-\d\d-\d{4}(?![\w-])")
_KEY: Final = re.compile(r"\b(?:sk|pk|ghp|xox[bp])[-_][A-Za-z0-9_-]{12,}")
_CLOUD_KEY: Final = re.compile(r"\bA(?:KIA|SIA)[A-Z0-9]{16}\b")
_ASKS_DIGITS: Final = re.compile(r"\b(?:pin|cvv2?|cvc2?|security code|one[- ]time (?:code|password)|otp)\b", re.I)
_ASKS_WORDS: Final = re.compile(
    r"\b(?:pass ?(?:word|code|phrase)|security (?:answer|question)|maiden name|name of the pet"
    r"|social security number)\b",
    re.I,
)
_ASKING_NAMES: Final = ("pin", "cvv", "cvc", "code", "otp", "pass", "security", "maiden", "pet", "one-time", "one time")
"""One of these stands in whatever asks for a secret; looking for them first is many times cheaper."""
_SHORT_DIGITS: Final = re.compile(r"(?<![\w.,/:$€£-])(?P<secret>\d{3,6})(?![\w/:-]|[.,]\d)")
_OTHER_NUMBER: Final = re.compile(
    r"\b(?:account|acct?|order|booking|reservation|flight|ride|room|ticket|case|zip|phone|customer|member|reference)\W*"
    r"(?:(?:number|no|id|code|is)\W*)*$",
    re.I,
)
_BEFORE_CHARS: Final = 40
"""How far before a number its name may stand: the time a text takes must not grow with its square."""
_SHORT_ANSWER_WORDS: Final = 4
_NAMED_ANSWER: Final = re.compile(
    r"\bmaiden name(?: is| was|:)? (?P<maiden>(?!is\b|was\b)[\w'’-]+)"
    r"|\b(?:name|answer|word|phrase|pet|it)(?: is| was|['’]?s)? (?P<told>(?!is\b|was\b)[\w'’-]+)\W*$",
    re.I,
)
"""What a longer answer to such a question tells, by the words before it."""
_FILLERS: Final = frozenset(
    "a an the it its it's it’s is was that that's thats this my his her their they i i'm im think believe guess maybe"
    " um umm uh oh ok okay yes yeah no nope not sure please thanks thank you here sorry called name named pet pet's"
    " dog cat easy of don't don’t dont do know remember forgot forget can't cant recall what why which how hello hi"
    " wait one moment hurry help access clearance unlock open door code codes what captain correct wrong none nothing"
    " acces please".split()
)
"""Words around a short answer, or instead of one; no claim may be lost because somebody said them."""
_CODE: Final = re.compile(r"(?:\b(?P<kind>[\w-]+) +)?\bcodes?\b(?! (?:of conduct|review|base|name)\b)", re.I)
_OPEN_CODES: Final = frozenset(
    "zip postal post area country city dress error status exit response promo promotion promotional discount coupon"
    " voucher gift referral booking confirmation reservation order tracking reference ticket case invoice product item"
    " part model stock airline airport flight station currency language tax industry sort swift bank branch dial"
    " dialing calling bar qr color colour building http source python java javascript sample example morse".split()
)
"""Before "code", what says that it opens nothing."""
_KEY_CODES: Final = frozenset(
    "access acces clearance security entry entrance door gate unlock lock verification authorization authorisation"
    " authentication auth activation alarm safe vault login".split()
)
"""Before "code", what says that it opens something: its value may stand some words on."""
_CODE_VALUE: Final = re.compile(
    r"(?<![\w/:$€£-])(?!\d{1,4}(?:st|nd|rd|th|am|pm|s)\b|\d{4}-\d\d-\d\d)(?P<secret>(?=[\w-]*\d)[A-Za-z0-9][\w-]{2,})"
    r"(?![/:%]|[.,]\d)",
    re.I,
)
_CODE_LINK: Final = re.compile(
    r"(?:[\s:=#,;.!?…\"'-]|\b(?:is|was|are|of|it['’]?s|it|that['’]?s|i|think|guess|number|here|so|now|just|maybe|on"
    r"|says|be)\b)*"
)
_CODE_REACH_CHARS: Final = 60
_NO_CODE_WORD: Final = re.compile(r"\b(?:name|type|rank|color|colour)\b", re.I)

_FIELD: Final = re.compile(
    r'\\?"(?P<key>[\w .-]{2,40})\\?"\s*:\s*(?:\\?"(?P<text>(?:[^"\\]|\\[^"])*)|(?P<number>\d{3,}))'
)
_KEY_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SECRET_FIELD: Final = re.compile(
    r"(?:^| )(?:pin(?: code| number)?|pass ?(?:word|code|phrase)|passwd|pwd|cvv|cvc|otp|ssn|social security number"
    r"|secret|token|(?:api|access|private|secret|encryption) ?key|security (?:code|answer)|card number"
    r"|(?:access|clearance|entry|door|gate|unlock|verification|auth\w*|activation|alarm|one ?time) code"
    r"|one ?time password|maiden name)$"
)
_NO_VALUE: Final = frozenset(
    "true false null none unknown valid invalid required missing correct incorrect expired set unset yes not_set n/a"
    " hidden redacted [redacted]".split()
)


def hide_secrets(text: str, asked: str = "") -> str:
    """Return `text`, as long as before, with each secret in it replaced by `MASK`.

    A secret is a value named as a PIN, password, CVV and the like, in words or as a field of JSON; a card number, an
    SSN, an API key; or what answers `asked`, the agent's line before it, when that asked for such a value.
    """
    return mask(text, secret_spans(text, asked))


def mask(text: str, spans: Iterable[Span]) -> str:
    """Return `text`, as long as before, with every character of `spans` replaced by `MASK`."""
    for start, end in spans:
        text = text[:start] + MASK * (end - start) + text[end:]
    return text


def secret_spans(text: str, asked: str = "") -> list[Span]:
    """Return where the secrets of `text` lie (see `hide_secrets`), as (start, end); they may overlap."""
    spans = [*_shaped(text), *_told(text), *_told_codes(text), *_fields(text)]
    if asked:
        spans += _answered(text, asked)
    return [(start, end) for start, end in spans if end - start >= MIN_CHARS]


def _shaped(text: str) -> Iterator[Span]:
    if "-" in text or "_" in text:
        yield from (m.span() for m in _KEY.finditer(text))
    if "AKIA" in text or "ASIA" in text:
        yield from (m.span() for m in _CLOUD_KEY.finditer(text))
    if not _DIGITS.search(text):
        return
    if "-" in text:
        yield from (m.span() for m in _SSN.finditer(text))
    named = _CARD.search(text) is not None
    yield from (m.span() for m in _LONG.finditer(text) if named or _is_card(m[0]))


def _told(text: str) -> Iterator[Span]:
    lower = text.lower()
    if not any(name in lower for name in _NAMES):
        return
    for m in _TOLD.finditer(text):
        if _SECRET_SHAPE.fullmatch(m["secret"]):
            yield m.span("secret")
            if m["other"]:
                yield m.span("other")


def _codes_named(text: str) -> Iterator[re.Match[str]]:
    """Where `text` speaks of a code that may open something, so of no zip code, promo code or booking code."""
    if "code" in text.lower():
        yield from (m for m in _CODE.finditer(text) if (m["kind"] or "").lower() not in _OPEN_CODES)


def _told_codes(text: str) -> Iterator[Span]:
    """The value right after a code's name; after "access code" and its like also one that stands some words on."""
    for named in _codes_named(text):
        if (named["kind"] or "").lower() in _KEY_CODES:
            within = text[: named.end() + _CODE_REACH_CHARS]
            values = _CODE_VALUE.finditer(within, named.end())
            value: re.Match[str] | None = next((m for m in values if not _is_other_number(text, m)), None)
        else:
            link = _CODE_LINK.match(text, named.end())
            value = _CODE_VALUE.match(text, link.end() if link else named.end())
        if value:
            end = value.end("secret")
            while end < len(text) and (text[end].isalnum() or text[end] == "-"):
                end += 1
            yield value.start("secret"), end


def _code_answers(text: str, asked: str) -> Iterator[Span]:
    """What answers a question for a code: any value with digits, or a single telling word."""
    yield from (m.span("secret") for m in _CODE_VALUE.finditer(text) if not _is_other_number(text, m))
    words = list(_telling_words(text))
    if len(text.split()) <= _SHORT_ANSWER_WORDS and len(words) == 1 and not _NO_CODE_WORD.search(asked):
        start, end = words[0]
        if " " not in text[start:end] and end - start > MIN_CHARS:
            yield start, end


def _is_other_number(text: str, found: re.Match[str]) -> bool:
    """Whether the words before a number say that it is that of an account, an order, a room."""
    return _OTHER_NUMBER.search(text, max(0, found.start() - _BEFORE_CHARS), found.start()) is not None


def _fields(text: str) -> Iterator[Span]:
    """Fields of JSON, whole, cut short or inside a string of other JSON, whose name says that they hold a secret."""
    if '":' not in text and '" :' not in text:
        return
    for m in _FIELD.finditer(text):
        group = "number" if m["number"] else "text"
        if _is_secret_field(m["key"]) and m[group].strip().casefold() not in _NO_VALUE:
            yield m.span(group)


@lru_cache(maxsize=4096)
def _is_secret_field(key: str) -> bool:
    """Whether the last words of `key`, in any casing, name a secret: "userPIN", "api_key", "SecurityAnswer2"."""
    words = " ".join(_KEY_WORD.findall(key)).lower()
    return _SECRET_FIELD.search(words) is not None


def _answered(text: str, asked: str) -> Iterator[Span]:
    lower = asked.lower()
    if not any(name in lower for name in _ASKING_NAMES):
        return
    if _ASKS_DIGITS.search(asked):
        for m in _SHORT_DIGITS.finditer(text):
            if not _is_other_number(text, m):
                yield m.span()
    if any(_codes_named(asked)):
        yield from _code_answers(text, asked)
    if _ASKS_WORDS.search(asked):
        if len(text.split()) <= _SHORT_ANSWER_WORDS:
            yield from _telling_words(text)
        elif named := _NAMED_ANSWER.search(text):
            group = "maiden" if named["maiden"] else "told"
            if named[group].casefold() not in _FILLERS:
                yield named.span(group)


def _telling_words(text: str) -> Iterator[Span]:
    """Runs of words that are no fillers; a run ends where a sentence or a clause does."""
    start = end = -1
    for m in re.finditer(r"\S+", text):
        word = m[0].strip(".,;:!?\"'()").casefold()
        if word and word not in _FILLERS:
            start, end = (start if start >= 0 else m.start()), m.end()
            if m[0][-1] not in ".,;:!?":
                continue
        if start >= 0:
            yield start, end
        start = -1
    if start >= 0:
        yield start, end


def _is_card(raw: str) -> bool:
    """Whether 14 to 19 digits pass Luhn's check, as the numbers of payment cards do."""
    digits = [int(c) for c in reversed(raw) if c.isdigit()]
    doubled = (2 * d - 9 * (d > 4) for d in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
