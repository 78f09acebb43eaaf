"""Faults of form: kinds, keys, JSON, answers that are none."""

import json
from typing import Final, get_args

from bench.fault_model.asked import Asked
from bench.fault_model.fault import Fault, with_claim
from schemas.extraction import ClaimKind, ExtractedClaim, Extraction

MANY: Final = 500
_KINDS: Final[tuple[ClaimKind, ...]] = get_args(ClaimKind)
_UNKNOWN: Final = ("customer.mood", "user", "Name", "order", "likes.food", "other", "sentiment.score")
_GERMAN_KEYS: Final = {
    "claims": "behauptungen", "digest": "zusammenfassung", "kind": "art", "key": "schluessel", "about": "ueber",
    "text": "text", "sources": "quellen", "quote": "zitat", "confidence": "sicherheit", "durable": "dauerhaft",
    "change": "aenderung", "condition": "bedingung", "when": "wann", "closes": "schliesst",
}  # fmt: skip
_GERMAN_NAMES: Final = ("ziel.sitzung", "bestellung.nummer", "wohnort", "vorliebe", "name.vorname", "zahlung.betrag")


def wrong_kind(asked: Asked) -> Fault | None:
    """A true claim of another kind than its key's."""
    known = [one for one in asked.base.claims if not one.key.startswith("other.")]
    if not known:
        return None
    claim = asked.rng.choice(known)
    kind = asked.rng.choice([one for one in _KINDS if one not in (claim.kind, "preference")])
    return with_claim(asked, claim.model_copy(update={"kind": kind}))


def plausible_kind(asked: Asked) -> Fault | None:
    """A fact stated as a decision, under a key that is for decisions."""
    facts = [one for one in asked.base.claims if one.kind == "fact"]
    if not facts:
        return None
    claim = asked.rng.choice(facts)
    return with_claim(asked, claim.model_copy(update={"kind": "decision", "key": "decision"}))


def unknown_key(asked: Asked) -> Fault | None:
    """A true claim under a key that is not in the vocabulary."""
    return _under(asked, asked.rng.choice(_UNKNOWN))


def german_vocabulary(asked: Asked) -> Fault | None:
    """A true claim under a key in another language."""
    return _under(asked, asked.rng.choice(_GERMAN_NAMES))


def german_keys(asked: Asked) -> Fault | None:
    """The faultless answer with the names of its fields in another language."""

    def translated(value: object) -> object:
        if isinstance(value, dict):
            return {_GERMAN_KEYS.get(name, name): translated(one) for name, one in value.items()}
        return [translated(one) for one in value] if isinstance(value, list) else value

    return Fault(json.dumps(translated(asked.base.model_dump())), "answer")


def many_claims(asked: Asked) -> Fault | None:
    """Five hundred claims, each of which repeats some words of the transcript truly."""
    claims: list[ExtractedClaim] = list(asked.base.claims)
    for row in asked.rows:
        who = "The user" if row.author == "user" else "The agent"
        for sentence in row.sentences:
            words = sentence.split()
            spans = {" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 2, len(words) + 1)}
            for span in sorted(spans):
                claims.append(
                    ExtractedClaim(
                        kind="fact",
                        key="other.said",
                        text=f'{who} said "{span}".',
                        sources=[row.n],
                        quote=span,
                        confidence=0.7,
                    )
                )
    if len(claims) < MANY:
        return None
    return Fault(Extraction(claims=claims[:MANY], digest=asked.base.digest).model_dump_json(), "answer")


def malformed_json(asked: Asked) -> Fault | None:
    """The faultless answer, broken: a brace or a comma is missing, other quotation marks, or prose."""
    text = asked.base.model_dump_json()
    broken = (
        text[:-1],
        text.replace(",", "", 1),
        str(asked.base.model_dump()),
        text.replace('"digest":', '"digest"', 1),
        "Here is what I found: the user wants help.",
    )
    return Fault(asked.rng.choice(broken), "answer")


def truncated_json(asked: Asked) -> Fault | None:
    """The faultless answer cut off by the limit of tokens."""
    text = asked.base.model_dump_json()
    return Fault(text[: asked.rng.randint(len(text) // 4, len(text) - 2)], "answer", finish_reason="length")


def empty_answer(asked: Asked) -> Fault | None:
    """Nothing, or nothing but white space."""
    return Fault(asked.rng.choice(("", " \n")), "answer")


def refusal(_: Asked) -> Fault | None:
    """The model declines."""
    return Fault(None, "answer", refusal="I'm sorry, but I cannot help with that.")


def _under(asked: Asked, key: str) -> Fault | None:
    claim = asked.true_claim()
    return with_claim(asked, claim.model_copy(update={"key": key})) if claim else None
