"""Which sessions have slices that were extracted and are not in their bank yet."""

import threading
from collections import Counter
from collections.abc import Iterable

from schemas.outcome import ExtractionOutcome, Outcome
from schemas.scope import Scope

_WRITTEN = (ExtractionOutcome.FIRST_PASS, ExtractionOutcome.RETRY_PASS)


class Unwritten:
    """Counts, per session, the outcomes between the model and the bank; what it holds is bounded by those under way.

    A bank tells of a session only when none are: the next write may replace what it tells.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._sessions: Counter[tuple[Scope, str]] = Counter()

    def extracted(self, outcome: Outcome) -> None:
        """Take note of an outcome that is on its way to the bank; one that changes no bank is none."""
        if outcome.status in _WRITTEN:
            with self._lock:
                self._sessions[outcome.scope, outcome.session_id] += 1

    def written(self, outcomes: Iterable[Outcome]) -> None:
        """Take note that these outcomes are durable."""
        with self._lock:
            for outcome in outcomes:
                where = (outcome.scope, outcome.session_id)
                if outcome.status in _WRITTEN and where in self._sessions:
                    self._sessions[where] -= 1
                    if not self._sessions[where]:
                        del self._sessions[where]

    def holds(self, scope: Scope, session_id: str) -> bool:
        """Return whether an outcome of this session is on its way."""
        with self._lock:
            return (scope, session_id) in self._sessions
