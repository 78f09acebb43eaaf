"""Deletion that deletes: the collection is dropped, or rewritten without what was forgotten, and then it is proved.

A delete of points would not do: on a server their text stays in the log and in the segments (measured). So a bank
stands behind an alias, and what survives moves to a new collection before the old one is dropped with its files.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from qdrant_client import models

from memory.errors import CollectionMissing, StoreUnavailable
from memory.ledger import Forgotten
from memory.names import generation_name, generation_of
from memory.resolve import resolved
from memory.rows import Contents, Row, indexed_text, payload_of, row_of
from memory.schema import WORDS, Meta, bank_layout, meta_of
from memory.words import query_vector
from schemas.scope import Scope

if TYPE_CHECKING:
    from memory.store import Store

Method = Literal["dropped", "rewritten", "none"]
"""The collection was dropped, or rewritten without what was forgotten; `none`: nothing of it was there."""

WRITE = 256
"""Points copied in one call: far below the server's body limit, whatever the vectors' size."""
TRIES = 3
"""How often an erasure starts again when another process rewrote the bank meanwhile."""
PROBE_TERMS = 128
"""Terms of one probing query."""


class Proof(msgspec.Struct, frozen=True):
    """Rows of what was forgotten that a search and a scroll still found, and leftover collections: all 0."""

    search: int
    scroll: int
    leftovers: int

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not (self.search or self.scroll or self.leftovers)


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a deletion did. It names nobody: `scope_hash` and `session_hash` are the keyed hashes of the ledger.

    `forgotten_until_ms` is the time up to which everything was deleted and stays refused, `at_ms` when it was asked.
    """

    scope_hash: str
    session_hash: str | None
    forgotten_until_ms: int
    at_ms: int
    claims: int
    episodes: int
    method: Method
    proof: Proof


class Erased(NamedTuple):
    """The rows that were there and are no more, and how that was done."""

    rows: list[Row]
    method: Method


class _Stored(NamedTuple):
    row: Row
    point: models.Record


def erase(store: "Store", scope: Scope, forgotten: Forgotten) -> Erased:
    """Make the bank as if what `forgotten` covers had never been written; leftovers of earlier tries go too.

    Raises:
        StoreUnavailable: the store failed, or another process kept rewriting the bank.
    """
    for _ in range(TRIES):
        store.invalidate(scope)
        try:
            return _erase(store, scope, forgotten)
        except CollectionMissing:
            continue
    msg = "the bank was rewritten by another process at the same time, again and again; forget again later"
    raise StoreUnavailable(msg)


def generations(store: "Store", scope: Scope) -> dict[str, int]:
    """Return the physical collections of the bank with their numbers, the one in use and leftovers."""
    alias = store.alias(scope)
    found = {name: generation_of(alias, name) for name in store.qdrant.names()}
    return {name: number for name, number in found.items() if number is not None}


def _erase(store: "Store", scope: Scope, forgotten: Forgotten) -> Erased:
    qdrant, alias = store.qdrant, store.alias(scope)
    numbers = generations(store, scope)
    used = qdrant.alias_target(alias, list(numbers))
    stored = _read(store, scope, used) if used else {}
    gone = [item.row for item in stored.values() if forgotten.covers(item.row)]
    kept = {row_id: item for row_id, item in stored.items() if not forgotten.covers(item.row)}
    if not gone and len(numbers) == (used is not None) and (used is None or kept):
        return Erased([], "none")
    if used is None or not kept:
        # The one in use goes last: a crash on the way leaves a bank that still shows there is something to do.
        for name in sorted(numbers, key=lambda name: name == used):
            qdrant.drop(name)
        return Erased(gone, "dropped")
    new = _copy(store, scope, used, kept, max(numbers.values()))
    qdrant.point_alias(alias, new, switch=True)
    _catch_up(store, scope, (used, new), kept, forgotten)
    for name in numbers:
        qdrant.drop(name)
    return Erased(gone, "rewritten")


def _read(store: "Store", scope: Scope, name: str) -> dict[str, _Stored]:
    points = store.qdrant.scroll(name, vectors=True)
    return {str(point.id): _Stored(row_of(point.payload, scope), point) for point in points}


def _copy(store: "Store", scope: Scope, used: str, kept: dict[str, _Stored], newest: int) -> str:
    """Copy `kept`, resolved anew, into a new generation; return its name."""
    meta = meta_of(store.qdrant.metadata(used), scope, used)
    number = newest + 1
    fresh = Meta.new(scope, meta.embedding, meta.dimensions)
    while not store.qdrant.create(generation_name(store.alias(scope), number), bank_layout(fresh)):
        number += 1
    name = generation_name(store.alias(scope), number)
    _put(store, name, _resolved(store, kept))
    return name


def _catch_up(
    store: "Store", scope: Scope, names: tuple[str, str], kept: dict[str, _Stored], forgotten: Forgotten
) -> None:
    """Carry over what was written to the old generation between its reading and the switch.

    A write that comes later still is seen by its own writer, who finds another generation and writes again.
    """
    old, new = names
    now = {row_id: item for row_id, item in _read(store, scope, old).items() if not forgotten.covers(item.row)}
    late = {row_id: item for row_id, item in now.items() if row_id not in kept or kept[row_id].row != item.row}
    gone = [row_id for row_id in kept if row_id not in now]
    if not late and not gone:
        return
    if gone:
        store.qdrant.delete(new, gone)
    _put(store, new, _resolved(store, _read(store, scope, new) | late))


def _resolved(store: "Store", items: dict[str, _Stored]) -> Iterator[_Stored]:
    contents = resolved(Contents.of(item.row for item in items.values()), store.rules)
    for row in contents.rows():
        yield _Stored(row, items[row.id].point)


def _put(store: "Store", name: str, items: Iterable[_Stored]) -> None:
    points = [
        models.PointStruct(id=item.row.id, vector=item.point.vector or {}, payload=payload_of(item.row))
        for item in items
    ]
    for start in range(0, len(points), WRITE):
        store.qdrant.upsert(name, points[start : start + WRITE])


def prove(store: "Store", scope: Scope, forgotten: Forgotten, erased: list[Row]) -> Proof:
    """Look for what `forgotten` covers: by a scroll of everything, and by searches for the words of `erased`.

    The searches ask for any status and any type, expired or not.
    """
    alias = store.alias(scope)
    in_use = store.meta(scope) is not None
    leftovers = len(generations(store, scope)) - in_use
    if not in_use:
        return Proof(0, 0, leftovers)
    scrolled = sum(forgotten.covers(item.row) for item in _read(store, scope, alias).values())
    found: set[str] = set()
    for vector in _probes(erased):
        request = {"query": vector, "using": WORDS, "limit": max(1, len(erased)), "with_payload": True}
        rows = (row_of(point.payload, scope) for point in store.qdrant.query(alias, request))
        found.update(row.id for row in rows if forgotten.covers(row))
    return Proof(len(found), scrolled, leftovers)


def _probes(erased: list[Row]) -> Iterator[models.SparseVector]:
    """Yield queries that together hold every term of the erased rows once."""
    terms = sorted({index for row in erased for index in query_vector(indexed_text(row)).indices})
    for start in range(0, len(terms), PROBE_TERMS):
        indices = terms[start : start + PROBE_TERMS]
        yield models.SparseVector(indices=indices, values=[1.0] * len(indices))
