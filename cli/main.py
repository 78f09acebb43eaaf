"""The `strandline` command: puts the groups of commands together and turns faults into exit codes."""

import os
import sys
from collections.abc import Sequence

import typer

from cli import config, demo, forget, ingest, read, replay, version
from cli.failures import DONE, FAILED, CommandError, report
from cli.output import writing_results

NAME = "strandline"
GROUPS = (demo, ingest, replay, read, forget, config, version)
"""Modules of commands, in the order that --help lists them; each has `register(app)`."""


def build() -> typer.Typer:
    """Return the whole command line. Heavy libraries are loaded by the commands that need them, not here."""
    app = typer.Typer(
        name=NAME,
        help="Turns the stream of what happens in agents' sessions into long-term memory that can be trusted.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for group in GROUPS:
        group.register(app)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 done, 1 it failed, 2 wrong usage or settings, 3 rejected input."""
    try:
        build()(args=list(arguments), prog_name=NAME)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else (DONE if done.code is None else FAILED)
    except BrokenPipeError:
        return FAILED
    except Exception as error:  # noqa: BLE001 - the one place where any fault becomes an exit code
        return report(error)
    return DONE


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    closed = _fill_closed_streams()
    if "stdout" in closed:
        msg = "Standard output is closed, so nothing can be shown; redirect it, to /dev/null if nobody is to see it."
        sys.exit(report(CommandError(msg, FAILED)))
    code = run(sys.argv[1:])
    try:
        with writing_results():
            sys.stdout.flush()
    except (BrokenPipeError, CommandError) as error:
        # Without this the interpreter would complain once more on its way out, of what is still in its buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A command that failed has told why already, most likely this.
        if code == DONE and isinstance(error, CommandError):
            report(error)
        code = code or FAILED
    sys.exit(code)


def _fill_closed_streams() -> set[str]:
    """Open the null device in place of standard streams that the process was started without; return their names.

    Else the next file that is opened, a database for instance, would take the number, and whatever native code prints
    would be written into it.
    """
    closed = set()
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
            closed.add(name)
    return closed


if __name__ == "__main__":
    main()
