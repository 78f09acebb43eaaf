"""What the families share: a pattern is a regular expression and the sentence to write when it is asserted."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.reading import Line
from extraction.offline.retell import in_third_person, retell
from extraction.secrecy import MASK
from schemas.extraction import ClaimKind, ExtractedClaim

USER: Final = "The user"
CAPITAL: Final = r"[A-ZÀ-ÖØ-Þ][\w'’.-]*\w"
NAME: Final = rf"{CAPITAL}(?:\s(?:{CAPITAL}|de|van|von|da|del|al|bin)){{0,3}}"
STOP: Final = (
    r"(?=\s*(?:[.,;!?()\":█]|$)|\s(?:and|but|or)\s(?:I|i|we|he|she|it|they|you|my|can|could|would|will|please|that|this|then|so|also|"
    r"not|do|don't|is|am|are|was|have|has|need|want|just|now|here|let|think|use|remember)\b|\s(?:but|so|because|cause|since|although|though|"
    r"if|unless|when|whenever|while|which|who|where|please|now|actually|so much|a lot|very much|from now on"
    r"|right now|at the moment|these days|nowadays|anymore|any more|"
    r"anyway|too|also|as well|instead|more than|better than|over there|thanks|lol|I|i'm|I'm|do you|can you"
    r"|don't you|hence)\b)"
)
"""Where an object ends: punctuation, or a word that starts another clause."""
THING: Final = rf"[^.,;!?()\":█]+?{STOP}"
_DEICTIC: Final = re.compile(
    r"\b(?:it|that|this|these|those|them|there|here|him|her|he|she|his|their|its|one|ones|you|your|yours|same|such|said|so|either|"
    r"neither|both|what|how|everything|anything|something|nothing|idea|sound|look|above|latter|former|first|second|third|other|another|"
    r"former|place|ambiance|way|name|thought)\b",
    re.I,
)
_BROKEN_OFF: Final = re.compile(
    r"\b(?:to|of|in|at|with|for|on|from|about|as|and|or|the|a|an|my|our|Dr|Mr|Mrs|Ms|St)$|^(?:me|myself|us|to)$", re.I
)
_CLAUSE: Final = re.compile(r"\b(?:is|are|was|were|has|says|said|I)\b", re.I)
_CORRECTS: Final = re.compile(
    r"^\W*(?:(?:oh|no|sorry|wait|yes|hmm|hi|hello)\W+)*(?:actually|correction|i meant)\b", re.I
)
_CHANGE: Final = re.compile(
    r"(?<!right )(?<!just )(?<!by )\bnow\b(?!\s+(?:at|please)\b)|\bno longer\b|\bany ?more\b|\bchanged\b"
    r"|\bfrom now on\b|\bswitched\b|\binstead\b|"
    r"\bnot\b.{1,30}\bbut\b|\bnew (?:address|number|e-?mail|job|phone)\b|\bnot just\b",
    re.I,
)
_CONDITION: Final = re.compile(r"\s*,?\s*\b(?P<condition>(?:if|unless|when|whenever|as long as|in case) [^.;!?█]+)")
_RELATIVE_DAY: Final = re.compile(
    r"\b(?P<before>(?:on|by|until|till|from|since|for|before|after|of) )?(?P<word>yesterday|today|tomorrow)\b(?!['’]s)",
    re.I,
)
_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAY: Final = re.compile(
    rf"(?<!except )(?<!every )(?<!not )(?<!next )(?<!last )(?<!this )(?<!past )\b({'|'.join(_WEEKDAYS)})\b", re.I
)
_ISO_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_DAYS_AWAY: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
_MAX_WORDS: Final = 10
_MAX_TEXT: Final = 300


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to say one thing.

    `text` is a template over the named groups of `regex` and `{who}`, whom it is about as a subject (`{inside}`: the
    same within a sentence). A group called `thing` must name something (no "it", no "that one") and is put into the
    third person.
    """

    kind: ClaimKind
    key: str
    regex: re.Pattern[str]
    text: str
    confidence: float = 0.9
    durable: bool = True
    change: bool = False


def apply(patterns: Iterable[Pattern], sentence: Sentence) -> Iterator[ExtractedClaim]:
    """Yield a claim for each of `patterns` that the speaker of `sentence` asserts about themselves."""
    line = sentence.line
    who = USER if line.is_user else line.speaker
    for pattern in patterns:
        if not line.is_user and pattern.kind != "fact":
            continue
        match = pattern.regex.search(sentence.text)
        if match is None or not sentence.asserts(match):
            continue
        groups = {name: value.strip() for name, value in match.groupdict(default="").items()}
        if "thing" in groups:
            if not is_nameable(groups["thing"]):
                continue
            groups["thing"] = in_third_person(groups["thing"], _inside(who), "the agent")
        made = claim(
            sentence,
            pattern.kind,
            pattern.key,
            " ".join(pattern.text.format(who=who, inside=_inside(who), **groups).split()),
            match=match,
            about="user" if line.is_user else line.speaker,
            confidence=pattern.confidence,
            durable=pattern.durable,
            change=pattern.change or is_change(sentence, match),
            condition=condition_after(sentence, match),
        )
        if made:
            yield made


def claim(  # noqa: PLR0913 - it names every field that a family may set
    sentence: Sentence,
    kind: ClaimKind,
    key: str,
    text: str,
    *,
    match: re.Match[str] | None = None,
    about: str = "user",
    confidence: float = 0.85,
    durable: bool = True,
    change: bool = False,
    condition: str | None = None,
    earlier: tuple[int, ...] = (),
) -> ExtractedClaim | None:
    """Return a claim that rests on `sentence` (and on the `earlier` lines), or None when it cannot be quoted safely."""
    quote = sentence.quote(match)
    if quote is None or MASK in text or len(text) > _MAX_TEXT:
        return None
    is_ahead = kind in ("decision", "commitment") or key == "schedule.date"
    text, when = place_in_time(text, sentence.line, is_ahead)
    return ExtractedClaim(
        kind=kind,
        key=key,
        about=about,
        text=text,
        sources=[*earlier, sentence.line.n],
        quote=quote,
        confidence=confidence,
        durable=durable,
        change=change,
        condition=condition,
        when=when,
    )


def retold(sentence: Sentence, match: re.Match[str] | None = None) -> str:
    """Return the sentence in the third person, seen from who said it; with `match`, from there to the clause's end."""
    line, text = sentence.line, sentence.text
    if match:
        text = text[match.start() : text.index(sentence.clause(match)) + len(sentence.clause(match))]
    if line.is_agent:
        return retell(text, "the agent", "the user")
    return retell(text, _inside(USER if line.is_user else line.speaker), "the agent")


def is_nameable(thing: str) -> bool:
    """Whether `thing` is a short phrase that still says what it means outside its conversation."""
    is_short = bool(thing) and len(thing.split()) <= _MAX_WORDS
    return is_short and is_whole(thing) and not _DEICTIC.search(thing) and not _CLAUSE.search(thing)


def is_whole(phrase: str) -> bool:
    """Whether `phrase` is not broken off in the middle and holds no secret."""
    return MASK not in phrase and not _BROKEN_OFF.search(phrase)


def is_change(sentence: Sentence, match: re.Match[str]) -> bool:
    """Whether the speaker says that what `match` found replaces what held before."""
    return bool(_CORRECTS.match(sentence.text) or _CHANGE.search(sentence.clause(match)))


def condition_after(sentence: Sentence, match: re.Match[str]) -> str | None:
    """Return the condition that follows directly on `match`, or None."""
    found = _CONDITION.match(sentence.text, match.end())
    return found["condition"].strip(" ,") if found and MASK not in found["condition"] else None


def place_in_time(text: str, line: Line, is_ahead: bool = False) -> tuple[str, str | None]:
    """Return `text` with "tomorrow" and its like as dates, and the one day (ISO) that it speaks of, if it does of one.

    With `is_ahead` the text speaks of the future, and a bare weekday is the next one. Quoted speech is left as it is.
    """
    if line.day is None or '"' in text:
        return text, None
    day, days = line.day, set(_ISO_DAY.findall(text))

    def dated(match: re.Match[str]) -> str:
        there = (day + timedelta(days=_DAYS_AWAY[match["word"].lower()])).isoformat()
        days.add(there)
        preposition = match["before"] or "on "
        return f"{preposition}{there}"

    text = _RELATIVE_DAY.sub(dated, text)
    if is_ahead:
        for match in _WEEKDAY.finditer(text):
            ahead = (_WEEKDAYS.index(match[1].lower()) - day.weekday() - 1) % 7 + 1
            days.add((day + timedelta(days=ahead)).isoformat())
    return text, days.pop() if len(days) == 1 else None


def _inside(who: str) -> str:
    return "the user" if who == USER else who


def compiled(regex: str) -> re.Pattern[str]:
    """Compile a pattern that ignores case except inside `(?-i:...)`."""
    return re.compile(regex, re.I)
