"""What people in a session withhold by their own words: "off the record", "don't remember that", "forget I said that".

Decided so, and where two ways were open the one that withholds more was taken:

* Every phrase withholds the event it stands in and the answer to it: all that follows until a person speaks again,
  tool calls and results included.
* A phrase that points back ("that", "it", "what I said"), or that stands alone ("Don't save this."), also withholds
  what it points at with its answers: the person's earlier messages of the same turn, else those of their turn before.
* "Forget what I said about X" withholds every earlier message of that person with a word of X; if none has one, the
  turn before.
* "Off the record" holds until "back on the record", for everybody, or for its exchange when nobody says that. A slice
  in which somebody goes back on the record without having left it is withheld from its start.
* Anybody in the room may withhold their own words. The scope's user, whose memory it is, also withholds what others
  said since their own words that are meant.

"I don't remember", "don't forget" and "don't remember my password" withhold nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from extraction.folding import normalise
from schemas.events import USER_AUTHOR, Event

_SAID: Final = r"(?:said|say|told you|tell you|mentioned|shared|wrote|asked|typed)"
_WHAT: Final = (
    rf"(?:(?:what|anything|everything|all|whatever|the things?|stuff)(?: that)? (?:i|we)(?:'ve| have)? (?:just "
    rf"|ever )?{_SAID}"
    r"|(?:this|our|the) (?:whole )?(?:conversation|chat|exchange)|(?:my|the) (?:last|previous) (?:message|part"
    r"|bit|question))"
)
_THIS: Final = rf"(?:this|that|it|these|those|any of (?:this|that|it)|{_WHAT})"
_MEMORY: Final = (
    r"(?:(?:your|my|the|any) )?(?:long-term )?(?:memory|memories|notes?|records?|files?|profile|history|logs?)"
)
_DONT: Final = (
    r"\b(?:don't|do not|dont|never|not to|you not|to not|no need to|mustn't|must not|shouldn't|should not|"
    r"(?:can|could|would) you (?:please )?not)(?: (?:ever|please|you dare))*"
)
_CLAUSE_END: Final = (
    r"(?=$|[.,;:!?)'-]| (?:please|ok|okay|anywhere|down|either|at all|and|but|because|as|since|though|for later"
    r"|in any way"
    rf"|(?:in|on|to|into) {_MEMORY})\b)"
)
_KEEP: Final = r"(?:save|store|keep|record|log|file|document|write|note|put|retain|jot)"
_KEPT: Final = (
    r"(?:saved|stored|remembered|recorded|kept|logged|noted|written down|memorized|documented"
    r"|on (?:the )?(?:file|record))"
)

_PRIVATE: Final = (
    r"(?:information|info|data|details?|messages?|numbers?|address(?:es)?|names?|e-?mail|phone|card|location|salary|income"
    r"|answers?|words|birthday|diagnosis|health|secrets?)"
)

_US: Final = r"(?:(?:the two of )?us|you and me|ourselves)"

_PHRASES: Final = (
    rf"(?P<dont>{_DONT}) (?:(?P<recall>remember|memori[sz]e|recall) {_THIS}\b|{_KEEP} (?:down )?{_THIS}{_CLAUSE_END}"
    rf"|(?:remember|{_KEEP}) (?:[\w'-]+ ){{1,6}}?(?:in|to|on|into) {_MEMORY}\b"
    rf"|(?:save|store|record|retain|log) (?:this|that|these|those|my|our|any)(?: [\w'-]+){{0,2}}? {_PRIVATE}\b)",
    r"(?P<off>\boff[ -](?:the[ -])?record\b)",
    rf"\b(?:keep|leave|stays?|remains?) (?:this |that |it )?(?:strictly |just )?between {_US}\b",
    rf"\b(?:just|strictly|only|this is|that's|that is|it's) between {_US}\b(?! and)",
    r"\bkeep (?:this|that|it) (?:to yourself|confidential|private|(?:a )?secret)\b",
    r"(?<!is )\b(?:this|that|it|what i (?:say|said|told you)|the following)(?:'s| is| was) (?:strictly |very "
    r"|completely |highly )?"
    r"(?:confidential|private|a secret|not for the record)(?=$|[.,;:!)'-]| (?:so|and|please|but|ok)\b)",
    r"\bnot for the record\b",
    rf"(?P<forget>\b(?:forget|ignore|disregard|erase|delete|unsee|unhear)) (?:about )?(?:(?:that )?(?:i|we)(?:'ve"
    rf"| have)? "
    rf"(?:ever |just |even )?{_SAID}|{_WHAT})\b(?: about (?P<topic>[^.;!?,]+))?",
    rf"\b(?:erase|delete|remove|wipe|strike|scrub|drop|clear|take) (?:{_THIS}|[\w' -]{{1,40}}?) (?:from|out of"
    rf"|off) {_MEMORY}\b",
    rf"\b(?:leave|keep) {_THIS} (?:out of|off|away from) {_MEMORY}\b",
    rf"\bi (?:don't|do not|dont|wouldn't|would not) (?:want|like) (?:you|anyone|anybody|it|the (?:bot|agent"
    rf"|assistant|system)) to "
    rf"(?:remember|{_KEEP}) (?:down )?(?:{_THIS}|about|my)\b",
    rf"\bi (?:don't|do not|dont|wouldn't|would not) want {_THIS} (?:to be )?{_KEPT}",
    rf"\b(?:this|that|it) (?:should not|shouldn't|must not|mustn't|is not to|isn't to|need not) be {_KEPT}",
    rf"\bpretend (?:that )?(?:i|we) (?:never|didn't|did not|hadn't) (?:ever )?{_SAID}",
    r"\b(?:merke? dir|speicher(?:e|n sie)?|notier(?:e|en sie)?|behalte?) (?:das|dies|es)(?: bitte)? nicht\b",
    r"\bbitte nicht (?:speichern|merken|notieren|aufschreiben)\b",
    r"\b(?:das|dies) (?:bleibt|ist) (?:bitte )?(?:unter uns|vertraulich)\b|\bunter uns gesagt\b",
    r"\bvergiss(?:en sie)?,? (?:bitte )?was ich (?:gerade |eben )?(?:[\w]+ )?(?:gesagt|geschrieben|erzählt)\b",
    r"\byou (?:didn't|did not|never) hear (?:that|this|it) from me\b",
)
_WITHHELD: Final = re.compile("|".join(_PHRASES))
_BACK_ON: Final = re.compile(
    r"\bback on (?:the )?record\b|\bon the record again\b|\byou (?:can|may|could) (?:now )?(?:start )?"
    r"(?:remember|sav|stor|record|writ|keep|not)(?:e|ing)?(?: (?:this|that|it|things|everything|me))?(?: down)? again\b"
)
_MARKS: Final = (
    "remember", "memor", "recall", "sav", "stor", "keep", "record", "log", "file", "document", "writ", "note", "put ",
    "retain", "jot", "between", "confiden", "private", "secret", "forget", "ignore", "disregard", "erase", "delete",
    "remov", "wipe", "strike", "scrub", "clear", "pretend", "hear", "unsee",
    "merk", "speicher", "notier", "aufschreib", "behalt", "unter uns", "vertraulich", "vergiss",
)  # fmt: skip
"""One of these stands in whatever withholds; looking for them first is many times cheaper."""

_POINTS_BACK: Final = re.compile(
    rf"\b(?:that|it|those|das|es|was ich|{_WHAT})\b|\b(?:i|we) (?:ever |just |even )?{_SAID}"
)
_STATES: Final = re.compile(
    r"\b(?:i|we|they|he|she|who|people)(?: (?:really|just|honestly|actually|also|still|truly|simply|even|quite|do"
    r"|can))* $"
)
_YOU_STATES: Final = re.compile(r"(?:^|[.,;:!?] |\b(?:if|why|that|sorry|so|because|how|but) )you $")
_NOT_FORGET: Final = re.compile(
    r"(?:\b(?:don't|do not|dont|never|won't|didn't|not|cannot|can't|i|we|you|they|to always)(?: \w+ly| ever| just)? )$"
)
_WORD: Final = re.compile(r"[^\W_]{3,}")
_COMMON: Final = frozenset(
    "the and that this what about with from for was are you your our his her not have had".split()
)
_ALONE_WORDS: Final = 4
"""A message of no more words besides the phrase says nothing itself, so the phrase means what was said before it."""
_OPENING_CHARS: Final = 20


def withheld_by_words(events: Sequence[Event]) -> frozenset[str]:
    """Return the ids of those of `events`, all of one session and in order, that somebody withheld by their words."""
    hidden: set[int] = set()
    off: int | None = None
    went_off = False
    for at, event in enumerate(events):
        if event.author != USER_AUTHOR or not event.text or not _may_withhold(event.text):
            continue
        text = normalise(event.text)
        if back := _BACK_ON.search(text):
            start = off if off is not None else 0 if not went_off else at
            hidden.update(range(start, at))
            if back.start() > _OPENING_CHARS:
                hidden.add(at)
            off = None
        for match in _phrases(text):
            hidden.update(_exchange(events, at))
            hidden.update(_meant(events, at, text, match))
            if match["off"]:
                off, went_off = at, True
    return frozenset(events[at].id for at in hidden)


def _may_withhold(text: str) -> bool:
    lower = text.lower()
    return not lower.isascii() or any(mark in lower for mark in _MARKS)


def _phrases(text: str) -> Iterator[re.Match[str]]:
    """Yield the phrases of a normalised text that withhold: not what somebody states of themselves or warns of."""
    for match in _WITHHELD.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        if match["dont"] and (_STATES.search(before) or (match["recall"] and _YOU_STATES.search(before))):
            continue
        if match["forget"] and _NOT_FORGET.search(before):
            continue
        if _BACK_ON.search(text, match.start(), match.end() + _OPENING_CHARS):
            continue
        yield match


def _exchange(events: Sequence[Event], at: int) -> Iterator[int]:
    """Yield `at` and the answer to it: all up to the next event of a person."""
    yield at
    for n in range(at + 1, len(events)):
        if events[n].author == USER_AUTHOR:
            return
        yield n


def _meant(events: Sequence[Event], at: int, text: str, match: re.Match[str]) -> Iterator[int]:
    """Yield what a phrase in event `at` points back at."""
    own = [n for n in range(at) if events[n].author == USER_AUTHOR and events[n].speaker == events[at].speaker]
    if match["topic"] and (topic := set(_WORD.findall(match["topic"])) - _COMMON):
        named = [n for n in own if topic & set(_WORD.findall(normalise(events[n].text)))]
        for n in named:
            yield from _exchange(events, n)
        if named:
            return
    rest = text[: match.start()] + text[match.end() :]
    if not _POINTS_BACK.search(match[0]) and len(rest.split()) > _ALONE_WORDS:
        return
    if not own:
        return
    first = own[-1]
    for n in reversed(own[:-1]):
        if any(events[between].author != USER_AUTHOR for between in range(n, first)):
            break
        first = n
    if events[at].speaker:
        for n in own:
            if n >= first:
                yield from _exchange(events, n)
    else:
        yield from range(first, at)
