"""Ids that content alone decides, so that the same claim or digest line made twice is one row."""

import uuid
from hashlib import blake2b

from schemas.slice import Slice


def derived_id(*parts: str) -> str:
    """Return a UUID that these parts alone decide; lengths are hashed too, so no two lists of parts run together."""
    digest = blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(4, "big") + raw)
    return str(uuid.UUID(bytes=digest.digest(), version=5))


def place_of(piece: Slice) -> tuple[str, str, str]:
    """Return the parts that say whose session it is."""
    return piece.scope.app, piece.scope.user, piece.session_id


def episode_id(piece: Slice) -> str:
    """Return the id of the digest line of `piece`: the same events of a session have one."""
    return derived_id("episode", *place_of(piece), piece.id)
