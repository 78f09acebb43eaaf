"""What makes a slice another one to the model, and what does not."""

import asyncio

import pytest
from msgspec.structs import replace

from extraction.extractor import Extractor
from schemas.events import ToolCall, ToolResult
from schemas.settings import ExtractionSettings, ModelSettings, Settings
from schemas.slice import SliceReason
from schemas.vocabulary import Key


@pytest.fixture
def piece(make_event, make_slice):
    return make_slice(make_event(1, "My order A-1001 is late."), make_event(2, "I see.", author="support"))


def mark(piece, **sections):
    return Extractor(Settings(**sections)).fingerprint(piece)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "My order A-1002 is late."},
        {"id": "e9"},
        {"author": "support"},
        {"speaker": "Bob"},
        {"ts_ms": 0},
        {"calls": (ToolCall("c", "find", "{}"),)},
        {"results": (ToolResult("c", "find", "{}"),)},
        {"error": "timeout"},
        {"withheld": True},
        {"timezone": "Asia/Tokyo"},
    ],
)
def test_fingerprint_tells_what_the_model_is_shown_of_an_event(piece, change):
    other = replace(piece, events=(replace(piece.events[0], **change), *piece.events[1:]))
    assert mark(other) != mark(piece)


@pytest.mark.parametrize(
    "sections",
    [
        {"model": ModelSettings(name="another")},
        {"vocabulary": (Key(name="shoe_size", kind="fact", meaning="the user's size of shoes"),)},
        {"extraction": ExtractionSettings(instructions="Leave out names.")},
        {"extraction": ExtractionSettings(required_entities=())},
        {"extraction": ExtractionSettings(timezone="Asia/Tokyo")},
    ],
)
def test_fingerprint_tells_how_a_slice_is_extracted(piece, sections):
    assert mark(piece, **sections) != mark(piece)


def test_fingerprint_does_not_tell_how_the_events_came_nor_where_the_model_is(piece):
    again = replace(
        piece, reason=SliceReason.IDLE, seq=7, events=tuple(replace(event, late=True) for event in piece.events)
    )
    assert mark(again, model=ModelSettings(base_url="http://elsewhere/v1", max_in_flight=3)) == mark(piece)


def test_fingerprint_is_no_trace_of_what_was_withheld(piece):
    told, other = (replace(piece.events[0], text=text, withheld=True) for text in ("My PIN is 4821.", "Never mind."))
    assert mark(replace(piece, events=(told,))) == mark(replace(piece, events=(other,)))


def test_fingerprint_stands_on_a_passing_outcome_and_its_digest_line(piece, endpoint, make_answer, make_claim):
    async def go():
        extractor = Extractor(endpoint.settings())
        try:
            return extractor.fingerprint(piece), [await extractor.extract(piece) for _ in range(2)]
        finally:
            await extractor.aclose()

    endpoint.answer(make_answer(make_claim(quote="My order A-1001 is late")), "no JSON")
    expected, (passed, rejected) = asyncio.run(go())
    assert passed.fingerprint == passed.episode.fingerprint == expected
    assert (rejected.status.value, rejected.fingerprint) == ("rejected", "")
