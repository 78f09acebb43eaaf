"""A recovery store goes on under another number of worker threads: what one worker left, two take up, and back."""

import threading
import time
from datetime import timedelta

import pytest
from bytewax.recovery import RecoveryConfig
from bytewax.run import cli_main
from kafka_runs import produce

from flows.ingest import build
from flows.recovery import prepare
from flows.services import Job, opened
from flows.summary import summarize

END = 10**9


def stop_after(job: Job, events: int) -> None:
    """Ask the run to stop once it has taken in so many events; returns when it was asked."""
    while job.metrics.total("strandline_events_total", outcome="event") < events and not job.stop.is_set():
        time.sleep(0.002)
    job.stop.set()


def run(bench, kafka, workers, events=END):
    """Run with so many workers until `events` were read, or to the end; return the summary."""
    job = Job(
        settings=bench.settings(kafka=kafka, run={"recovery_dir": str(bench.folder / "recovery")}),
        source="kafka",
        until_end=events == END,
    )
    watch = threading.Thread(target=stop_after, args=(job, events))
    with opened(job) as services:
        recovery = RecoveryConfig(prepare(services.recovery))
        watch.start()
        try:
            cli_main(
                build(services.steps),
                workers_per_process=workers,
                epoch_interval=timedelta(seconds=0.1),
                recovery_config=recovery,
            )
        finally:
            stopped = job.stop.is_set()
            job.stop.set()
            watch.join()
        assert stopped == (events != END)
        return summarize(job.metrics, services.census.statuses, 1.0)


@pytest.mark.parametrize("workers", [(1, 2, 1), (2, 1, 2)], ids=lambda counts: "-".join(map(str, counts)))
def test_another_number_of_workers_goes_on_where_the_last_one_stopped(
    bench, embedded_kafka, lines, scopes, tmp_path, workers
):
    kafka = produce(embedded_kafka, lines).model_copy(update={"batch_size": 20})
    runs = [
        run(bench, kafka.model_dump(), count, events) for count, events in zip(workers, (200, 200, END), strict=True)
    ]
    assert all(one.events >= 100 for one in runs), [one.events for one in runs]
    assert sum(one.events for one in runs) == 934
    assert sum(one.duplicates for one in runs) == 0
    assert sum(one.sessions for one in runs) == 47

    undisturbed = type(bench)(tmp_path / "undisturbed")
    undisturbed.ingest("kafka", kafka=kafka.model_dump())
    assert bench.bank(*scopes) == undisturbed.bank(*scopes)
