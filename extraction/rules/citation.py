"""Rules about evidence: what a claim cites, and whether it was said there."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.entities import normalise, stands_in
from extraction.evidence import Case, LineEvidence
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


def quote_not_verbatim(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """The quote is a verbatim span of one cited event, of whole words; white space and case are folded."""
    quote = normalise(claim.quote)
    if not any(c.isalnum() for c in quote):
        yield "has an empty quote; copy the words of one cited line that prove it"
    elif not any(quoted_in(quote, line) for line in case.cited(claim.sources)):
        yield (
            f"the quote {_shown(claim.quote)} does not stand word for word in one of the cited lines "
            f"{sorted(set(claim.sources))}; copy a contiguous span of one line, without its label"
        )


def quoted_in(quote: str, line: LineEvidence) -> bool:
    """Return whether the normalised `quote` lies in one piece of `line` without cutting a word at either end."""
    return any(_spans(quote, piece) for piece in line.pieces)


def _spans(quote: str, piece: str) -> bool:
    start = piece.find(quote)
    while start >= 0:
        end = start + len(quote)
        if not _cuts_word(piece[:start][-1:], quote[0]) and not _cuts_word(quote[-1], piece[end : end + 1]):
            return True
        start = piece.find(quote, start + 1)
    return False


def _cuts_word(left: str, right: str) -> bool:
    """Two characters belong to one word, where words are parted by spaces: "like" is not said in "dislike"."""
    return left.isalnum() and right.isalnum() and ord(left) < 0x2E80 and ord(right) < 0x2E80


def about_not_in_source(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """`about` is the user or stands in a cited line, its speaker's name included."""
    about = normalise(claim.about)
    if about == "user":
        return
    for line in case.cited(claim.sources):
        event = line.line.event
        words = (*line.pieces, normalise(event.speaker), normalise(event.author))
        if about and any(stands_in(about, text) or (not about.isascii() and about in text) for text in words):
            return
    yield f'about {_shown(claim.about)} does not stand in a cited line; use "user" or a word of the line'


def called_verified(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """What only the user, or another speaker, said is never called verified, unless those are the words used."""
    text = normalise(claim.text)
    lines = case.cited(claim.sources)
    if not lines or any(authority_of(line.line.event) not in _ONE_PERSON for line in lines):
        return
    for found in _VERIFIED.finditer(text):
        if not any(found[0] in piece for line in lines for piece in line.pieces):
            yield f'only the user said it, so it must not be called "{found[0]}"; write that the user says so'


def unknown_closes(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """`closes` names a line that exists, or a label of the record so far."""
    if claim.closes is None:
        return
    label = parse_closes(claim.closes)
    if label is None:
        yield f"closes {_shown(claim.closes)} is neither the ordinal of a line nor a label like r1; use null"
        return
    in_record, number = label
    count = len(case.context) if in_record else len(case.lines)
    if not 0 < number <= count:
        what = f"the record so far has {count} lines" if in_record else f"the transcript has lines 1 to {count}"
        yield f"closes {_shown(claim.closes)}, but {what}"


def parse_closes(closes: str) -> tuple[bool, int] | None:
    """Return (whether it is a label of the record, its number), or None when it is neither "3" nor "r3"."""
    match = re.fullmatch(r"\[?(r?)(\d{1,6})\]?", closes.strip().lower(), re.ASCII)
    return (bool(match[1]), int(match[2])) if match else None


def _shown(text: str) -> str:
    """Return `text` in quotes, short enough for a list of problems."""
    return f'"{text[:120]}{"..." if len(text) > 120 else ""}"'
