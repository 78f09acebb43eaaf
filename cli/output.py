"""Prints results: styled on a terminal, plain text elsewhere, JSON on request; always on stdout."""

import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from cli.failures import FAILED, CommandError

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def print_json(value: Any) -> None:
    """Print `value` as one JSON document with an end of line."""
    with writing_results():
        print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_line(*parts: str | tuple[str, str]) -> None:
    """Print one line made of texts, a pair being a text and its style; nothing in a text is read as markup."""
    line = Text.assemble(*((visible(p), "") if isinstance(p, str) else (visible(p[0]), p[1]) for p in parts))
    with writing_results():
        _console(sys.stdout).print(line, soft_wrap=True)


def print_text(text: str) -> None:
    """Print a text of several lines: on a terminal each made harmless as `visible` does, elsewhere as it is."""
    lines = text.rstrip("\n").split("\n")
    with writing_results():
        print("\n".join(map(visible, lines) if sys.stdout.isatty() else lines))


@contextmanager
def writing_results() -> Iterator[None]:
    """Write to stdout in the block.

    Raises:
        BrokenPipeError: The reader has gone.
        CommandError: It cannot be written, for instance because the disk is full.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        msg = f"Standard output cannot be written: {error.strerror or error}; free space there, or send it elsewhere."
        raise CommandError(msg, FAILED) from error


def note(sentence: str) -> None:
    """Tell the user something that is no result: one line on stderr."""
    print(visible(sentence), file=sys.stderr)


def visible(text: str) -> str:
    """Return `text` on one line and harmless to a terminal.

    What people said is printed here: control characters could move the cursor or rewrite the screen, and characters
    that turn the direction of writing could make a line read as another.
    """
    return "".join(map(_visible, text))


@cache
def _visible(character: str) -> str:
    if character in "\n\r\t\v\f\u2028\u2029":
        return " "
    if unicodedata.category(character) == "Cc" or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        return REPLACEMENT
    return character


def _console(stream: Any) -> Console:
    return Console(file=stream, highlight=False, markup=False, emoji=False)
