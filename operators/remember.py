"""Extractions and forgets, in order per scope, into the bank. A batch returns only when all of it is durable."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from bytewax.outputs import DynamicSink, StatelessSinkPartition

from memory.bank import WriteReport
from memory.privacy import Receipt
from operators.census import Census
from operators.extract import Extracted
from operators.metrics import Metrics
from operators.store_wait import repeated
from operators.unwritten import Unwritten
from schemas.controls import Control
from schemas.outcome import Outcome
from schemas.scope import Scope

_RETRY_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Waits between tries while the store is away: about a minute, then the process ends and resumes at its next start."""

T = TypeVar("T")


class WritableBank(Protocol):
    """The part of a bank that the dataflow writes through."""

    @property
    def scope(self) -> Scope:
        """Whose bank it is."""
        ...

    def apply(self, outcomes: Sequence[Outcome]) -> WriteReport:
        """Take in the outcomes."""
        ...

    def forget(self, now_ms: int, session_id: str | None = None, before_ms: int | None = None) -> Receipt:
        """Erase what was observed up to `before_ms`."""
        ...


class RememberSink(DynamicSink[tuple[str, Extracted | Control]]):
    """Writes to the banks that `bank_of` opens."""

    def __init__(
        self,
        bank_of: Callable[[Scope], WritableBank],
        metrics: Metrics,
        census: Census,
        beat: Callable[[], None] = lambda: None,
        *,
        unwritten: Unwritten | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        """Keep `census` up to date, and beat the heart through `beat` while the store is awaited.

        `unwritten` is told of what is durable. Once `stop` is set nobody waits for a store that is away.
        """
        self.bank_of = bank_of
        self.metrics = metrics
        self.census = census
        self.beat = beat
        self.unwritten = unwritten or Unwritten()
        self.stop = stop or threading.Event()

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "_RememberPartition":
        """Return this worker's writer."""
        return _RememberPartition(self)


class _RememberPartition(StatelessSinkPartition[tuple[str, Extracted | Control]]):
    def __init__(self, sink: RememberSink) -> None:
        self._sink = sink

    def write_batch(self, items: list[tuple[str, Extracted | Control]]) -> None:
        by_scope: dict[str, list[Extracted | Control]] = {}
        for key, item in items:
            by_scope.setdefault(key, []).append(item)
        for scope_items in by_scope.values():
            waiting: list[Outcome] = []
            for item in scope_items:
                if isinstance(item, Control):
                    self._apply(waiting)
                    waiting = []
                    self._forget(item)
                else:
                    waiting.append(item.outcome)
            self._apply(waiting)

    def _apply(self, outcomes: list[Outcome]) -> None:
        if not outcomes:
            return
        bank = self._sink.bank_of(outcomes[0].scope)
        report = self._retried(lambda: bank.apply(outcomes))
        self._sink.unwritten.written(outcomes)
        self._count(bank.scope, report)
        now_s = time.time()
        for outcome in outcomes:
            if outcome.claims:
                self._sink.metrics.ingest_delay.observe(max(0.0, now_s - outcome.last_ts_ms / 1000))

    def _forget(self, control: Control) -> None:
        bank = self._sink.bank_of(control.scope)
        now_ms = time.time_ns() // 1_000_000
        receipt = self._retried(lambda: bank.forget(now_ms, control.session_id or None, control.ts_ms))
        self._sink.metrics.written.labels("forget").inc(receipt.claims)
        self._count(bank.scope, self._retried(lambda: bank.apply([])))

    def _count(self, scope: Scope, report: WriteReport) -> None:
        self._sink.census.note(scope, report.statuses, report.active)
        for action, number in report.actions.items():
            self._sink.metrics.written.labels(action).inc(number)
        if report.refused:
            self._sink.metrics.dropped.labels("forgotten").inc(report.refused)

    def _retried(self, work: Callable[[], T]) -> T:
        return repeated(work, _RETRY_WAITS_S, self._sink.beat, self._sink.stop)
