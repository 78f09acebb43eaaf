"""How long a partition has had nothing to read: the clock by which a session is idle although stream time stands still.

The clock on the wall itself would not do. It runs while the process is down, while a backlog is read, and while a
full model budget turns the source away; sessions whose next events are merely waiting to be read would be cut. Quiet
time runs only while the partition was drained, and a pause between two polls counts for at most a second.
"""

from collections.abc import Callable
from time import monotonic

_MOST_MS = 1_000


class QuietTime:
    """Milliseconds of quiet by partition, from 0 at the start of the process."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Reckon by `clock`, in seconds."""
        self._clock = clock
        self._last: dict[int, float] = {}
        self._quiet: dict[int, float] = {}

    def polled(self, partition: int, *, drained: bool) -> None:
        """Take note of a poll; `drained` says that it took all there was."""
        now = self._clock()
        if drained:
            passed_ms = (now - self._last.get(partition, now)) * 1000
            self._quiet[partition] = self._quiet.get(partition, 0.0) + min(passed_ms, _MOST_MS)
        self._last[partition] = now

    def now(self, partition: int) -> int:
        """Return the quiet milliseconds of `partition` so far."""
        return int(self._quiet.get(partition, 0.0))
