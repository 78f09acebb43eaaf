"""The recovery store: made when missing, cleaned before a start.

Bytewax keeps a row for ever for every key that was ever discarded, and resuming reads them all in quadratic time
(100,000 rows: seconds). A discarded key whose older snapshots are gone needs no row: without one it is a key never
seen.
"""

import sqlite3
from pathlib import Path

from bytewax.recovery import init_db_dir

_DELETE_TOMBSTONES = """
DELETE FROM snaps WHERE ser_change IS NULL AND NOT EXISTS (
    SELECT 1 FROM snaps AS older
    WHERE older.step_id = snaps.step_id AND older.state_key = snaps.state_key AND older.snap_epoch < snaps.snap_epoch
)
"""


class RecoveryStoreBroken(RuntimeError):
    """The recovery folder holds something that is no recovery store."""


def prepare(folder: Path) -> Path:
    """Return `folder`, ready for a dataflow to resume from: made when missing, tombstones removed.

    Must not be called while a dataflow runs on it.

    :raises RecoveryStoreBroken: A file in it is no recovery store, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        parts = sorted(folder.glob("part-*.sqlite3"))
        if not parts:
            init_db_dir(folder, 1)
        for part in parts:
            _clean(part)
    except (OSError, sqlite3.Error) as exc:
        msg = f"the recovery store {folder} cannot be used: {exc}; name another with run.recovery_dir or remove it"
        raise RecoveryStoreBroken(msg) from exc
    return folder


def _clean(part: Path) -> None:
    connection = sqlite3.connect(part, timeout=5.0)
    try:
        with connection:
            removed = connection.execute(_DELETE_TOMBSTONES).rowcount
        if removed:
            connection.execute("VACUUM")
    finally:
        connection.close()
