"""The deletion ledger: what makes a deletion hold against replays of the topic and against calls in flight.

A row is a keyed hash of the scope (and session) and a time; there is no content in it and no id in clear.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from qdrant_client import models

from memory.client import Qdrant
from memory.errors import CollectionMissing, LedgerKeyMismatch
from memory.names import ledger_name
from memory.rows import Row
from memory.schema import ledger_layout
from schemas.claim import Claim
from schemas.scope import Scope
from schemas.settings import StoreSettings


@dataclass(frozen=True)
class Forgotten:
    """Up to when a scope, and which of its sessions, were deleted; milliseconds since the epoch, -1 for never."""

    scope_ms: int = -1
    sessions: dict[str, int] = field(default_factory=dict)

    def covers(self, row: Row) -> bool:
        """Say whether `row` rests on something deleted.

        The oldest event decides: a claim may quote it, and an episode tells of all its slice.
        """
        time_ms = row.oldest_evidence_ms if isinstance(row, Claim) else row.first_ts_ms
        return time_ms <= max(self.scope_ms, self.sessions.get(row.session_id, -1))


class Ledger:
    """The ledger of one prefix. It comes into being with the first deletion."""

    def __init__(self, qdrant: Qdrant, settings: StoreSettings) -> None:
        """Take an open client; nothing is called yet."""
        self._qdrant = qdrant
        self._name = ledger_name(settings.prefix)
        self._key = settings.hash_key.get_secret_value().encode()
        self._checked = False

    def hash(self, scope: Scope, session_id: str | None = None) -> str:
        """Return the HMAC-SHA256 of the scope, or of one of its sessions, as 64 hex digits."""
        parts = (scope.app, scope.user) if session_id is None else (scope.app, scope.user, session_id)
        digest = hmac.new(self._key, digestmod=sha256)
        for part in parts:
            raw = part.encode()
            digest.update(len(raw).to_bytes(4, "big"))
            digest.update(raw)
        return digest.hexdigest()

    def read(self, scope: Scope, sessions: Iterable[str]) -> Forgotten:
        """Return what was deleted of `scope` and of these of its sessions.

        Raises:
            LedgerKeyMismatch: the ledger was written with another key.
        """
        try:
            self._check_key()
            ids = {_point_id(self.hash(scope)): None} | {_point_id(self.hash(scope, s)): s for s in sessions}
            points = self._qdrant.retrieve(self._name, list(ids))
        except CollectionMissing:
            self._checked = False
            return Forgotten()
        times = {ids[str(point.id)]: int((point.payload or {})["forgotten_at_ms"]) for point in points}
        return Forgotten(times.pop(None, -1), {s: ms for s, ms in times.items() if s is not None})

    def write(self, scope: Scope, session_id: str | None, until_ms: int, now_ms: int) -> None:
        """Put on record that everything up to `until_ms` is deleted; an entry never moves back in time."""
        self._qdrant.create(self._name, ledger_layout(self._key_check()))
        self._check_key()
        digest = self.hash(scope, session_id)
        payload: dict[str, Any] = {"hash": digest, "forgotten_at_ms": until_ms, "asked_at_ms": now_ms}
        point = models.PointStruct(id=_point_id(digest), vector={}, payload=payload)
        earlier = models.FieldCondition(key="forgotten_at_ms", range=models.Range(lt=until_ms))
        self._qdrant.upsert(self._name, [point], only_if=models.Filter(must=[earlier]))

    def _key_check(self) -> str:
        return hmac.new(self._key, b"strandline ledger", sha256).hexdigest()

    def _check_key(self) -> None:
        if self._checked:
            return
        found = (self._qdrant.metadata(self._name) or {}).get("key_check")
        if found != self._key_check():
            msg = (
                f"the deletion ledger {self._name} was written with another store.hash_key; deletions on record would "
                "not be found. Set store.hash_key (STRANDLINE_STORE__HASH_KEY) back to what it was"
            )
            raise LedgerKeyMismatch(msg)
        self._checked = True


def _point_id(digest: str) -> str:
    """Return the UUID made of the first 128 bits of a hash."""
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
