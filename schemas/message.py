"""One message as it stood on the input: a Kafka record, or a line of a file dressed as one."""

import msgspec


class Message(msgspec.Struct, frozen=True, gc=False):
    """The raw bytes and where they stood.

    `topic` is the file's path when the input is a file; then `partition` is 0 and `offset` the line, counted from 0.
    `ts_ms` is the broker's time of the record; for a file it is 0: unknown. `value` None is a Kafka tombstone.
    """

    value: bytes | None
    topic: str
    partition: int
    offset: int
    ts_ms: int = 0
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
