"""What somebody withholds by their words is in no transcript; what merely sounds like it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.fingerprint import fingerprint
from extraction.transcript import build_transcript
from extraction.withholding import withheld_by_words
from schemas.events import Event, ToolCall, ToolResult
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason

NOON = 1_773_482_400_000


def talk(*said):
    """`said` are (who, text), of events e0, e1 ...; "user Anna" is another speaker, "tool" a call with its result."""
    events = []
    for n, (who, text) in enumerate(said):
        author, _, speaker = who.partition(" ")
        tool = who == "tool"
        events.append(
            Event(
                f"e{n}",
                "bot" if tool else author,
                NOON + n,
                "" if tool else text,
                speaker=speaker,
                calls=(ToolCall("c", "t", text),) if tool else (),
                results=(ToolResult("c", "t", text),) if tool else (),
            )
        )
    return events


def hidden(*said):
    return sorted(withheld_by_words(talk(*said)))


@pytest.mark.parametrize(
    "text",
    [
        "Please don't remember that.",
        "Don’t store this, please.",
        "do not save this",
        "don't note this down",
        "please don't keep this",
        "can you not save this?",
        "Forget I said that.",
        "Forget what I just said",
        "delete what I said",
        "strike that from the record",
        "please erase that from your memory",
        "I don't want you to remember this",
        "I don't want this saved",
        "this shouldn't be stored",
        "pretend I never said that",
        "make sure you don't save this",
        "you didn't hear that from me",
        "keep this between us",
        "let's keep it between the two of us",
        "please don't store my personal data",
        "Bitte merk dir das nicht.",
        "Vergiss, was ich gerade gesagt habe.",
        "This is confidential, don't write it down.",
        "DON'T  REMEMBER\nTHAT",
    ],
)
def test_pointing_back_withholds_the_exchange_before_with_its_answers(text):
    said = [("user", "Hello."), ("bot", "Hi."), ("user", "I owe 500."), ("tool", "500"), ("bot", "Noted, 500.")]
    assert hidden(*said, ("user", text), ("bot", "Fine."), ("user", "Tea?")) == ["e2", "e3", "e4", "e5", "e6"]


@pytest.mark.parametrize(
    "text",
    [
        "Off the record: my boss is a great fool, and he knows it.",
        "Don't remember this: my salary is one pound a month.",
        "Strictly between us, I have been looking for another place to work.",
        "My card is lost, please do not write this down, and block it at once.",
    ],
)
def test_a_message_that_says_it_all_itself_withholds_itself_and_its_answer(text):
    assert hidden(("user", "Hello."), ("bot", "Hi."), ("user", text), ("tool", "{}"), ("bot", "Oh.")) == [
        "e2",
        "e3",
        "e4",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I don't remember that.",
        "I really don't remember it",
        "You don't remember that I like tea?",
        "Don't forget what I said.",
        "don't remember my password",
        "Please remember that.",
        "I forget what I said.",
        "Forget it, I take the blue one.",
        "Never mind.",
        "What is the difference between us and them?",
        "Please don't keep it in the fridge.",
        "They don't store that size.",
        "I don't record my number anywhere.",
        "Merk dir das bitte.",
        "This is a private room.",
        "Is this confidential?",
        "Please note that I am late.",
        "Save this in my profile.",
    ],
)
def test_what_merely_sounds_like_it_withholds_nothing(text):
    assert hidden(("user", "I owe 500."), ("bot", "Noted."), ("user", text)) == []


def test_messages_of_the_same_turn_are_meant_before_those_of_an_earlier_one():
    said = (("user", "Hello."), ("bot", "Hi."), ("user", "I owe 500."), ("user", "Don't save that."), ("bot", "Ok."))
    assert hidden(*said) == ["e2", "e3", "e4"]


def test_forget_what_i_said_about_withholds_where_it_was_said():
    said = (
        ("user", "My spa visit was bad."),
        ("bot", "Sorry."),
        ("user", "I like tea."),
        ("bot", "Nice."),
        ("user", "Forget what I said about the spa."),
        ("bot", "Done."),
    )
    assert hidden(*said) == ["e0", "e1", "e4", "e5"]


def test_off_the_record_holds_for_everybody_until_back_on_the_record():
    said = (
        ("user", "Hi."),
        ("user", "Off the record now."),
        ("bot", "Yes?"),
        ("user Anna", "He owes me."),
        ("user", "I do."),
        ("user", "Back on the record: I like tea."),
        ("bot", "Nice."),
    )
    assert hidden(*said) == ["e0", "e1", "e2", "e3", "e4"]
    assert hidden(*said[2:]) == ["e0", "e1", "e2"], "left in an earlier slice, so withheld from the start of this one"


def test_others_withhold_their_own_words_and_the_user_also_theirs():
    said = [("user", "I like tea."), ("bot", "Nice."), ("user Anna", "I owe 500."), ("bot", "Oh.")]
    assert hidden(*said, ("user Anna", "Don't save that."), ("bot", "Ok.")) == ["e2", "e3", "e4", "e5"]
    assert hidden(*said, ("user", "Don't save that."), ("bot", "Ok.")) == ["e0", "e1", "e2", "e3", "e4", "e5"]


def test_an_agent_withholds_nothing():
    assert hidden(("user", "I like tea."), ("bot", "Off the record, don't save that.")) == []


def test_what_is_withheld_is_neither_shown_nor_digested():
    def piece(secret):
        events = talk(
            ("user", "Hi."), ("user", f"Off the record: I owe {secret} to him."), ("bot", f"{secret}, I see.")
        )
        return Slice(Scope("shop", "u"), "s", SliceReason.CLOSED, 0, tuple(events))

    shown = build_transcript(piece(500), nonce="n")
    assert [line.event.id for line in shown.lines] == ["e0"]
    assert "500" not in shown.text
    assert fingerprint(piece(500), b"") == fingerprint(piece(600), b"")


_PARTS = st.sampled_from(
    ["Off the record", "don't remember that", "back on the record", "I owe 500", "forget what I said about tea", "tea"]
)


@given(st.lists(st.tuples(st.sampled_from(["user", "user Anna", "bot", "tool"]), _PARTS), max_size=8))
def test_every_phrase_of_a_person_withholds_its_own_event_and_answer(said):
    events = talk(*said)
    withheld = withheld_by_words(events)
    for n, (who, text) in enumerate(said):
        if who.startswith("user") and text in ("Off the record", "don't remember that"):
            assert f"e{n}" in withheld
            if n + 1 < len(said) and said[n + 1][0] in ("bot", "tool"):
                assert f"e{n + 1}" in withheld
