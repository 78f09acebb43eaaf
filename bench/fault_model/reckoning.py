"""What became of every fault that was planted, and of every valid claim: outcomes held against the server's report."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bench.fault_model.classes import CLASSES, WIRE
from bench.fault_model.record import Planted, Report
from extraction.evidence import Case
from extraction.folding import fold
from extraction.offline.model import answer
from extraction.prompt import user_text
from extraction.rules import judge
from extraction.transcript import build_transcript
from schemas.outcome import ExtractionOutcome, Outcome, Problem
from schemas.settings import Settings
from schemas.slice import Slice

_ACCEPTED_ASK: Final = {ExtractionOutcome.FIRST_PASS: 1, ExtractionOutcome.RETRY_PASS: 2}


@dataclass
class Row:
    """One class: faults planted, and what became of them.

    `rejected` answers were sent back or set aside, of `dropped` ones the rest was stored without the faulty claim,
    `stored` are escapes. A fault in a slice that went to `retry` was not judged. A fault of the wire is `rejected` when
    its call was made again, or its slice set aside.
    """

    planted: int = 0
    slices: set[str] = field(default_factory=set)
    rejected: int = 0
    dropped: int = 0
    unjudged: int = 0
    stored: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    escapes: list[Planted] = field(default_factory=list)


@dataclass
class Reckoning:
    """All rows by class, and the claims of the faultless answers: how many were valid, how many of these are stored.

    `unsound` are the breaches of the faultless answers themselves, each with the key of its slice.
    """

    rows: dict[str, Row]
    valid: int = 0
    kept: int = 0
    unsound: list[tuple[str, Problem]] = field(default_factory=list)
    unplanned_retries: int = 0

    @property
    def escaped(self) -> list[str]:
        """The classes that a rule must cover and of which something was stored."""
        return [name for name, row in self.rows.items() if row.stored and not _uncovered(name)]

    @property
    def kept_share(self) -> float:
        """The share of valid claims that is stored; 1 when there are none."""
        return self.kept / self.valid if self.valid else 1.0


def reckon(slices: Iterable[Slice], outcomes: Mapping[str, Outcome], report: Report, settings: Settings) -> Reckoning:
    """Return what became of everything; `outcomes` are by slice key (the session id), one for every slice."""
    done = Reckoning({name: Row() for name in (*CLASSES, *WIRE)})
    on_wire: defaultdict[str, list[str]] = defaultdict(list)
    for one in report.planted:
        row, outcome = done.rows[one.fault], outcomes[one.key]
        row.planted += 1
        row.slices.add(one.key)
        if one.where == "wire":
            on_wire[one.key].append(one.fault)
        else:
            _judge(row, one, outcome, settings)
    for key, outcome in outcomes.items():
        _judge_wire(done, key, on_wire[key], outcome)
    for key in report.too_soon:
        row = done.rows["http_429"]
        row.stored += 1
        row.escapes.append(Planted(key, 0, "http_429", "wire", text="asked again before Retry-After had passed"))
    for piece in slices:
        _count_valid(done, piece, outcomes[piece.session_id], report, settings)
    return done


def _judge(row: Row, one: Planted, outcome: Outcome, settings: Settings) -> None:
    if outcome.status == ExtractionOutcome.TO_RETRY and one.ask > len(outcome.attempts):
        row.unjudged += 1
    elif _ACCEPTED_ASK.get(outcome.status) != one.ask:
        row.rejected += 1
        row.rules.update({problem.rule for problem in outcome.problems})
    elif _is_stored(one, outcome, settings):
        row.stored += 1
        row.escapes.append(one)
    else:
        row.dropped += 1
        row.rules.update({problem.rule for problem in outcome.dropped})


def _is_stored(one: Planted, outcome: Outcome, settings: Settings) -> bool:
    """Whether the fault of an answer that was accepted stands in what is stored."""
    if one.where == "claim":
        marker = (one.kind, one.claim_key, one.about.casefold(), fold(one.text), one.quote, one.when)
        return any(
            marker == (claim.kind, claim.key, claim.about.casefold(), claim.text, claim.quote, claim.when)
            for claim in outcome.claims
        )
    if one.where == "digest":
        return outcome.episode is not None and outcome.episode.text == fold(one.text)
    return one.fault != "many_claims" or len(outcome.claims) > settings.extraction.max_claims


def _judge_wire(done: Reckoning, key: str, faults: list[str], outcome: Outcome) -> None:
    """Every fault of the wire must be a call made again, but for one that used up the budget of a slice set aside."""
    again = outcome.transport_retries + (outcome.status == ExtractionOutcome.TO_RETRY)
    for fault in faults[:again]:
        done.rows[fault].rejected += 1
    for fault in faults[again:]:
        done.rows[fault].stored += 1
        done.rows[fault].escapes.append(Planted(key, 0, fault, "wire", text="the call was not made again"))
    done.unplanned_retries += max(0, again - len(faults))


def _count_valid(done: Reckoning, piece: Slice, outcome: Outcome, report: Report, settings: Settings) -> None:
    base = set(report.base.get(piece.session_id, ()))
    stored = {(claim.kind, claim.key, claim.text) for claim in outcome.claims}
    wanted = {(kind, key, fold(text)) for kind, key, text in base}
    if not wanted <= stored:  # only then it matters whether the faultless answer would have passed
        transcript = build_transcript(piece, settings.extraction.memory_tools, timezone=settings.extraction.timezone)
        answered = answer([{"role": "user", "content": user_text("", transcript.text)}])
        verdict = judge(answered, Case(transcript, settings.keys(), (), settings.extraction.required_entities))
        done.unsound += [(piece.session_id, problem) for problem in (*verdict.problems, *verdict.dropped)]
        passed = () if verdict.problems else verdict.claims
        wanted = {(claim.kind, claim.key, fold(claim.text)) for claim in passed}
    done.valid += len(wanted)
    done.kept += len(wanted & stored)


def _uncovered(name: str) -> str:
    return CLASSES[name].uncovered if name in CLASSES else ""
