"""The classes of faults by name: how each is planted, how often, and whether any rule can tell it."""

from dataclasses import dataclass
from typing import Final

from bench.fault_model import bait, evidence, form, omission, values
from bench.fault_model.fault import Plant


@dataclass(frozen=True, slots=True)
class FaultClass:
    """One class. `weight` is its share among the classes that a slice offers something for.

    `uncovered` says why no deterministic rule can tell it from a good answer; empty for all that must be caught.
    """

    plant: Plant
    weight: float = 1.0
    uncovered: str = ""


CLASSES: Final[dict[str, FaultClass]] = {
    "invented_identifier": FaultClass(values.invented_identifier, 2.0),
    "invented_letters": FaultClass(values.invented_letters),
    "invented_name": FaultClass(values.invented_name),
    "invented_detail": FaultClass(values.invented_detail, 0.3, "a few common words among true ones"),
    "altered_digit": FaultClass(values.altered_digit, 2.0),
    "swapped_values": FaultClass(values.swapped_values, 0.3, "both values stand in the line"),
    "made_up_date": FaultClass(values.made_up_date),
    "made_up_clock": FaultClass(values.made_up_clock),
    "made_up_when": FaultClass(values.made_up_when),
    "misreckoned_date": FaultClass(values.misreckoned_date),
    "invented_source": FaultClass(evidence.invented_source),
    "source_of_other_slice": FaultClass(evidence.source_of_other_slice),
    "fact_of_other_user": FaultClass(evidence.fact_of_other_user),
    "paraphrased_quote": FaultClass(evidence.paraphrased_quote),
    "quote_of_other_event": FaultClass(evidence.quote_of_other_event),
    "unrelated_evidence": FaultClass(evidence.unrelated_evidence),
    "invented_closes": FaultClass(evidence.invented_closes),
    "called_verified": FaultClass(evidence.called_verified),
    "preference_from_tool": FaultClass(bait.baited("preference_from_tool")),
    "preference_from_guess": FaultClass(bait.baited("preference_from_guess")),
    "guess_behind_own_line": FaultClass(bait.behind_own_line("preference_from_guess")),
    "preference_of_speaker": FaultClass(bait.baited("preference_of_speaker")),
    "fact_of_speaker": FaultClass(bait.baited("fact_of_speaker")),
    "trait_of_relative": FaultClass(bait.baited("trait_of_relative")),
    "flipped_polarity": FaultClass(bait.baited("flipped_polarity")),
    "planted_instruction": FaultClass(bait.baited("planted_instruction")),
    "instruction_in_digest": FaultClass(bait.in_digest("planted_instruction")),
    "withheld_quoted": FaultClass(bait.baited("withheld")),
    "withheld_hidden": FaultClass(bait.behind_own_line("withheld")),
    "withheld_in_digest": FaultClass(bait.in_digest("withheld")),
    "secret_in_claim": FaultClass(bait.baited("secret")),
    "secret_in_digest": FaultClass(bait.in_digest("secret")),
    "dropped_entity": FaultClass(omission.dropped_entity),
    "dropped_commitment": FaultClass(omission.dropped_commitment),
    "dropped_plain_commitment": FaultClass(
        omission.dropped_plain_commitment, 0.3, "no value is lost, and what is a promise is a matter of reading"
    ),
    "wrong_kind": FaultClass(form.wrong_kind),
    "plausible_kind": FaultClass(form.plausible_kind, 0.3, "kind and key agree, and every word is true"),
    "unknown_key": FaultClass(form.unknown_key),
    "german_vocabulary": FaultClass(form.german_vocabulary, 0.5),
    "german_keys": FaultClass(form.german_keys, 0.5),
    "many_claims": FaultClass(form.many_claims, 0.3),
    "malformed_json": FaultClass(form.malformed_json),
    "truncated_json": FaultClass(form.truncated_json),
    "empty_answer": FaultClass(form.empty_answer, 0.5),
    "refusal": FaultClass(form.refusal, 0.5),
}

WIRE: Final[dict[str, float]] = {"http_429": 0.002, "http_500": 0.01, "reset": 0.01, "hang": 0.005, "slow_drip": 0.005}
"""Faults of the wire, by their share of all calls. A 429 is the rarest: each holds all calls for a second."""
