"""Rules about form: texts, kinds and keys of the vocabulary, well-formed dates."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.dates import parse_when
from extraction.evidence import Case
from schemas.extraction import ExtractedClaim, Extraction
from schemas.vocabulary import OTHER_PREFIX

MAX_TEXT_CHARS: Final = 1000
"""A claim is one sentence and a digest one line; more is a transcript told again."""

_OTHER_KEY: Final = re.compile(r"other(?:\.[a-z0-9_]+)+")
_MAX_KEY_CHARS: Final = 80


def text_missing(claim: ExtractedClaim, _: Case) -> Iterator[str]:
    """A claim says something, in one sentence."""
    if not claim.text.strip():
        yield "has no text"
    elif len(claim.text) > MAX_TEXT_CHARS:
        yield f"its text has {len(claim.text)} characters; say it in one sentence"
    if claim.condition and len(claim.condition) > MAX_TEXT_CHARS:
        yield f"its condition has {len(claim.condition)} characters; say it in a few words"


def digest_missing(answer: Extraction, _: Case) -> Iterator[str]:
    """The digest says something, in one line."""
    if not answer.digest.text.strip():
        yield "the digest has no text"
    elif len(answer.digest.text) > MAX_TEXT_CHARS:
        yield f"the digest has {len(answer.digest.text)} characters; say it in one line"


def too_many_claims(answer: Extraction, case: Case) -> Iterator[str]:
    """An answer holds no more claims than the settings allow: more is a transcript told again."""
    if len(answer.claims) > case.max_claims:
        yield f"there are {len(answer.claims)} claims; keep the {case.max_claims} that will be of most use later"


def unknown_key(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """The key stands in the vocabulary, or is `other.` and a name in snake_case."""
    if case.vocabulary.get(claim.key) is not None:
        return
    if not _OTHER_KEY.fullmatch(claim.key) or len(claim.key) > _MAX_KEY_CHARS:
        shown = claim.key[:_MAX_KEY_CHARS]
        yield (
            f'the key "{shown}" is not in the vocabulary; use a listed key or {OTHER_PREFIX}<snake_case>, '
            "in the letters a-z"
        )


def kind_mismatch(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """The claim's kind is that of its key."""
    key = case.vocabulary.get(claim.key)
    if key is not None and key.kind != claim.kind:
        yield f"the key {key.name} is for a {key.kind}, not for a {claim.kind}"


def malformed_when(claim: ExtractedClaim, _: Case) -> Iterator[str]:
    """`when` is an ISO date, or date/date in order."""
    if claim.when is not None and parse_when(claim.when) is None:
        yield (
            f'when "{claim.when[:40]}" is neither YYYY-MM-DD nor YYYY-MM-DD/YYYY-MM-DD in order; '
            "use null if no date is said"
        )
