"""What a plant returns: the faulty answer, and which part of it is the fault."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.fault_model.asked import Asked
from bench.fault_model.record import Where
from schemas.extraction import Digest, ExtractedClaim, Extraction


@dataclass(frozen=True, slots=True)
class Fault:
    """A faulty answer: its `text`, how it ended, and the claim or digest within it that is the fault, if one is."""

    text: str | None
    where: Where
    claim: ExtractedClaim | None = None
    digest: str = ""
    finish_reason: str = "stop"
    refusal: str | None = None


Plant = Callable[[Asked], Fault | None]
"""Makes a faulty answer of a request; None when the slice offers nothing for a fault of this class."""


def with_claim(asked: Asked, claim: ExtractedClaim) -> Fault:
    """Return the faultless answer with `claim` among its claims.

    It takes nobody's place: a rule about values that were left out must not catch it by chance. It stands last: of two
    claims that say the same of the same sources the last is stored.
    """
    claims = [*asked.base.claims, claim]
    return Fault(Extraction(claims=claims, digest=asked.base.digest).model_dump_json(), "claim", claim)


def in_place_of(asked: Asked, old: ExtractedClaim, claim: ExtractedClaim) -> Fault:
    """Return the faultless answer with `claim` instead of `old`: for faults that change nothing of what is stored."""
    claims = [one for one in asked.base.claims if one is not old]
    return Fault(Extraction(claims=[*claims, claim], digest=asked.base.digest).model_dump_json(), "claim", claim)


def with_digest(asked: Asked, sentence: str) -> Fault:
    """Return the faultless answer with `sentence` at the end of its digest."""
    text = f"{asked.base.digest.text} {sentence}"
    digest = Digest(text=text, sources=asked.base.digest.sources)
    return Fault(Extraction(claims=asked.base.claims, digest=digest).model_dump_json(), "digest", digest=text)
