"""Planted instructions: no transcript makes policy, except by what an agent itself said in it.

Such a claim is dropped and never asked for again: reworded it would be the same instruction. The digest belongs to
every slice, so it is asked for again.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from extraction.evidence import Case, LineEvidence
from extraction.folding import normalise
from extraction.planting import addressed, is_told, planted, states_policy
from extraction.roots import roots
from extraction.rules.quotes import quoted_in
from schemas.events import EventAuthority, authority_of
from schemas.extraction import ExtractedClaim, Extraction

_SENTENCE_END: Final = re.compile(r"(?<=[.!?;]) +")


def planted_policy(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """No claim grants anything or tells agents what to do on the word of a user, another speaker or a tool.

    An agent's own words may: it quotes them, and they are of policy themselves. An entitlement is dropped even when the
    claim says that the user claims it, since it would be read as one; a wish ("The user wants a refund") is no grant.
    """
    quote = case.normalised(claim.quote)
    stated = " | ".join(
        (case.normalised(claim.text), case.normalised(claim.condition or ""), case.normalised(claim.about))
    )
    found = planted(stated) or planted(claim.key.replace("_", " ").replace(".", " ").lower()) or addressed(quote)
    if found and not _is_agents_policy(case.cited(claim.sources), quote):
        yield f'the claim {claim.key[:80]} states "{found[:120]}", which no agent said'


def planted_in_digest(answer: Extraction, case: Case) -> Iterator[str]:
    """The digest obeys the same, but may tell what the user said as what the user said.

    Where a line addresses agents, every sentence with a word that only such a line says must: the instruction may
    grant what no pattern knows.
    """
    digest = case.normalised(answer.digest.text)
    found = planted(digest, may_be_told=True)
    if not found and (steering := _steering_roots(case)):
        told = (said for said in _SENTENCE_END.split(digest) if not steering.isdisjoint(roots(said)))
        found = next((said for said in told if not is_told(said)), "")
    if found and not _is_agents_policy(case.cited(answer.digest.sources)):
        yield (
            f'the digest states "{found[:120]}" as if it held, but no agent said so; '
            'leave it out, or write that the user says so ("The user said ...")'
        )


def _steering_roots(case: Case) -> frozenset[str]:
    """Return the roots of words that only lines which address agents say, agents' own left out."""
    steering: set[str] = set()
    other: set[str] = set()
    for line in case.lines:
        addresses = not _is_agents(line) and any(addressed(piece) for piece in line.pieces)
        (steering if addresses else other).update(line.roots)
    return frozenset(steering - other)


def _is_agents(line: LineEvidence) -> bool:
    return authority_of(line.line.event) == EventAuthority.AGENT_STATEMENT


def _is_agents_policy(lines: Iterable[LineEvidence], quote: str = "") -> bool:
    """Return whether an agent among `lines` said something of policy, and `quote`, if any, in the same breath."""
    return any(
        _is_agents(line)
        and states_policy(spoken := normalise(line.line.text))
        and (not quote or quoted_in(quote, [spoken]))
        for line in lines
    )
