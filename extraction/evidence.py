"""What the lines of a transcript prove: the pieces a quote may be taken from, and the values a claim may state."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from extraction.dates import Interval, follows, intervals
from extraction.disclosure import SpokenSecrets
from extraction.entities import NO_PATTERNS, Entity, Patterns, find_entities, may_hold, stands_alone, stands_in
from extraction.folding import canonical, normalise
from extraction.recognisers.amounts import loose_currencies
from extraction.recognisers.contacts import is_part_of_url
from extraction.recognisers.numbers import number_pool
from extraction.roots import roots
from extraction.transcript import Line, Transcript
from schemas.claim import Claim
from schemas.vocabulary import Vocabulary

MAX_CLAIMS: Final = 60
"""How many claims an answer may hold where the settings say nothing, as they do by default."""

_NATIONAL_DIGITS: Final = 9
"""So many digits at the end of a phone number are that number; fewer may be of another."""


class LineEvidence:
    """One line, with what the rules ask of it worked out once and on demand."""

    def __init__(self, line: Line, find: Callable[[str], Iterable[Entity]]) -> None:
        """Take `line` and what finds the entities of a text; nothing is worked out yet."""
        self.line = line
        self._find = find

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
            reading for piece in self.line.evidence for entity in self._find(piece) for reading in entity.readings
        )

    @cached_property
    def folded(self) -> str:
        """All that was shown, as values are compared, without case."""
        return self.text.casefold()

    @cached_property
    def roots(self) -> frozenset[str]:
        """The roots of all words that were shown, and of the names of who said them."""
        event = self.line.event
        return roots(" ".join((*self.pieces, event.speaker, event.author)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number, in words or figures."""
        return number_pool(self.text)

    @cached_property
    def currencies(self) -> frozenset[str]:
        """Every currency that is named apart from an amount."""
        return loose_currencies(self.text)

    @cached_property
    def intervals(self) -> frozenset[Interval]:
        """Every interval of days that is stated or follows from a relative expression and the event's own day."""
        return intervals(self.text, self.line.day)

    def proves(self, entity: Entity) -> bool:
        """Return whether this line states `entity`, or says what it follows from."""
        written = canonical(entity.raw).casefold()
        if stands_alone(written, self.folded) or not self.entities.isdisjoint(entity.readings):
            return True
        match entity.kind:
            case "date":
                is_said = any(follows(value, self.intervals) for _, value in entity.readings)
            case "number":
                is_said = entity.value in self.numbers
            case "amount":
                currency, _, value = entity.value.partition(" ")
                is_said = value in self.numbers and currency in self.currencies
            case "phone":
                is_said = self._holds_phone(entity.value)
            case "url":
                is_said = self._holds_url(entity.value) or stands_in(entity.value.casefold(), self.folded)
            case _:
                is_said = stands_in(written, self.folded) or ("phone", entity.value) in self.entities
        return is_said

    def _holds_phone(self, digits: str) -> bool:
        """Return whether a phone number is said: without its country, or as a long number, it is the same one."""
        if ("identifier", digits) in self.entities:
            return True
        return len(digits) >= _NATIONAL_DIGITS and any(
            kind == "phone" and value.endswith(digits) for kind, value in self.entities
        )

    def _holds_url(self, url: str) -> bool:
        return any(kind == "url" and is_part_of_url(url, value) for kind, value in self.entities)


@dataclass(frozen=True)
class Case:
    """Everything an answer is judged by: the transcript it was given, the record it was shown, the words it may use.

    `required` are the entity kinds that must not be dropped, `patterns` a deployment's own kinds; `max_claims` is how
    many claims an answer may hold.
    """

    transcript: Transcript
    vocabulary: Vocabulary
    context: tuple[Claim, ...] = ()
    required: tuple[str, ...] = ()
    patterns: Patterns = NO_PATTERNS
    max_claims: int = MAX_CLAIMS
    _found: dict[str, list[Entity]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _normalised: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def entities(self, text: str) -> list[Entity]:
        """Return the entities of `text`; several rules ask for those of the same lines and claims."""
        found = self._found.get(text)
        if found is None:
            found = self._found[text] = find_entities(text, self.patterns)
        return found

    @cached_property
    def lines(self) -> tuple[LineEvidence, ...]:
        """The evidence of every line, ordinal n at index n - 1."""
        return tuple(LineEvidence(line, self.entities) for line in self.transcript.lines)

    def normalised(self, text: str) -> str:
        """Return `normalise(text)`; several rules ask for that of the same quotes and texts."""
        found = self._normalised.get(text)
        if found is None:
            found = self._normalised[text] = normalise(text)
        return found

    def cited(self, sources: Iterable[int]) -> list[LineEvidence]:
        """Return the evidence of the existing lines that `sources` cite, each once, in order."""
        return [self.lines[n - 1] for n in sorted(set(sources)) if 0 < n <= len(self.lines)]

    @cached_property
    def high_value(self) -> tuple[Entity, ...]:
        """The entities of the required kinds that somebody said, each once, in order of first mention.

        A secret is none, wherever it is said again: what may not be stored cannot be asked for.
        """
        told = (text for text in self.secrets.masked if text and may_hold(text, self.required))
        bare = "number" in self.required
        spoken = (e for text in told for e in find_entities(text, self.patterns, numbers=bare))
        required = dict.fromkeys(e for e in spoken if e.kind in self.required)
        return tuple(e for e in required if self.secrets.find_in(e.raw) is None)

    @cached_property
    def withheld_roots(self) -> frozenset[str]:
        """The roots of words that were said in withheld events only."""
        if not self.transcript.withheld:
            return frozenset()
        shown = (line.roots for line in self.lines)
        return roots(" ".join(self.transcript.withheld)).difference(*shown)

    @cached_property
    def secrets(self) -> SpokenSecrets:
        """Every PIN, password, card number and the like that the transcript holds."""
        return SpokenSecrets.of(self.transcript)
