"""Dead letters: what was set aside, with the reason and enough to feed it in again. Nothing is lost.

From Kafka they go to Kafka, a topic for each kind; from files they go to a folder, one JSON lines file for each kind.
"""

import base64
import os
import threading
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import msgspec
from bytewax.outputs import DynamicSink, StatelessSinkPartition

from operators.decode import Invalid
from operators.kafka_sink import KafkaSink, Outgoing
from operators.mapped_sink import MappedSink
from operators.metrics import Metrics
from operators.session_core import LateEvent
from schemas.adk import envelope
from schemas.outcome import Outcome
from schemas.settings import KafkaSettings
from schemas.slice import Slice


class LetterKind(StrEnum):
    """Why something was set aside; names its topic or file."""

    INVALID = "invalid"
    LATE = "late"
    REJECTED = "rejected"
    RETRY = "retry"


class DeadLetter(msgspec.Struct, frozen=True, gc=False):
    """One thing set aside. `value` is what it was, `headers` say why and where it stood."""

    kind: LetterKind
    reason: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes], ...] = ()


_encode = msgspec.json.Encoder().encode


class RejectedSlice(msgspec.Struct, frozen=True):
    """A slice without an extraction: the slice itself, what became of it, and how often it was put to the model.

    `attempts` counts over the slice's whole life: the first time and every replay.
    """

    slice: Slice
    outcome: Outcome
    attempts: int = 1


def from_invalid(invalid: Invalid) -> DeadLetter:
    """Keep the original bytes, key and headers of a message that could not be read."""
    message = invalid.message
    headers = (
        *message.headers,
        ("strandline-reason", invalid.reason.encode()),
        ("strandline-detail", invalid.detail.encode(errors="replace")),
        ("strandline-from", f"{message.topic}/{message.partition}/{message.offset}".encode(errors="replace")),
    )
    return DeadLetter(LetterKind.INVALID, invalid.reason, message.key, message.value or b"", headers)


def from_late(late: LateEvent) -> DeadLetter:
    """Keep an event that came too late as an envelope that `decode` reads, so that it can be sent again."""
    value = _encode(envelope(late.scope, late.session_id, late.event))
    return DeadLetter(LetterKind.LATE, "older_than_id_memory", late.scope.key().encode(), value)


def from_rejected(piece: Slice, outcome: Outcome, attempts: int = 1) -> DeadLetter:
    """Keep a slice whose extraction failed its rules, or whose provider could not serve it in time.

    `attempts` is how often it was put to the model by now.
    """
    kind = LetterKind.REJECTED if outcome.status == "rejected" else LetterKind.RETRY
    reason = outcome.problems[-1].rule if outcome.problems and kind is LetterKind.REJECTED else "provider"
    return DeadLetter(kind, reason, piece.scope.key().encode(), _encode(RejectedSlice(piece, outcome, attempts)))


def topics(settings: KafkaSettings) -> dict[LetterKind, str]:
    """Return the topic of each kind."""
    return {
        LetterKind.INVALID: settings.invalid_topic,
        LetterKind.LATE: settings.late_topic,
        LetterKind.REJECTED: settings.rejected_topic,
        LetterKind.RETRY: settings.retry_topic,
    }


def topic_sink(settings: KafkaSettings, metrics: Metrics) -> MappedSink[DeadLetter, Outgoing]:
    """Return a sink that sends each letter to the topic of its kind, and counts it."""
    names = topics(settings)

    def outgoing(letter: DeadLetter) -> Outgoing:
        metrics.dead_letters.labels(names[letter.kind], letter.reason).inc()
        return Outgoing(names[letter.kind], letter.key, letter.value, letter.headers)

    return MappedSink(KafkaSink(settings), outgoing)


class CountingSink(DynamicSink[DeadLetter]):
    """Only counts the letters: a dry run leaves nothing behind."""

    def __init__(self, metrics: Metrics) -> None:
        """Count in `metrics`."""
        self._metrics = metrics

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_CountingPartition":
        """Return this worker's counter."""
        return _CountingPartition(self._metrics)


class _CountingPartition(StatelessSinkPartition[DeadLetter]):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def write_batch(self, items: list[DeadLetter]) -> None:
        for item in items:
            self._metrics.dead_letters.labels(item.kind, item.reason).inc()


class LettersUnwritable(OSError):
    """The folder for what is set aside cannot be written."""


class FolderSink(DynamicSink[DeadLetter]):
    """Appends each letter to `<kind>.jsonl` in a folder, which is made when the first letter comes, with mode 0700."""

    def __init__(self, folder: str, metrics: Metrics) -> None:
        """Write under `folder`."""
        self._folder = Path(folder)
        self._metrics = metrics
        self._lock = threading.Lock()

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_FolderPartition":
        """Return this worker's writer; workers of one process share the lock."""
        return _FolderPartition(self._folder, self._metrics, self._lock)


class _FolderPartition(StatelessSinkPartition[DeadLetter]):
    def __init__(self, folder: Path, metrics: Metrics, lock: threading.Lock) -> None:
        self._folder = folder
        self._metrics = metrics
        self._lock = lock

    def write_batch(self, items: list[DeadLetter]) -> None:
        try:
            with self._lock:
                # Letters hold what users said, so a folder made here is its owner's only.
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                for kind in {item.kind for item in items}:
                    lines = [_line(item) + b"\n" for item in items if item.kind == kind]
                    with (self._folder / f"{kind}.jsonl").open("a+b") as file:
                        file.write(_end_of_torn_line(file) + b"".join(lines))
        except OSError as exc:
            msg = (
                f"what is set aside cannot be kept in {self._folder}: {exc.strerror}; name another run.dead_letter_dir"
            )
            raise LettersUnwritable(msg) from exc
        for item in items:
            self._metrics.dead_letters.labels(f"{item.kind}.jsonl", item.reason).inc()


def _end_of_torn_line(file: BinaryIO) -> bytes:
    """Return a newline when a kill, or a full disk, left the last line unfinished: it must not swallow the next."""
    if file.seek(0, os.SEEK_END) == 0:
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def _line(letter: DeadLetter) -> bytes:
    """Write a letter as JSON; bytes that are no UTF-8 stand as base64 under `value_base64`."""
    document: dict[str, object] = {"kind": letter.kind, "reason": letter.reason}
    if letter.key is not None:
        document["key"] = letter.key.decode(errors="replace")
    document["headers"] = [[name, value.decode(errors="replace")] for name, value in letter.headers]
    try:
        document["value"] = letter.value.decode()
    except UnicodeDecodeError:
        document["value_base64"] = base64.b64encode(letter.value).decode()
    return _encode(document)
