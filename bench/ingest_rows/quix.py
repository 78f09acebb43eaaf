"""Quix Streams with its state in RocksDB, in the two ways that `BENCH_QUIX` names.

`state`: the open sessions of a user lie in the user's state as lists of events, read and written as its documentation
shows it. `bytes`: the same, written to be fast: an event is appended to its session as bytes, not decoded again.
Its own session window is no match: it knows one session at a time of a key, and the topic is keyed by user.

Kind to Quix: its consumer is librdkafka's, state is not sent to a changelog topic and is committed every 10 s, a user's
sessions are closed by the next event of the user, 30 minutes of event time later, so that nothing is scanned; a session
with no later event of its user stays open.
"""

import logging
import os
from typing import Any

import msgspec
from quixstreams import Application, State

from bench.stopwatch import Stopwatch, arguments
from bench.typed import IDLE_MS, Envelope, decode

_COMMIT_S = 10.0
_OPEN = "open sessions"

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(dict[str, int]).decode


def in_state(value: dict[str, Any], state: State) -> list[list[Any]]:
    """Append an event to the list of its session; return the sessions of the same user that are over."""
    event = value["event"]
    sessions = state.get(_OPEN, {})
    now_ms = event["timestamp"]
    closed = [name for name, last_ms in sessions.items() if now_ms - last_ms >= IDLE_MS]
    out = []
    for name in closed:
        out.append(state.get(name, []))
        state.delete(name)
        del sessions[name]
    session = value["sessionId"]
    events = state.get(session, [])
    events.append(event)
    state.set(session, events)
    sessions[session] = now_ms
    state.set(_OPEN, sessions)
    return out


def in_bytes(value: bytes, state: State) -> list[bytes]:
    """Append an event to the bytes of its session; return the sessions of the same user that are over."""
    found: Envelope = decode(value)
    known = state.get_bytes(_OPEN)
    sessions = {} if known is None else _unpack(known)
    now_ms = found.event.timestamp
    closed = [name for name, last_ms in sessions.items() if now_ms - last_ms >= IDLE_MS]
    out = []
    for name in closed:
        out.append(state.get_bytes(name, b""))
        state.delete(name)
        del sessions[name]
    session = found.sessionId
    state.set_bytes(session, (state.get_bytes(session, b"") if session in sessions else b"") + value + b"\n")
    sessions[session] = now_ms
    state.set_bytes(_OPEN, _pack(sessions))
    return out


WAYS = {"state": ("json", in_state), "bytes": ("bytes", in_bytes)}
"""How a value is decoded, and what is done with it."""


class Counts:
    """Stops the watch when the message after the last one would come, and counts the sessions given out."""

    def __init__(self, app: Application, watch: Stopwatch) -> None:
        """Stop `app` after the last message."""
        self._app = app
        self._watch = watch
        self.slices = 0

    def handed(self, value: object) -> object:
        """Count a message in."""
        if self._watch.handed(1):
            self._app.stop()
        return value

    def given(self, value: object) -> None:
        """Count a session."""
        self.slices += 1


def main() -> None:
    asked = arguments()
    logging.getLogger("quixstreams").setLevel(logging.WARNING)
    watch = Stopwatch(asked.messages)
    app = Application(
        broker_address=asked.bootstrap,
        consumer_group=f"{asked.topic}-{asked.folder.rpartition('/')[2]}",
        auto_offset_reset="earliest",
        auto_create_topics=False,
        use_changelog_topics=False,
        commit_interval=_COMMIT_S,
        state_dir=asked.folder,
        loglevel="WARNING",
    )
    decoder, way = WAYS[os.environ["BENCH_QUIX"]]
    topic = app.topic(asked.topic, key_deserializer="str", value_deserializer=decoder)
    counts = Counts(app, watch)
    frame = app.dataframe(topic).apply(counts.handed)
    frame.apply(way, stateful=True, expand=True).update(counts.given)
    app.run()
    watch.finish()
    watch.report(counts.slices)


if __name__ == "__main__":
    main()
