"""Letters in a folder: `rejected.jsonl` or `retry.jsonl`, and beside them how far they were replayed."""

import os
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec
import structlog

from operators.dead_letter import LetterKind, LettersUnwritable
from operators.file_source import InputBroken, InputNotFound
from operators.letters import Found, LetterBroken, letter_of

STATE = "replay.state"
"""The file that says how far each kind was replayed; without it everything is read again, which changes no bank."""

_HEAD_BYTES = 4096
"""So much of a file's beginning tells it from another by the same name, which is read from its start."""

log = structlog.get_logger(__name__)


class _Reached(msgspec.Struct):
    """How far a file was replayed, in bytes, and a digest of its first bytes, at most `_HEAD_BYTES`."""

    position: int
    head: str


class _Line(msgspec.Struct):
    """A letter as `FolderSink` writes it."""

    value: str


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_state = msgspec.json.Decoder(dict[str, _Reached]).decode


class LetterFolder:
    """The letters of one kind in a folder; a file that is not there holds none."""

    def __init__(self, folder: Path, kind: LetterKind) -> None:
        """Look at the folder; nothing is read yet.

        Raises:
            InputNotFound: it is a file.
        """
        if folder.exists() and not folder.is_dir():
            msg = f"{folder} is no folder; name the one that holds {kind}.jsonl"
            raise InputNotFound(msg)
        self._folder = folder
        self._file = folder / f"{kind}.jsonl"
        self._first = b""

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self._file)

    def read(self, *, from_start: bool) -> Iterator[Found]:
        """Give the lines behind the last replay, or all, up to the last whole line as it is now.

        The state is read in any case: it is better to learn that it is damaged before anything is paid for.

        Raises:
            InputBroken: the file or the state beside it cannot be read.
        """
        state = self._state()
        try:
            with self._file.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                # Kept, for another file may have taken the name when the position is noted.
                self._first = file.read(min(size, _HEAD_BYTES))
                file.seek(0)
                begin = 0 if from_start else self._reached(state, size)
                position, number = 0, 0
                for line in file:
                    number += 1
                    position += len(line)
                    if position > size or not line.endswith(b"\n"):
                        return
                    if position > begin and line.strip():
                        yield _found(line, f"{self._file} line {number}", (self._file.name, position))
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unreadable(self._file, error) from error

    def done(self, positions: Mapping[str, int]) -> None:
        """Write the position in the file that was read beside the letters, whole or not at all.

        Raises:
            LettersUnwritable: that cannot be done.
            InputBroken: the state that stands there cannot be read.
        """
        if self._file.name not in positions:
            return
        position = positions[self._file.name]
        aside = self._folder / f"{STATE}.new"
        state = self._state() | {self._file.name: _Reached(position, self._head(position))}
        try:
            with aside.open("wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(state)) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self._folder / STATE)
        except OSError as error:
            msg = (
                f"how far {self._file} was replayed cannot be kept in {self._folder}: {error.strerror}; mend that, for "
                "the next replay reads the same letters again"
            )
            raise LettersUnwritable(msg) from error

    def _reached(self, state: Mapping[str, _Reached], size: int) -> int:
        """Return the position of the last replay; 0 when there was none, or it was of another file by this name."""
        reached = state.get(self._file.name)
        if reached is None:
            return 0
        if size < reached.position or self._head(reached.position) != reached.head:
            log.warning("the letters are not those of the last replay, reading from the first", file=str(self._file))
            return 0
        return reached.position

    def _head(self, position: int) -> str:
        return blake2b(self._first[:position], digest_size=16).hexdigest()

    def _state(self) -> dict[str, _Reached]:
        path = self._folder / STATE
        try:
            return _decode_state(path.read_bytes())
        except FileNotFoundError:
            return {}
        except msgspec.DecodeError as error:
            msg = f"{path} is damaged ({error}); remove it: letters are then read from the first, which changes no bank"
            raise InputBroken(msg) from error
        except OSError as error:
            raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputBroken:
    return InputBroken(f"{path} cannot be read: {error.strerror}; check its rights and its disk")


def _found(line: bytes, where: str, after: tuple[str, int]) -> Found:
    try:
        value = _decode_line(line).value
    except msgspec.DecodeError as error:
        return Found(where, after, fault=f"it is no line of a dead-letter file: {error}")
    try:
        return Found(where, after, letter_of(value))
    except LetterBroken as error:
        return Found(where, after, fault=str(error))
