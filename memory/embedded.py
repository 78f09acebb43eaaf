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

from memory.errors import EraseIncomplete


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
