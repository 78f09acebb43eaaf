"""What the lines of a transcript prove: the pieces a quote may be taken from, and the values a claim may state."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from extraction.dates import Interval, follows, intervals
from extraction.disclosure import SpokenSecrets
from extraction.entities import Entity, canonical, currencies, find_entities, normalise, number_pool, stands_in
from extraction.transcript import Line, Transcript, day_of
from schemas.claim import Claim
from schemas.vocabulary import Vocabulary


class LineEvidence:
    """One line, with what the rules ask of it worked out once and on demand."""

    def __init__(self, line: Line) -> None:
        """Take `line`; nothing is worked out yet."""
        self.line = line

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The shown pieces, normalised: a quote must lie inside one of them."""
        return tuple(normalise(piece) for piece in self.line.evidence)

    @cached_property
    def text(self) -> str:
        """All that was shown of the event, as values are compared."""
        return canonical(" | ".join(self.line.evidence))

    @cached_property
    def entities(self) -> frozenset[tuple[str, str]]:
        """Kind and value of every entity, other readings included."""
        return frozenset(
            (entity.kind, value)
            for piece in self.line.evidence
            for entity in find_entities(piece)
            for value in (entity.value, *entity.alternatives)
        )

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number, in words or figures."""
        return number_pool(self.text)

    @cached_property
    def currencies(self) -> frozenset[str]:
        """Every currency that is named."""
        return currencies(self.text)

    @cached_property
    def intervals(self) -> frozenset[Interval]:
        """Every interval of days that is stated or follows from a relative expression and the event's own day."""
        return intervals(self.text, day_of(self.line.event.ts_ms))

    def proves(self, entity: Entity) -> bool:
        """Return whether this line states `entity`, or says what it follows from."""
        values = (entity.value, *entity.alternatives)
        if any((entity.kind, value) in self.entities for value in values):
            return True
        match entity.kind:
            case "date":
                return any(follows(value, self.intervals) for value in values)
            case "number":
                return entity.value in self.numbers or self._is_part_of_date(entity.value)
            case "amount":
                currency, _, value = entity.value.partition(" ")
                return value in self.numbers and currency in self.currencies
            case _:
                return stands_in(entity.raw.casefold(), self.text.casefold())

    def _is_part_of_date(self, number: str) -> bool:
        return any(number in (str(day.year), str(day.day)) for interval in self.intervals for day in interval)


@dataclass(frozen=True)
class Case:
    """Everything an answer is judged by: the transcript it was given, the record it was shown, the words it may use.

    `required` are the entity kinds that must not be dropped.
    """

    transcript: Transcript
    vocabulary: Vocabulary
    context: tuple[Claim, ...] = ()
    required: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> tuple[LineEvidence, ...]:
        """The evidence of every line, ordinal n at index n - 1."""
        return tuple(LineEvidence(line) for line in self.transcript.lines)

    def cited(self, sources: Iterable[int]) -> list[LineEvidence]:
        """Return the evidence of the existing lines that `sources` cite, each once, in order."""
        return [self.lines[n - 1] for n in sorted(set(sources)) if 0 < n <= len(self.lines)]

    @cached_property
    def high_value(self) -> tuple[Entity, ...]:
        """The entities of the required kinds that somebody said, each once, in order of first mention.

        A secret is none, wherever it is said again: what may not be stored cannot be asked for.
        """
        spoken = (e for text in self.secrets.masked if text for e in find_entities(text))
        required = dict.fromkeys(e for e in spoken if e.kind in self.required)
        return tuple(e for e in required if self.secrets.find_in(e.raw) is None)

    @cached_property
    def secrets(self) -> SpokenSecrets:
        """Every PIN, password, card number and the like that the transcript holds."""
        return SpokenSecrets.of(self.transcript)
