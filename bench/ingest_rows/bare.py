"""The yardstick: kafka-python's poll loop, a typed decode, and a dict of sessions. Nothing that a product needs.

It forgets everything when it ends, takes a repeated event twice and an old one into whatever session is open, and
holds all partitions to one thread. It is written to be fast: sessions stand in the order of their last event, so that
finding the idle ones costs nothing, and the garbage collector is relaxed as in `flows.run`.
"""

import gc

from kafka import KafkaConsumer, TopicPartition

from bench.stopwatch import Stopwatch, arguments
from bench.typed import IDLE_MS, Event, decode

_POLL_MS = 1000


class Sessions:
    """The open sessions of one partition, the one that has been silent for longest first."""

    def __init__(self) -> None:
        """Start without any."""
        self.slices = 0
        self._open: dict[tuple[str, str, str], list[Event]] = {}

    def add(self, value: bytes) -> None:
        """Take one message, and close the sessions that are idle by its time."""
        found = decode(value)
        event, sessions = found.event, self._open
        key = (found.app, found.userId, found.sessionId)
        events = sessions.pop(key, None)
        if events is None:
            events = []
        events.append(event)
        sessions[key] = events
        horizon = event.timestamp - IDLE_MS
        while True:
            oldest = next(iter(sessions))
            if sessions[oldest][-1].timestamp > horizon:
                return
            self.close(sessions.pop(oldest))

    def close(self, events: list[Event]) -> None:
        """Give a session's events out."""
        self.slices += bool(events)

    def end(self) -> None:
        """Give all that is open out."""
        while self._open:
            self.close(self._open.pop(next(iter(self._open))))


def main() -> None:
    asked = arguments()
    watch = Stopwatch(asked.messages)
    consumer = KafkaConsumer(
        bootstrap_servers=asked.bootstrap,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_max_wait_ms=100,
        max_poll_records=1000,
        metrics_enabled=False,
    )
    partitions = [TopicPartition(asked.topic, number) for number in consumer.partitions_for_topic(asked.topic)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    sessions = {partition: Sessions() for partition in partitions}
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)
    last = False
    while not last:
        for partition, records in consumer.poll(timeout_ms=_POLL_MS).items():
            last = watch.handed(len(records))
            add = sessions[partition].add
            for record in records:
                add(record.value)
    watch.finish()
    for one in sessions.values():
        one.end()
    consumer.close()
    watch.report(sum(one.slices for one in sessions.values()))


if __name__ == "__main__":
    main()
