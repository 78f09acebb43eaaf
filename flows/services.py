"""What the ingest flow needs around it, opened in order and closed in reverse: store, model, health, sinks."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

import structlog
from bytewax.outputs import DynamicSink

from extraction.prompt import PROMPT_VERSION
from flows.ingest import Steps
from operators import dead_letter, kafka_client
from operators.census import Census
from operators.dead_letter import CountingSink, DeadLetter, FolderSink
from operators.decode import Decoder
from operators.file_source import FileSource, OnPoll
from operators.health import HealthServer, Heartbeat
from operators.kafka_source import KafkaSource
from operators.metrics import Metrics
from operators.quiet_time import QuietTime
from operators.records import records_sink
from operators.sessionize import Sessionizer
from operators.slice_sink import SliceSink
from operators.stream_time import StreamTime
from schemas.detect import Place
from schemas.message import Message
from schemas.settings import KafkaSettings, Settings
from schemas.version import SCHEMA_VERSION

log = structlog.get_logger(__name__)

FROM_KAFKA = "kafka"

SPEND_FILE = "model-spend.json"
"""In the folder of the recovery store: what the model cost today, where there is a daily budget."""


@dataclass(frozen=True)
class Job:
    """One run: where from, how far, and what is left out.

    `source` is `kafka`, a file, a folder or `-`. `dry_run` ends at the slices, which go to `sessions_out` when it is
    named. `place_of` says whose a bare event of a file is.
    """

    settings: Settings
    source: str
    until_end: bool = False
    dry_run: bool = False
    sessions_out: Path | None = None
    place_of: Callable[[Message], Place | None] = lambda message: None
    metrics: Metrics = field(default_factory=Metrics)
    stop: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Services:
    """An ingest ready to run, and what is watched meanwhile.

    `fault` tells, at the end, what could not be read although the run went on.
    """

    steps: Steps
    census: Census
    recovery: Path | None
    health: HealthServer | None
    share_read: Callable[[], float | None]
    fault: Callable[[], Exception | None]


@contextmanager
def opened(job: Job) -> Iterator[Services]:
    """Open all that `job` needs.

    :raises StoreError: The store cannot be used.
    :raises KafkaProblem: Kafka cannot be reached, or the topic is not there.
    :raises InputNotFound: There is no such file.
    """
    settings, metrics = job.settings, job.metrics
    heartbeat = Heartbeat()
    census = Census(metrics)
    recovery = recovery_of(job)
    stream_time, quiet_time = StreamTime(), QuietTime()

    def polled(partition: int, drained: bool) -> None:
        heartbeat.beat()
        quiet_time.polled(partition, drained=drained)

    metrics.build_info.labels(version("strandline"), PROMPT_VERSION, str(SCHEMA_VERSION)).set(1)
    if not settings.sessions.has_ceiling:
        log.warning("a session may hold any number of events: set sessions.checkpoint_events or checkpoint_chars")
    with ExitStack() as stack:
        source = _source(job, polled, stack)
        checks: dict[str, Callable[[], object]] = {}
        if job.source == FROM_KAFKA:
            kafka_client.check(settings.kafka)
            checks["kafka"] = lambda: kafka_client.check(settings.kafka)
        steps = Steps(
            source=source,
            decoder=Decoder(settings.decode, stream_time, metrics, job.place_of),
            sessionizer=Sessionizer(settings.sessions, stream_time, quiet_time, metrics, job.stop),
            letters=_letters(job),
            slices=SliceSink(job.sessions_out),
        )
        if not job.dry_run:
            # The model's and the store's libraries take seconds to load, which a dry run need not pay for.
            from flows.remembering import remembering  # noqa: PLC0415

            memories = remembering(
                settings,
                stack,
                metrics=metrics,
                census=census,
                heartbeat=heartbeat,
                stop=job.stop,
                waits_for_budget=job.source == FROM_KAFKA and not job.until_end,
                spend_file=recovery / SPEND_FILE if recovery else None,
            )
            checks["store"] = memories.ping
            source.ready = memories.has_room
            steps = replace(
                steps,
                extraction=memories.extraction,
                memories=memories.sink,
                records=records_sink(settings.kafka) if settings.kafka.records_topic else None,
            )
        health = None
        if settings.run.metrics_port:
            server = HealthServer(settings.run.metrics_host, settings.run.metrics_port, metrics, heartbeat, checks)
            health = stack.enter_context(server)
        yield Services(steps, census, recovery, health, *_watched(source))


def _source(job: Job, polled: OnPoll, stack: ExitStack) -> FileSource | KafkaSource:
    if job.source != FROM_KAFKA:
        return FileSource(job.source, job.stop, on_poll=polled)
    kafka = KafkaSource(
        job.settings.kafka,
        job.metrics,
        job.stop,
        until_end=job.until_end,
        on_poll=polled,
        commits=not job.dry_run,
    )
    stack.push(lambda kind, error, at: kafka.close(done=error is None))
    return kafka


def _watched(source: FileSource | KafkaSource) -> tuple[Callable[[], float | None], Callable[[], Exception | None]]:
    """Return how to ask for the share that is read, and for what could not be read although the run went on."""
    if isinstance(source, FileSource):
        return lambda: source.share_read, lambda: source.fault
    return lambda: None, lambda: None


def _letters(job: Job) -> DynamicSink[DeadLetter]:
    """Return where letters go; a dry run only counts them, and the topics of others are made when missing."""
    if job.dry_run:
        return CountingSink(job.metrics)
    if job.source != FROM_KAFKA:
        return FolderSink(job.settings.run.dead_letter_dir, job.metrics)
    return letters_to_kafka(job.settings.kafka, job.metrics)


def letters_to_kafka(kafka: KafkaSettings, metrics: Metrics) -> DynamicSink[DeadLetter]:
    """Return a sink of letters to their topics; those that are missing are made, and that of the records with them.

    :raises KafkaProblem: Kafka cannot be reached.
    """
    names = {*dead_letter.topics(kafka).values(), kafka.records_topic} - {""}
    with kafka_client.Admin(kafka) as admin:
        admin.create(sorted(names), partitions=1, replication=-1)
    return dead_letter.topic_sink(kafka, metrics)


def recovery_of(job: Job) -> Path | None:
    """Return the folder of the recovery store, or None when this run keeps no state.

    A run from Kafka that remembers keeps one, beside an embedded store since the two belong together; its name says
    what it was read from and written to, so that another broker or store begins anew. Others keep one only when a
    folder is named, for a file is simply read again. A dry run has a folder of its own: it must not move a real run on.
    """
    settings, url = job.settings, job.settings.store.url
    named = settings.run.recovery_dir
    if job.dry_run:
        return Path(f"{named}-dry-run") if named else None
    if named:
        return Path(named)
    if job.source != FROM_KAFKA or url == "memory":
        return None
    kafka = settings.kafka
    between = blake2b("\n".join((kafka.bootstrap, url, settings.store.prefix)).encode(), digest_size=4).hexdigest()
    base = "strandline-recovery" if "://" in url else f"{url.rstrip('/')}-recovery"
    return Path(base) / f"{kafka.topic}-{between}"
