"""How a bank's collection is laid out, and the metadata that says whose it is and what it was made with.

The settings are those for many small collections (measured on a real server: 140-230 KB of memory and 16-21 memory maps
each): one segment, a write-ahead log of 1 MB, no HNSW graph, everything on disk, no payload index.
"""

import uuid
from typing import Any

import msgspec
from qdrant_client import models

from memory.errors import EmbeddingMismatch, SchemaMismatch
from schemas.scope import Scope
from schemas.version import SCHEMA_VERSION

WORDS = "words"
MEANING = "meaning"


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata of a collection.

    `generation` is random per physical collection, so that a writer notices when the bank was rewritten, or dropped
    and made anew, behind its alias. `dimensions` is 0 and `embedding` empty when there are only words.
    """

    scope: Scope
    schema_version: int
    generation: str
    embedding: str = ""
    dimensions: int = 0

    @classmethod
    def new(cls, scope: Scope, embedding: str, dimensions: int) -> "Meta":
        """Return the metadata of a new generation."""
        return cls(
            scope=scope,
            schema_version=SCHEMA_VERSION,
            generation=uuid.uuid4().hex,
            embedding=embedding,
            dimensions=dimensions,
        )


def meta_of(raw: dict[str, Any] | None, scope: Scope, collection: str) -> Meta:
    """Return the metadata of `collection`.

    Raises:
        SchemaMismatch: there is none, or of another version, or of another scope.
    """
    try:
        meta = msgspec.convert(raw or {}, Meta)
    except msgspec.ValidationError as error:
        msg = (
            f"collection {collection} has no metadata of Strandline ({error}); it needs a Qdrant server of 1.16 or "
            "newer; set another store.prefix if the collection belongs to something else"
        )
        raise SchemaMismatch(msg) from error
    if meta.scope != scope:
        msg = f"collection {collection} belongs to another scope; set another store.prefix and rebuild from the topic"
        raise SchemaMismatch(msg)
    if meta.schema_version != SCHEMA_VERSION:
        msg = (
            f"collection {collection} has schema version {meta.schema_version}, this is version {SCHEMA_VERSION}; "
            "rebuild into another store.prefix from the records topic"
        )
        raise SchemaMismatch(msg)
    return meta


def check_embedding(meta: Meta, name: str, dimensions: int) -> None:
    """Raise EmbeddingMismatch unless the bank was made with model `name`; `dimensions` 0 is not compared."""
    if meta.embedding == name and (not dimensions or dimensions == meta.dimensions):
        return
    made = f"{meta.embedding!r} ({meta.dimensions} numbers)" if meta.dimensions else "words only"
    asked = f"{name!r} ({dimensions or '?'} numbers)" if name else "words only"
    msg = (
        f"this bank was made with {made}, the settings say {asked}. Set embedding.name, embedding.base_url and "
        "embedding.dimensions back, or rebuild: set a new store.prefix and ingest again, or forget this user first"
    )
    raise EmbeddingMismatch(msg)


def bank_layout(meta: Meta) -> dict[str, Any]:
    """Return the arguments of `create_collection` for a bank."""
    vectors = {}
    if meta.dimensions:
        vectors[MEANING] = models.VectorParams(
            size=meta.dimensions,
            distance=models.Distance.COSINE,
            on_disk=True,
            hnsw_config=models.HnswConfigDiff(m=0),
        )
    words = models.SparseVectorParams(index=models.SparseIndexParams(on_disk=True), modifier=models.Modifier.IDF)
    return {
        "vectors_config": vectors,
        "sparse_vectors_config": {WORDS: words},
        "metadata": msgspec.to_builtins(meta),
        **_small(),
    }


def ledger_layout(key_check: str) -> dict[str, Any]:
    """Return the arguments of `create_collection` for the ledger, whose points are payload only."""
    return {"vectors_config": {}, "metadata": {"schema_version": SCHEMA_VERSION, "key_check": key_check}, **_small()}


def _small() -> dict[str, Any]:
    return {
        "on_disk_payload": True,
        "hnsw_config": models.HnswConfigDiff(m=0),
        "optimizers_config": models.OptimizersConfigDiff(default_segment_number=1),
        "wal_config": models.WalConfigDiff(wal_capacity_mb=1, wal_segments_ahead=0),
    }
