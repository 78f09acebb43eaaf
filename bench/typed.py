"""The least that a sessionizer must know of a message, as msgspec types: what the rows beside Strandline decode."""

import msgspec

IDLE_MS = 30 * 60 * 1000
"""A session is over after so much silence, in event time: Strandline's default."""


class Part(msgspec.Struct, gc=False):
    """One part of an event's content."""

    text: str = ""


class Content(msgspec.Struct, gc=False):
    """The content of an event."""

    parts: list[Part] = []


class Event(msgspec.Struct, gc=False):
    """An event; `timestamp` in milliseconds."""

    id: str
    author: str
    timestamp: int
    content: Content


class Envelope(msgspec.Struct, gc=False):
    """A message of the topic."""

    app: str
    userId: str  # noqa: N815 - as it stands in the message
    sessionId: str  # noqa: N815
    event: Event


decode = msgspec.json.Decoder(Envelope).decode
