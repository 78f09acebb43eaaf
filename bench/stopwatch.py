"""What one reader of a topic costs, from the first message handed out to the last one dealt with.

Start-up, connecting and waiting for the end lie outside that stretch; the CPU of all threads of the process lies in it.
Nothing but the standard library is used, for a row may run in an environment of its own.
"""

import argparse
import json
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measurement:
    """One run of one row: `slices` as given out at the end, seconds, and megabytes (of 2^20 bytes) at the peak."""

    messages: int
    slices: int
    wall_s: float
    cpu_s: float
    whole_wall_s: float
    whole_cpu_s: float
    peak_mb: float


class Stopwatch:
    """Runs from the first message handed out until `total` were handed out and the last batch was dealt with."""

    def __init__(self, total: int) -> None:
        """Take note of the start; `total` messages are to be read, and `left` of them still are."""
        self._born = time.monotonic()
        self.left = total
        self._total = total
        self._started: tuple[float, float] | None = None
        self._ended: tuple[float, float] | None = None

    def handed(self, count: int) -> bool:
        """Note, before they go their way, that `count` messages were handed out; return whether they are the last."""
        if self._started is None and count:
            self._started = _now()
        self.left -= count
        return self.left <= 0

    def finish(self) -> None:
        """Stop: the last message was dealt with. Only the first call counts."""
        self._ended = self._ended or _now()

    def report(self, slices: int) -> None:
        """Print the measurement as one line of JSON.

        :raises SystemExit: Not all messages were seen, so that there is nothing to compare.
        """
        if self._started is None or self._ended is None or self.left != 0:
            sys.exit(f"{self._total - self.left} of {self._total} messages were handed out: no measurement")
        end_wall, end_cpu = _now()
        found = Measurement(
            messages=self._total,
            slices=slices,
            wall_s=self._ended[0] - self._started[0],
            cpu_s=self._ended[1] - self._started[1],
            whole_wall_s=end_wall - self._born,
            whole_cpu_s=end_cpu,
            peak_mb=_peak_mb(),
        )
        print(json.dumps(asdict(found)), flush=True)


def _now() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.monotonic(), used.ru_utime + used.ru_stime


def _peak_mb() -> float:
    """Return the peak of resident memory. `ru_maxrss` would not do: a process inherits it from its parent."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "VmHWM":
            return int(value.split()[0]) / 1024
    msg = "/proc/self/status has no VmHWM; the benchmark needs Linux"
    raise OSError(msg)


def arguments() -> argparse.Namespace:
    """Return what every row is given: `bootstrap`, `topic`, `messages`, and `folder` for whatever it keeps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--messages", required=True, type=int)
    parser.add_argument("--folder", required=True)
    return parser.parse_args()
