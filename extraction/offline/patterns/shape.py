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
CAPITAL: Final = r"(?:(?:[A-Z]\.){2,}|(?:St|Mt|Ft|Dr)\.\s[A-Z][\w'’-]*\w|[A-ZÀ-ÖØ-Þ](?:[\w'’-]|\.(?=\w))*\w)"
NAME: Final = rf"{CAPITAL}(?:\s(?:{CAPITAL}|de|van|von|da|del|al|bin)){{0,3}}"
PLACE_NAME: Final = (
    rf"(?:{NAME}|\d{{1,3}}(?:st|nd|rd|th)(?=\s(?:and|&)\s[A-Z]))"
    rf"(?:\s(?:and|&)\s(?!(?:I|We|He|She|They|My|It)\b)(?:{NAME}|\d{{1,3}}(?:st|nd|rd|th))"
    r"(?=\s*(?:[.,!?;<()]|$)|\s(?:now|right|at|but|and|in|on|so|currently|please)\b))?"
)
"""A name, or two that make one: "Forbes and Murray", "Ernst & Young"."""
STOP: Final = (
    r"(?=\s*(?:[.,;!?()\":█]|$)|\s(?:and|but|or)\s(?:I|i|we|he|she|it|they|you|my|can|could|would|will|please"
    r"|that|this|then|so|also|"
    r"not|do|don't|is|am|are|was|have|has|need|want|just|now|here|let|think|use|remember)\b|\s(?:but|so|because"
    r"|cause|since|although|though|then|"
    r"if|unless|when|whenever|while|which|who|where|please|now|actually|so much|a lot|very much|from now on"
    r"|right now|at the moment|these days|nowadays|anymore|any more|"
    r"anyway|too|also|as well|instead|more than|better than|over there|thanks|lol|I|i'm|I'm|do you|can you"
    r"|don't you|hence)\b)"
)
"""Where an object ends: punctuation, or a word that starts another clause."""
THING: Final = rf"(?:(?-i:\b(?:[A-Z]\.){{2,}}|\b(?:Dr|Mr|Ms|Mrs|St|Mt|Ft)\.\s)|(?<=\d)\.(?=\d)|[^.,;!?()\":█])+?{STOP}"
_DEICTIC: Final = re.compile(
    r"\b(?:it|that|this|these|those|them|there|here|him|her|he|she|his|their|its|one|ones|you|your|yours|same"
    r"|such|said|so|either|"
    r"neither|both|what|how|everything|anything|something|nothing|idea|sound|look|above|latter|former|first"
    r"|second|third|other|another|"
    r"former|place|ambiance|way|name|thought)\b",
    re.I,
)
_BROKEN_OFF: Final = re.compile(
    r"\b(?:to|of|in|at|with|for|on|from|about|as|and|or|the|a|an|my|our|Dr|Mr|Mrs|Ms|St|if|when|because|that|than"
    r"|but|so|more"
    r"|some|too|very|like|is|are|not)$|\b(\w+) \1\b|\bto far$|^(?:me|myself|us|to)$"
    r"|^(?:than|then|as|how|when|while|if|whether|is|are|was|were|of|from|by|and|or|because|so|at|on|with|much)\b",
    re.I,
)
_CLAUSE: Final = re.compile(r"\b(?:is|are|was|were|has|says|said|went|I|we)\b", re.I)
_CORRECTS: Final = re.compile(
    r"^\W*(?:(?:oh|no|sorry|wait|yes|hmm|hi|hello)\W+)*(?:actually|correction|i meant)\b", re.I
)
_CHANGE: Final = re.compile(
    r"(?<!right )(?<!just )(?<!by )\bnow\b(?!\s+(?:at|please)\b)|\bno longer\b|\bany ?more\b|\bchanged\b"
    r"|\bfrom now on\b|\bswitched\b|\binstead\b|"
    r"\bnot\b.{1,30}\bbut\b|\bnew (?:address|number|e-?mail|job|phone)\b|\bnot just\b",
    re.I,
)
_CONDITION: Final = re.compile(
    r"\s*,?\s*\b(?P<condition>(?:only |except |even |especially )?"
    r"(?:if|unless|when|whenever|while|until|till|as long as|in case|except|on days|provided)\b [^.,;!?█]+)",
    re.I,
)
_NO_CONDITION: Final = re.compile(
    r"^if (?:possible|you can|you could|you please|that['’]s ok|available|needed)\b", re.I
)
_UNCLEAR: Final = re.compile(
    r"\b(?:they|them|he|she|him|her|this|that|those|these|there)\b|\bit\b(?! (?:is|['’]s|rains|snows|gets))", re.I
)
_QUALIFIED: Final = re.compile(
    r"\s+(?:more|better|less|other|rather|longer) than\b|\s+(?:than|which|who|whom|whose|where|without|except"
    r"|versus|as much|as long)\b"
    r"|\s*,? (?:except|unless|only)\b|\s+(?:I|we)\s",
    re.I,
)
"""What narrows the object before it and cannot be told as a condition; without it the claim would say too much."""
_MORE_ITEMS: Final = re.compile(
    r"(?:, (?:the |a |an )?[\w'’-]+(?: [\w'’-]+){0,2}){0,5},? (?:and|or) (?:the |a |an )?[\w'’-]+(?:"
    r" [\w'’-]+){0,2}(?=\s*(?:[.!?;]|$))",
    re.I,
)
_NOT_ITEMS: Final = re.compile(
    r"\b(?:I|i|we|you|he|she|it|they|my|your|his|her|can|could|would|will|please|is|are|was|has|have|do|does|not"
    r"|that|this|then|so"
    r"|want|need|like|thanks|i'm|book|find|now)\b"
)
_SPECIFIC: Final = re.compile(
    r"\d|(?<=[a-z,'’@] )(?!(?:Hotel|Uber|Lyft|Taxi|RSVP|OK|I|I['’]\w+|ID|PM|AM|ASAP)\b)[A-Z]\w+"
)
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
_BACK: Final = re.compile(r"\b(?:used|with|from|cancel|stole|took|report|of|found|in) (?:it|them|those)\b", re.I)
_DOUBLE_STOP: Final = re.compile(r"(?<!\.)\.\.$")
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
        condition = condition_after(sentence, match)
        if condition is None:
            continue
        if "thing" in groups:
            thing = _whole_thing(sentence, match, _inside(who))
            if thing is None:
                continue
            groups["thing"] = thing
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
            condition=condition or None,
        )
        if made:
            yield made


def claim(  # noqa: PLR0913 - it names every field that a family may set
    sentence: Sentence,
    kind: ClaimKind,
    key: str,
    text: str | None,
    *,
    match: re.Match[str] | None = None,
    about: str = "user",
    confidence: float = 0.85,
    durable: bool = True,
    change: bool = False,
    condition: str | None = None,
    earlier: tuple[int, ...] = (),
) -> ExtractedClaim | None:
    """Return a claim that rests on `sentence` (and on the `earlier` lines).

    None when it cannot be quoted safely, or there is no `text`: the words were not surely told right.
    """
    quote = sentence.quote(match)
    if quote is None or text is None or MASK in text or len(text) > _MAX_TEXT:
        return None
    is_ahead = kind in ("decision", "commitment") or key == "schedule.date"
    text, when = place_in_time(_DOUBLE_STOP.sub(".", text), sentence.line, is_ahead)
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


def retold(sentence: Sentence, match: re.Match[str] | None = None) -> str | None:
    """Return the sentence in the third person, seen from who said it; with `match`, from there to the clause's end.

    None when that is not surely a sentence that stands by itself.
    """
    line, text = sentence.line, sentence.text
    if match:
        clause = sentence.clause(match)
        text = text[match.start() : text.index(clause) + len(clause)]
    if line.is_agent:
        return retell(text, "the agent", "the user")
    return retell(text, _inside(USER if line.is_user else line.speaker), "the agent")


def _whole_thing(sentence: Sentence, match: re.Match[str], who: str) -> str | None:
    """Return the `thing` of `match` in the third person, with the items of a list that follow; None if unclear."""
    thing = match["thing"].strip()
    if not is_nameable(thing) or (match.end() == match.end("thing") and _QUALIFIED.match(sentence.text, match.end())):
        return None
    if match.end() == match.end("thing") and (more := _MORE_ITEMS.match(sentence.text, match.end())):
        thing += "" if _NOT_ITEMS.search(more[0]) or MASK in more[0] else more[0]
    return in_third_person(thing, who, "the agent")


def is_nameable(thing: str) -> bool:
    """Whether `thing` is a short phrase that still says what it means outside its conversation."""
    is_short = bool(thing) and len(thing.split()) <= _MAX_WORDS
    return is_short and is_whole(thing) and not _DEICTIC.search(thing) and not _CLAUSE.search(thing)


def is_specific(text: str) -> bool:
    """Whether `text` says which one: by a number, a time or a proper name."""
    return _SPECIFIC.search(text) is not None


def points_back(text: str) -> bool:
    """Whether `text` speaks of an "it" that only an earlier sentence names: nothing before it is the user's."""
    pronoun = _BACK.search(text)
    return pronoun is not None and "'s " not in text[: pronoun.start()]


def is_whole(phrase: str) -> bool:
    """Whether `phrase` is not broken off in the middle and holds no secret."""
    return MASK not in phrase and not _BROKEN_OFF.search(phrase)


def is_change(sentence: Sentence, match: re.Match[str]) -> bool:
    """Whether the speaker says that what `match` found replaces what held before."""
    return bool(_CORRECTS.match(sentence.text) or _CHANGE.search(sentence.clause(match)))


def condition_after(sentence: Sentence, match: re.Match[str]) -> str | None:
    """Return the condition that follows directly on `match`, in the third person; empty without one.

    None when there is one that only its conversation makes clear.
    """
    found = _CONDITION.match(sentence.text, match.end())
    if found is None or _NO_CONDITION.match(found["condition"]):
        return ""
    said = found["condition"].strip(" ,")
    who = USER if sentence.line.is_user else sentence.line.speaker
    return None if _UNCLEAR.search(said) else in_third_person(said, _inside(who), "the agent")


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
