"""What the user takes back is not remembered: "forget what I said about spicy food"."""

import re
from collections.abc import Sequence
from typing import Final

from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

_FORGET: Final = re.compile(
    r"(?<!don't )(?<!don’t )(?<!not )(?<!can't )(?<!can’t )(?<!never )"
    r"\b(?:forget|ignore|disregard|scratch|don['’]t (?:remember|save|store|keep)|do not (?:remember|save|store"
    r"|keep)|strike)\b"
    r"(?: (?:what I (?:just )?said|that|everything|it|the thing|my \w+"
    r"|I (?:ever )?said))*(?: about (?P<topic>[^.;!?]+))?",
    re.I,
)
_REMARK: Final = re.compile(
    r"\b(?:what I (?:just )?said|that I said|about|I (?:ever )?said|don['’]t (?:remember|save|store|keep) (?:that"
    r"|this|it)|forget (?:that|it)\W*$)",
    re.I,
)
_MISTAKEN: Final = re.compile(
    r"\b(?:I (?:got|was|am|['’]?m) (?:so )?confused|my mistake|I misspoke|I was mistaken)\b", re.I
)
_WORD: Final = re.compile(r"\w{4,}")


def without_retracted(claims: Sequence[ExtractedClaim], talk: Talk) -> list[ExtractedClaim]:
    """Return `claims` without those that rest on what the user took back later in the same talk.

    With a topic, claims of earlier lines that share a word with it go; without one, those of the user's line before.
    """
    kept = list(claims)
    own = [line.n for line in talk.reading.lines if line.is_user]
    for sentence in talk.users_own:
        if _MISTAKEN.search(sentence.text) and not sentence.is_question:
            kept = [one for one in kept if sentence.line.n not in one.sources or one.quote == sentence.text]
        match = _FORGET.search(sentence.text)
        if match is None or sentence.is_question or not _REMARK.search(sentence.text):
            continue
        n = sentence.line.n
        topic = set(_WORD.findall((match["topic"] or "").lower()))
        before = max((other for other in own if other < n), default=n)
        kept = [one for one in kept if not _is_meant(one, n, before, topic)]
    return kept


def _is_meant(claim: ExtractedClaim, n: int, before: int, topic: set[str]) -> bool:
    if topic:
        words = set(_WORD.findall(f"{claim.text} {claim.quote}".lower()))
        return min(claim.sources) <= n and bool(words & topic)
    return bool({n, before} & set(claim.sources))
