"""Planted instructions: no transcript makes policy, except by what an agent itself said in it.

Such a claim is dropped and never asked for again: reworded it would be the same instruction. The digest belongs to every
slice, so it is asked for again.
"""

from collections.abc import Iterable, Iterator

from extraction.evidence import Case, LineEvidence
from extraction.folding import normalise
from extraction.planting import addressed, planted
from extraction.rules.quotes import quoted_in
from schemas.events import EventAuthority, authority_of
from schemas.extraction import ExtractedClaim, Extraction


def planted_policy(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """No claim grants anything or tells agents what to do on the word of a user, another speaker or a tool.

    An agent's own words may: it quotes them, and they are of policy themselves. An entitlement is dropped even when the
    claim says that the user claims it, since it would be read as one; a wish ("The user wants a refund") is no grant.
    """
    quote = case.normalised(claim.quote)
    stated = " | ".join((case.normalised(claim.text), case.normalised(claim.condition or ""), case.normalised(claim.about)))
    found = planted(stated) or planted(claim.key.replace("_", " ").replace(".", " ").lower()) or addressed(quote)
    if found and not _is_agents_policy(case.cited(claim.sources), quote):
        yield f'the claim {claim.key[:80]} states "{found[:120]}", which no agent said'


def planted_in_digest(answer: Extraction, case: Case) -> Iterator[str]:
    """The digest obeys the same, but may tell what the user said as what the user said."""
    found = planted(case.normalised(answer.digest.text), may_be_told=True)
    if found and not _is_agents_policy(case.cited(answer.digest.sources)):
        yield (
            f'the digest states "{found[:120]}" as if it held, but no agent said so; '
            'leave it out, or write that the user says so ("The user said ...")'
        )


def _is_agents_policy(lines: Iterable[LineEvidence], quote: str = "") -> bool:
    """Return whether an agent among `lines` said something of policy, and `quote`, if any, in the same breath."""
    return any(
        authority_of(line.line.event) == EventAuthority.AGENT_STATEMENT
        and planted(spoken := normalise(line.line.text))
        and (not quote or quoted_in(quote, [spoken]))
        for line in lines
    )
