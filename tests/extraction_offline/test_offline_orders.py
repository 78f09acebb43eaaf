"""Orders, contacts, amounts, dates: kept with the identifiers as they were spoken."""

import pytest
from offline_talk import claims, extract, texts

from schemas.extraction import Extraction


def held(made: Extraction) -> str:
    return " ".join([made.digest.text, *(one.text for one in made.claims)])


def test_statement_about_an_order_is_retold_in_the_third_person() -> None:
    found = texts("user: Hi, my order A-1001 is late and I paid 12.50 USD for express.", key="order.id")
    assert found == ["The user's order A-1001 is late and the user paid 12.50 USD for express."]


def test_order_only_asked_about_is_named() -> None:
    assert texts("user: Also where is B-2040?", key="order.id") == ["The user asked about B-2040."]


def test_order_that_another_speaks_of_is_only_named() -> None:
    found = texts("user: My order A-1001 is late, said my boss.", key="order.id")
    assert found == ["The user spoke of order A-1001."]


def test_what_the_agent_says_of_an_order_spares_the_bare_mention() -> None:
    found = texts(
        "user: Day 0: deploy svc-0 to eu-west, ticket OPS-500",
        "agent: Deployed svc-0 to eu-west (OPS-500).",
        key="order.id",
    )
    assert found == ["The agent deployed svc-0 to eu-west (OPS-500)."]


def test_short_id_given_as_an_answer_cites_the_question() -> None:
    (made,) = claims("support: Can I have your flight ID, please?", "user: 402", key="order.id")
    assert (made.text, made.sources) == ("The user gave flight 402.", [1, 2])


def test_confirmation_is_kept_and_failure_or_offer_is_none() -> None:
    assert texts("agent: Great, your party has been booked at the West Bay on Sunday at 7 pm!", key="order.id") == [
        "The user's party has been booked at the West Bay on Sunday at 7 pm."
    ]
    assert texts("agent: I am sorry, but your reservation was not confirmed.") == []
    assert texts("agent: Shall I say your reservation is confirmed?") == []


@pytest.mark.parametrize(
    "said", ["The door is unlocked.", "The viewing is scheduled now.", "Your report has been submitted."]
)
def test_confirmation_of_nothing_named_is_no_order_and_of_no_use_later(said: str) -> None:
    (made,) = claims(f"agent: {said}")
    assert (made.key, made.durable) == ("other.confirmed", False)


def test_venue_that_others_booked_is_no_confirmation() -> None:
    assert texts("agent: The venue is booked at that time.", "agent: I've booked that for you.") == []


def test_identifier_outside_of_any_order_stands_in_the_digest_alone() -> None:
    made = extract("user: The blogger dogtravel42069 loves the North end.")
    assert made.claims == []
    assert "dogtravel42069" in made.digest.text


@pytest.mark.parametrize(
    "said",
    [
        "Frequent money transfers of $10 over the past week.",
        "Please contact the bank's assistant, I've had suspicious behavior on my account with $10 money transfers",
        "Someone did transfers of $10, I need to do a fraud report",
        "There has been frequent transfers of $10.",
        "It costs $683.",
        "They took $300 right out of my account.",
        "Oh no someone took $300 from me, can you do a fraud report",
    ],
)
def test_what_is_not_surely_a_sentence_is_no_claim_and_its_amount_is_kept(said: str) -> None:
    made = extract(f"user: {said}")
    assert [one.text for one in made.claims if one.key == "payment.amount"] == []
    assert "$" in held(made)


def test_contacts_and_accounts() -> None:
    said = "user: You can reach me at +49 170 1234567.", "user: my new email is kim@new.org"
    assert texts(*said, key="contact.phone") == ["The user's phone number is +49 170 1234567."]
    (mail,) = claims(*said, key="contact.email")
    assert (mail.text, mail.change) == ("The user's e-mail address is kim@new.org.", True)
    (account,) = claims(
        "support: Can you tell me your account number, please?", "user: It's 84318931431.", key="account.id"
    )
    assert (account.text, account.sources) == ("The user's account number is 84318931431.", [1, 2])


def test_amount_lost_or_paid_is_a_claim_and_a_passing_one_stands_in_the_digest() -> None:
    assert texts("user: There have been frequent transfers of $10 from my account.", key="payment.amount") == [
        "There have been frequent transfers of $10 from the user's account."
    ]
    made = extract("user: Is that about $99?")
    assert "$99" in held(made)


def test_every_identifier_amount_and_address_spoken_is_held() -> None:
    made = extract(
        "user (Anna): her booking code is ZX-4410 and she wrote from eva@example.org",
        "user: hm",
        "agent: Would $7.50 or 20 EUR for 99887766 do?",
        "user (Bob): order 123",
    )
    for value in ("ZX-4410", "eva@example.org", "$7.50", "20 EUR", "99887766", "order 123"):
        assert value in held(made)
    assert made.digest.sources == [1, 2, 3, 4] or {1, 3, 4} <= set(made.digest.sources)


def test_more_values_than_a_digest_can_hold_become_claims() -> None:
    codes = [f"CODE-{n:05d}" for n in range(120)]
    made = extract(*(f"user (Bob): {code}" for code in codes))
    assert all(code in held(made) for code in codes)
    assert len(made.digest.text) < 1000


def test_dates_of_what_takes_place_are_reckoned_from_the_day_of_the_line() -> None:
    (flight,) = claims("user: My flight is on Friday at 7am.", key="schedule.date")
    assert (flight.text, flight.when) == ("The user's flight is on Friday at 7am.", "2026-03-20")
    (invoice,) = claims("user: invoice INV-90 is due on 2026-04-01", key="order.id")
    assert invoice.when == "2026-04-01"


def test_where_systems_run() -> None:
    (ours,) = claims("user: We deploy everything to eu-west-1.", key="deployment.region")
    assert (ours.about, ours.text, ours.change) == ("user", "The user's system runs in eu-west-1.", False)
    (theirs,) = claims("agent: Deployed svc-0 to us-central (OPS-510).", key="deployment.region")
    assert (theirs.about, theirs.text, theirs.change) == ("svc-0", "svc-0 runs in us-central.", True)
    assert texts("user: Maybe we deploy to us-east one day.", key="deployment.region") == []


def test_troubles_are_retold() -> None:
    assert texts("user: I can't log in to the portal.", key="problem") == ["The user can't log in to the portal."]
    assert texts("user: What if my AC is not working?", key="problem") == []
    said = "I lost my card and before I could cancel it, somebody stole $300 from me."
    told = "The user lost the user's card and before the user could cancel it, somebody stole $300 from the user."
    assert texts(f"user: {said}", key="problem") == [told]
    assert texts("user: I lost my card, someone took $300", key="problem") == ["The user lost the user's card."]
