"""Rules about relatedness: a claim says something of what its evidence says, and names nobody who is not in it.

A quote proves that words were said, not that the claim follows from them: "Do they have hardwood floors?" is no
evidence for a dislike of herbal tea. Whether a sentence follows from another no rule can decide; that it shares no
word with it can be seen.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from extraction.dates import MONTHS, WEEKDAYS
from extraction.evidence import Case, LineEvidence
from extraction.folding import canonical
from extraction.roots import roots
from schemas.extraction import ExtractedClaim, Extraction

_ANSWER_WORDS: Final = 5
"""An answer of more words than these says itself what it is about."""

_NAME: Final = re.compile(r"(?<![\w'’-])[A-ZÀ-ÞŠŽ](?![\w'’-]*\d)[\w'’-]{2,}")
_CODE_CHARS: Final = 4
"""A word with a capital that begins no sentence is a name in English; so many capitals are a name or a code."""
_BEFORE_A_SENTENCE: Final = (*".!?;:\"'“„»«", "")
_TITLES: Final = ("Dr.", "Mr.", "Mrs.", "Ms.", "St.", "Prof.")
_ALL_NOUNS: Final = re.compile(r"(?<!\w)(?:das|der|ein|eine[mnr]?|ist|möchte|nutzer(?:in)?|und|wird|zum|zur)(?!\w)")
_ENGLISH: Final = re.compile(r"(?<!\w)(?:the|user|is|of|for)(?!\w)")
_CALENDAR: Final = frozenset((*MONTHS, *WEEKDAYS, *(name[:3] for name in (*MONTHS, *WEEKDAYS)), "sept"))


def unrelated_text(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """The text shares a word that says something with the lines it cites."""
    lines = case.cited(claim.sources)
    if lines and not _is_related(claim.text, [*lines, *questions_answered(lines, case)]):
        yield (
            "its text has no word in common with the cited lines "
            f"{[line.line.ordinal for line in lines]}; cite the lines that say it, in their words, or leave it out"
        )


def questions_answered(lines: Iterable[LineEvidence], case: Case) -> list[LineEvidence]:
    """Return the questions right before those `lines` that briefly answer them: "Yes, please" says what was asked."""
    found = []
    for line in lines:
        asked = case.lines[line.line.ordinal - 2] if line.line.ordinal > 1 else None
        said = line.line.text
        if asked is None or "?" not in asked.line.text or "?" in said or len(said.split()) > _ANSWER_WORDS:
            continue
        if asked.line.event.author != line.line.event.author:
            found.append(asked)
    return found


def invented_name(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """Every name in the text stands in a cited line, or is that of who said it."""
    for name in _unproven_names(claim.text, case.cited(claim.sources)):
        yield f'the name "{name}" does not stand in the cited lines; cite the line that says it, or leave it out'


def invented_digest_name(answer: Extraction, case: Case) -> Iterator[str]:
    """The digest obeys the same."""
    for name in _unproven_names(answer.digest.text, case.cited(answer.digest.sources)):
        yield f'the digest\'s name "{name}" does not stand in the lines it cites; cite the line that says it'


def _unproven_names(text: str, lines: list[LineEvidence]) -> Iterator[str]:
    """Yield the names that no line says."""
    if not lines:
        return
    for name in _names(canonical(text)):
        if (said := roots(name)) and not any(said <= line.roots for line in lines):
            yield name


def _names(text: str) -> Iterator[str]:
    """Yield the names in `text`. German writes every noun as if it were one, so only what is all capitals counts."""
    all_nouns = None
    for found in _NAME.finditer(text):
        name, before = found[0], text[: found.start()].rstrip()
        if name.isupper() and len(name) >= _CODE_CHARS:
            yield name
            continue
        if name.lower().rstrip("s") in _CALENDAR or (
            before[-1:] in _BEFORE_A_SENTENCE and not before.endswith(_TITLES)
        ):
            continue
        if all_nouns is None:
            lower = text.lower()
            all_nouns = _ALL_NOUNS.search(lower) is not None and not _ENGLISH.search(lower)
        if not all_nouns:
            yield name


def _is_related(text: str, lines: Iterable[LineEvidence]) -> bool:
    said = roots(text)
    return not said or any(not said.isdisjoint(line.roots) for line in lines)
