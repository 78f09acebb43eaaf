"""What stands in the banks that this process has written to: the totals of the summary, and two sampled gauges.

One entry a scope, so it is bounded by `store.max_collections`, as the store is.
"""

import threading
from collections import Counter

from operators.metrics import Metrics
from schemas.scope import Scope


class Census:
    """Counts of claims by status and of standing claims by kind, each bank at its newest write."""

    def __init__(self, metrics: Metrics) -> None:
        """Keep the gauges of `metrics` at what is counted here."""
        self._metrics = metrics
        self._lock = threading.Lock()
        self._banks: dict[Scope, tuple[dict[str, int], dict[str, int]]] = {}
        self.statuses: Counter[str] = Counter()
        self.active: Counter[str] = Counter()

    def note(self, scope: Scope, statuses: dict[str, int], active: dict[str, int]) -> None:
        """Take in the state of one bank in place of what was known of it."""
        with self._lock:
            self._note(scope, statuses, active)

    def _note(self, scope: Scope, statuses: dict[str, int], active: dict[str, int]) -> None:
        old_statuses, old_active = self._banks.get(scope, ({}, {}))
        self._banks[scope] = (statuses, active)
        self.statuses.subtract(old_statuses)
        self.statuses.update(statuses)
        self.active.subtract(old_active)
        self.active.update(active)
        for kind in old_active.keys() | active.keys():
            self._metrics.memories_active.labels(kind).set(self.active[kind])
        self._metrics.conflicts_open.set(self.statuses["conflicting"])
