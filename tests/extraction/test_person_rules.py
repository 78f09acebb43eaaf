"""Nobody's words and traits become the user's."""

import asyncio

import pytest

from extraction.evidence import Case
from extraction.extractor import Extractor
from extraction.rules import CLAIM_RULES
from extraction.transcript import build_transcript
from schemas.events import Event
from schemas.extraction import ExtractedClaim
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason
from schemas.vocabulary import Vocabulary


def is_breach(said, text, quote, speaker="", about="user"):
    event = Event("e1", "user", 1_773_482_400_000, said, speaker=speaker)
    transcript = build_transcript(Slice(Scope("shop", "u"), "s", SliceReason.CLOSED, 0, (event,)), nonce="n")
    claim = ExtractedClaim(kind="fact", key="other.x", about=about, text=text, sources=[1], quote=quote, confidence=0.9)
    return list(CLAIM_RULES["said_of_another"](claim, Case(transcript, Vocabulary()))) != []


@pytest.mark.parametrize(
    ("said", "text", "quote"),
    [
        ("My niece is allergic to walnuts.", "The user is allergic to walnuts.", "allergic to walnuts"),
        ("Hi. I think my boss hates email.", "The user hates email.", "hates email"),
        ("Meine Frau ist Vegetarierin.", "Der Nutzer ist Vegetarier.", "ist Vegetarierin"),
        ("Our oldest daughter lives in Leeds", "The user lives in Leeds.", "lives in Leeds"),
    ],
)
def test_a_trait_of_a_relative_or_colleague_is_not_the_users(said, text, quote):
    assert is_breach(said, text, quote)
    assert not is_breach(said, text, quote, about=said.split()[-1].strip("."))


@pytest.mark.parametrize(
    ("said", "text", "quote"),
    [
        ("My niece is allergic to walnuts.", "The user's niece is allergic to walnuts.", "allergic to walnuts"),
        ("My niece is allergic to walnuts.", "The user has a niece with an allergy.", "My niece is allergic"),
        ("My boss hates email, so I prefer phone.", "The user prefers phone.", "I prefer phone"),
        ("My wife and I are vegetarians.", "The user is a vegetarian.", "are vegetarians"),
        ("I'm Mark and my friend is John.", "The user is called Mark.", "I'm Mark and my friend is John."),
        ("My niece is here. I am allergic.", "The user is allergic.", "I am allergic"),
        ("My order is late.", "The user has a late order.", "My order is late"),
        ("My friend has the parcel.", "The user says it is there.", "has the parcel"),
    ],
)
def test_what_the_user_says_of_themselves_is_theirs(said, text, quote):
    assert not is_breach(said, text, quote)


def test_what_another_speaker_says_of_themselves_is_not_the_users():
    assert is_breach("I live in Leeds.", "The user lives in Leeds.", "live in Leeds", speaker="Anna")
    assert not is_breach("I live in Leeds.", "The user lives in Leeds.", "live in Leeds")
    assert not is_breach("He is my uncle.", "The user is Anna's nephew, says uncle Bob.", "my uncle", speaker="Anna")
    assert not is_breach("They live in Leeds.", "The user lives in Leeds.", "live in Leeds", speaker="Anna")


def test_a_fact_that_only_another_speaker_tells_keeps_that_authority(
    endpoint, make_event, make_slice, make_claim, make_answer
):
    claim = make_claim(key="other.arrival", text="The train of the user is late.", quote="The train is late")
    endpoint.answer(make_answer(claim, digest="Anna spoke of a train."))

    async def run():
        extractor = Extractor(endpoint.settings())
        try:
            return await extractor.extract(make_slice(make_event(1, "The train is late.", speaker="Anna")))
        finally:
            await extractor.aclose()

    assert [one.authority for one in asyncio.run(run()).claims] == ["other_speaker"]
