"""Commands that read one user's bank: search, context, audit, record."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cli.handoff import markdown
from cli.options import (
    AppOption,
    DebugOption,
    JsonOption,
    SettingsFile,
    StoreOption,
    UserOption,
    require_existing_store,
    settings_from,
)
from cli.output import note, print_json, print_line, print_text
from schemas.answers import AuditAnswer, EpisodesAnswer, SearchAnswer, audited, found, memory, utc
from schemas.claim import Claim, ClaimStatus, Episode
from schemas.scope import Scope
from schemas.settings import Settings

if TYPE_CHECKING:
    from memory.bank import Bank

QueryArgument = Annotated[str, typer.Argument(help="What to look for.", metavar="QUERY")]
STATUS_STYLE = {ClaimStatus.ACTIVE: "green", ClaimStatus.CONFLICTING: "red"}


class RecordFormat(StrEnum):
    """How `record` prints."""

    JSON = "json"
    MARKDOWN = "markdown"


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    for command in (search, context, audit, record):
        app.command()(command)


@contextmanager
def open_bank(settings: Settings, scope: Scope) -> Iterator["Bank"]:
    """Give the bank of `scope` in the store that the settings name; the store is there already.

    Raises:
        CommandError: No such store is named.
        StoreError: It does not answer, or another process has it.
    """
    require_existing_store(settings)
    from memory.store import Store  # noqa: PLC0415 - a heavy import, after what can fail without it

    with Store.open(settings) as store:
        store.ping()
        yield store.bank(scope)


def now_ms() -> int:
    """Return the clock on the wall, milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def search(
    *,
    query: QueryArgument,
    app: AppOption,
    user: UserOption,
    limit: Annotated[int | None, typer.Option("-k", min=1, help="At most so many results.", metavar="N")] = None,
    episodes: Annotated[bool, typer.Option("--episodes", help="Which conversation was it? Digest lines.")] = False,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Find what is remembered of a user, best first."""
    settings = settings_from(settings_file, debug=debug, store=store).settings
    with open_bank(settings, Scope(app, user)) as bank:
        hits = bank.search(query, limit or settings.read.limit, now_ms(), episodes=episodes)
    lines = [(hit.row, hit.score) for hit in hits]
    if as_json and episodes:
        print_json(EpisodesAnswer(query, tuple(found(row, score) for row, score in lines if isinstance(row, Episode))))
    elif as_json:
        print_json(SearchAnswer(query, tuple(memory(row, score) for row, score in lines if isinstance(row, Claim))))
    else:
        for row, score in lines:
            if isinstance(row, Claim):
                _print_claim(row, f"{score:.3f}  ")
            else:
                print_line((f"{score:.3f}  {utc(row.last_ts_ms):%Y-%m-%d}  {row.session_id}", "bold"))
                print_line(f"  {row.text}")
        if not lines:
            note("Nothing was found.")


def context(
    *,
    query: QueryArgument,
    app: AppOption,
    user: UserOption,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Print the grounding block for a query, as an agent would be given it."""
    settings = settings_from(settings_file, debug=debug, store=store).settings
    with open_bank(settings, Scope(app, user)) as bank:
        block = bank.context(query, now_ms())
    print_text(block)


def audit(
    *,
    app: AppOption,
    user: UserOption,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show every claim of a user, any status, with quote, sources, author and history."""
    settings = settings_from(settings_file, debug=debug, store=store).settings
    with open_bank(settings, Scope(app, user)) as bank:
        claims = sorted(bank.claims(), key=lambda claim: (claim.observed_at_ms, claim.id))
    if as_json:
        keys = settings.keys()
        print_json(AuditAnswer(tuple(audited(claim, keys) for claim in claims)))
        return
    for claim in claims:
        _print_claim(claim, "")
        for word, other in _history(claim):
            print_line(f"  {word} {other}")
    if not claims:
        note("Nothing is remembered of this user.")


def record(
    *,
    app: AppOption,
    user: UserOption,
    session: Annotated[str, typer.Option("--session", metavar="SESSION", help="The session.")],
    output: Annotated[RecordFormat, typer.Option("--format", help="How to print it.")] = RecordFormat.MARKDOWN,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Show what one session amounts to: goal, facts, decisions, commitments, open questions and what happened."""
    settings = settings_from(settings_file, debug=debug, store=store).settings
    with open_bank(settings, Scope(app, user)) as bank:
        found_record = bank.record(session)
    if output is RecordFormat.JSON:
        print_json(found_record)
    else:
        print_text(markdown(found_record))


def _print_claim(claim: Claim, score: str) -> None:
    about = "" if claim.about == "user" else f"  about {claim.about}"
    print_line(
        (f"{score}{claim.kind}  {claim.key}", "bold"),
        about,
        (f"  {claim.status.value}", STATUS_STYLE.get(claim.status, "dim")),
        f"  {utc(claim.observed_at_ms):%Y-%m-%d}",
    )
    print_line(f"  {claim.text}")
    sources = ", ".join(claim.sources)
    print_line((f"  “{claim.quote}”  {claim.authority}, session {claim.session_id}, {sources}  id {claim.id}", "dim"))


def _history(claim: Claim) -> Iterator[tuple[str, str]]:
    if claim.superseded_by:
        yield "superseded by", claim.superseded_by
    if claim.merged_into:
        yield "merged into", claim.merged_into
    for other in claim.conflicts_with:
        yield "conflicts with", other
