"""Rules about secrets: what was told to prove who somebody is, is no memory.

A claim that states one is dropped and never asked for again: it was not to be taken in the first place. The digest
belongs to every slice, so it is asked for again, without the secret. No detail repeats the secret.
"""

from collections.abc import Iterator

from extraction.evidence import Case
from schemas.extraction import ExtractedClaim, Extraction


def secret_disclosed(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """No PIN, password, card number and the like of the transcript stands in what is stored of a claim."""
    line = case.secrets.find_in(claim.text, claim.quote, claim.condition or "", claim.about, claim.key)
    if line is not None:
        yield f"a {claim.kind} states the secret of line {line}"


def secret_in_digest(answer: Extraction, case: Case) -> Iterator[str]:
    """The digest states no secret of the transcript."""
    line = case.secrets.find_in(answer.digest.text)
    if line is not None:
        yield f"the digest states the secret (PIN, password, card number or the like) of line {line}; leave it out"
