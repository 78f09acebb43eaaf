"""Files as an input: every line, or every whole JSON document, as a message like one from Kafka.

JSON lines (.jsonl, also .gz), a whole document (.json), a folder of these in order of their names, or standard input.
"""

import gzip
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO

from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

from schemas.message import Message

_BATCH = 500
"""Lines given to the dataflow at once; small enough that results flow while the file is still read."""

_SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")


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
    if not where.is_file():
        msg = f"there is no file or folder {path}"
        raise InputNotFound(msg)
    return [where]


class FileSource(FixedPartitionedSource[Message, int]):
    """All files as one partition, so that their order is the order of the stream.

    The state is the number of messages given out, so a resumed run goes on behind them.
    """

    def __init__(self, path: str, stop: threading.Event, on_read: Callable[[int], None] = lambda n_bytes: None) -> None:
        """Read `path`; `on_read` is told the bytes of each batch as they stand in the file, uncompressed.

        :raises InputNotFound: There is nothing to read.
        """
        self._path = path
        self._files = files_of(path)
        self._stop = stop
        self._on_read = on_read

    def list_parts(self) -> list[str]:
        """Name the one partition."""
        return ["input"]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> "_FilePartition":
        """Open the input behind the messages that a snapshot already counts."""
        messages = _from_stdin() if self._path == "-" else _from_files(self._files)
        return _FilePartition(messages, resume_state or 0, self._stop, self._on_read)


class _FilePartition(StatefulSourcePartition[Message, int]):
    def __init__(
        self, messages: Iterator[Message], done: int, stop: threading.Event, on_read: Callable[[int], None]
    ) -> None:
        self._messages = islice(messages, done, None)
        self._done = done
        self._stop = stop
        self._on_read = on_read

    def next_batch(self) -> list[Message]:
        if self._stop.is_set():
            raise StopIteration
        batch = list(islice(self._messages, _BATCH))
        if not batch:
            raise StopIteration
        self._done += len(batch)
        self._on_read(sum(len(message.value or b"") + 1 for message in batch))
        return batch

    def snapshot(self) -> int:
        return self._done


def _from_files(paths: list[Path]) -> Iterator[Message]:
    for path in paths:
        with _open(path) as file:
            if path.name.removesuffix(".gz").endswith(".json"):
                yield Message(file.read(), str(path), 0, 0)
            else:
                yield from _lines(file, str(path))


def _from_stdin() -> Iterator[Message]:
    yield from _lines(sys.stdin.buffer, "-")


def _lines(file: IO[bytes], name: str) -> Iterator[Message]:
    for number, line in enumerate(file):
        yield Message(line.rstrip(b"\r\n"), name, 0, number)


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]
