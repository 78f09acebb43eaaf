"""Commands that read one user's bank: search, context, audit, record."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cli.event_links import event_links
from cli.options import (
    AppOption,
    DebugOption,
    JsonOption,
    SettingsFile,
    StoreOption,
    UserOption,
    is_server,
    require_existing_store,
    settings_from,
)
from cli.output import note, print_json, print_line, print_text
from memory.clock import iso_day
from schemas.claim import Claim, ClaimStatus
from schemas.record import Record
from schemas.scope import Scope
from schemas.settings import Settings

if TYPE_CHECKING:
    from memory.bank import Bank

QueryArgument = Annotated[str, typer.Argument(help="What to look for.", metavar="QUERY")]
STATUS_STYLE = {ClaimStatus.ACTIVE: "green", ClaimStatus.CONFLICTING: "red"}
FIRST_ANSWER_S = 4.0
"""How long a server may take over the first call: with the time to start, a user hears within ten seconds of one that
is not there."""


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
    # Heavy, so only now: after what can fail without it, and not for commands that read nothing.
    from memory.store import Store  # noqa: PLC0415

    if is_server(settings):
        timeout_s = min(settings.store.timeout_s, FIRST_ANSWER_S)
        hasty = settings.store.model_copy(update={"timeout_s": timeout_s})
        with Store.open(settings.model_copy(update={"store": hasty})) as store:
            store.ping()
    with Store.open(settings) as store:
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
        hits = bank.search(query, limit, now_ms=now_ms(), episodes=episodes)
    if as_json:
        from memory.views import search_json  # noqa: PLC0415

        print_json(search_json(query, hits))
        return
    for hit in hits:
        if hit.claim is not None:
            _print_claim(hit.claim, f"{hit.score:.3f}  ")
        if hit.episode is not None:
            day = iso_day(hit.episode.last_ts_ms)
            print_line((f"{hit.score:.3f}  episode", "bold"), f"  {day}  session {hit.episode.session_id}")
            print_line(f"  {hit.episode.text}")
    if not hits:
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
    """Print the grounding block for a query.

    It is what an agent would be given: dated, capped in length, and a conflict shown as one.
    """
    settings = settings_from(settings_file, debug=debug, store=store).settings
    with open_bank(settings, Scope(app, user)) as bank:
        block = bank.context(query, now_ms())
    print_text(block)
    if not block:
        note("Nothing remembered of this user has to do with the query: the block is empty.")


def audit(
    *,
    app: AppOption,
    user: UserOption,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show every claim of a user, any status.

    Each comes with its quote, its sources, who said it, and what became of it.
    """
    settings = settings_from(settings_file, debug=debug, store=store).settings
    with open_bank(settings, Scope(app, user)) as bank:
        claims = bank.claims()
    if as_json:
        from memory.views import audit_json  # noqa: PLC0415

        print_json(audit_json(claims, settings.keys()))
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
    links: Annotated[
        str,
        typer.Option(
            help="Address of an event, with {event} and, where needed, {app}, {user} and {session} in it: in Markdown "
            "each source becomes a link.",
            metavar="TEMPLATE",
        ),
    ] = "",
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Show what one session amounts to.

    Its goal, facts, decisions, commitments and open questions, what happened in it, and the first message for an
    agent that continues it.
    """
    settings = settings_from(settings_file, debug=debug, store=store).settings
    scope = Scope(app, user)
    link = event_links(links, scope, session) if links else None
    with open_bank(settings, scope) as bank:
        found = bank.record(session)
    if found == Record(scope=found.scope, session_id=found.session_id):
        note("Nothing is remembered of this session.")
    from memory.first_message import first_message  # noqa: PLC0415
    from memory.views import record_json, record_markdown  # noqa: PLC0415

    opening = first_message(found, now_ms(), settings.read.context_chars)
    if output is RecordFormat.JSON:
        print_json(record_json(found, opening))
    else:
        print_text(record_markdown(found, opening, link))


def _print_claim(claim: Claim, score: str) -> None:
    about = "" if claim.about == "user" else f"  about {claim.about}"
    print_line(
        (f"{score}{claim.kind}  {claim.key}", "bold"),
        about,
        (f"  {claim.status.value}", STATUS_STYLE.get(claim.status, "dim")),
        f"  {iso_day(claim.observed_at_ms)}",
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
