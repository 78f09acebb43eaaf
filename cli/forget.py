"""`strandline forget`: deletes what is remembered of a user, or what one session contributed, and proves it."""

import sys
from typing import Annotated

import typer

from cli.failures import FAILED, WRONG_USAGE, CommandError
from cli.options import AppOption, DebugOption, JsonOption, SettingsFile, StoreOption, UserOption, settings_from
from cli.output import print_json, print_line, visible
from cli.read import now_ms, open_bank
from schemas.scope import Scope
from schemas.setting_names import without_password


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(forget)


def forget(
    *,
    app: AppOption,
    user: UserOption,
    session: Annotated[
        str | None, typer.Option("--session", metavar="SESSION", help="Only what this session contributed.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Delete a user's memory for good.

    All of it, or what one session contributed. The receipt says what was deleted and proves that nothing is left.
    """
    settings = settings_from(settings_file, debug=debug, store=store).settings
    with open_bank(settings, Scope(app, user)) as bank:
        if not yes:
            what = f"what session {session!r} contributed to" if session else "everything in"
            _confirm(f"Delete {what} the memory of user {user!r} of {app!r} in {without_password(settings.store.url)}?")
        receipt = bank.forget(now_ms(), session_id=session)
    from memory.views import receipt_json  # noqa: PLC0415

    shown = receipt_json(receipt)
    if as_json:
        print_json(shown)
        return
    if receipt.method == "none":
        what = f"Nothing of session {session!r} was stored" if session else "Nothing was stored"
        until = shown["forgotten_until"]
        print_line(f"{what} under this app and user; what happened up to {until} stays refused if it is read again.")
        return
    for name, value in shown.items():
        print_line(f"{name.replace('_', ' ')}: {_words(value)}")


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    return "none" if value is None else str(value)


def _confirm(question: str) -> None:
    """Ask on the terminal.

    Raises:
        CommandError: Nobody is there to be asked, or the answer is no.
    """
    if not sys.stdin.isatty():
        msg = "There is no terminal to ask on whether to delete; give --yes to delete without being asked."
        raise CommandError(msg, WRONG_USAGE)
    print(f"{visible(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        msg = "Nothing was deleted, for the answer was not yes."
        raise CommandError(msg, FAILED)
