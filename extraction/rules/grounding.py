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
from extraction.folding import canonical, normalise
from extraction.roots import roots
from schemas.extraction import ExtractedClaim, Extraction

_NAME: Final = re.compile(r"(?<![.!?;:\"'“„»] )(?<=[^\W\d_] |[,(/&] )[A-ZÀ-ÞŠŽ](?![\w'’-]*\d)[\w'’-]{2,}|\b[A-Z]{4,}\b")
"""A word with a capital that begins no sentence, or four capitals and more: in English a name, or a code."""
_ALL_NOUNS: Final = re.compile(r"\b(?:der|die|das|ist|und|hat|nutzer|nutzerin|möchte|will|wird)\b")
_CALENDAR: Final = frozenset(normalise(name)[:3] for name in (*MONTHS, *WEEKDAYS))


def unrelated_text(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """The text shares a word that says something with the lines it cites."""
    lines = case.cited(claim.sources)
    if lines and not _is_related(claim.text, [*lines, *questions_answered(lines, case)]):
        yield (
            "its text has no word in common with the cited lines "
            f"{[line.line.ordinal for line in lines]}; cite the lines that say it, in their words, or leave it out"
        )


def questions_answered(lines: Iterable[LineEvidence], case: Case) -> list[LineEvidence]:
    """Return the questions of somebody else that stand right before `lines`: "Yes, please" says what was asked."""
    found = []
    for line in lines:
        asked = case.lines[line.line.ordinal - 2] if line.line.ordinal > 1 else None
        if asked is not None and "?" in asked.line.text and asked.line.event.author != line.line.event.author:
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
    """Yield the names that no line says. German writes every noun as if it were a name, so it is not asked there."""
    if not lines or text.islower():
        return
    all_nouns = _ALL_NOUNS.search(text.lower()) is not None
    for found in _NAME.finditer(canonical(text)):
        name = found[0]
        said = roots(name)
        if (all_nouns and not name.isupper()) or not said or name[:3].lower() in _CALENDAR:
            continue
        if not any(said <= line.roots for line in lines):
            yield name


def _is_related(text: str, lines: Iterable[LineEvidence]) -> bool:
    said = roots(text)
    return not said or any(not said.isdisjoint(line.roots) for line in lines)
