"""What one session costs on its way from slice to stored: CPU by part, calls, and tokens.

`python -m bench.extraction [--sessions N] [--rounds N]`. The slices are the first dialogues of STAR with at least eight
events. The model is the offline one, in a process of its own, so that the CPU is the client's alone: the transcript,
instructor and openai, the rules, the metrics, and the write to the bank.
"""

import argparse
import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median

from bench.fault_model.dialogues import dialogues
from extraction.evidence import Case
from extraction.extractor import Extractor
from extraction.ids import episode_id
from extraction.offline import MODEL_NAME
from extraction.offline.model import answer
from extraction.rules import judge
from extraction.transcript import build_transcript
from memory.store import Store
from operators.extract import count_outcome
from operators.metrics import Metrics
from schemas.outcome import ExtractionOutcome, Outcome
from schemas.settings import ModelSettings, Settings, StoreSettings
from schemas.slice import Slice

SESSIONS = 60
MIN_EVENTS = 8
ROUNDS = 5
_IN_FLIGHT = 16

_SERVE = """
from extraction.offline import OfflineModel
with OfflineModel() as model:
    print(model.base_url, flush=True)
    model.wait()
"""

CALL = "slice to outcome, ms"
STORE = "outcome to stored, ms"
AGAIN = "the same again, ms"


@contextmanager
def model() -> Iterator[str]:
    """Serve the offline model from a process of its own; give its address."""
    with subprocess.Popen([sys.executable, "-c", _SERVE], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


async def extracted(extractor: Extractor, slices: Sequence[Slice]) -> list[Outcome]:
    """Return the outcomes, each counted as the dataflow counts it.

    :raises SystemExit: One did not pass, so that this is no measurement.
    """
    slots, metrics = asyncio.Semaphore(_IN_FLIGHT), Metrics()

    async def one(piece: Slice) -> Outcome:
        async with slots:
            outcome = await extractor.extract(piece)
            count_outcome(outcome, metrics)
            return outcome

    outcomes = list(await asyncio.gather(*(one(piece) for piece in slices)))
    for outcome in outcomes:
        if outcome.status is not ExtractionOutcome.FIRST_PASS:
            sys.exit(f"a slice did not pass at the first call: {outcome.status}, {outcome.problems}, {outcome.error}")
    return outcomes


async def one_round(settings: Settings, slices: Sequence[Slice]) -> dict[str, float]:
    """Return, per session, what it took to extract and store `slices`, and to find them unchanged."""
    extractor = Extractor(settings)
    await extractor.extract(slices[0])  # connects
    found: dict[str, float] = {}
    start = time.process_time()
    outcomes = await extracted(extractor, slices)
    found[CALL] = (time.process_time() - start) * 1000
    found["calls"] = sum(len(outcome.attempts) for outcome in outcomes)
    found["prompt tokens"] = sum(attempt.input_tokens for outcome in outcomes for attempt in outcome.attempts)
    with Store.open(settings) as store:
        start = time.process_time()
        for outcome in outcomes:
            store.bank(outcome.scope).apply([outcome])
        found[STORE] = (time.process_time() - start) * 1000
        start = time.process_time()
        known = [store.bank(piece.scope).fingerprint_of(episode_id(piece)) for piece in slices]
        to_call = sum(known[n] != extractor.fingerprint(piece) for n, piece in enumerate(slices))
        found[AGAIN] = (time.process_time() - start) * 1000
    found["calls for the same again"] = to_call
    await extractor.aclose()
    return {name: value / len(slices) for name, value in found.items()}


def parts(settings: Settings, slices: Sequence[Slice]) -> dict[str, float]:
    """Return what two parts of a call cost alone, milliseconds a session."""
    vocabulary = settings.keys()
    start = time.process_time()
    cases = [Case(build_transcript(piece, settings.extraction.memory_tools), vocabulary) for piece in slices]
    shown = time.process_time()
    answers = [answer([{"role": "user", "content": case.transcript.text}]) for case in cases]
    answered = time.process_time()
    for made, case in zip(answers, cases, strict=True):
        judge(made, case)
    judged = time.process_time()
    return {
        "of it the transcript, ms": (shown - start) * 1000 / len(slices),
        "of it the rules, ms": (judged - answered) * 1000 / len(slices),
    }


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    whole = (piece for piece in dialogues(20 * asked.sessions) if len(piece.events) >= MIN_EVENTS)
    slices = [piece for piece, _ in zip(whole, range(asked.sessions), strict=False)]
    gc.freeze()
    found = []
    with model() as base_url:
        for _ in range(asked.rounds):
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                settings = Settings(
                    model=ModelSettings(base_url=base_url, name=MODEL_NAME), store=StoreSettings(url=folder)
                )
                found.append(asyncio.run(one_round(settings, slices)) | parts(settings, slices))
    events = sum(len(piece.events) for piece in slices) / len(slices)
    print(f"{len(slices)} sessions of {events:.0f} events, {asked.rounds} rounds, a session: median (least-most)")
    for name in found[0]:
        values = [one[name] for one in found]
        print(f"{name:<28}{median(values):>10,.2f}  ({min(values):,.2f}-{max(values):,.2f})")
    whole_way = [one[CALL] + one[STORE] for one in found]
    print(f"{'slice to stored, ms':<28}{median(whole_way):>10,.2f}  ({min(whole_way):,.2f}-{max(whole_way):,.2f})")


if __name__ == "__main__":
    main()
