"""Slices that were set aside, fed back to the model under the settings of today: oldest first, bounded, idempotent.

A replay keeps no state of its own while it runs. It reads its letters first, and only when every slice of them has been
dealt with, and all that came of it is durable, it takes note of where the next one begins. Killed in between, the next
one reads the same letters: what the bank holds by then is not asked again, and what failed again has a newer letter.
(One that failed in the other way, and so stands in the other box, is then asked once more than its letter counts.)
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path

import bytewax.operators as op
import structlog
from bytewax.dataflow import Dataflow
from bytewax.inputs import Source
from bytewax.outputs import Sink

from extraction.prompt import PROMPT_VERSION
from flows.learn import Extraction, Memories, learn
from flows.replay_tally import Tally
from flows.replay_window import Window, window_of
from flows.services import FROM_KAFKA, Job, letters_to_kafka, recovery_of
from operators.census import Census
from operators.dead_letter import DeadLetter, FolderSink, LetterKind
from operators.extract import SliceOrForget
from operators.health import HealthServer, Heartbeat, PortUnusable
from operators.letter_folder import LetterFolder
from operators.letter_topic import LetterTopic
from operators.letters import LetterBox
from operators.metrics import Metrics
from operators.records import records_sink
from operators.slice_source import SliceSource
from operators.store_wait import repeated
from schemas.outcome import Outcome
from schemas.settings import Settings
from schemas.slice import Slice
from schemas.version import SCHEMA_VERSION

log = structlog.get_logger(__name__)

SPEND_FILE = "replay-spend.json"
"""What replays cost today, where there is a daily budget; the ingest, which may run meanwhile, has one of its own."""

_READ_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class ReplayJob:
    """One replay: which letters, from where, and which of them.

    `folder` None is Kafka. `again` begins with the first letter. `app`, `user` and `session` narrow it to one of each;
    then all letters are looked at, and the position of the last replay is neither used nor moved. `limit` None is
    `replay.limit`. `stop` ends it early.
    """

    settings: Settings
    kind: LetterKind
    folder: Path | None
    again: bool = False
    limit: int | None = None
    app: str | None = None
    user: str | None = None
    session: str | None = None
    metrics: Metrics = field(default_factory=Metrics)
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def is_narrowed(self) -> bool:
        """Whether only letters of some scope or session are asked for."""
        return any(part is not None for part in (self.app, self.user, self.session))

    def wants(self, piece: Slice) -> bool:
        """Return whether `piece` is one of those that are asked for."""
        pairs = ((self.app, piece.scope.app), (self.user, piece.scope.user), (self.session, piece.session_id))
        return all(asked is None or asked == found for asked, found in pairs)


@dataclass(frozen=True)
class Steps:
    """What each step of the flow works with. `remaining` leaves out what was forgotten since, or is told already."""

    source: Source[tuple[str, Slice]]
    remaining: Callable[[Slice], Slice | None]
    extraction: Extraction
    memories: Memories
    letters: Sink[DeadLetter]
    records: Sink[Outcome] | None
    tally: Tally


def build(steps: Steps) -> Dataflow:
    """Return the dataflow of one replay."""

    def remaining(pair: tuple[str, Slice]) -> tuple[str, SliceOrForget] | None:
        piece = steps.remaining(pair[1])
        return None if piece is None else (pair[0], piece)

    flow, tally = Dataflow("replay"), steps.tally
    slices = op.filter_map("remaining", op.input("slices", flow, steps.source), remaining)
    failed = learn(
        slices,
        steps.extraction,
        steps.memories,
        steps.records,
        attempts_before=tally.attempts_before,
        on_outcome=tally.note,
    )
    op.output("dead-letters", failed, steps.letters)
    return flow


def opened_box(job: ReplayJob) -> LetterBox:
    """Return the box of the letters.

    :raises InputNotFound: The folder is a file.
    :raises KafkaProblem: Kafka cannot be reached, or there is no such topic.
    """
    if job.folder is not None:
        return LetterFolder(job.folder, job.kind)
    return LetterTopic(job.settings.kafka, job.kind, job.metrics, job.stop)


def read_window(job: ReplayJob, box: LetterBox) -> Window:
    """Return what this replay is to feed back. Each thing that is no letter is told in a warning, with its place.

    :raises InputBroken: The file cannot be read. (Or KafkaProblem: the topic cannot.)
    """
    replay = job.settings.replay
    found = box.read(from_start=job.again or job.is_narrowed)
    window = window_of(found, job.limit or replay.limit, replay.max_attempts, job.wants)
    for fault in window.faults:
        log.warning("passed over what is no letter", fault=fault)
    return window


@dataclass(frozen=True)
class Replay:
    """A replay ready to run, and what is watched meanwhile."""

    steps: Steps
    tally: Tally


@contextmanager
def opened(job: ReplayJob, window: Window) -> Iterator[Replay]:
    """Open all that feeding back `window` needs.

    :raises StoreError: The store cannot be used.
    :raises KafkaProblem: Kafka cannot be reached.
    """
    from flows.remembering import remembering  # noqa: PLC0415 - the model's and the store's libraries take seconds

    settings, metrics = job.settings, job.metrics
    heartbeat = Heartbeat()
    metrics.build_info.labels(version("strandline"), PROMPT_VERSION, str(SCHEMA_VERSION)).set(1)
    tally = Tally(window, settings.model.circuit_failures)
    with ExitStack() as stack:
        memories = remembering(
            settings,
            stack,
            metrics=metrics,
            census=Census(metrics),
            heartbeat=heartbeat,
            stop=job.stop,
            spend_file=_spend_file(job),
        )
        if settings.run.metrics_port:
            _serve_metrics(job, heartbeat, memories.ping, stack)

        def remaining(piece: Slice) -> Slice | None:
            until = partial(memories.forgotten_until, piece.scope, piece.session_id)
            lines = partial(memories.lines_of, piece.scope, piece.session_id)
            return tally.remaining(
                piece,
                repeated(until, _READ_WAITS_S, heartbeat.beat),
                repeated(lines, _READ_WAITS_S, heartbeat.beat),
            )

        def slices() -> Iterator[Slice]:
            for piece in window.slices:
                if tally.is_model_down:
                    return
                tally.handed += 1
                yield piece

        source = SliceSource(
            slices(),
            job.stop,
            ready=lambda: tally.is_model_down or (tally.may_hand_out() and memories.has_room()),
            on_poll=heartbeat.beat,
        )
        steps = Steps(
            source=source,
            remaining=remaining,
            extraction=memories.extraction,
            memories=memories.sink,
            letters=_letters(job),
            records=records_sink(settings.kafka) if settings.kafka.records_topic else None,
            tally=tally,
        )
        yield Replay(steps, tally)


def finish(job: ReplayJob, box: LetterBox, window: Window, tally: Tally) -> bool:
    """Have the next replay begin behind this one, if all of it is done; return whether it is.

    Call it when the dataflow has returned. A narrowed job, and one into a store that ends with the process, leave the
    position as it is.

    :raises LettersUnwritable: The position cannot be kept. (Or KafkaUnavailable: it cannot be committed.)
    """
    done = tally.done == len(window.slices)
    if done and not job.is_narrowed and job.settings.store.url != "memory":
        box.done(window.positions)
    return done


def _spend_file(job: ReplayJob) -> Path | None:
    """Return where the day's spend of replays is kept: beside the letters, or beside the state of the ingest."""
    folder = job.folder or recovery_of(Job(settings=job.settings, source=FROM_KAFKA))
    return folder / SPEND_FILE if folder else None


def _letters(job: ReplayJob) -> Sink[DeadLetter]:
    if job.folder is not None:
        return FolderSink(str(job.folder), job.metrics)
    return letters_to_kafka(job.settings.kafka, job.metrics)


def _serve_metrics(job: ReplayJob, heartbeat: Heartbeat, ping: Callable[[], None], stack: ExitStack) -> None:
    """Serve /metrics; where another run holds the port, most likely the ingest of the same settings, do without."""
    run = job.settings.run
    try:
        server = HealthServer(run.metrics_host, run.metrics_port, job.metrics, heartbeat, {"store": ping})
    except PortUnusable as error:
        log.warning("this replay goes on without /metrics", error=str(error))
        return
    stack.enter_context(server)
