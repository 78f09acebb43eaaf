"""What a session amounts to: a view over its claims and digest lines. Nothing in it was paraphrased twice."""

import msgspec

from schemas.claim import Claim, Episode
from schemas.scope import Scope


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A session's claims by heading, each list in order of observation, and its digest lines in order of time."""

    scope: Scope
    session_id: str
    goal: tuple[Claim, ...] = ()
    facts: tuple[Claim, ...] = ()
    preferences: tuple[Claim, ...] = ()
    decisions: tuple[Claim, ...] = ()
    commitments: tuple[Claim, ...] = ()
    open_questions: tuple[Claim, ...] = ()
    digest: tuple[Episode, ...] = ()
