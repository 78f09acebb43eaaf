"""Runs a dataflow to its end, or until it is asked to stop.

A stop is not the end of the input: SIGTERM and Ctrl-C set `stop`, the sources end, what is open stays in the last
snapshot, and the process ends with 0. A second Ctrl-C gives up waiting, a third ends the process where it stands.
"""

import gc
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import IO

import structlog
from bytewax.dataflow import Dataflow
from bytewax.errors import BytewaxRuntimeError
from bytewax.recovery import RecoveryConfig
from bytewax.run import cli_main

from flows.recovery import held, prepare

log = structlog.get_logger(__name__)

_GIVE_UP = 2
_INTERRUPTED = 130
"""Exit code of a process ended by Ctrl-C, by the shell's convention."""

_GC_THRESHOLD = (100_000, 50, 1000)
"""Objects made before the youngest generation is collected, and how often before the older ones are: measured."""


@contextmanager
def stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    """Set `stop` on SIGTERM and SIGINT while the block runs; does nothing on other threads than the main one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    interrupts = 0

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal interrupts
        stop.set()
        interrupts += number == signal.SIGINT
        if interrupts == _GIVE_UP:
            raise KeyboardInterrupt
        if interrupts > _GIVE_UP:
            os._exit(_INTERRUPTED)

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(flow: Dataflow, *, recovery: Path | None, snapshot_interval_s: float) -> None:
    """Run `flow` in this process until its sources end.

    :raises RecoveryStoreBroken: `recovery` is no recovery store, or another process's.
    :raises Exception: Whatever a step raised, as it was raised: Bytewax wraps it, and this takes the wrapping off.
    """
    with (
        nullcontext() if recovery is None else held(recovery),
        _native_stderr_aside() as aside,
        _relaxed_collector(),
    ):
        config = None if recovery is None else RecoveryConfig(prepare(recovery))
        interval = timedelta(seconds=snapshot_interval_s) if config else None
        try:
            cli_main(flow, workers_per_process=1, epoch_interval=interval, recovery_config=config)
        except Exception as exc:
            cause = root_cause(exc)
            aside.seek(0)
            log.debug("the dataflow failed", native_stderr=aside.read().decode(errors="replace"))
            if cause is exc:
                raise
            raise cause from exc


@contextmanager
def _relaxed_collector() -> Iterator[None]:
    """Have the garbage collector look at less and more seldom.

    It walks whatever was made since and is still there, which in a dataflow are batches under way and the events of
    open sessions: none of it is in cycles. What start-up made, the libraries, it need not walk at all.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def root_cause(error: BaseException) -> BaseException:
    """Return what a step raised, without the errors that Bytewax wraps around it."""
    while isinstance(error, BytewaxRuntimeError) and error.__cause__ is not None:
        error = error.__cause__
    return error


@contextmanager
def _native_stderr_aside() -> Iterator[IO[bytes]]:
    """Give a file that takes what native code writes to stderr, while Python's own stderr goes on as before.

    Bytewax turns every error of a step into a Rust panic and prints its backtrace, page-long, above the one sentence
    that a user can do something with.
    """
    sys.stderr.flush()
    python_stderr = sys.stderr
    try:
        native = python_stderr.fileno()
    except (OSError, ValueError):
        native = 2
    real = os.dup(native)
    with tempfile.TemporaryFile() as aside, os.fdopen(real, "w", buffering=1, encoding="utf-8") as stderr:
        os.dup2(aside.fileno(), native)
        if python_stderr is sys.__stderr__:
            sys.stderr = stderr
        try:
            yield aside
        finally:
            sys.stderr = python_stderr
            stderr.flush()
            os.dup2(real, native)
