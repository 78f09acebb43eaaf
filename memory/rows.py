"""Claims and episodes as rows of a collection, and back: what a payload holds, and what a text is found by."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from memory.errors import SchemaMismatch, ScopeViolation
from schemas.claim import Claim, Episode
from schemas.scope import Scope

CLAIM = "claim"
EPISODE = "episode"
DAY_MS = 86_400_000
POINTERS = ("superseded_by", "merged_into")
"""Fields of a claim that does not stand, which say what stands for it."""

Row = Claim | Episode


@dataclass(frozen=True)
class Contents:
    """All rows of a bank, by id. The dicts are not changed once made."""

    claims: dict[str, Claim] = field(default_factory=dict)
    episodes: dict[str, Episode] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Contents":
        """Sort rows into claims and episodes."""
        both = list(rows)
        return cls(
            {row.id: row for row in both if isinstance(row, Claim)},
            {row.id: row for row in both if isinstance(row, Episode)},
        )

    def rows(self) -> Iterator[Row]:
        """Go through claims, then episodes."""
        yield from self.claims.values()
        yield from self.episodes.values()

    def get(self, row_id: str) -> Row | None:
        """Return the row with this id, if any."""
        return self.claims.get(row_id) or self.episodes.get(row_id)


def row_time_ms(row: Row) -> int:
    """Return the time of the newest evidence of a row, milliseconds since the epoch."""
    return row.observed_at_ms if isinstance(row, Claim) else row.last_ts_ms


def payload_of(row: Row) -> dict[str, Any]:
    """Return what is stored of `row`: its fields but the pointers, its `type`, and its time in days since the epoch.

    Pointers to what stands in its place change for all earlier values with each new one; they are derived when the
    bank is read, so that a write touches only rows whose status changes. Days, for a formula reckons in 32 bits, which
    hold them to four minutes and milliseconds not at all.
    """
    payload: dict[str, Any] = msgspec.to_builtins(row)
    for pointer in POINTERS:
        payload.pop(pointer, None)
    payload["type"] = CLAIM if isinstance(row, Claim) else EPISODE
    payload["observed_days"] = row_time_ms(row) / DAY_MS
    return payload


def row_of(payload: Mapping[str, Any] | None, scope: Scope) -> Row:
    """Return the row that `payload` holds.

    Raises:
        ScopeViolation: it belongs to another scope.
        SchemaMismatch: it is no row of this version.
    """
    kind = (payload or {}).get("type")
    try:
        row: Row = msgspec.convert(payload, Claim) if kind == CLAIM else msgspec.convert(payload, Episode)
    except msgspec.ValidationError as error:
        msg = f"a row of type {kind!r} in this bank cannot be read: {error}; was it written by another version?"
        raise SchemaMismatch(msg) from error
    if row.scope != scope:
        msg = (
            "a row of another scope stands in this bank; nothing was returned. "
            "Something other than Strandline writes to its collection: find out what, then forget and rebuild the bank"
        )
        raise ScopeViolation(msg)
    return row


def same_stored(one: Row, other: Row) -> bool:
    """Say whether two rows are stored alike: they differ at most in pointers."""
    if one is other or one == other:
        return True
    if not isinstance(one, Claim) or not isinstance(other, Claim) or one.status != other.status:
        return False
    return replace(one, superseded_by=other.superseded_by, merged_into=other.merged_into) == other


def indexed_text(row: Row) -> str:
    """Return what the `words` of a row are made of: its text, and for a claim also quote, key and whom it is about."""
    if isinstance(row, Episode):
        return row.text
    about = "" if row.about == "user" else row.about
    return " ".join((row.text, row.quote, about, row.key.replace(".", " ").replace("_", " ")))
