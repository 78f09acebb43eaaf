"""Quix Streams with its state in RocksDB: per user the open sessions and when each last had an event.

Kind to Quix: its consumer is librdkafka's; an event is appended to its session as bytes, not decoded again; a user's
session is closed by the next event of the user, 30 minutes of event time later, so that nothing is scanned; state is
not sent to a changelog topic, and is committed every 10 s. A session with no later event of its user stays open.
"""

import logging

import msgspec
from quixstreams import Application, State

from bench.stopwatch import Stopwatch, arguments
from bench.typed import IDLE_MS, decode

_COMMIT_S = 10.0
_OPEN = "open sessions"

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(dict[str, int]).decode


class Sessionizer:
    """Appends each message to its session and closes the sessions of the same user that are idle."""

    def __init__(self, app: Application, watch: Stopwatch) -> None:
        """Stop `app` after the last message."""
        self._app = app
        self._watch = watch
        self.slices = 0

    def __call__(self, value: bytes, state: State) -> list[bytes]:
        """Return the sessions that are over."""
        last = self._watch.handed(1)
        found = decode(value)
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
        self.slices += len(out)
        if last:
            self._watch.finish()
            self._app.stop()
        return out


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
    topic = app.topic(asked.topic, key_deserializer="str", value_deserializer="bytes")
    sessionizer = Sessionizer(app, watch)
    app.dataframe(topic).apply(sessionizer, stateful=True, expand=True)
    app.run()
    watch.report(sessionizer.slices)


if __name__ == "__main__":
    main()
