"""The record of a session: its claims by heading and its digest lines in order. A view; nothing is paraphrased."""

from collections.abc import Iterable

from memory.resolve import order
from schemas.claim import Claim, ClaimStatus, Episode
from schemas.extraction import ClaimKind
from schemas.record import Record
from schemas.scope import Scope

GOAL_KEY = "session.goal"


def record_of(scope: Scope, session_id: str, claims: Iterable[Claim], episodes: Iterable[Episode]) -> Record:
    """Return the record of `session_id` out of a bank's rows.

    A claim that was merged into another of the same session is left out, for that one says the same; what was
    superseded, closed or is in conflict is there with its status.
    """
    own = {claim.id: claim for claim in claims if claim.session_id == session_id}
    shown = sorted(
        (c for c in own.values() if not (c.status is ClaimStatus.MERGED and c.merged_into in own)), key=order
    )

    def of_kind(kind: ClaimKind) -> tuple[Claim, ...]:
        return tuple(claim for claim in shown if claim.kind == kind and claim.key != GOAL_KEY)

    lines = (episode for episode in episodes if episode.session_id == session_id)
    return Record(
        scope=scope,
        session_id=session_id,
        goal=tuple(claim for claim in shown if claim.key == GOAL_KEY),
        facts=of_kind("fact"),
        preferences=of_kind("preference"),
        decisions=of_kind("decision"),
        commitments=of_kind("commitment"),
        open_questions=of_kind("open_question"),
        digest=tuple(sorted(lines, key=lambda line: (line.first_ts_ms, line.last_ts_ms, line.id))),
    )
