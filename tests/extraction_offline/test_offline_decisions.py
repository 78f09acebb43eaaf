"""Goals, decisions, promises and open questions."""

import pytest
from offline_talk import claims, texts


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Let's go with the Hilton.", "The user chose the Hilton."),
        ("I'll take a taxi.", "The user chose a taxi."),
        ("Let's deploy to eu-west.", "The user decided to deploy to eu-west."),
        ("Please book the 8am train to Bern.", "The user told the agent to book the 8am train to Bern."),
        ("I decided to cancel the contract.", "The user decided to cancel the contract."),
    ],
)
def test_choices_and_orders_are_decisions(said: str, text: str) -> None:
    assert texts(f"user: {said}", key="decision") == [text]


@pytest.mark.parametrize("said", ["I think I'll take a taxi.", "Should I book a room?", "I'll take it.", "Let's see."])
def test_doubts_and_bare_pointers_are_no_decision(said: str) -> None:
    assert texts(f"user: {said}", key="decision") == []


def test_changed_request_is_a_change_and_holds_for_this_talk_only() -> None:
    (made,) = claims("user: Change it to Tuesday 5pm.", key="decision")
    assert (made.text, made.change, made.durable) == ("The user changed the request to Tuesday 5pm.", True, False)


def test_yes_to_an_offer_quotes_the_offer_and_a_yes_but_is_none() -> None:
    offer = "agent: The flight to Bern at 8am is available. Should I reserve it for you?"
    (made,) = claims(offer, "user: Yes, please.", key="decision")
    assert made.sources == [1, 2]
    assert "The flight to Bern at 8am is available. Should I reserve it for you?" in made.text
    assert texts(offer, "user: Yes, but not today.", key="decision") == []
    assert texts("agent: Is it raining?", "user: Yes.", key="decision") == []


@pytest.mark.parametrize(
    "lines",
    [
        ("agent: The flight is available. Should I reserve it for you?", "user: Yes please"),
        ("agent: Dr. Ruiz is free at 3 pm. Can I book it for you?", "user: Yes for both me and my son?"),
        ("agent: Dr. Ruiz is free at 3 pm. Can I book it for you?", "user: Yes, as long as it isn't Monday."),
        ("user: Let's book 5", "agent: ok"),
        ("user: I'm afraid I'll take the wrong bus again.", "agent: ok"),
        ("user: Let's go with 2 dozen eggs, I mean 24 people", "agent: ok"),
    ],
)
def test_yes_to_who_knows_what_is_no_decision(lines: tuple[str, ...]) -> None:
    assert texts(*lines, key="decision") == []


def test_order_to_the_agent_is_told_in_small_letters() -> None:
    assert texts("user: Book a table at Lucca.", key="decision") == [
        "The user told the agent to book a table at Lucca."
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("user: I will return and email the requester.", ["The user will return and email the requester."]),
        ("user: I will call them later.", []),
        ("user: I'll bring my passport and they will copy it.", ["The user will bring the user's passport."]),
        ("support: I understand, we will contact you shortly.", ["The agent will contact the user shortly."]),
    ],
)
def test_promise_is_told_to_its_end_and_names_its_object(line: str, told: list[str]) -> None:
    assert [one.text for one in claims(line) if one.kind == "commitment"] == told


def test_promise_under_a_condition_says_so() -> None:
    (made,) = claims("support: We will refund the deposit if the room is clean.", key="commitment.agent")
    assert (made.text, made.condition) == (
        "The agent will refund the deposit if the room is clean.",
        "if the room is clean",
    )


@pytest.mark.parametrize(
    ("said", "goal"),
    [
        ("I like to book a flight", ["The user wants to book a flight."]),
        ("I like window seats, and I hate early flights.", []),
        ("I love the weather", []),
        ("I hope they have vegan food.", []),
        ("I need to see if you can check my balance - can you do that?", 1),
        ("I need a ride to the station, my name is Ben.", ["The user wants a ride to the station."]),
        ("I need a ride to the station, but not Uber.", ["The user wants a ride to the station, but not Uber."]),
        ("Can you help me with some directions?", ["The user asked the agent for help with some directions."]),
        ("I need to check my balance to see if", []),
        ("Can you send some, please?", []),
        ('"I need a taxi", said my boss.', []),
        ("I want to organize a party for your friend Eva.", []),
        ("I need to get some Vitamin D.", ["The user wants to get some Vitamin D."]),
        ("I want to celebrate.", ["The user wants to celebrate."]),
    ],
)
def test_goal_is_a_request_told_whole(said: str, goal: list[str] | int) -> None:
    told = texts(f"user: {said}", key="session.goal")
    assert told == (["The user wants to see if the agent can check the user's balance."] if goal == 1 else goal)


def test_promises_of_both_sides_with_their_day() -> None:
    lines = (
        "support: I'll refund $12.50 within five working days. We will contact you tomorrow.",
        "user: Thanks, I'll send you the papers tomorrow.",
    )
    assert [(one.text, one.when) for one in claims(*lines, key="commitment.agent")] == [
        ("The agent will refund $12.50 within five working days.", None),
        ("The agent will contact the user on 2026-03-15.", "2026-03-15"),
    ]
    assert [(one.text, one.when) for one in claims(*lines, key="commitment.user")] == [
        ("The user will send the agent the papers on 2026-03-15.", "2026-03-15")
    ]


@pytest.mark.parametrize(
    "line",
    [
        "support: I'll check that for you.",
        "support: I will be happy to help.",
        "support: If it fails I will refund you.",
        "support: I'll send that.",
        "user: I'll write that down.",
        "user: Maybe I will send you the papers.",
    ],
)
def test_service_talk_and_conditions_are_no_promise(line: str) -> None:
    assert [one for one in claims(line) if one.kind == "commitment"] == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I need to make a service request.", "The user wants to make a service request."),
        (
            "Can you help me plan a party for my friend?",
            "The user asked the agent to plan a party for the user's friend.",
        ),
        ("I'd like an appointment with Dr. Morgan, please", "The user wants an appointment with Dr. Morgan."),
        (
            "Find me a dinner place near Chiado for 4 people.",
            "The user asked the agent to find the user a dinner place near Chiado for 4 people.",
        ),
    ],
)
def test_goal_is_the_first_thing_asked_for_and_not_durable(said: str, text: str) -> None:
    (goal,) = claims(f"user: Hi! {said}", "user: I also want a pizza with extra cheese.", key="session.goal")
    assert (goal.text, goal.durable) == (text, False)


def test_question_without_reply_is_open_and_an_answered_one_is_not() -> None:
    assert texts("user: When will the parcel arrive?", key="question") == [
        'The user asked: "When will the parcel arrive?"'
    ]
    assert texts("user: When will the parcel arrive?", "agent: On Friday.", key="question") == []


def test_question_stays_open_when_the_reply_has_no_answer() -> None:
    lines = "user: What does the tree cost?", "agent: I'm very sorry, but I am unable to get the price."
    assert texts(*lines, key="question") == ['The user asked: "What does the tree cost?"']


@pytest.mark.parametrize(
    "said", ["How are you?", "Can you book a table?", "Are you there?", "What do you know about me?", "ok?"]
)
def test_small_talk_and_requests_are_no_open_question(said: str) -> None:
    assert texts(f"user: {said}", key="question") == []


def test_answer_closes_the_question_of_the_record() -> None:
    record = (
        "[fact] name | about user | The user is called Priya.",
        '[open_question] question | about user | The user asked: "When will order A-1001 arrive?"',
    )
    (made,) = [one for one in claims("support: Order A-1001 arrives on 16 March.", record=record) if one.closes]
    assert (made.closes, made.text) == ("r2", "Order A-1001 arrives on 16 March.")
    assert not any(one.closes for one in claims("support: Order A-1001 was made with care.", record=record))


def test_users_answer_closes_what_the_agent_asked() -> None:
    record = ("[open_question] question | about user | The agent asked which size the user needs.",)
    found = claims("user: I need size M.", record=record)
    assert [(one.closes, one.quote) for one in found if one.closes] == [("r1", "I need size M.")]
