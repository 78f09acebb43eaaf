"""Bytewax's own session window behind Strandline's Kafka source: event time, keyed by session, without recovery.

As it is documented, the window wakes every open session at every turn, for their times have long passed by the clock
on the wall. `BENCH_TUNED=1` keeps it from that and relaxes the garbage collector as `flows.run` does; a user of the
window would have to know both.
"""

import gc
import os
import threading
from datetime import UTC, datetime, timedelta

import bytewax.operators as op
import bytewax.operators.windowing as win
from bytewax.dataflow import Dataflow
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.run import cli_main

from bench.stopwatch import Stopwatch, arguments
from bench.typed import IDLE_MS, Envelope, decode
from bench.watched_source import WatchedSource
from operators.kafka_source import KafkaSource
from operators.metrics import Metrics
from schemas.message import Message
from schemas.settings import KafkaSettings

Window = tuple[str, tuple[int, list[Envelope]]]


class Counting(DynamicSink[Window], StatelessSinkPartition[Window]):
    """Counts the sessions it is given."""

    def __init__(self) -> None:
        """Start at none."""
        self.slices = 0

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "Counting":
        """Return itself: there is one worker."""
        return self

    def write_batch(self, items: list[Window]) -> None:
        """Count."""
        self.slices += len(items)


def keyed(messages: list[Message]) -> list[tuple[str, Envelope]]:
    """Return the messages decoded, each with its session as its key."""
    found = [decode(message.value) for message in messages if message.value is not None]
    return [(f"{one.app}\x00{one.userId}\x00{one.sessionId}", one) for one in found]


def time_of(envelope: Envelope) -> datetime:
    """Return the time of the event."""
    return datetime.fromtimestamp(envelope.event.timestamp / 1000, UTC)


def main() -> None:
    asked = arguments()
    watch = Stopwatch(asked.messages)
    kafka = KafkaSettings(bootstrap=asked.bootstrap, topic=asked.topic)
    source = KafkaSource(kafka, Metrics(), threading.Event(), until_end=True, commits=False)
    sink = Counting()
    flow = Dataflow("window")
    messages = op.input("messages", flow, WatchedSource(source, watch))
    clock = win.EventClock(time_of, wait_for_system_duration=timedelta(0))
    if os.environ.get("BENCH_TUNED") == "1":
        clock = win.EventClock(time_of, wait_for_system_duration=timedelta(0), to_system_utc=lambda time: None)
        gc.freeze()
        gc.set_threshold(100_000, 50, 1000)
    windower = win.SessionWindower(gap=timedelta(milliseconds=IDLE_MS))
    sessions = win.collect_window("sessions", op.flat_map_batch("decode", messages, keyed), clock, windower)
    op.output("slices", sessions.down, sink)
    cli_main(flow, workers_per_process=1)
    source.close(done=True)
    watch.report(sink.slices)


if __name__ == "__main__":
    main()
