"""What has become of the slices of one replay, how often each was asked, and whether the model serves at all."""

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from extraction.ids import episode_id
from flows.replay_overlap import untold
from flows.replay_window import Window
from schemas.claim import Episode
from schemas.events import Event
from schemas.outcome import ExtractionOutcome, Outcome
from schemas.scope import Scope
from schemas.slice import Slice

_SERVED = (ExtractionOutcome.FIRST_PASS, ExtractionOutcome.RETRY_PASS, ExtractionOutcome.REJECTED)


class Tally:
    """What has become of the slices of one replay, and whether the model serves at all.

    Until it has served one, no more than `patience` are put to it; after so many in a row that it did not serve, none.
    Each slice that it does not serve counts as an attempt of that slice, so a provider that is down must not be asked
    for all of them.
    """

    def __init__(self, window: Window, patience: int) -> None:
        """Begin with the slices of `window`, none of them handed out."""
        self.outcomes: Counter[ExtractionOutcome] = Counter()
        self.forgotten = 0
        self.handed = 0
        self._attempts = dict(window.attempts)
        self._under_way: defaultdict[tuple[Scope, str], list[frozenset[str]]] = defaultdict(list)
        self._patience = patience
        self._unserved = 0
        self._has_served = False

    @property
    def done(self) -> int:
        """How many slices have been dealt with."""
        return self.forgotten + self.outcomes.total()

    @property
    def served(self) -> int:
        """How many slices the model has answered."""
        return sum(self.outcomes[status] for status in _SERVED)

    @property
    def is_model_down(self) -> bool:
        """Whether the model has not served so many in a row that the rest is left where it is."""
        return self._unserved >= self._patience

    def may_hand_out(self) -> bool:
        """Return whether another slice may be put to the model, as far as is known of it."""
        return self._has_served or self.handed - self.done + self._unserved < self._patience

    def attempts_before(self, piece: Slice) -> int:
        """Return how often `piece` was put to the model before this replay."""
        return self._attempts[piece.id]

    def remaining(self, piece: Slice, forgotten_until_ms: int, lines: Iterable[Episode] = ()) -> Slice | None:
        """Return `piece` without the events that were forgotten since, or are told otherwise; None for nothing left.

        `lines` are the digest lines of its session in the bank. An event is told otherwise by a line of another slice
        (see `untold`), or by a slice of this replay that came before: that one is stored, or has a letter of its own.
        A slice that has its own line in the bank is put to the model as it is, or is unchanged.
        """
        rest = self._of(piece, tuple(event for event in piece.events if event.ts_ms > forgotten_until_ms))
        if not rest.events:
            self.forgotten += 1
            return None
        under_way = self._under_way[piece.scope, piece.session_id]
        told = {line.id: frozenset(line.events) for line in lines}
        stored = () if episode_id(rest) in told else told.values()
        rest = self._of(piece, untold(rest.events, [*under_way, *stored]))
        if not rest.events:
            self.outcomes[ExtractionOutcome.UNCHANGED] += 1
            return None
        under_way.append(frozenset(event.id for event in rest.events))
        return rest

    def _of(self, piece: Slice, events: tuple[Event, ...]) -> Slice:
        """Return `piece` with `events` of its own only; it has had as many attempts, unless it had more as it is."""
        if len(events) == len(piece.events):
            return piece
        rest = msgspec.structs.replace(piece, events=events)
        self._attempts[rest.id] = max(self._attempts.get(rest.id, 0), self._attempts[piece.id])
        return rest

    def note(self, outcome: Outcome) -> None:
        """Take note of what became of one slice."""
        status = outcome.status
        self.outcomes[status] += 1
        if status is ExtractionOutcome.TO_RETRY:
            self._unserved += 1
        elif status in _SERVED:
            self._unserved = 0
            self._has_served = True
