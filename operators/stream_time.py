"""Stream time, and the timers that wait for it.

The stream time of a partition is the newest event time read from it, as Kafka Streams reckons it. Keys of a dataflow
are woken by items or by the clock on the wall only, so whoever reads the partition asks `due` which keys wait for a
time that has come, and sends each a tick. Both are held by one process; a key on another process of a cluster is
closed by the clock on the wall.
"""

import heapq


class StreamTime:
    """Stream time by partition, in milliseconds, and the keys that wait for it."""

    def __init__(self) -> None:
        """Start before all time."""
        self._now: dict[int, int] = {}
        self._armed: dict[tuple[int, str], int] = {}
        self._heaps: dict[int, list[tuple[int, str]]] = {}

    def advance(self, partition: int, ts_ms: int) -> int:
        """Count an event in and return the stream time of `partition`; it never goes back."""
        now = self._now.get(partition, 0)
        if ts_ms > now:
            self._now[partition] = now = ts_ms
        return now

    def arm(self, partition: int, key: str, due_ms: int) -> None:
        """Wake `key` once the stream time of `partition` reaches `due_ms`; an earlier timer of the key stays."""
        if self._armed.get((partition, key), due_ms + 1) <= due_ms:
            return
        self._armed[partition, key] = due_ms
        heapq.heappush(self._heaps.setdefault(partition, []), (due_ms, key))

    def due(self, partition: int) -> list[str]:
        """Return the keys whose time has come, and disarm them."""
        now = self._now.get(partition, 0)
        heap = self._heaps.get(partition, [])
        keys: list[str] = []
        while heap and heap[0][0] <= now:
            due_ms, key = heapq.heappop(heap)
            if self._armed.get((partition, key)) == due_ms:
                del self._armed[partition, key]
                keys.append(key)
        return keys

    def now(self, partition: int) -> int:
        """Return the stream time of `partition`, 0 before its first event."""
        return self._now.get(partition, 0)
