"""`strandline replay`: slices that were set aside are fed back to the model, under the settings of today."""

import threading
import time
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import progress
from cli.failures import FAILED, REJECTED_INPUT, WRONG_USAGE, CommandError
from cli.ingest import print_counts, print_set_aside
from cli.options import (
    BootstrapOption,
    DebugOption,
    JsonOption,
    SettingsFile,
    StoreOption,
    require_writable_store,
    scope_part,
    settings_from,
)
from cli.output import note, print_json, print_line
from schemas.setting_names import without_password
from schemas.settings import Settings
from schemas.summary import ReplaySummary

if TYPE_CHECKING:
    from flows.replay import ReplayJob
    from flows.replay_tally import Tally
    from flows.replay_window import Listed, Window

_MAX_REASON_CHARS = 120


class Aside(StrEnum):
    """What can be set aside."""

    RETRY = "retry"
    REJECTED = "rejected"
    LATE = "late"
    INVALID = "invalid"


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(replay)


def _part(value: str | None) -> str | None:
    return None if value is None else scope_part(value)


def replay(
    kind: Annotated[Aside, typer.Argument(metavar="retry|rejected", help="Which of the slices that were set aside.")],
    *,
    folder: Annotated[
        Path | None,
        typer.Option("--from", metavar="FOLDER", help="Their folder; default: Kafka, else run.dead_letter_dir."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many (replay.limit).")] = None,
    again: Annotated[bool, typer.Option("--again", help="Begin with the first letter, not behind the last.")] = False,
    app: Annotated[str | None, typer.Option("--app", help="Only of this app.", callback=_part)] = None,
    user: Annotated[str | None, typer.Option("--user", help="Only of this user.", callback=_part)] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only of this session.", callback=_part)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show which; call and change nothing.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 3 when some failed again or a letter was bad.")
    ] = False,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    bootstrap: BootstrapOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Put slices that were rejected, or not served, to the model again, oldest first; not those that are stored.

    Stop the ingest into the same store meanwhile: a scope may have only one writer.
    """
    settings = settings_from(settings_file, debug=debug, store=store, bootstrap=bootstrap).settings
    where = _folder(settings, folder)
    _check(settings, kind, where, dry_run=dry_run)
    from flows.replay import ReplayJob, opened_box, read_window  # noqa: PLC0415 - heavy
    from flows.run import stopped_by_signals  # noqa: PLC0415
    from operators.dead_letter import LetterKind  # noqa: PLC0415

    stop = threading.Event()
    job = ReplayJob(
        settings=settings,
        kind=LetterKind(kind),
        folder=where,
        again=again,
        limit=limit,
        app=app,
        user=user,
        session=session,
        stop=stop,
    )
    started = time.monotonic()
    with stopped_by_signals(stop):
        box = opened_box(job)
        window = read_window(job, box)
        if stop.is_set():
            msg = "Stopped while the letters were read: nothing was replayed; run it again."
            raise CommandError(msg, FAILED)
        if dry_run:
            _show(window, kind, as_json=as_json)
            return
        tally = _run(job, window, started, quiet=as_json)
        from flows.replay import finish  # noqa: PLC0415
        from flows.summary import summarize_replay  # noqa: PLC0415

        done = finish(job, box, window, tally)
        summary = summarize_replay(job, window, tally, time.monotonic() - started)
    if as_json:
        print_json(summary)
    else:
        _print_summary(job, summary, box.name)
    failure = _failure(job, summary, tally, done=done)
    if failure:
        raise CommandError(failure, FAILED)
    if strict and (summary.rejected or summary.to_retry or summary.damaged):
        raise typer.Exit(REJECTED_INPUT)


def _run(job: "ReplayJob", window: "Window", started: float, *, quiet: bool) -> "Tally":
    """Feed the window back, and return what became of it; with nothing in it neither model nor store is opened."""
    from flows.replay import build, opened  # noqa: PLC0415
    from flows.replay_tally import Tally  # noqa: PLC0415
    from flows.run import run  # noqa: PLC0415

    if not window.slices:
        return Tally(window, job.settings.model.circuit_failures)
    if not quiet and job.settings.model.is_offline:
        note("No model endpoint is set: the offline model extracts, by rules. It is for trying things.")
    total = len(window.slices)
    with opened(job, window) as ready:
        tally = ready.tally

        def status() -> str:
            elapsed = max(0.001, time.monotonic() - started)
            cost = job.metrics.total("strandline_cost_usd_total")
            return f"{tally.done:,} of {total:,} slices, {tally.done / elapsed:.1f}/s, ${cost:.4f}"

        with progress.shown(lambda: tally.done / total, status, quiet=quiet, title="replay"):
            run(build(ready.steps), recovery=None, snapshot_interval_s=job.settings.run.snapshot_interval_s)
    return tally


def _folder(settings: Settings, named: Path | None) -> Path | None:
    """Return the folder of the letters, None when they are in Kafka.

    Raises:
        CommandError: The folder that was named is not there.
    """
    if named is not None:
        if not named.exists():
            msg = f"There is no folder {str(named)!r}; name the one that run.dead_letter_dir named when slices failed."
            raise CommandError(msg, WRONG_USAGE)
        return named
    if settings.kafka.bootstrap:
        return None
    return Path(settings.run.dead_letter_dir)


def _check(settings: Settings, kind: Aside, folder: Path | None, *, dry_run: bool) -> None:
    if kind is Aside.LATE:
        again = (
            f"strandline ingest --from kafka --until-end --topic {settings.kafka.late_topic}"
            if folder is None
            else f"jq -r .value {folder / 'late.jsonl'} | strandline ingest --from -"
        )
        msg = f"Late events are no slices but messages, which can be sent again as they are: {again}"
        raise CommandError(msg, WRONG_USAGE)
    if kind is Aside.INVALID:
        where = f"topic {settings.kafka.invalid_topic}" if folder is None else folder / "invalid.jsonl"
        msg = f"Invalid messages cannot be read, so not replayed: mend them as {where} says, and send them again."
        raise CommandError(msg, WRONG_USAGE)
    if not dry_run:
        require_writable_store(settings)
    if folder is not None and not folder.exists():
        note(f"There is no folder {str(folder)!r} here, so nothing was set aside; name another with --from.")


def _failure(job: "ReplayJob", summary: ReplaySummary, tally: "Tally", *, done: bool) -> str:
    """Say in a sentence why a replay is no success, if it is none."""
    model = without_password(job.settings.model.base_url)
    remedy = "the warning says what it answered; check model.base_url and run it again"
    dealt_with = f"{tally.done} of {summary.slices} slices"
    if job.metrics.total("strandline_budget_paused") and (not done or summary.to_retry):
        return (
            f"The daily budget of ${job.settings.model.daily_budget_usd:g} is spent, so the replay ended after "
            f"{dealt_with}: run it again from 00:00 UTC on, or with a higher model.daily_budget_usd."
        )
    if not done and tally.is_model_down:
        return f"The model at {model} does not serve, so the replay ended after {dealt_with}: {remedy}."
    if not done:
        return f"Stopped after {dealt_with}; run it again: what is stored is not asked again."
    if summary.to_retry and not tally.served:
        return f"The model at {model} served none of {summary.to_retry} slices; they are set aside again: {remedy}."
    return ""


def _print_summary(job: "ReplayJob", summary: ReplaySummary, box: str) -> None:
    print_line(f"Replayed {summary.replayed:,} of {summary.slices:,} slices from {box} in {summary.elapsed_s:.1f} s")
    print_counts("letters", {"read": summary.letters, **_of(summary, "older", "others", "damaged", "given_up", "left")})
    names = ("first_pass", "retry_pass", "rejected", "to_retry", "unchanged", "forgotten")
    print_counts("slices", _of(summary, *names))
    print_counts("problems", summary.problems)
    print_set_aside(job.metrics, "topic" if job.folder is None else f"in {job.folder}:")
    if summary.tokens.input:
        tokens = summary.tokens
        print_line(
            f"  {'tokens':<16} {tokens.input:,} in ({tokens.cached:,} cached), {tokens.output:,} out; "
            f"cost ${summary.cost_usd:.4f}"
        )
    if summary.given_up:
        print_line(
            f"  {'given up':<16} {summary.given_up:,} had {job.settings.replay.max_attempts} attempts "
            f"(replay.max_attempts) and stay aside; `strandline replay {job.kind} --again --dry-run` shows them"
        )
    if summary.left:
        print_line(f"  {'left':<16} {summary.left:,} letters; run it again for the next")


def _of(summary: ReplaySummary, *names: str) -> dict[str, int]:
    return {name: getattr(summary, name) for name in names}


def _show(window: "Window", kind: Aside, *, as_json: bool) -> None:
    """Show which slices a replay would feed back, and which it gives up on."""
    if as_json:
        counts = {"letters": window.letters, "damaged": len(window.faults), "older": window.older}
        more = {"others": window.others, "left": window.left}
        print_json({"kind": kind, **counts, **more, "slices": window.chosen, "given_up": window.given_up})
        return
    counts = {"damaged": len(window.faults), "older": window.older, "others": window.others, "left": window.left}
    print_line(f"Dry run: {len(window.chosen):,} slices of {window.letters:,} letters would be replayed, in this order")
    for one in window.chosen:
        _show_one(one)
    print_counts("letters", counts)
    if window.given_up:
        print_line(f"Given up, {len(window.given_up):,}: a higher replay.max_attempts, and --again, would replay them")
        for one in window.given_up:
            _show_one(one)


def _show_one(one: "Listed") -> None:
    at = datetime.fromtimestamp(one.first_ts_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    print_line(
        f"  {at}  {one.scope.app} {one.scope.user} {one.session_id}  attempts {one.attempts}  "
        f"{one.reason[:_MAX_REASON_CHARS]}  {one.where}"
    )
