"""Which sessions are due: a heap of (time, session) per partition.

A deadline only moves later while a session is active, so it is looked at again when its old time has come, not at every
event. Entries of sessions that are gone are dropped then too.
"""

import heapq
from collections.abc import Callable

NEVER = 2**62
"""A time, in milliseconds, that does not come."""


class Deadlines:
    """Deadlines of sessions by one kind of time."""

    def __init__(self, deadline_of: Callable[[str, int], int | None]) -> None:
        """Ask `deadline_of(session_id, partition)` for the true deadline; None when that session is not there."""
        self._deadline_of = deadline_of
        self._heaps: dict[int, list[tuple[int, str]]] = {}

    def watch(self, session_id: str, partition: int) -> None:
        """Take in a session that is new, or whose deadline may have moved closer."""
        due_ms = self._deadline_of(session_id, partition)
        if due_ms is not None and due_ms < NEVER:
            heapq.heappush(self._heaps.setdefault(partition, []), (due_ms, session_id))

    def next(self, partition: int) -> int:
        """Return a time before which nothing of `partition` is due."""
        heap = self._heaps.get(partition)
        return heap[0][0] if heap else NEVER

    def partitions(self) -> list[int]:
        """Return the partitions with something to wait for."""
        return [partition for partition, heap in self._heaps.items() if heap]

    def due(self, partition: int, now_ms: int) -> list[str]:
        """Take out and return the sessions whose deadline has come, each once, in order of deadline.

        The caller acts on each and has it watched again if it is still there.
        """
        heap = self._heaps.get(partition, [])
        found: dict[str, None] = {}
        while heap and heap[0][0] <= now_ms:
            session_id = heapq.heappop(heap)[1]
            due_ms = self._deadline_of(session_id, partition)
            if due_ms is None or due_ms >= NEVER or session_id in found:
                continue
            if due_ms <= now_ms:
                found[session_id] = None
            else:
                heapq.heappush(heap, (due_ms, session_id))
        return list(found)
