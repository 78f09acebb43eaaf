"""Where slices end when nothing is extracted: counted, and written down when a file is named."""

from pathlib import Path

import msgspec
from bytewax.outputs import DynamicSink, StatelessSinkPartition

from schemas.controls import Control
from schemas.slice import Slice

_encode = msgspec.json.Encoder().encode


class SlicesUnwritable(OSError):
    """The file for the slices cannot be written."""


class SliceSink(DynamicSink[tuple[str, Slice | Control]]):
    """Writes one JSON line a slice: app, userId, sessionId, reason, n_events, first_ts, last_ts (ms), n_chars."""

    def __init__(self, path: Path | None) -> None:
        """Begin `path` anew; None writes nothing.

        :raises SlicesUnwritable: It cannot be written.
        """
        self._path = path
        if path is not None:
            try:
                path.write_bytes(b"")
            except OSError as exc:
                msg = f"slices cannot be written to {path}: {exc.strerror}; name another file with --sessions-out"
                raise SlicesUnwritable(msg) from exc

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_SlicePartition":
        """Return this worker's writer."""
        return _SlicePartition(self._path)


class _SlicePartition(StatelessSinkPartition[tuple[str, Slice | Control]]):
    def __init__(self, path: Path | None) -> None:
        self._path = path

    def write_batch(self, items: list[tuple[str, Slice | Control]]) -> None:
        if self._path is None:
            return
        lines = [_encode(_line(item)) + b"\n" for _, item in items if isinstance(item, Slice)]
        with self._path.open("ab") as file:
            file.write(b"".join(lines))


def _line(piece: Slice) -> dict[str, object]:
    return {
        "app": piece.scope.app,
        "userId": piece.scope.user,
        "sessionId": piece.session_id,
        "reason": piece.reason,
        "n_events": len(piece.events),
        "first_ts": piece.first_ts_ms,
        "last_ts": piece.last_ts_ms,
        "n_chars": piece.n_chars,
    }
