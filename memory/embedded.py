"""What the embedded store lacks of a server: a write of many rows that is one commit, and proof that a drop dropped.

Local mode writes each row in a transaction of its own: a millisecond of disk per row, and a crash in the middle leaves
half a batch. Here the rows of one call share one transaction.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qdrant_client.local.qdrant_local import QdrantLocal

from memory.errors import EraseIncomplete, StoreLocked, StoreUnavailable


def open_folder(folder: str) -> QdrantLocal:
    """Open the embedded store in `folder`, which is made when it is not there, and take its lock.

    Raises:
        StoreLocked: another process has the folder open.
        StoreUnavailable: it cannot be read or written, or what it holds is damaged.
    """
    where = f"store folder {folder!r}"
    try:
        return QdrantLocal(folder)
    except (OSError, sqlite3.OperationalError) as error:
        raise StoreUnavailable(_refused(where, error)) from error
    except Exception as error:
        if isinstance(error, RuntimeError) and "already accessed" in str(error):
            msg = (
                f"{where} is open in another process; the embedded store serves one at a time: stop that process, "
                "or run a Qdrant server and set store.url to its address"
            )
            raise StoreLocked(msg) from error
        # Whatever a damaged JSON, SQLite or pickle makes of itself: it is read with no check in between.
        msg = (
            f"{where} is no embedded store, or a damaged one ({type(error).__name__}: {str(error)[:200]}); put back a "
            "copy of it, or name another folder and ingest again"
        )
        raise StoreUnavailable(msg) from error


def _refused(where: str, error: OSError | sqlite3.OperationalError) -> str:
    """Say what the system refused; a store that cannot be written to cannot even be read, which nobody expects."""
    reason = str(error)
    if isinstance(error, OSError):
        reason = f"{error.strerror or error}{f' on {error.filename}' if error.filename else ''}"
    return (
        f"{where} cannot be opened ({reason}); the embedded store takes a lock in its folder and so must be able to "
        "write there even to read: make the folder writable, free space, or copy it and name the copy"
    )


class _OneTransaction:
    """Stands for a connection whose `with` blocks do not commit: the transaction ends where it began, outside."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, *args: Any) -> sqlite3.Cursor:
        return self._connection.execute(*args)

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        return self._connection.executemany(*args)

    def __enter__(self) -> "_OneTransaction":
        return self

    def __exit__(self, *_: object) -> None:
        return None


@contextmanager
def one_commit(local: QdrantLocal, name: str) -> Iterator[None]:
    """Commit all writes to collection `name` (an alias serves too) inside the block at once, or none of them."""
    collection = local.collections.get(local.aliases.get(name, name))
    persistence = collection.storage if collection is not None else None
    if persistence is None:
        yield
        return
    connection = persistence.storage
    persistence.storage = _OneTransaction(connection)  # type: ignore[assignment]
    try:
        with connection:
            yield
    finally:
        persistence.storage = connection


def drop_files(local: QdrantLocal, name: str) -> None:
    """Delete collection `name` and its folder.

    Raises:
        EraseIncomplete: files of it are still there.
    """
    if (collection := local.collections.get(name)) is not None:
        collection.close()
    local.delete_collection(name)
    folder = Path(local.location) / "collection" / name
    if local.persistent and folder.exists():
        msg = f"files of a deleted collection are still in {folder}; make the folder writable and forget again"
        raise EraseIncomplete(msg)
