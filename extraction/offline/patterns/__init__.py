"""The families of patterns, one a module: each finds claims of its kind in a talk."""

from collections.abc import Callable, Iterator
from typing import Final

from extraction.offline.patterns import (
    commitments,
    contacts,
    decisions,
    deployment,
    goals,
    identity,
    orders,
    people,
    preferences,
    problems,
    questions,
)
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

FAMILIES: Final[tuple[Callable[[Talk], Iterator[ExtractedClaim]], ...]] = (
    goals.find,
    identity.find,
    people.find,
    preferences.find,
    contacts.find,
    deployment.find,
    decisions.find,
    commitments.find,
    problems.find,
    orders.find,
    questions.find,
)
"""In order of precedence: of two claims that say the same, the earlier family's is kept."""
