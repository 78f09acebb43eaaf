"""The half of the flow that needs a model and a store: slices to outcomes, outcomes to memories."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bytewax.outputs import DynamicSink

from extraction.admission import admission_for
from extraction.extractor import Extractor
from extraction.offline import MODEL_NAME, OfflineModel
from extraction.signals import Signals
from memory.store import Store
from operators.census import Census
from operators.extract import Extracted, SliceCall, SliceOrForget, pack, unpack
from operators.health import Heartbeat
from operators.map_async import AsyncMap, AsyncRunner
from operators.metrics import Metrics
from operators.remember import RememberSink
from operators.unwritten import Unwritten
from schemas.claim import Claim, Episode
from schemas.controls import Control
from schemas.scope import Scope
from schemas.settings import Price, Settings


@dataclass(frozen=True)
class Remembering:
    """The two steps, how to ask whether the store can be reached, and whether more slices can be taken on.

    `forgotten_until` returns up to when a session was deleted, milliseconds since the epoch; -1 for never. `lines_of`
    returns the digest lines of a session that the store holds.
    """

    extraction: AsyncMap[SliceOrForget, Extracted | Control]
    sink: DynamicSink[tuple[str, Extracted | Control]]
    ping: Callable[[], None]
    has_room: Callable[[], bool]
    forgotten_until: Callable[[Scope, str], int]
    lines_of: Callable[[Scope, str], list[Episode]]


def remembering(
    settings: Settings,
    stack: ExitStack,
    *,
    metrics: Metrics,
    census: Census,
    heartbeat: Heartbeat,
    stop: threading.Event,
    waits_for_budget: bool = False,
    spend_file: Path | None = None,
) -> Remembering:
    """Open the store and the model; `stack` closes them.

    :arg waits_for_budget: Whether calls wait for the next day once the daily budget is spent, or their slices are set
        aside.
    :arg spend_file: Where the day's spend is kept over a restart.
    :raises StoreError: The store cannot be used.
    :raises ModelConfigurationError: There is a daily budget and the model has no price.
    """
    store = stack.enter_context(Store.open(settings))
    store.ping()
    if settings.model.is_offline:
        settings = with_offline_model(settings, stack.enter_context(OfflineModel()))
    signals = Signals(
        circuit_open=metrics.circuit_open.set,
        budget_spent_usd=metrics.budget_spent.set,
        budget_paused=metrics.budget_paused.set,
        alive=heartbeat.beat,
    )
    admission = admission_for(settings, waits_for_budget=waits_for_budget, spend_file=spend_file, signals=signals)
    extractor = Extractor(settings, admission=admission)
    metrics.in_flight_limit.set(settings.model.max_in_flight)

    def changed(in_flight: int) -> None:
        metrics.in_flight.set(in_flight)
        heartbeat.beat()

    unwritten = Unwritten()
    call = SliceCall(extractor, _StoredRecord(store), settings.extraction.context_lines, metrics, unwritten, stop=stop)
    runner: AsyncRunner[SliceOrForget, Extracted | Control] = AsyncRunner(
        call, settings.model.max_in_flight, stop, on_wait=metrics.backpressure.inc, on_change=changed
    )
    stack.callback(runner.close)
    stack.callback(lambda: runner.run(extractor.aclose()))
    return Remembering(
        extraction=AsyncMap(runner, encode=pack, decode=unpack, serial_key=_session_key),
        sink=RememberSink(store.bank, metrics, census, heartbeat.beat, unwritten=unwritten, stop=stop),
        ping=store.ping,
        has_room=runner.has_room,
        forgotten_until=partial(_forgotten_until, store),
        lines_of=partial(_lines_of, store),
    )


def _forgotten_until(store: Store, scope: Scope, session_id: str) -> int:
    forgotten = store.ledger.read(scope, (session_id,))
    return max(forgotten.scope_ms, forgotten.sessions.get(session_id, -1))


def _lines_of(store: Store, scope: Scope, session_id: str) -> list[Episode]:
    return [line for line in store.bank(scope).episodes() if line.session_id == session_id]


class _StoredRecord:
    """The record of sessions as the store has it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def claims_of(self, scope: Scope, session_id: str) -> list[Claim]:
        return [claim for claim in self._store.bank(scope).claims() if claim.session_id == session_id]

    def allowed(self, scope: Scope, claims: Sequence[Claim]) -> list[Claim]:
        return self._store.bank(scope).allowed(claims)

    def fingerprint_of(self, scope: Scope, episode_id: str) -> str | None:
        return self._store.bank(scope).fingerprint_of(episode_id)


def with_offline_model(settings: Settings, model: OfflineModel) -> Settings:
    """Return `settings` with the offline model as the one that extracts; it is free where `prices` has none for it."""
    offline = settings.model.model_copy(update={"base_url": model.base_url, "name": MODEL_NAME})
    return settings.model_copy(update={"model": offline, "prices": {MODEL_NAME: Price()} | settings.prices})


def _session_key(item: SliceOrForget) -> str:
    return f"{item.scope.key()}\x00{item.session_id}"
