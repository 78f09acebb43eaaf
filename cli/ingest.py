"""`strandline ingest`: from a file, a folder, standard input or Kafka, through the whole flow."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from cli import progress
from cli.failures import FAILED, REJECTED_INPUT, WRONG_USAGE, CommandError
from cli.options import (
    BootstrapOption,
    DebugOption,
    JsonOption,
    SettingsFile,
    StoreOption,
    TopicOption,
    require_writable_store,
    scope_part,
    settings_from,
)
from cli.output import note, print_json, print_line
from schemas.setting_names import without_password
from schemas.settings import Settings
from schemas.summary import IngestSummary

if TYPE_CHECKING:
    from flows.services import Job, Services
    from operators.metrics import Metrics
    from schemas.detect import Place
    from schemas.message import Message

LOCAL = "local"
"""App and user of bare events in a file, unless --app and --user say otherwise; their session is the file's name."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(ingest)


def ingest(
    *,
    source: Annotated[str, typer.Option("--from", metavar="FILE|DIR|-|kafka", help="Where the messages come from.")],
    until_end: Annotated[bool, typer.Option("--until-end", help="From Kafka: stop at the end offsets.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Cut slices, extract and store nothing.")] = False,
    sessions_out: Annotated[
        Path | None, typer.Option("--sessions-out", metavar="FILE", help="With --dry-run: one JSON line a slice.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 3 when input was invalid or rejected.")] = False,
    app: Annotated[str, typer.Option("--app", help="App of bare events in a file.", callback=scope_part)] = LOCAL,
    user: Annotated[str, typer.Option("--user", help="User of bare events in a file.", callback=scope_part)] = LOCAL,
    session: Annotated[str | None, typer.Option("--session", help="Session of bare events in a file.")] = None,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    bootstrap: BootstrapOption = None,
    topic: TopicOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Read session events, extract and validate claims, and store them."""
    settings = settings_from(settings_file, debug=debug, store=store, bootstrap=bootstrap, topic=topic).settings
    _check(settings, source, dry_run=dry_run, sessions_out=sessions_out, until_end=until_end)
    from flows.services import Job  # noqa: PLC0415 - heavy, and only after what can fail without it

    job = Job(
        settings=settings,
        source=source,
        until_end=until_end,
        dry_run=dry_run,
        sessions_out=sessions_out,
        # A message from Kafka must say itself whose it is: guessing would mix users.
        place_of=_no_place if source == "kafka" else _placing(app, user, session),
    )
    finished = run_job(job, quiet=as_json)
    summary = finished.summary
    if as_json:
        print_json(summary)
    else:
        print_summary(summary)
        print_set_aside(job.metrics, "topic" if source == "kafka" else f"in {settings.run.dead_letter_dir}:")
    if finished.failure:
        raise CommandError(finished.failure, FAILED)
    if strict and (summary.invalid or summary.extractions.rejected or summary.extractions.to_retry):
        raise typer.Exit(REJECTED_INPUT)


@dataclass(frozen=True)
class Finished:
    """What a run amounts to; `failure` says in a sentence why it is no success all the same, and is empty otherwise."""

    summary: IngestSummary
    failure: str = ""


def run_job(job: "Job", *, quiet: bool) -> Finished:
    """Run the whole flow; with `quiet` nothing is shown meanwhile.

    Raises whatever opening and running raise.
    """
    from flows.ingest import build  # noqa: PLC0415
    from flows.run import run, stopped_by_signals  # noqa: PLC0415
    from flows.services import opened  # noqa: PLC0415
    from flows.summary import summarize  # noqa: PLC0415

    started = time.monotonic()
    with stopped_by_signals(job.stop), opened(job) as services:
        if not quiet:
            _say_how(job, services)
        with progress.shown(services.share_read, lambda: _status(job.metrics, started), quiet=quiet):
            run(
                build(services.steps),
                recovery=services.recovery,
                snapshot_interval_s=job.settings.run.snapshot_interval_s,
            )
        summary = summarize(job.metrics, services.census.statuses, time.monotonic() - started)
        return Finished(summary, _failure(job, services, summary))


def _failure(job: "Job", services: "Services", summary: IngestSummary) -> str:
    fault = services.fault()
    if fault is not None:
        return str(fault)
    open_sessions = int(job.metrics.total("strandline_sessions_open"))
    if job.stop.is_set() and services.recovery is None and open_sessions:
        return f"Stopped: {open_sessions} open sessions were not extracted, for this run keeps no state; run it again."
    done = summary.extractions
    if done.to_retry and not (done.first_pass or done.retry_pass or done.rejected):
        return (
            f"The model at {without_password(job.settings.model.base_url)} served none of {done.to_retry} slices; they "
            "are set aside for `strandline replay retry`. The warning says why: what the model answered, or that the "
            "daily budget is spent; check model.base_url or model.daily_budget_usd."
        )
    return ""


def print_set_aside(metrics: "Metrics", where: str) -> None:
    """Say what was set aside and why; `where` is put before the name of each topic or file."""
    name = "strandline_dead_letters_total"
    for topic in metrics.by_label(name, "topic"):
        reasons = {reason: int(n) for reason, n in metrics.by_label(name, "reason", topic=topic).items() if n}
        why = ", ".join(f"{reason} {number:,}" for reason, number in reasons.items())
        print_line(f"  {'set aside':<16} {sum(reasons.values()):,} {where} {topic} ({why})")


def _check(settings: Settings, source: str, *, dry_run: bool, sessions_out: Path | None, until_end: bool) -> None:
    if source == "kafka" and not settings.kafka.bootstrap:
        msg = "No Kafka is named; give --bootstrap HOST:PORT or set STRANDLINE_KAFKA__BOOTSTRAP."
        raise CommandError(msg, WRONG_USAGE)
    if until_end and source != "kafka":
        msg = "--until-end goes with --from kafka; a file always ends."
        raise CommandError(msg, WRONG_USAGE)
    if sessions_out is not None and not dry_run:
        msg = "--sessions-out goes with --dry-run."
        raise CommandError(msg, WRONG_USAGE)
    if not dry_run:
        require_writable_store(settings)


def _placing(app: str, user: str, session: str | None) -> "Callable[[Message], Place | None]":
    """Return who a bare event of a file belongs to."""
    from schemas.detect import Place  # noqa: PLC0415
    from schemas.scope import Scope  # noqa: PLC0415

    scope = Scope(app, user)

    def place(message: "Message") -> Place | None:
        return Place(scope, session or Path(message.topic).name.split(".")[0] or "stdin")

    return place


def _no_place(message: "Message") -> "Place | None":
    return None


def _say_how(job: "Job", services: "Services") -> None:
    settings = job.settings
    if job.dry_run:
        note("Dry run: slices are cut, nothing is extracted or stored.")
    elif settings.model.is_offline:
        note("No model endpoint is set: the offline model extracts, by rules. It is for trying things.")
    if services.health is not None:
        note(f"Metrics and health on http://{settings.run.metrics_host}:{services.health.port}/metrics")


def _status(metrics: "Metrics", started: float) -> str:
    elapsed = max(0.001, time.monotonic() - started)
    events = metrics.total("strandline_events_total", outcome="event")
    parts = [f"{events:,.0f} events", f"{events / elapsed:,.0f}/s"]
    lag = metrics.total("strandline_kafka_lag")
    if lag:
        parts.append(f"lag {lag:,.0f}")
    parts.append(f"{metrics.total('strandline_slices_total'):,.0f} slices")
    extracted = metrics.total("strandline_extractions_total")
    if extracted:
        parts.append(f"{extracted:,.0f} extracted")
        parts.append(f"${metrics.total('strandline_cost_usd_total'):.4f}")
    return ", ".join(parts)


def print_summary(summary: IngestSummary) -> None:
    """Print the summary for people, leaving out what is zero."""
    slices = {name: number for name, number in msgspec.structs.asdict(summary.slices).items() if number}
    print_line(
        f"Read {summary.events:,} events of {summary.sessions:,} sessions in {summary.elapsed_s:.1f} s "
        f"({summary.events_per_s:,.0f}/s)"
    )
    also = {name: getattr(summary, name) for name in ("controls", "invalid", "partials", "duplicates", "late")}
    print_counts("also", also)
    print_counts("skipped", summary.skipped)
    print_counts("slices", slices)
    extractions = msgspec.structs.asdict(summary.extractions)
    print_counts("extractions", extractions)
    done = summary.extractions.first_pass + summary.extractions.retry_pass + summary.extractions.rejected
    if done:
        print_line(f"  first-pass rate  {summary.extractions.first_pass / done:.1%}")
        print_counts("problems", summary.problems)
    claims = summary.claims
    print_counts("claims", {n: getattr(claims, n) for n in ("stored", "superseded", "merged", "conflicting")})
    print_counts("dropped", claims.dropped)
    if done:
        tokens = summary.tokens
        print_line(
            f"  tokens           {tokens.input:,} in ({tokens.cached:,} cached), {tokens.output:,} out; "
            f"cost ${summary.cost_usd:.4f}"
        )


def print_counts(title: str, counts: Mapping[str, int]) -> None:
    """Print one line of counts, leaving out what is zero; no line when all are."""
    shown = ", ".join(f"{name} {number:,}" for name, number in counts.items() if number)
    if shown:
        print_line(f"  {title:<16} {shown}")
