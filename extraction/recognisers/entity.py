"""What a recogniser finds."""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entity:
    """One value found in a text.

    `kind` is one of `schemas.entity_kinds.ENTITY_KINDS` or the name of a deployment's own pattern. `value` is the
    normalised form; `alternatives` are other readings of an ambiguous one (03/04/2026); `raw` is how it was written.
    """

    kind: str
    value: str
    raw: str = field(compare=False)
    alternatives: tuple[str, ...] = field(default=(), compare=False)

    @property
    def readings(self) -> tuple[tuple[str, str], ...]:
        """Every (kind, value) that it may be."""
        return ((self.kind, self.value), *((self.kind, value) for value in self.alternatives))


Found = Iterator[tuple[int, int, Entity]]
"""Start and end in the text, and the entity there."""
