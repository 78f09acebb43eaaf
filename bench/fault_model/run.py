"""Runs slices through the extractor against the fault model."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

import httpx
import msgspec
from openai import DefaultAioHttpClient
from pydantic import SecretStr

from bench.fault_model.dialogues import dialogues, elsewhere, pool
from bench.fault_model.process import FaultModel
from bench.fault_model.record import Outside, Report
from bench.fault_model.scenes import write_scenes
from bench.fault_model.server import SLICE_HEADER
from extraction.extractor import Extractor
from schemas.outcome import Outcome
from schemas.settings import ModelSettings, Settings
from schemas.slice import Slice

_SCENE_EVERY = 4
"""One slice in so many is a scene, the others are real dialogues."""

_SLICE: ContextVar[str] = ContextVar("bench_slice")


@dataclass(frozen=True)
class Ran:
    """What came back: outcomes by slice key, the server's report, and what it took, in seconds."""

    outcomes: dict[str, Outcome]
    report: Report
    cpu_s: float
    wall_s: float


def make_slices(count: int, seed: int) -> tuple[list[Slice], dict[str, Outside]]:
    """Return `count` slices in a drawn order, and what the server is told of each by its key, the session id.

    Raises:
        DataMissing: the file of dialogues is not there.
    """
    rng = random.Random(seed)
    scenes = write_scenes(count // _SCENE_EVERY, seed)
    slices = dialogues(count - len(scenes))
    outside = {piece.session_id: told for piece, told in scenes}
    slices += [piece for piece, _ in scenes]
    claims = pool(slices, rng)
    for piece in slices:
        same, others = elsewhere(piece, claims, rng)
        told = outside.get(piece.session_id, Outside())
        outside[piece.session_id] = msgspec.structs.replace(told, elsewhere=same, of_others=others)
    rng.shuffle(slices)
    return slices, outside


def settings_for(base_url: str, timeout_s: float, mode: str = "json_schema") -> Settings:
    """Return the settings of the run: all defaults, but for the endpoint and a short time-out."""
    model = ModelSettings.model_validate(
        {"base_url": base_url, "name": "faults", "api_key": SecretStr("none"), "timeout_s": timeout_s, "mode": mode}
    )
    return Settings(model=model)


def run(
    slices: Sequence[Slice],
    outside: dict[str, Outside],
    model: FaultModel,
    settings: Settings,
    *,
    in_flight: int,
    done: Callable[[int], None] = lambda _: None,
) -> Ran:
    """Extract every slice, `in_flight` at once, and ask the server what it planted; `done` hears after each slice."""
    model.tell(outside)
    wall, cpu = time.monotonic(), time.process_time()
    outcomes = asyncio.run(_extract_all(slices, settings, in_flight, done))
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    return Ran(outcomes, model.report(), cpu, wall)


async def _extract_all(
    slices: Sequence[Slice], settings: Settings, in_flight: int, done: Callable[[int], None]
) -> dict[str, Outcome]:
    async def name_slice(request: httpx.Request) -> None:
        request.headers[SLICE_HEADER] = _SLICE.get()

    extractor = Extractor(settings, http=DefaultAioHttpClient(event_hooks={"request": [name_slice]}))
    outcomes: dict[str, Outcome] = {}
    waiting = iter(slices)

    async def work() -> None:
        for piece in waiting:
            _SLICE.set(piece.session_id)
            outcomes[piece.session_id] = await extractor.extract(piece)
            done(len(outcomes))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(in_flight):
                group.create_task(work())
    finally:
        await extractor.aclose()
    return outcomes
