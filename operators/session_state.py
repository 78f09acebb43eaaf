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

    `seen` maps the hashes of event ids to their times; a tombstone holds them packed in `ids`, 8 bytes each, instead.
    `forgotten_ts_ms` is the newest time among the ids that had to make room: an unknown event older than that may have
    been seen. `watermark_ts_ms` is the time of the newest event given out, `seq` the number of slices so far.
    `active_stream_ms` and `active_quiet_ms` say when the last event came, by the partition's stream time and by its
    quiet time, `pending_since_ms` the stream time at which the oldest pending event came. An age checkpoint that had
    to wait is tried again at `retry_age_ms`. Events up to `erased_ts_ms` were forgotten on request.
    `timezone` is the one that the newest event to name one named, at `timezone_ts_ms`: it holds for those after it.
    """

    partition: int
    pending: list[Event] = []
    pending_chars: int = 0
    pending_since_ms: int = 0
    seen: dict[int, int] = {}
    ids: bytes = b""
    forgotten_ts_ms: int = -1
    watermark_ts_ms: int = -1
    seq: int = 0
    active_stream_ms: int = 0
    active_quiet_ms: int = 0
    retry_age_ms: int = 0
    erased_ts_ms: int = -1
    has_user_text: bool = False
    timezone: str = ""
    timezone_ts_ms: int = -1

    def unpack_ids(self) -> None:
        """Make a tombstone's ids ready for new events; they count as old as the watermark."""
        if self.ids:
            hashes = (int.from_bytes(self.ids[n : n + 8], "big") for n in range(0, len(self.ids), 8))
            self.seen = {hashed: self.watermark_ts_ms for hashed in hashes} | self.seen
            self.ids = b""

    def pack_ids(self) -> None:
        """Hold the ids of a session that is done in as few bytes as can be."""
        self.unpack_ids()
        self.ids = b"".join(hashed.to_bytes(8, "big") for hashed in self.seen)
        self.seen = {}


class ScopeState(msgspec.Struct, array_like=True):
    """All sessions of one scope, and what the user said of being remembered.

    `no_memory` names the sessions whose memory is switched off; they outlive their sessions' state. `erased_ts_ms`:
    events up to there were forgotten on request.
    """

    scope: Scope
    sessions: dict[str, SessionState] = {}
    consent: bool = True
    no_memory: set[str] = set()
    erased_ts_ms: int = -1


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
