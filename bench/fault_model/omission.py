"""Faults of omission: what was said and had to be kept stands nowhere in the answer."""

import re
from typing import Final

from bench.fault_model.asked import Asked
from bench.fault_model.fault import Fault
from schemas.extraction import Digest, Extraction

_WORTH: Final = re.compile(
    r"[\w.+-]+@[\w-]+\.\w+|[$€£]\s?\d[\d.,]*\d|\b\d[\d.,]* (?:USD|EUR|dollars|euros)\b"
    r"|\b[A-Z]{1,3}-\d{3,}\b|\b\d{6,9}\b"
)


def dropped_entity(asked: Asked) -> Fault | None:
    """An identifier, amount or address that was said stands in no claim and not in the digest.

    It is one that the faultless answer keeps: that tells it from a secret, which has to be left out.
    """
    kept = asked.base.model_dump_json()
    said = {match[0] for row in asked.rows if row.is_spoken for match in _WORTH.finditer(row.text) if match[0] in kept}
    return _without(asked, asked.rng.choice(sorted(said))) if said else None


def dropped_commitment(asked: Asked) -> Fault | None:
    """A promise of the agent and its amount are left out."""
    told = asked.outside.bait.get("dropped_commitment")
    return _without(asked, told[0].quote) if told else None


def dropped_plain_commitment(asked: Asked) -> Fault | None:
    """A promise of the agent that holds no value is left out, when the faultless answer has it."""
    kept = [one for one in asked.base.claims if one.kind != "commitment"]
    if len(kept) == len(asked.base.claims) or re.search(r"\d", asked.base.digest.text):
        return None
    digest = Digest(text="The user and the agent spoke.", sources=asked.base.digest.sources)
    return Fault(Extraction(claims=kept, digest=digest).model_dump_json(), "answer")


def _without(asked: Asked, value: str) -> Fault:
    """Return the faultless answer without the claims that state `value`, and with a digest that does not."""

    def states(*texts: str | None) -> bool:
        return any(value.lower() in (text or "").lower() for text in texts)

    claims = [one for one in asked.base.claims if not states(one.text, one.quote, one.condition)]
    text = re.sub(re.escape(value), "it", asked.base.digest.text, flags=re.IGNORECASE)
    digest = Digest(text=text, sources=asked.base.digest.sources)
    return Fault(Extraction(claims=claims, digest=digest).model_dump_json(), "answer")
