"""A claim says something of what its evidence says, and names nobody who is not in it."""

import pytest

from extraction.evidence import Case
from extraction.roots import roots
from extraction.rules import judge
from extraction.transcript import build_transcript
from schemas.events import Event
from schemas.extraction import Extraction
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason
from schemas.vocabulary import Vocabulary

NOON = 1_773_482_400_000
NAMES = {"invented_name", "invented_digest_name"}


def rules_broken(line: str, text: str, *, digest: str = "They talked.", speaker: str = "", quote: str = "") -> set[str]:
    event = Event("e1", "user", NOON, line, speaker=speaker)
    case = Case(build_transcript(Slice(Scope("a", "u"), "s", SliceReason.CLOSED, 0, (event,)), nonce="n"), Vocabulary())
    claim = {"kind": "fact", "key": "other.note", "text": text, "quote": quote or line, "sources": [1], "confidence": 1}
    answer = {"claims": [claim] if text else [], "digest": {"text": digest, "sources": [1]}}
    return {problem.rule for problem in judge(Extraction.model_validate(answer), case).problems}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Do they have hardwood floors?", "The user dislikes herbal tea."),
        ("Walk to the bus stop please.", "The user wants the way from Broadway to the hospital."),
        ("Wann haben Sie geöffnet?", "Der Nutzer hat Diabetes."),
        ("我想订一张去东京的票", "用户喜欢爵士乐。"),
    ],
)
def test_a_text_without_a_word_of_its_evidence_is_about_something_else(line, text):
    assert "unrelated_text" in rules_broken(line, text)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("I moved to Porto last year.", "The user's move was to Porto."),
        ("I love L.A.!", "The user likes L.A."),
        ("I'm now vegan.", "The user is vegan."),
        ("Ich bin gegen Nüsse allergisch.", "Der Nutzer hat eine Allergie gegen Nüsse."),
        ("我住在东京", "用户住在东京。"),
        ("Call me Bo.", "The user is called Bo."),
    ],
)
def test_a_text_in_other_words_of_the_same_roots_is_related(line, text):
    assert not rules_broken(line, text) & ({"unrelated_text"} | NAMES)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("The user wants a taxi for Greta.", True),
        ("The user wants a taxi to the station; the booking code is JGXDBE.", True),
        ("The user will die for a taxi to the station with Dr. Okafor.", True),
        ("Anna wants a taxi to the Station.", False),
        ("The user (Tom) wants a taxi.", False),
        ("The user wants a taxi on Tuesday.", False),
        ("Taxi to the station. Soon.", False),
        ("Der Nutzer möchte ein Taxi zum Bahnhof.", False),
    ],
)
def test_a_name_stands_in_the_evidence_or_is_that_of_who_spoke(text, broken):
    line = "I need a taxi to the station."
    assert ("invented_name" in rules_broken(line, text, speaker="Tom")) == broken
    assert ("invented_digest_name" in rules_broken(line, "", digest=text, speaker="Tom")) == broken


def test_roots_leave_endings_and_empty_words_out():
    assert roots("The user MOVED, and moves again.") == {"move"}
    assert roots("Straße 7") == {"stra", "7"}
    assert roots("the user says it") == frozenset()


def test_what_was_said_in_a_withheld_event_only_is_in_no_claim_and_no_digest():
    events = (
        Event("e1", "user", NOON, "My doctor told me that I have diabetes.", withheld=True),
        Event("e2", "user", NOON + 1, "When do you open? My doctor is near."),
    )
    case = Case(build_transcript(Slice(Scope("a", "u"), "s", SliceReason.CLOSED, 0, events), nonce="n"), Vocabulary())
    claims = [
        {"text": text, "kind": "fact", "key": "other.x", "quote": "When do you open", "sources": [1], "confidence": 1}
        for text in ("The user has diabetes and asks when you open.", "The user's doctor is near where you open.")
    ]
    digest = {"text": "The user asked when you open; the user has diabetes.", "sources": [1]}
    verdict = judge(Extraction.model_validate({"claims": claims, "digest": digest}), case)
    assert [claim.text for claim in verdict.claims] == ["The user's doctor is near where you open."]
    assert [problem.rule for problem in verdict.dropped] == ["withheld_source"]
    assert "withheld_in_digest" in {problem.rule for problem in verdict.problems}


def test_a_guess_of_the_agents_beside_any_line_of_the_users_is_no_preference_but_an_answered_question_is():
    def dropped(agent: str, user: str, quote: str) -> list[str]:
        events = (Event("e1", "bot", NOON, agent), Event("e2", "user", NOON + 1, user))
        piece = Slice(Scope("a", "u"), "s", SliceReason.CLOSED, 0, events)
        claim = {"kind": "preference", "key": "likes", "text": "The user loves jazz.", "confidence": 1}
        answer = {"claims": [claim | {"quote": quote, "sources": [1, 2]}], "digest": {"text": "Talk.", "sources": [1]}}
        case = Case(build_transcript(piece, nonce="n"), Vocabulary())
        return [problem.rule for problem in judge(Extraction.model_validate(answer), case).dropped]

    assert dropped("You would love jazz.", "That is all for now.", "all for now") == ["preference_without_user"]
    assert dropped("Do you love jazz?", "I do, very much.", "I do, very much") == []


def test_a_promise_of_the_agents_needs_a_line_of_the_agents():
    def dropped(author: str) -> list[str]:
        event = Event("e1", author, NOON, "You have agreed to refund me 900 EUR.")
        claim = {"kind": "commitment", "key": "commitment.agent", "text": "The agent has agreed to refund 900 EUR."}
        claim |= {"quote": "agreed to refund me 900 EUR", "sources": [1], "confidence": 1}
        answer = {"claims": [claim], "digest": {"text": "Talk of 900 EUR.", "sources": [1]}}
        case = Case(build_transcript(Slice(Scope("a", "u"), "s", SliceReason.CLOSED, 0, (event,))), Vocabulary())
        return [problem.rule for problem in judge(Extraction.model_validate(answer), case).dropped]

    assert (dropped("user"), dropped("bot")) == (["promise_without_agent"], [])
