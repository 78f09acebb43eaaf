"""The recovery store: made when missing, cleaned before a start.

Bytewax writes the snapshots of an epoch before it notes that the epoch is done. A crash between the two leaves
snapshots of an epoch that the next execution begins anew, under the same number. Where that execution does not come to
write the same key in the same epoch, the leftover passes for its own at the next start: a session may stand further
than the offsets and the slices under way beside it, and what lies between is lost. So leftovers are removed.

Bytewax keeps a row for ever for every key that was ever discarded, and resuming reads them all in quadratic time
(100,000 rows: seconds). A discarded key whose older snapshots are gone needs no row: without one it is a key never
seen.
"""

import fcntl
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from bytewax.recovery import init_db_dir

_TIMEOUT_S = 5.0
_LOCK = "lock"

_DELETE_TOMBSTONES = """
DELETE FROM snaps WHERE ser_change IS NULL AND NOT EXISTS (
    SELECT 1 FROM snaps AS older
    WHERE older.step_id = snaps.step_id AND older.state_key = snaps.state_key AND older.snap_epoch < snaps.snap_epoch
)
"""


class RecoveryStoreBroken(RuntimeError):
    """The recovery folder holds something that is no recovery store, or is another process's at the moment."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep `folder` for this process while the block runs; it is made when missing.

    Two on one folder would each remove snapshots of the other. The lock goes with the process, however that ends.

    :raises RecoveryStoreBroken: Another process holds it, or it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / _LOCK).open("ab")
    except OSError as exc:
        raise _unusable(folder, exc) from exc
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            msg = f"the recovery store {folder} is in use by another process: stop it, or name another run.recovery_dir"
            raise RecoveryStoreBroken(msg) from exc
        except OSError as exc:
            raise _unusable(folder, exc) from exc
        yield


def _unusable(folder: Path, reason: Exception) -> RecoveryStoreBroken:
    return RecoveryStoreBroken(
        f"the recovery store {folder} cannot be used: {reason}; name another with run.recovery_dir or remove it"
    )


def prepare(folder: Path) -> Path:
    """Return `folder`, ready for a dataflow to resume from: made when missing, leftovers and tombstones removed.

    Must not be called while a dataflow runs on it: see `held`.

    :raises RecoveryStoreBroken: A file in it is no recovery store, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        parts = sorted(folder.glob("part-*.sqlite3"))
        if not parts:
            init_db_dir(folder, 1)
        resume_epoch = _resume_epoch(parts)
        for part in parts:
            _clean(part, resume_epoch)
    except (OSError, sqlite3.Error) as exc:
        raise _unusable(folder, exc) from exc
    return folder


def _resume_epoch(parts: Sequence[Path]) -> int | None:
    """Return the epoch that Bytewax will resume from; None when nothing was ever run.

    It is the least that a worker of the last execution has reached, and where that execution began if that is more.
    """
    executions: list[tuple[int, int, int]] = []
    fronts: list[tuple[int, int, int]] = []
    for part in parts:
        with closing(sqlite3.connect(part, timeout=_TIMEOUT_S)) as connection:
            executions += connection.execute("SELECT ex_num, worker_count, resume_epoch FROM exs")
            fronts += connection.execute("SELECT ex_num, worker_index, worker_frontier FROM fronts")
    if not executions:
        return None
    last, workers, began = max(executions)
    reached = dict.fromkeys(range(workers), began)
    for execution, worker, epoch in fronts:
        if execution == last:
            reached[worker] = max(epoch, reached.get(worker, began))
    return min(reached.values())


def _clean(part: Path, resume_epoch: int | None) -> None:
    with closing(sqlite3.connect(part, timeout=_TIMEOUT_S)) as connection:
        with connection:
            # Only snapshots of epochs before the one to resume from are read. (No epoch: nothing is more than NULL.)
            connection.execute("DELETE FROM snaps WHERE snap_epoch >= ?", (resume_epoch,))
            removed = connection.execute(_DELETE_TOMBSTONES).rowcount
        if removed:
            connection.execute("VACUUM")
