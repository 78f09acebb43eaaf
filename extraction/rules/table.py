"""The rules by name, and what follows from a breach."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from extraction.evidence import Case
from extraction.rules import (
    citation,
    grounding,
    laundering,
    persons,
    planted,
    quotes,
    secrets,
    values,
    wording,
)
from schemas.extraction import ExtractedClaim, Extraction
from schemas.outcome import Problem

ClaimRule = Callable[[ExtractedClaim, Case], Iterator[str]]
AnswerRule = Callable[[Extraction, Case], Iterator[str]]

DROP_RULES: Final[dict[str, ClaimRule]] = {
    "secret_disclosed": secrets.secret_disclosed,
    "preference_without_user": laundering.preference_without_user,
    "promise_without_agent": laundering.promise_without_agent,
    "withheld_source": laundering.withheld_source,
    "planted_policy": planted.planted_policy,
}
"""Laundering, secrets and planted instructions: a breach drops the claim, silently for the model."""

CLAIM_RULES: Final[dict[str, ClaimRule]] = {
    "unknown_source": citation.unknown_source,
    "quote_not_verbatim": quotes.quote_not_verbatim,
    "quote_proves_nothing": quotes.quote_proves_nothing,
    "negation_mismatch": quotes.negation_mismatch,
    "unknown_key": wording.unknown_key,
    "kind_mismatch": wording.kind_mismatch,
    "text_missing": wording.text_missing,
    "about_not_in_source": persons.about_not_in_source,
    "said_of_another": persons.said_of_another,
    "called_verified": citation.called_verified,
    "unrelated_text": grounding.unrelated_text,
    "invented_name": grounding.invented_name,
    "invented_value": values.invented_value,
    "malformed_when": wording.malformed_when,
    "invented_when": values.invented_when,
    "unknown_closes": citation.unknown_closes,
}
"""A breach in any claim sends the whole answer back."""

ANSWER_RULES: Final[dict[str, AnswerRule]] = {
    "too_many_claims": wording.too_many_claims,
    "digest_missing": wording.digest_missing,
    "unknown_digest_source": citation.unknown_digest_source,
    "invented_digest_name": grounding.invented_digest_name,
    "invented_digest_value": values.invented_digest_value,
    "dropped_entity": values.dropped_entity,
    "secret_in_digest": secrets.secret_in_digest,
    "withheld_in_digest": laundering.withheld_in_digest,
    "planted_in_digest": planted.planted_in_digest,
}
"""A breach of the answer as a whole sends it back."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say of one answer.

    `claims` are those that no drop rule took out, in the answer's order; they may be believed only when `problems`
    is empty. `recall` is the share of high-value entities that they and the digest hold.
    """

    claims: tuple[ExtractedClaim, ...]
    problems: tuple[Problem, ...]
    dropped: tuple[Problem, ...]
    recall: float | None


def judge(answer: Extraction, case: Case) -> Verdict:
    """Put `answer` to every rule.

    The drop rules come first, and what they drop is put to no other rule; but an entity that only a dropped claim held
    does not count as dropped by the model, or the claim would in effect be asked for again. No detail holds a secret:
    details are stored and sent on.
    """
    kept: list[ExtractedClaim] = []
    dropped: list[Problem] = []
    problems: list[Problem] = []
    for number, claim in enumerate(answer.claims, 1):
        breaches = [_problem(rule, detail, case) for rule, check in DROP_RULES.items() for detail in check(claim, case)]
        if breaches:
            dropped.append(breaches[0])
            continue
        kept.append(claim)
        for rule, check in CLAIM_RULES.items():
            where = f"claim {number} ({claim.key[:80]}): "
            problems += [_problem(rule, detail, case, where) for detail in check(claim, case)]
    for rule, check_answer in ANSWER_RULES.items():
        problems += [_problem(rule, detail, case) for detail in check_answer(answer, case)]
    return Verdict(tuple(kept), tuple(problems), tuple(dropped), values.entity_recall(kept, answer.digest, case))


def _problem(rule: str, detail: str, case: Case, where: str = "") -> Problem:
    line = case.secrets.find_in(detail)
    shown = detail if line is None else f"breached with the secret of line {line}; leave it out"
    return Problem(rule, where + shown)
