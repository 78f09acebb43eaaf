"""Sentences, and whether what stands in one is asserted by its speaker."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extraction.offline.reading import Line
from extraction.secrecy import MASK

_BREAK: Final = re.compile(
    r"(?<=[.!?])(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+(?=\S)|\s+[*•-]\s+(?=[A-Z'*])"
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
    r"\b(?:if|unless|whether|maybe|perhaps|probably|possibly|might|suppose|supposing|imagine|pretend|assume|assuming|"
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
_REPORTED: Final = re.compile(
    r"\b(?!(?:I|i|we|as)\b)[\w']+\s+(?:also |just |always |still |once )?(?:says|said|thinks|thought|claims?"
    r"|claimed|told|tells|wrote|writes|texted|"
    r"insists|insisted|believes|asked|mentioned|replied|suggested|recommended|heard|posted|quoted?|sings|sang)\b",
    re.I,
)
_ASKED_LEAVE: Final = re.compile(r"\b(?:can|could|may|shall|should|do|did|am|would|will|have)\W*$", re.I)
_CLAUSE_BREAK: Final = re.compile(r"\s*[,;:]\s*(?:and |but |so )?|\s+(?:and|but|so|because)\s+")
_TAG_WORDS: Final = 4
_QUOTE_MARK: Final = re.compile(r"[\"“”]")
_ENDLESS: Final = re.compile(r"\S{120,}")
"""No word of a sentence; masked, for patterns that try each place of it would take seconds."""
_MAX_QUOTE: Final = 200


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a line: a verbatim span of what was said, without the spaces around it."""

    line: Line
    text: str
    is_question: bool

    def quote(self, match: re.Match[str] | None = None) -> str | None:
        """Return the sentence, or the span of `match` when it is long or holds a secret; None when that does, too."""
        if MASK not in self.text and len(self.text) <= _MAX_QUOTE:
            return self.text
        span = match[0].strip() if match else self.text[:_MAX_QUOTE].rsplit(" ", 1)[0]
        return None if MASK in span or not span else span

    def asserts(self, match: re.Match[str]) -> bool:
        """Whether the speaker asserts what `match` found: not asked, supposed, doubted, reported or quoted."""
        before = self.text[: match.start()]
        if (
            (self.is_question and not self._is_aside(match))
            or len(_QUOTE_MARK.findall(before)) % 2
            or _TAKEN_BACK.search(self.text)
        ):
            return False
        if match[0][:1] in "Ii" and _ASKED_LEAVE.search(before):
            return False
        return not _UNSURE.search(before) and not _REPORTED.search(before)

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
    start = 0
    for gap in _BREAK.finditer(text):
        yield from _sentence(line, text[start : gap.start()])
        start = gap.end()
    yield from _sentence(line, text[start:])


def _sentence(line: Line, raw: str) -> Iterator[Sentence]:
    if text := raw.strip():
        is_question = text.rstrip("\"'”) ").endswith("?") or bool(_INVERTED.match(text))
        yield Sentence(line, text, is_question)
