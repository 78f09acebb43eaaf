"""Laundering: a claim whose evidence is not the kind it needs. Such a claim is dropped and never asked for again.

Asked again, a model finds another line to cite. So there is no second chance.
"""

from collections.abc import Iterator

from extraction.evidence import Case
from extraction.folding import normalise
from extraction.rules.quotes import quoted_in
from schemas.extraction import ExtractedClaim


def preference_without_user(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """A preference is proved by words of the scope's user alone: a line of theirs is cited and, if said at all, quoted.

    An agent's guess ("You would love the spa") with some line of the user's beside it is no evidence.
    """
    lines = case.cited(claim.sources)
    if claim.kind != "preference" or len(lines) < len(set(claim.sources)) or not lines:
        return  # a source that does not exist is a slip, which may be mended: `unknown_source`
    own = [line for line in lines if line.line.event.is_users_own]
    if not own:
        yield f"the preference {claim.key} cites no line of the user's own"
        return
    quote = case.normalised(claim.quote)
    others = [line for line in lines if not line.line.event.is_users_own]
    said_by_others = quote and any(quoted_in(quote, line.pieces) for line in others)
    if said_by_others and not any(quoted_in(quote, line.pieces) for line in own):
        yield f"the preference {claim.key} quotes somebody else than the user"


def withheld_source(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """Nothing rests on an event that the user withheld. The transcript shows none; this holds whoever built it."""
    for line in case.cited(claim.sources):
        if line.line.event.withheld:
            yield f"the claim {claim.key} cites line {line.line.ordinal}, which the user withheld"
