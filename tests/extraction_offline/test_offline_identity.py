"""Who the user is, as they say it; and what only looks like it."""

import pytest
from offline_talk import claims, texts


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Hi, I'm Priya.", "Priya"),
        ("My name is John Smith and I need a hotel.", "John Smith"),
        ("my name is alexis", "Alexis"),
        ("Hello, this is Anna from accounting.", "Anna"),
        ("call me Max", "Max"),
    ],
)
def test_name_is_taken_from_an_introduction(said: str, name: str) -> None:
    assert texts(f"user: {said}", key="name") == [f"The user is called {name}."]


@pytest.mark.parametrize(
    "said", ["I'm German.", "This is great.", "I'm Sorry!", "Call me back tomorrow.", "I'm so happy.", "It's Monday."]
)
def test_name_is_not_made_of_any_word_after_i_am(said: str) -> None:
    assert texts(f"user: {said}", key="name") == []


def test_name_given_as_an_answer_cites_the_question_too() -> None:
    (named,) = claims("support: May I have your name, please?", "user: john", key="name")
    assert (named.text, named.sources, named.quote) == ("The user is called John.", [1, 2], "john")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Yep I'm Ben.", "Ben"),
        ("It's Angie....actually Angela and the flight is late.", "Angela"),
        ("Rey...Acting Captain Rey", "Rey"),
        ("My name is Kylo Im there First officer", "Kylo"),
        ("First Officer Yoda", "Yoda"),
        ("Angela, and I'm looking for a hotel.", "Angela"),
    ],
)
def test_name_is_what_was_meant_and_nothing_beside_it(said: str, name: str) -> None:
    assert texts("support: What is your name?", f"user: {said}", key="name") == [f"The user is called {name}."]


@pytest.mark.parametrize(
    "said", ["My name is Chewieand the ships bartender.", "Oh I forgot, he is here.", "Crap! I forgot.", "sure thing"]
)
def test_garbled_name_or_interjection_is_none(said: str) -> None:
    assert texts("support: What is your name?", f"user: {said}", key="name") == []


def test_it_is_somebody_is_a_name_only_when_asked_for_or_in_greeting() -> None:
    assert texts("support: At what venue?", "user: It's North Heights Venue.", key="name") == []
    assert texts("support: Which doctor?", "user: It's Johnson.", key="name") == []
    assert texts("user: Hi, it's Priya again.", key="name") == ["The user is called Priya."]


def test_name_of_the_hotel_is_not_the_users() -> None:
    assert texts("support: Who is your doctor?", "user: Johnson", key="name") == []
    assert texts("support: What was your mother's maiden name?", "user: Sanchez") == []


def test_home_follows_a_move_and_marks_the_change() -> None:
    before, after = claims("user: I live in Nice.", "user: I moved from Nice to New York City.", key="location.home")
    assert (before.text, before.change) == ("The user lives in Nice.", False)
    assert (after.text, after.change) == ("The user lives in New York City.", True)


def test_home_now_not_there_is_a_correction() -> None:
    (home,) = claims("user: I live in Lyon now, not in Nice.", key="location.home")
    assert (home.text, home.change) == ("The user lives in Lyon.", True)


@pytest.mark.parametrize(
    "said",
    [
        "If I lived in Paris I would be happy.",
        "I don't live in Rome.",
        "I just moved to the area.",
        "Imagine I live in Oslo.",
        'He said "I live in Oslo" and laughed.',
        "Maybe I live in Oslo one day.",
        "My boss thinks I live in Oslo.",
        "Do I live in Oslo?",
        "I live in a squeezed space.",
    ],
)
def test_home_is_not_taken_from_what_is_not_asserted(said: str) -> None:
    assert texts(f"user: {said}", key="location.home") == []


def test_work_is_employer_role_and_time_zone() -> None:
    said = "user: I work for Globex now. I'm a backend engineer. Please remember that I work in Pacific time."
    assert texts(said, key="work.employer") == ["The user works for Globex."]
    assert texts(said, key="work.role") == ["The user is a backend engineer."]
    assert texts(said, key="work.timezone") == ["The user works in the time zone Pacific time."]


def test_whereabouts_are_of_no_use_later() -> None:
    (here,) = claims("user: I'm at the Shadyside Inn in room 483", key="location.current")
    assert (here.text, here.durable) == ("The user is at the Shadyside Inn in room 483 at the moment.", False)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("I am at Forbes and Murray now.", "at Forbes and Murray"),
        ("I'm at Broadway and Main and I need to get home", "at Broadway and Main"),
        ("I'm at Craig and Center", "at Craig and Center"),
        ("I'm at 5th and Main.", "at 5th and Main"),
        ("I'm at the University and we're late.", "at the University"),
    ],
)
def test_place_of_two_names_is_whole(said: str, place: str) -> None:
    assert texts(f"user: {said}", key="location.current") == [f"The user is {place} at the moment."]


@pytest.mark.parametrize(
    "said", ["I'm at 5th and main right now", "I am the captain now.", "I'm at the Hyatt, now wait"]
)
def test_half_a_place_or_none_is_no_place(said: str) -> None:
    assert texts(f"user: {said}", key="location.current") == []


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("I moved to Washington D.C. in May.", "Washington D.C."),
        ("I live in St. Louis.", "St. Louis."),
        ("I live in Bosnia and Herzegovina.", "Bosnia and Herzegovina."),
        ("I live in Oslo and Anna lives in Bern.", "Oslo."),
    ],
)
def test_home_is_not_cut_at_a_full_stop_or_an_and(said: str, place: str) -> None:
    assert texts(f"user: {said}", key="location.home") == [f"The user lives in {place}"]


def test_what_the_user_was_confused_about_is_taken_back() -> None:
    assert texts("user: I'm Morgan. Wow I got confused. Morgan was my doctor.", key="name") == []


def test_another_speaker_yields_facts_about_themselves_and_no_preference() -> None:
    found = claims("user (Anna): I am her sister. I live in Linz. I like jazz. I'm vegan.")
    assert {(one.kind, one.about, one.text) for one in found} == {
        ("fact", "Anna", "Anna lives in Linz."),
        ("fact", "Anna", "Anna is the user's sister."),
    }


def test_the_agents_words_about_itself_or_the_user_are_nobodys_facts() -> None:
    assert claims("agent: I live in the cloud. I love helping! You like window seats. You live in Graz.") == []
