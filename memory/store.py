"""The store: one collection per scope behind an alias, on a Qdrant server or embedded in a folder."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import structlog
from msgspec.structs import replace
from qdrant_client import models

from memory.bank import Bank
from memory.client import Qdrant, open_qdrant
from memory.errors import CollectionMissing, TooManyScopes
from memory.ledger import Ledger
from memory.names import alias_name, bank_of, generation_name
from memory.plan import Change
from memory.resolve import Rules
from memory.rows import Contents, Row, indexed_text, payload_of, row_of
from memory.schema import MEANING, WORDS, Meta, bank_layout, check_embedding, meta_of
from memory.words import passage_vector
from schemas.claim import Episode
from schemas.scope import Scope
from schemas.settings import Settings

if TYPE_CHECKING:
    from memory.meaning import Embedder

CACHED_ROWS = 200_000
"""Rows kept of an embedded store: local mode takes 50 ms to read 500, several times what all else of an apply does."""
WARN_SHARE = 0.8
"""Share of `max_collections` from which each new bank is warned about."""

_log = structlog.get_logger(__name__)


class Store:
    """An open store. Use it as a context manager, and `bank` for everything else.

    An embedded store may be used by several threads; so may a server's, with one writer per scope at a time.
    """

    def __init__(self, qdrant: Qdrant, settings: Settings) -> None:
        """Take an open client; `Store.open` makes one."""
        self.qdrant = qdrant
        self.settings = settings
        self.rules = Rules.of(settings)
        self.ledger = Ledger(qdrant, settings.store)
        self.embedder = _embedder(settings)
        # The folder's lock, and this one, make this object the only one that can change an embedded bank: what it
        # wrote is what stands there. On a server others may write, so nothing is remembered.
        self.lock: AbstractContextManager[Any] = threading.RLock() if qdrant.is_embedded else nullcontext()
        self._cache: OrderedDict[Scope, Contents] = OrderedDict()
        self._cached_rows = 0

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the store that `settings.store.url` names.

        Raises:
            StoreNotSetError: no store is named.
            StoreLocked: another process has the folder open.
            StoreUnavailable: the folder cannot be used. A server is not called yet: `ping` does.
        """
        return cls(open_qdrant(settings.store), settings)

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Release the connections, or the lock of the folder."""
        self.qdrant.close()
        if self.embedder is not None:
            self.embedder.close()

    def ping(self) -> None:
        """Make one cheap call; raises StoreUnavailable when the store does not answer or refuses the key."""
        self.qdrant.ping()

    def bank(self, scope: Scope) -> Bank:
        """Return the bank of `scope`; nothing is called, and one that does not exist reads as empty."""
        return Bank(self, scope)

    def alias(self, scope: Scope) -> str:
        """Return the alias of the bank of `scope`."""
        return alias_name(self.settings.store.prefix, scope)

    def meta(self, scope: Scope) -> Meta | None:
        """Return the metadata of the bank, or None when there is no bank; raises SchemaMismatch."""
        alias = self.alias(scope)
        try:
            return meta_of(self.qdrant.metadata(alias), scope, alias)
        except CollectionMissing:
            return None

    def check_embedding(self, meta: Meta) -> None:
        """Raise EmbeddingMismatch unless the settings' embedding is the one that the bank was made with."""
        name = self.embedder.name if self.embedder else ""
        check_embedding(meta, name, self.embedder.dimensions if self.embedder else 0)

    def create(self, scope: Scope) -> Meta:
        """Create the bank of `scope`, or find that another process just did.

        Raises:
            TooManyScopes: `store.max_collections` banks are there.
        """
        self._check_room()
        alias = self.alias(scope)
        embedding = (self.embedder.name, self.embedder.dimensions) if self.embedder else ("", 0)
        name = generation_name(alias, 1)
        self.qdrant.create(name, bank_layout(Meta.new(scope, *embedding)))
        meta = meta_of(self.qdrant.metadata(name), scope, name)
        self.qdrant.point_alias(alias, name)
        return meta

    def contents(self, scope: Scope) -> Contents:
        """Return all rows of the bank with the statuses that are stored; raises ScopeViolation as `row_of` does.

        They may have been derived from another vocabulary: the next write puts them right, a reader resolves them.
        """
        if (cached := self._cache.get(scope)) is not None:
            self._cache.move_to_end(scope)
            return cached
        try:
            stored = Contents.of(row_of(point.payload, scope) for point in self.qdrant.scroll(self.alias(scope)))
        except CollectionMissing:
            stored = Contents()
        self._remember(scope, stored)
        return stored

    def write(self, scope: Scope, change: Change) -> None:
        """Write `change` to the bank: all that is new in one call first, then take away what is gone.

        A crash between the two leaves rows that the next write takes away; never a moment without either. That write
        comes because the slice has no fingerprint yet: it vouches for the whole slice, so it is written last.
        """
        alias = self.alias(scope)
        self.invalidate(scope)
        new = change.upserts
        lines = [row for row in new if isinstance(row, Episode)] if change.deletes else []
        if lines:
            new = [replace(row, fingerprint="") if isinstance(row, Episode) else row for row in new]
        if new:
            self.qdrant.upsert(alias, self._points(alias, new))
        if change.deletes:
            self.qdrant.delete(alias, change.deletes)
        if lines:
            self.qdrant.upsert(alias, self._points(alias, lines))
        self._remember(scope, change.after)

    def invalidate(self, scope: Scope) -> None:
        """Forget what is remembered of a bank's rows, so that the next read asks the store."""
        if (old := self._cache.pop(scope, None)) is not None:
            self._cached_rows -= len(old.claims) + len(old.episodes)

    def _remember(self, scope: Scope, contents: Contents) -> None:
        if not self.qdrant.is_embedded:
            return
        self.invalidate(scope)
        self._cache[scope] = contents
        self._cached_rows += len(contents.claims) + len(contents.episodes)
        while self._cached_rows > CACHED_ROWS and len(self._cache) > 1:
            self.invalidate(next(iter(self._cache)))

    def _points(self, alias: str, rows: Sequence[Row]) -> list[models.PointStruct]:
        meanings = self._meanings(alias, rows)
        points = []
        for row in rows:
            vector: dict[str, Any] = {WORDS: passage_vector(indexed_text(row))}
            if meanings:
                vector[MEANING] = meanings[row.id]
            points.append(models.PointStruct(id=row.id, vector=vector, payload=payload_of(row)))
        return points

    def _meanings(self, alias: str, rows: Sequence[Row]) -> dict[str, list[float]]:
        """Return the dense vector per row: the stored one where the row is there, for its id derives from its text."""
        if self.embedder is None:
            return {}
        stored = self.qdrant.retrieve(alias, [row.id for row in rows], vectors=[MEANING])
        texts = {str(point.id): (point.payload or {}).get("text") for point in stored}
        vectors: dict[str, list[float]] = {}
        for point in stored:
            vector = point.vector.get(MEANING) if isinstance(point.vector, dict) else None
            if vector is not None:
                vectors[str(point.id)] = vector  # type: ignore[assignment]
        new = [row for row in rows if row.id not in vectors or texts[row.id] != row.text]
        vectors.update(zip((row.id for row in new), self.embedder.passages([row.text for row in new]), strict=True))
        return vectors

    def _check_room(self) -> None:
        limit = self.settings.store.max_collections
        prefix = self.settings.store.prefix
        banks = {bank for name in self.qdrant.names() if (bank := bank_of(prefix, name)) is not None}
        if len(banks) >= limit:
            msg = (
                f"the store holds {len(banks)} scopes and store.max_collections is {limit}. Raise it (a Qdrant server "
                "with vm.max_map_count at its default holds some 4,000, a cloud cluster 1,000), or spread the users "
                "over several servers"
            )
            raise TooManyScopes(msg)
        if len(banks) + 1 >= WARN_SHARE * limit:
            _log.warning("store is filling up", scopes=len(banks) + 1, max_collections=limit)


def _embedder(settings: Settings) -> "Embedder | None":
    if not settings.embedding.base_url:
        return None
    # The client of the endpoint takes a second to load, which a store with words alone need not pay for.
    from memory.meaning import Embedder  # noqa: PLC0415

    return Embedder(settings.embedding)
