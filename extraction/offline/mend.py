"""A second answer: the first one, without what was complained of."""

import re
from collections.abc import Sequence
from typing import Final

from extraction.offline.digest import write_digest
from extraction.offline.reading import Complaint
from extraction.offline.talk import Talk
from schemas.extraction import Digest, Extraction

_CLAIM: Final = re.compile(r"claim (\d+)\b")
_QUOTED: Final = re.compile(r'"([^"]+)"')


def mend(answer: Extraction, complaints: Sequence[Complaint], talk: Talk) -> Extraction:
    """Return `answer` without the claims that `complaints` name, its digest put right, and no value lost by that.

    A value that was dropped is added to the digest when it stands in a line and is no secret.
    """
    blamed = {int(found[1]) for one in complaints if (found := _CLAIM.match(one.detail))}
    claims = [one for number, one in enumerate(answer.claims, 1) if number not in blamed]
    digest, more = write_digest(talk, claims)
    if any("digest" in one.rule for one in complaints):
        digest = _plain(digest, talk)
    for one in complaints:
        if "dropped" in one.rule and (value := _QUOTED.search(one.detail)) and value[1] not in digest.text:
            line = next((line for line in talk.reading.lines if value[1].lower() in line.text.lower()), None)
            if line:
                digest = Digest(text=f"{digest.text} Mentioned: {value[1]}.", sources=sorted({*digest.sources, line.n}))
    return Extraction(claims=[*claims, *more], digest=digest)


def _plain(digest: Digest, talk: Talk) -> Digest:
    """Cite every line, so that whatever the digest quotes stands in its sources."""
    return Digest(text=digest.text, sources=[line.n for line in talk.reading.lines])
