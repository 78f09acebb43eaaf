"""Laundering: a claim whose evidence is not the kind it needs. Such a claim is dropped and never asked for again.

Asked again, a model finds another line to cite. So there is no second chance.
"""

from collections.abc import Iterator
from typing import Final

from extraction.evidence import Case
from extraction.roots import roots
from extraction.rules.grounding import questions_answered
from extraction.rules.quotes import quoted_in
from schemas.events import USER_AUTHOR
from schemas.extraction import ExtractedClaim, Extraction

AGENTS_PROMISE: Final = "commitment.agent"


def preference_without_user(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """A preference is proved by words of the scope's user alone: a line of theirs is cited and, if said at all, quoted.

    An agent's guess ("You would love the spa") with some line of the user's beside it is no evidence; an agent's
    question that the user answered is.
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
        return
    stated = roots(claim.text)
    if others and stated and not any(stated & line.roots for line in (*own, *questions_answered(own, case))):
        yield f"the preference {claim.key} is in no word of the user's own, nor in a question that the user answered"


def promise_without_agent(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """A promise of the agent's is proved by a line that is not the user's: "You agreed to refund me" is no promise."""
    lines = case.cited(claim.sources)
    if claim.key != AGENTS_PROMISE or len(lines) < len(set(claim.sources)) or not lines:
        return
    if all(line.line.event.author == USER_AUTHOR for line in lines):
        yield f"the promise {claim.key} cites no line of the agent's"


def withheld_source(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """Nothing rests on an event that was withheld, nor says a word that only such an event holds.

    The transcript shows none; this holds whoever built it, and whatever else the model was told.
    """
    for line in case.cited(claim.sources):
        if line.line.event.withheld:
            yield f"the claim {claim.key} cites line {line.line.ordinal}, which was withheld"
    if not case.withheld_roots.isdisjoint(roots(f"{claim.text} {claim.about} {claim.condition or ''}")):
        yield f"the claim {claim.key} says words that were said in a withheld event only"


def withheld_in_digest(answer: Extraction, case: Case) -> Iterator[str]:
    """The digest says no such word either; it is asked for again."""
    if not case.withheld_roots.isdisjoint(roots(answer.digest.text)):
        yield "the digest says words that stand in no line of the transcript; leave them out"
