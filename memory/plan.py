"""What a bank becomes when outcomes are applied to it: a pure function of its rows and of the outcomes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from memory.errors import ScopeViolation
from memory.ledger import Forgotten
from memory.resolve import Rules, resolved
from memory.rows import Contents, Row, same_stored
from schemas.claim import Claim, ClaimStatus
from schemas.outcome import ExtractionOutcome, Outcome
from schemas.scope import Scope

PASSES = (ExtractionOutcome.FIRST_PASS, ExtractionOutcome.RETRY_PASS)
_ACTIONS = {
    ClaimStatus.SUPERSEDED: "supersede",
    ClaimStatus.MERGED: "merge",
    ClaimStatus.CONFLICTING: "conflict",
    ClaimStatus.CLOSED: "close",
}


@dataclass(frozen=True)
class Change:
    """What to write: rows to put, ids to take away, and the bank as it is afterwards.

    `actions` counts claims: insert, replace (taken away or rewritten), supersede, merge, conflict, close. `refused`
    counts claims and episodes that a deletion on record covers.
    """

    after: Contents
    upserts: list[Row] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    actions: Counter[str] = field(default_factory=Counter)
    refused: int = 0


def passed(outcomes: Iterable[Outcome], scope: Scope) -> list[Outcome]:
    """Return the outcomes that change a bank, in order.

    Raises:
        ScopeViolation: an outcome, or something in it, belongs to another scope.
    """
    kept = []
    for outcome in outcomes:
        rows: list[Row] = [*outcome.claims, *([outcome.episode] if outcome.episode else [])]
        if outcome.scope != scope or any(row.scope != scope for row in rows):
            msg = "an outcome of another scope was given to this bank; nothing of it was written"
            raise ScopeViolation(msg)
        if outcome.status in PASSES:
            kept.append(outcome)
    return kept


def plan(before: Contents, outcomes: Sequence[Outcome], forgotten: Forgotten, rules: Rules) -> Change:
    """Return what applying `outcomes` (those that passed, in order) does to a bank that holds `before`.

    Step 1: each outcome takes away what its session contributed from the same events.
    Step 2: it adds its claims and its episode, less what a deletion on record covers.
    Step 3: the bank is resolved.
    Step 4: only rows that are stored otherwise than before are written.
    """
    claims, episodes = dict(before.claims), dict(before.episodes)
    refused = 0
    for outcome in outcomes:
        for row_id in _contributed(outcome, Contents(claims, episodes)):
            claims.pop(row_id, None)
            episodes.pop(row_id, None)
        for claim in outcome.claims:
            if forgotten.covers(claim):
                refused += 1
            else:
                claims[claim.id] = claim
        if (episode := outcome.episode) is not None:
            if forgotten.covers(episode):
                refused += 1
            else:
                episodes[episode.id] = episode
    after = resolved(Contents(claims, episodes), rules)
    upserts = [row for row in after.rows() if (old := before.get(row.id)) is None or not same_stored(old, row)]
    deletes = [row.id for row in before.rows() if after.get(row.id) is None]
    return Change(after, upserts, deletes, _actions(before, after, upserts, deletes), refused)


def _contributed(outcome: Outcome, contents: Contents) -> list[str]:
    """Return the ids of the rows that the outcome's session made of the outcome's events."""
    events = frozenset(outcome.event_ids)
    session_id = outcome.session_id
    found = [
        claim.id
        for claim in contents.claims.values()
        if claim.session_id == session_id and not events.isdisjoint(claim.sources)
    ]
    found.extend(
        episode.id
        for episode in contents.episodes.values()
        if episode.session_id == session_id and not events.isdisjoint(episode.events)
    )
    return found


def _actions(before: Contents, after: Contents, upserts: list[Row], deletes: list[str]) -> Counter[str]:
    actions: Counter[str] = Counter()
    actions["replace"] = sum(1 for row_id in deletes if row_id in before.claims)
    for row in upserts:
        if not isinstance(row, Claim):
            continue
        old = before.claims.get(row.id)
        if old is None:
            actions["insert"] += 1
        elif not same_statement(old, row):
            actions["replace"] += 1
        if row.status in _ACTIONS and (old is None or old.status != row.status):
            actions[_ACTIONS[row.status]] += 1
    return +actions


def same_statement(one: Claim, other: Claim) -> bool:
    """Say whether two claims differ at most in what `resolve` derived."""
    as_other = replace(
        one,
        status=other.status,
        superseded_by=other.superseded_by,
        conflicts_with=other.conflicts_with,
        merged_into=other.merged_into,
        mentions=other.mentions,
    )
    return as_other == other
