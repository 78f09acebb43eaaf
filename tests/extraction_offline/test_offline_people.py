"""Relatives, friends and animals: told by the user, about the other."""

import pytest
from offline_talk import claims, texts


@pytest.mark.parametrize(
    ("said", "about", "text"),
    [
        ("my niece is allergic to walnuts", "niece", "The user's niece is allergic to walnuts."),
        ("My daughter Maya is allergic to peanuts.", "Maya", "The user's daughter Maya is allergic to peanuts."),
        ("I'm allergic to penicillin.", "user", "The user is allergic to penicillin."),
    ],
)
def test_allergy_is_about_whoever_has_it(said: str, about: str, text: str) -> None:
    (made,) = claims(f"user: {said}", key="health.allergy")
    assert (made.about, made.text) == (about, text)


def test_allergy_to_something_unnamed_is_not_kept() -> None:
    assert texts("user: I'd take Thai but I may be allergic to their curry.", key="health.allergy") == []


def test_relatives_are_named_even_within_a_question() -> None:
    assert texts("user: Can you book a shot for my son Ben?", key="family") == ["The user's son is called Ben."]
    assert texts("user: My wife's name is Anna.", key="family") == ["The user's wife is called Anna."]
    assert texts("user: I'd like to go to my friend Ben's party.", key="other.person") == [
        "The user's friend is called Ben."
    ]


def test_relative_asked_for_is_not_a_relative() -> None:
    assert texts("user: Are you my grandson Joey?") == []


def test_what_others_like_or_where_they_live_is_about_them() -> None:
    found = claims("user: My sister Eva lives in Graz. My wife Anna hates cilantro. My friend does not eat meat.")
    told = {(one.key, one.about, one.text) for one in found if one.key not in ("family", "other.person")}
    assert told == {
        ("location.home", "Eva", "The user's sister Eva lives in Graz."),
        ("dislikes", "Anna", "The user's wife Anna dislikes cilantro."),
        ("diet", "friend", "The user's friend does not eat meat."),
    }


def test_driving_a_car_is_no_ownership() -> None:
    assert texts("user: I drive a big car.") == []
    assert texts("user: I own a big car.", key="possession") == ["The user owns a big car."]


def test_number_of_children_agrees_or_there_is_no_claim() -> None:
    assert texts("user: I have 12 kid so that would be perfect!", key="family") == []
    assert texts("user: I have 2 children.", key="family") == ["The user has 2 children."]


def test_pets_and_children_are_counted_as_told() -> None:
    said = "user: I have two kids and a dog named Rex."
    assert texts(said, key="family") == ["The user has two kids."]
    assert texts(said, key="possession") == ["The user has a dog called Rex."]
