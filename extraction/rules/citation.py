"""Rules about evidence: what a claim cites, and whether it was said there."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.evidence import Case
from extraction.rules.quotes import shown
from schemas.events import EventAuthority, authority_of
from schemas.extraction import Digest, ExtractedClaim, Extraction

_ONE_PERSON: Final = {EventAuthority.USER_CLAIM, EventAuthority.OTHER_SPEAKER}
_VERIFIED: Final = re.compile(
    r"(?:verif(?:ied|ies)|(?:was|is|has been|been) confirmed|confirmed by the (?:system|agent|company))"
)


def unknown_source(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """Sources exist and lie in this slice: withheld events and those of other slices have no ordinal here."""
    yield from _missing(claim, case)


def unknown_digest_source(answer: Extraction, case: Case) -> Iterator[str]:
    """The digest, too, cites lines that exist."""
    yield from _missing(answer.digest, case)


def _missing(cites: ExtractedClaim | Digest, case: Case) -> Iterator[str]:
    count = len(case.lines)
    if not cites.sources:
        yield f"cites no line; give the ordinals (1 to {count}) of the lines that prove it"
    for ordinal in sorted(set(cites.sources)):
        if not 0 < ordinal <= count:
            yield f"cites line {ordinal}, but the transcript has lines 1 to {count}"


def called_verified(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """What only the user, or another speaker, said is never called verified, unless those are the words used."""
    text = case.normalised(claim.text)
    if "erif" not in text and "confirmed" not in text:
        return
    lines = case.cited(claim.sources)
    if not lines or any(authority_of(line.line.event) not in _ONE_PERSON for line in lines):
        return
    for found in _VERIFIED.finditer(text):
        if not any(found[0] in piece for line in lines for piece in line.pieces):
            yield f'only the user said it, so it must not be called "{found[0]}"; write that the user says so'


def unknown_closes(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """`closes` names a line that exists and was not said after its answer, or a label of the record so far."""
    if claim.closes is None:
        return
    label = parse_closes(claim.closes)
    if label is None:
        yield f"closes {shown(claim.closes)} is neither the ordinal of a line nor a label like r1; use null"
        return
    in_record, number = label
    count = len(case.context) if in_record else len(case.lines)
    if not 0 < number <= count:
        what = f"the record so far has {count} lines" if in_record else f"the transcript has lines 1 to {count}"
        yield f"closes {shown(claim.closes)}, but {what}"
    elif not in_record and claim.sources and number > max(claim.sources):
        yield f"closes {shown(claim.closes)}, which comes after all sources; cite the line that answers, or use null"


def parse_closes(closes: str) -> tuple[bool, int] | None:
    """Return (whether it is a label of the record, its number), or None when it is neither "3" nor "r3"."""
    match = re.fullmatch(r"\[?(r?)(\d{1,6})\]?", closes.strip().lower(), re.ASCII)
    return (bool(match[1]), int(match[2])) if match else None
