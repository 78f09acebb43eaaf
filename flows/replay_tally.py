"""What has become of the slices of one replay, how often each was asked, and whether the model serves at all."""

from collections import Counter

import msgspec

from flows.replay_window import Window
from schemas.outcome import ExtractionOutcome, Outcome
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

    def attempts_of(self, piece: Slice) -> int:
        """Return how often `piece` has been put to the model, this time included."""
        return self._attempts[piece.id] + 1

    def remaining(self, piece: Slice, forgotten_until_ms: int) -> Slice | None:
        """Return `piece` without the events that were forgotten since; None when nothing is left of it."""
        kept = tuple(event for event in piece.events if event.ts_ms > forgotten_until_ms)
        if not kept:
            self.forgotten += 1
            return None
        if len(kept) == len(piece.events):
            return piece
        rest = msgspec.structs.replace(piece, events=kept)
        self._attempts[rest.id] = self._attempts[piece.id]
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
