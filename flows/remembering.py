"""The half of the flow that needs a model and a store: slices to outcomes, outcomes to memories."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from bytewax.outputs import DynamicSink

from extraction.extractor import Extractor
from extraction.offline import MODEL_NAME, OfflineModel
from memory.store import Store
from operators.census import Census
from operators.extract import Extracted, SliceCall, SliceOrForget, pack, unpack
from operators.health import Heartbeat
from operators.map_async import AsyncMap, AsyncRunner
from operators.metrics import Metrics
from operators.remember import RememberSink
from schemas.claim import Claim
from schemas.controls import Control
from schemas.scope import Scope
from schemas.settings import Settings


@dataclass(frozen=True)
class Remembering:
    """The two steps, and how to ask whether the store can be reached."""

    extraction: AsyncMap[SliceOrForget, Extracted | Control]
    sink: DynamicSink[tuple[str, Extracted | Control]]
    ping: Callable[[], None]


def remembering(
    settings: Settings,
    stack: ExitStack,
    *,
    metrics: Metrics,
    census: Census,
    heartbeat: Heartbeat,
    stop: threading.Event,
) -> Remembering:
    """Open the store and the model; `stack` closes them.

    :raises StoreError: The store cannot be used.
    """
    store = stack.enter_context(Store.open(settings))
    store.ping()
    if settings.model.is_offline:
        settings = with_offline_model(settings, stack.enter_context(OfflineModel()))
    extractor = Extractor(settings)
    metrics.in_flight_limit.set(settings.model.max_in_flight)

    def changed(in_flight: int) -> None:
        metrics.in_flight.set(in_flight)
        heartbeat.beat()

    call = SliceCall(extractor, _StoredRecord(store), settings.extraction.context_lines, metrics)
    runner: AsyncRunner[SliceOrForget, Extracted | Control] = AsyncRunner(
        call, settings.model.max_in_flight, stop, on_wait=metrics.backpressure.inc, on_change=changed
    )
    stack.callback(runner.close)
    stack.callback(lambda: runner.run(extractor.aclose()))
    return Remembering(
        extraction=AsyncMap(runner, encode=pack, decode=unpack, serial_key=_session_key),
        sink=RememberSink(store.bank, metrics, census, heartbeat.beat),
        ping=store.ping,
    )


class _StoredRecord:
    """The record of sessions as the store has it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def claims_of(self, scope: Scope, session_id: str) -> list[Claim]:
        return [claim for claim in self._store.bank(scope).claims() if claim.session_id == session_id]

    def allowed(self, scope: Scope, claims: Sequence[Claim]) -> list[Claim]:
        return self._store.bank(scope).allowed(claims)


def with_offline_model(settings: Settings, model: OfflineModel) -> Settings:
    """Return `settings` with the offline model as the one that extracts."""
    offline = settings.model.model_copy(update={"base_url": model.base_url, "name": MODEL_NAME})
    return settings.model_copy(update={"model": offline})


def _session_key(item: SliceOrForget) -> str:
    return f"{item.scope.key()}\x00{item.session_id}"
