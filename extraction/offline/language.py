"""Sentences, and whether what stands in one is asserted by its speaker."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extraction.offline.hearsay import count_marks, is_hearsay
from extraction.offline.reading import Line
from extraction.secrecy import MASK

_BREAK: Final = re.compile(r"(?<=[.!?])\s+(?=\S)|\s+[*•-]\s+(?=[A-Z'*])")
_BEFORE_NAME: Final = re.compile(r"(?:\b(?:Dr|Mr|Ms|Mrs|Prof|St|Mt|Ft)|\bvs|\be\.g|\bi\.e)\.$")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:[A-Za-z]\.){1,3}[A-Za-z]|\b(?:Inc|Ltd|Co|Corp|Ave|Blvd|Rd|Jr|Sr|approx|apt|etc|No|ext|dept))\.$", re.I
)
_INVERTED: Final = re.compile(
    r"\W*(?:(?:and|so|but|ok|okay|also|hi|hey|hello|well|oh|please tell me|actually|then)\b[\s,]*)*"
    r"(?:who|whom|whose|what|where|when|why|which|how|is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|shall|may|"
    r"don't|doesn't|didn't|isn't|aren't|won't|can't|couldn't|wouldn't)(?:'s|'re)?\s+"
    r"(?:i|you|he|she|it|we|they|there|the|this|that|my|your|his|her|our|their|a|an|any|anyone|someone|is|are|do|does|did|long|much|many|"
    r"about|time|day|far|soon)\b",
    re.I,
)
_UNSURE: Final = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|probably|possibly|might|afraid|suppose|supposing|imagine|pretend|assume|assuming|"
    r"hypothetically|i (?:think|guess|believe|wish|doubt|hope|wonder)|we think|wish|would|wouldn't|could"
    r"|what about|for example|e\.g|"
    r"used to|not sure|don't (?:think|know)|do not (?:think|know)|never said|not true|no idea|say(?:ing)? that"
    r"|let's say|lest|when|"
    r"as though|pretending|you (?:think|said|say|know)|don't you|do you|does (?:he|she|it)|forget)\b",
    re.I,
)
_TAKEN_BACK: Final = re.compile(
    r"\b(?:just kidding|only kidding|kidding|joking|hypothetical(?:ly)?|not really|yeah right|in my dreams"
    r"|i guess|i suppose|i think(?=\W*$)|i never said|"
    r"forget (?:what|that)|role[- ]?play|pretend|imaginary|fictional)\b",
    re.I,
)
_ASKED_LEAVE: Final = re.compile(r"\b(?:can|could|may|shall|should|do|did|am|would|will|have)\W*$", re.I)
_SUBJECT: Final = (
    r"(?:I|we|you|he|she|it|they|there|this|that|these|those|my|our|your|his|her|their|i|please|can|could|would|will"
    r"|do|does|is|are|what|when|where|how|who|if)\b"
)
_CLAUSE_BREAK: Final = re.compile(
    rf"\s*[,;:]\s*(?:and |but |so )?|\s+(?:but|because|so)\s+|\s+[-–—]+\s+"
    rf"|\s+(?:and|then)\s+(?={_SUBJECT}|I['’]|it['’])"
)
_CLAUSE_START: Final = re.compile(
    r"(?:^|[.,;:!?()*\"“”–—-]|\b(?:and|but|so|or|because|cause|cuz|since|as|though|although|while|yes|yeah|yep|yup|no"
    r"|nope|nah|ok|okay|well|oh|ah|hi|hello|hey|now|then|actually|honestly|anyway|also|plus|again|god|ugh|lol|sorry"
    r"|thanks|thank you|please|great|perfect|cool|good|fine|nice|sure|right|wow|hmm+|first|today|currently|even|still"
    r"|true|unless|after|before|until|once|(?:(?:this|that) is why)|there|everyone|everybody|all|team|guys"
    r"|(?:remember|note|know|mention|mentioned|remembered|forgot|fact|aware|sure|tell you|realized|realised|say|saying)"
    r"(?: that)?))\W*$",
    re.I,
)
"""What stands before an "I ..." with a clause of its own; after other words it is a relative one ("people I like")."""
_FIRST_PERSON: Final = re.compile(r"(?:I|we)\b", re.I)
_CORRECTED: Final = re.compile(
    r"^[\s,.;–—-]*(?:(?:no|oh|now|sorry|or)\b\W*)*(?:wait|I mean|I meant|scratch that|make that|correction)\b", re.I
)
_TAG_WORDS: Final = 4
_ENDLESS: Final = re.compile(r"\S{120,}")
"""No word of a sentence; masked, for patterns that try each place of it would take seconds."""
_MAX_QUOTE: Final = 200
_LONGEST_ABBREVIATION: Final = 10
_MAX_OPENING: Final = 40


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a line: a verbatim span of what was said, without the spaces around it.

    `is_quoted`: it begins within a quotation.
    """

    line: Line
    text: str
    is_question: bool
    is_quoted: bool = False

    def quote(self, match: re.Match[str] | None = None) -> str | None:
        """Return the sentence, or the span of `match` when it is long or holds a secret; None when that does, too."""
        if MASK not in self.text and len(self.text) <= _MAX_QUOTE:
            return self.text
        span = match[0].strip() if match else self.text[:_MAX_QUOTE].rsplit(" ", 1)[0]
        return None if MASK in span or not span else span

    def asserts(self, match: re.Match[str]) -> bool:
        """Whether the speaker asserts what `match` found.

        Not so when it is asked, supposed, doubted, reported, quoted, corrected at once, or in a relative clause.
        """
        before, after = self.text[: match.start()], self.text[match.end() :]
        if (self.is_question and not self._is_aside(match)) or _TAKEN_BACK.search(self.text) or _CORRECTED.match(after):
            return False
        if _FIRST_PERSON.match(match[0]) and (
            _ASKED_LEAVE.search(before) or not _CLAUSE_START.search(before[-_MAX_OPENING:])
        ):
            return False
        return not _UNSURE.search(before) and self.is_own(match)

    def is_own(self, match: re.Match[str]) -> bool:
        """Whether what `match` found is the speaker's own words: neither quoted nor told as what another says."""
        return not is_hearsay(self.text, match.start(), match.end(), is_open=self.is_quoted)

    def clause(self, match: re.Match[str]) -> str:
        """Return the part of the sentence around `match` that no comma or conjunction parts from it."""
        starts = [m.end() for m in _CLAUSE_BREAK.finditer(self.text, 0, match.start())]
        following = _CLAUSE_BREAK.search(self.text, match.end())
        return self.text[starts[-1] if starts else 0 : following.start() if following else len(self.text)]

    def _is_aside(self, match: re.Match[str]) -> bool:
        """Whether `match` is a statement before the question: "I live in Oslo and would like to know ...?"."""
        rest = self.text[match.end() :]
        following = _CLAUSE_BREAK.match(rest)
        return bool(following) and not _INVERTED.match(self.text) and len(rest.split()) > _TAG_WORDS


def sentences(line: Line) -> Iterator[Sentence]:
    """Yield the sentences of `line`, in order."""
    text = _ENDLESS.sub(lambda word: MASK * len(word[0]), line.text)
    start = marks = 0
    for gap in [*_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        if gap and _is_abbreviated(text[start:end], text[gap.end() :]):
            continue
        if raw := text[start:end].strip():
            is_question = raw.rstrip("\"'”) ").endswith("?") or bool(_INVERTED.match(raw))
            yield Sentence(line, raw, is_question, is_quoted=bool(marks % 2))
        marks += count_marks(text[start:end])
        start = gap.end() if gap else end


def _is_abbreviated(before: str, after: str) -> bool:
    """Whether the full stop at the end of `before` belongs to its last word."""
    tail = before[-_LONGEST_ABBREVIATION:]
    return bool(_BEFORE_NAME.search(tail)) or (not after[:1].isupper() and bool(_ABBREVIATION.search(tail)))
