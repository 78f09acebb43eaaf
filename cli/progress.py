"""How far a long run has come: a bar on a terminal, a plain line now and then elsewhere, nothing with --json."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

_REFRESH_S = 0.25
_PLAIN_EVERY_S = 10.0
"""Between two lines where no bar can be drawn: often enough for a log, seldom enough to read."""


@contextmanager
def shown(
    share_done: Callable[[], float | None], status: Callable[[], str], *, quiet: bool, title: str = "ingest"
) -> Iterator[None]:
    """Show progress on stderr while the block runs, from a thread of its own.

    `share_done` is between 0 and 1, or None when nobody knows the end; `status` is one short line.
    """
    if quiet:
        yield
        return
    done = threading.Event()
    show = partial(_bar, title) if sys.stderr.isatty() else _plain
    thread = threading.Thread(target=show, args=(share_done, status, done), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _bar(title: str, share_done: Callable[[], float | None], status: Callable[[], str], done: threading.Event) -> None:
    columns = (
        TextColumn(title),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[status]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None, status="")
        while not done.wait(_REFRESH_S):
            share = share_done()
            total = None if share is None else 1.0
            progress.update(task, total=total, completed=share or 0.0, status=status())


def _plain(share_done: Callable[[], float | None], status: Callable[[], str], done: threading.Event) -> None:
    started = time.monotonic()
    while not done.wait(_PLAIN_EVERY_S):
        share = share_done()
        head = f"{time.monotonic() - started:.0f} s" + ("" if share is None else f", {share:.0%} read")
        print(f"{head}, {status()}", file=sys.stderr, flush=True)
