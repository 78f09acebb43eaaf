"""Through the real extractor: what the model answers passes the rules, in every mode, on real dialogues."""

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from extraction.extractor import Extractor
from extraction.offline import MODEL_NAME, OfflineModel
from schemas.events import Event, ToolCall, ToolResult
from schemas.outcome import Outcome
from schemas.scope import Scope
from schemas.settings import ModelSettings, Settings
from schemas.slice import Slice, SliceReason

SESSIONS = 300
EVERY_SESSION = 1_000_000


def dialogues(path: Path, count: int) -> list[Slice]:
    """The first `count` sessions of an envelope file, each as one slice."""
    sessions: dict[tuple[str, str], list[Event]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in rows:
            envelope = json.loads(row)
            sessions.setdefault((envelope["userId"], envelope["sessionId"]), []).append(event_of(envelope["event"]))
    chosen = islice(sessions.items(), count)
    return [Slice(Scope("star", u), s, SliceReason.CLOSED, 0, tuple(events)) for (u, s), events in chosen]


def event_of(raw: dict) -> Event:
    parts = raw.get("content", {}).get("parts", [])
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return Event(
        id=raw["id"],
        author=raw["author"],
        ts_ms=raw["timestamp"],
        text="\n".join(part["text"] for part in parts if "text" in part),
        calls=tuple(ToolCall(c.get("id", ""), c["name"], json.dumps(c["args"])) for c in calls),
        results=tuple(ToolResult(r.get("id", ""), r["name"], json.dumps(r["response"])) for r in results),
    )


def run(slices: Iterable[Slice], mode: str = "json_schema") -> list[Outcome]:
    async def all_of(base_url: str) -> list[Outcome]:
        model = ModelSettings(base_url=base_url, name=MODEL_NAME, mode=mode)
        extractor = Extractor(Settings(model=model))
        try:
            return [await extractor.extract(piece, ()) for piece in slices]
        finally:
            await extractor.aclose()

    with OfflineModel() as served:
        return asyncio.run(all_of(served.base_url))


@pytest.mark.parametrize("mode", ["json_schema", "json", "tools"])
def test_session_is_extracted_at_the_first_pass_and_paid_for(mode: str) -> None:
    said = [
        ("user", "Hi, I'm Priya. I moved to Lisbon in March and I'm vegetarian."),
        ("agent", "Noted. Your booking BK-9913 is confirmed."),
        ("user", "My niece is allergic to walnuts."),
    ]
    events = tuple(Event(f"e{n}", who, 1_773_482_400_000 + n, text=text) for n, (who, text) in enumerate(said))
    (outcome,) = run([Slice(Scope("app", "ada"), "s", SliceReason.CLOSED, 0, events)], mode)
    assert (outcome.status.value, outcome.problems, outcome.dropped) == ("first_pass", (), ())
    assert {(one.key, one.about) for one in outcome.claims} == {
        ("name", "user"),
        ("location.home", "user"),
        ("diet", "user"),
        ("order.id", "user"),
        ("health.allergy", "niece"),
    }
    (attempt,) = outcome.attempts
    assert attempt.input_tokens > attempt.output_tokens > 0
    assert outcome.entity_recall == 1.0


def test_real_dialogues_pass_the_rules_and_yield_memories(shared: Path) -> None:
    outcomes = run(dialogues(shared / "data" / "star_events.jsonl.gz", SESSIONS))
    ends = Counter(outcome.status.value for outcome in outcomes)
    assert ends["first_pass"] >= 0.99 * len(outcomes)
    assert ends["rejected"] + ends["to_retry"] <= 1
    assert sum(len(outcome.claims) for outcome in outcomes) > 2 * len(outcomes)
    assert not any(outcome.dropped for outcome in outcomes)


def test_real_dialogue_with_a_guessed_pin_is_remembered_without_it(shared: Path) -> None:
    pieces = dialogues(shared / "data" / "star_events.jsonl.gz", EVERY_SESSION)
    (outcome,) = run(piece for piece in pieces if piece.session_id == "star-718")
    assert (outcome.status.value, outcome.problems, outcome.entity_recall) == ("first_pass", (), 1.0)
    assert outcome.episode
    stored = " | ".join([outcome.episode.text, *(f"{c.text} {c.quote} {c.condition}" for c in outcome.claims)])
    assert "68318931" in stored
    assert "3941" not in stored
    assert "7402" not in stored
