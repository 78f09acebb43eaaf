"""The state of one scope's sessions, and its snapshot: a versioned msgpack document, never a pickled class.

An upgraded process must read the snapshot of an older one, so fields are only ever added at the end, each with a
default, and `VERSION` rises when an old document needs translating.
"""

from hashlib import blake2b

import msgspec

from schemas.events import Event
from schemas.scope import Scope

VERSION = 1


class SessionState(msgspec.Struct, array_like=True):
    """One session, open or (when nothing is pending) the tombstone of one.

    `seen` maps the hashes of the newest event ids to their times, in order of arrival. `forgotten_ts_ms` is the
    newest time among the ids that had to make room: an unknown event not newer than that may have been seen.
    `watermark_ts_ms` is the time of the last event given out, `seq` the number of slices so far. `active_stream_ms`
    and `active_wall_ms` say when the last event came, by the partition's stream time and by the clock on the wall;
    `pending_since_ms` is the stream time at which the oldest pending event came.
    """

    partition: int
    pending: list[Event] = []
    pending_chars: int = 0
    pending_since_ms: int = 0
    seen: dict[int, int] = {}
    forgotten_ts_ms: int = -1
    watermark_ts_ms: int = -1
    seq: int = 0
    active_stream_ms: int = 0
    active_wall_ms: int = 0
    has_user_text: bool = False
    no_memory: bool = False


class ScopeState(msgspec.Struct, array_like=True):
    """All sessions of one scope, and whether the user consents to being remembered."""

    scope: Scope
    sessions: dict[str, SessionState] = {}
    consent: bool = True


class _Document(msgspec.Struct, array_like=True):
    version: int
    state: msgspec.Raw


class SnapshotTooNew(RuntimeError):
    """A snapshot was written by a newer version of Strandline than this one."""


_encoder = msgspec.msgpack.Encoder()
_document_decoder = msgspec.msgpack.Decoder(_Document)
_state_decoder = msgspec.msgpack.Decoder(ScopeState)


def encode_state(state: ScopeState) -> bytes:
    """Return the snapshot of `state`."""
    return _encoder.encode(_Document(VERSION, msgspec.Raw(_encoder.encode(state))))


def decode_state(snapshot: bytes) -> ScopeState:
    """Return the state in `snapshot`, whichever version wrote it.

    :raises SnapshotTooNew: It was written by a newer version.
    """
    document = _document_decoder.decode(snapshot)
    if document.version > VERSION:
        msg = f"the recovery store holds state of version {document.version}, above {VERSION}: upgrade strandline"
        raise SnapshotTooNew(msg)
    return _state_decoder.decode(document.state)


def id_hash(event_id: str) -> int:
    """Return a 64-bit hash of an event id, the same in every process."""
    return int.from_bytes(blake2b(event_id.encode(), digest_size=8).digest(), "big")
