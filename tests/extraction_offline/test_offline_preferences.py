"""What the user likes and wants: only their own, asserted words count."""

import pytest
from offline_talk import claims, extract, texts


@pytest.mark.parametrize(
    ("said", "key", "text"),
    [
        ("I really like Indian food but not pizza.", "likes", "The user likes Indian food."),
        ("I'm a huge fan of classy European cars.", "likes", "The user likes classy European cars."),
        ("I can't stand the rain.", "dislikes", "The user dislikes the rain."),
        ("I don't like BMWs.", "dislikes", "The user dislikes BMWs."),
        ("My favourite colour is green.", "favorite", "The user's favourite colour is green."),
        ("The Porch is my favorite.", "favorite", "The Porch is the user's favourite."),
        ("Please answer in German.", "language", "The user wants to be answered in German."),
        ("I strongly prefer concise answers.", "answer.style", "The user prefers concise answers."),
        ("Please don't use emojis.", "answer.style", "The user wants answers without emojis."),
        ("Only email me.", "contact.channel", "The user wants to be contacted by email."),
        ("I'm vegetarian.", "diet", "The user is vegetarian."),
        ("I never eat pork.", "diet", "The user does not eat or drink pork."),
    ],
)
def test_stated_preferences_are_kept_under_their_key(said: str, key: str, text: str) -> None:
    (made,) = claims(f"user: {said}", key=key)
    assert (made.kind, made.text, made.about, made.sources) == ("preference", text, "user", [1])


@pytest.mark.parametrize(
    "said",
    [
        "I would like a table for two.",
        "I'd love a coffee.",
        "I like it.",
        "I hate that.",
        "I love the idea.",
        "Do I like jazz?",
        "My brother says he loves sushi.",
        "She said I like tea.",
        "I used to be vegetarian.",
        "I guess I prefer tea.",
        "If I were rich I'd prefer the Ritz.",
        "Don't you hate it when it rains?",
        "I wish I was vegan.",
        "I don't like Dr. Johnson's attitude if it is true, just kidding.",
    ],
)
def test_wishes_doubts_and_hearsay_are_no_preference(said: str) -> None:
    assert [one for one in claims(f"user: {said}") if one.kind == "preference"] == []


@pytest.mark.parametrize(
    "said",
    [
        "I prefer trains, said my boss.",
        '"I prefer trains", said my boss.',
        "I prefer trains, my boss said yesterday.",
        "I prefer trains, Anna explained.",
        "I prefer trains, or so claims my boss.",
        "'I prefer trains' is what my boss says.",
        "According to my boss I prefer trains.",
        "I prefer trains according to my boss.",
        "My boss: I prefer trains.",
        'He wrote "It is late. I prefer trains."',
    ],
)
def test_words_of_another_are_nobodys_preference_wherever_it_is_said(said: str) -> None:
    assert [one for one in claims(f"user: {said}") if one.kind == "preference"] == []


def test_own_saying_is_no_hearsay() -> None:
    assert texts("user: I like jazz, I told my boss.", key="likes") == ["The user likes jazz."]


@pytest.mark.parametrize(
    "said",
    [
        "I like to book a flight",
        "I like to RSVP",
        "Hi I like to reserve a table",
        "I like a table for two",
        "I prefer the 9th",
    ]
    + ["I like to order room service", "I prefer the quicker flight on the 29th"],
)
def test_polite_request_or_choice_is_no_standing_preference(said: str) -> None:
    assert [one for one in claims(f"user: {said}") if one.kind == "preference"] == []


def test_pastime_is_a_preference() -> None:
    assert texts("user: I love to dance.", key="likes") == ["The user likes to dance."]


@pytest.mark.parametrize(
    "said",
    [
        "I can't stand people more than an hour",
        "I hate to spend money when they are mean spirited",
        "I'll tell the people I don't like as much they can't come",
        "I like hotels which have a pool",
        "A blog I love recommends it.",
        "Darn my partner hates than chain",
        "They're my favorite even if they are pricey.",
    ],
)
def test_lost_qualifier_or_relative_clause_is_no_preference(said: str) -> None:
    assert [one for one in claims(f"user: {said}") if one.kind == "preference"] == []


@pytest.mark.parametrize(
    ("said", "key", "text"),
    [
        ("I love L.A.!", "likes", "The user likes L.A."),
        ("I love L.A. and sushi.", "likes", "The user likes L.A. and sushi."),
        ("I like Italian, Chinese, and burgers", "likes", "The user likes Italian, Chinese, and burgers."),
        ("I like Italian, Chinese and it is late", "likes", "The user likes Italian."),
        ("I don't like Dr. Johnson.", "dislikes", "The user dislikes Dr. Johnson."),
        ("I hate to fly in snow.", "dislikes", "The user hates to fly in snow."),
        ("Bang and Reign are my favorites.", "favorite", "Bang and Reign are the user's favourites."),
        ("And The Porch is my favorite.", "favorite", "The Porch is the user's favourite."),
    ],
)
def test_object_of_a_preference_is_whole(said: str, key: str, text: str) -> None:
    assert texts(f"user: {said}", key=key) == [text]


def test_condition_in_the_first_person_is_told_in_the_third() -> None:
    (made,) = claims("user: I don't like to eat late when I'm out.", key="dislikes")
    assert (made.text, made.condition) == ("The user does not like to eat late.", "when the user is out")


def test_condition_of_a_preference_is_kept() -> None:
    (made,) = claims("user: I prefer trains when the trip is under 4 hours.", key="likes")
    assert (made.text, made.condition) == ("The user prefers trains.", "when the trip is under 4 hours")


def test_correction_of_a_diet_is_a_change_and_the_first_statement_is_none() -> None:
    first, second = claims(
        "user: I moved to Lisbon in March and I'm vegetarian.",
        "user: Actually I'm now vegan, not just vegetarian.",
        key="diet",
    )
    assert (first.text, first.change) == ("The user is vegetarian.", False)
    assert (second.text, second.change) == ("The user is vegan.", True)


def test_one_sentence_may_hold_language_channel_and_address() -> None:
    said = "user: Please write to me in German from now on, and only by e-mail at jo.k@example.org."
    assert set(texts(said)) == {
        "The user wants to be answered in German.",
        "The user wants to be contacted by e-mail.",
        "The user's e-mail address is jo.k@example.org.",
    }


def test_what_is_taken_back_is_not_remembered() -> None:
    made = extract("user: I like spicy food.", "user: I live in Bern.", "user: Forget what I said about spicy food.")
    assert [one.text for one in made.claims] == ["The user lives in Bern."]
