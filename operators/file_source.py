"""Files as an input: every line, or every whole JSON document, as a message like one from Kafka.

JSON lines (.jsonl, also .gz), a whole document (.json), a folder of these in order of their names, or standard input.
"""

import gzip
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import IO

from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

from schemas.message import Message

_BATCH = 500
"""Lines given to the dataflow at once; small enough that results flow while the file is still read."""

_ASK_AGAIN = timedelta(milliseconds=10)
"""How soon it is asked again whether more can be taken."""

_SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")


OnPoll = Callable[[int, bool], None]
"""Told of each poll of a source: the partition, and whether the poll took all there was."""


class InputNotFound(FileNotFoundError):
    """The file or folder to read is not there, or a folder holds nothing readable."""


def files_of(path: str) -> list[Path]:
    """Return the files to read at `path`, in order; an empty list for `-`.

    :raises InputNotFound: There is nothing to read.
    """
    if path == "-":
        return []
    where = Path(path)
    if where.is_dir():
        found = sorted(p for p in where.iterdir() if p.is_file() and p.name.endswith(_SUFFIXES))
        if not found:
            msg = f"the folder {path} holds no {', '.join(_SUFFIXES)} file"
            raise InputNotFound(msg)
        return found
    if not where.exists():
        msg = f"there is no file or folder {path}"
        raise InputNotFound(msg)
    return [where]


class InputBroken(OSError):
    """A file cannot be read to its end: a damaged archive, or a fault of the disk."""


class FileSource(FixedPartitionedSource[Message, int]):
    """All files as one partition, so that their order is the order of the stream.

    The state is the number of messages given out, so a resumed run goes on behind them.
    """

    def __init__(
        self,
        path: str,
        stop: threading.Event,
        on_poll: OnPoll = lambda partition, drained: None,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        """Read `path` until `stop` is set.

        `on_poll` is told whenever the dataflow asks for more. While `ready` is false nothing is handed out.

        :raises InputNotFound: There is nothing to read.
        """
        self.stop = stop
        self.on_poll = on_poll
        self.ready = ready
        self._path = Path(path)
        self._files = files_of(path)
        self._total = sum(file.stat().st_size for file in self._files)
        self._behind = 0
        self._reading: IO[bytes] | None = None
        self.fault: InputBroken | None = None

    @property
    def share_read(self) -> float | None:
        """The share of the bytes read, 0 to 1; None for standard input, whose length nobody knows."""
        if not self._total:
            return None
        here = self._reading.tell() if self._reading is not None and not self._reading.closed else 0
        return min(1.0, (self._behind + here) / self._total)

    def list_parts(self) -> list[str]:
        """Name the one partition after what is read, so that a snapshot of one input is not taken for another's."""
        if not self._files:
            return [f"stdin-{time.time_ns()}"]
        return [str(self._path.resolve()).encode(errors="surrogateescape").decode(errors="backslashreplace")]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> "_FilePartition":
        """Open the input behind the messages that a snapshot already counts."""
        return _FilePartition(self, resume_state or 0)

    def messages(self) -> Iterator[Message]:
        """Give all messages from the first on.

        A file that cannot be read does not keep the others from being read; the first is told by `fault`.
        """
        if not self._files:
            yield from _lines(sys.stdin.buffer, "-")
        for path in self._files:
            try:
                with path.open("rb") as raw:
                    self._reading = raw
                    yield from _messages(raw, path)
            except (EOFError, OSError, zlib.error) as exc:
                reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
                msg = (
                    f"{path} cannot be read to its end: {reason}; mend it and run again: what is stored is not doubled"
                )
                self.fault = self.fault or InputBroken(msg)
            self._behind += path.stat().st_size


class _FilePartition(StatefulSourcePartition[Message, int]):
    def __init__(self, source: FileSource, done: int) -> None:
        self._source = source
        self._messages = islice(source.messages(), done, None)
        self._done = done
        self._waits = False

    def next_batch(self) -> list[Message]:
        # A file is never drained: what was not read yet is there already.
        self._source.on_poll(0, False)
        if self._source.stop.is_set():
            raise StopIteration
        self._waits = not self._source.ready()
        if self._waits:
            return []
        batch = list(islice(self._messages, _BATCH))
        if not batch:
            raise StopIteration
        self._done += len(batch)
        return batch

    def next_awake(self) -> datetime | None:
        return datetime.now(UTC) + _ASK_AGAIN if self._waits else None

    def snapshot(self) -> int:
        return self._done


def _messages(raw: IO[bytes], path: Path) -> Iterator[Message]:
    file: IO[bytes] = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw  # type: ignore[assignment]
    if path.name.removesuffix(".gz").endswith(".json"):
        yield Message(file.read(), str(path), 0, 0)
    else:
        yield from _lines(file, str(path))


def _lines(file: IO[bytes], name: str) -> Iterator[Message]:
    for number, line in enumerate(file):
        yield Message(line.rstrip(b"\r\n"), name, 0, number)
