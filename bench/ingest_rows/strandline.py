"""`strandline ingest --from kafka --until-end --dry-run --json`, with the recovery store on: snapshots every 10 s.

The same calls as the command's, with a stopwatch around the source.
"""

from dataclasses import replace

from bench.stopwatch import Stopwatch, arguments
from bench.watched_source import WatchedSource
from cli.options import settings_from
from flows.ingest import build
from flows.run import run
from flows.services import Job, opened
from flows.summary import summarize
from operators.kafka_source import KafkaSource

_SNAPSHOT_S = 10.0


def main() -> None:
    asked = arguments()
    watch = Stopwatch(asked.messages)
    settings = settings_from(
        None,
        debug=False,
        bootstrap=asked.bootstrap,
        topic=asked.topic,
        more={"run.recovery_dir": asked.folder, "run.snapshot_interval_s": _SNAPSHOT_S},
    ).settings
    job = Job(settings, "kafka", until_end=True, dry_run=True)
    with opened(job) as services:
        source = services.steps.source
        if not isinstance(source, KafkaSource) or services.recovery is None:
            msg = "the job is not what is to be measured: a Kafka source with a recovery store"
            raise TypeError(msg)
        flow = build(replace(services.steps, source=WatchedSource(source, watch)))
        run(flow, recovery=services.recovery, snapshot_interval_s=settings.run.snapshot_interval_s)
    summary = summarize(job.metrics, services.census.statuses, 1.0)
    if summary.events != asked.messages:
        msg = f"{summary.events} events of {asked.messages} messages were taken; the rest is no measurement"
        raise ValueError(msg)
    slices = summary.slices
    watch.report(slices.closed + slices.idle + slices.checkpoint + slices.end_of_input)


if __name__ == "__main__":
    main()
