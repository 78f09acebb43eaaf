"""Names of collections: fixed length and safe for any user id, and no user id in them."""

import re
from hashlib import blake2b

from schemas.scope import Scope

_GENERATION = re.compile(r"(?P<alias>.+)_g(?P<number>[1-9][0-9]*)")
_BANK = re.compile(r"[0-9a-f]{32}_g[1-9][0-9]*")


def scope_hash(scope: Scope) -> str:
    """Return 32 hex digits for `scope`: 128 bits, so that look-alike ids and long ids each have a name of their own.

    Each part is preceded by its length, so ("a", "b/c") and ("a/b", "c") differ. The way back is the metadata of the
    collection, which holds the scope in clear.
    """
    digest = blake2b(digest_size=16)
    for part in (scope.app, scope.user):
        raw = part.encode()
        digest.update(len(raw).to_bytes(4, "big"))
        digest.update(raw)
    return digest.hexdigest()


def alias_name(prefix: str, scope: Scope) -> str:
    """Return the alias under which the bank of `scope` is read and written, whatever its generation."""
    return f"{prefix}_{scope_hash(scope)}"


def generation_name(alias: str, number: int) -> str:
    """Return the name of the physical collection of generation `number` (from 1) behind `alias`."""
    return f"{alias}_g{number}"


def generation_of(alias: str, collection: str) -> int | None:
    """Return the generation of `collection` when it belongs to `alias`, else None."""
    match = _GENERATION.fullmatch(collection)
    return int(match["number"]) if match and match["alias"] == alias else None


def bank_of(prefix: str, collection: str) -> str | None:
    """Return the alias that `collection` belongs to, or None when it is no bank of a store with this prefix."""
    head = f"{prefix}_"
    if not collection.startswith(head) or not _BANK.fullmatch(collection[len(head) :]):
        return None
    return collection.rpartition("_g")[0]


def ledger_name(prefix: str) -> str:
    """Return the name of the deletion ledger, one per prefix."""
    return f"{prefix}_ledger"
