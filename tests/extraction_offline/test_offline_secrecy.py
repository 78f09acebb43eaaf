"""Secrets are never written down, in no claim and no digest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_talk import extract

from extraction.secrecy import MASK, hide_secrets


@pytest.mark.parametrize(
    ("lines", "secret"),
    [
        (("user: My PIN is 4821 and I live in Bern.",), "4821"),
        (("user: my account number is 351531510 and my pin number 0314.",), "0314"),
        (("support: Right, and your PIN as well please.", "user: 9503"), "9503"),
        (("support: What is your password?", "user: swordfish"), "swordfish"),
        (("user: password: hunter2 please log in",), "hunter2"),
        (("user: my card is 4111 1111 1111 1111, cvv 123",), "1111"),
        (("support: What was your mother's maiden name?", "user: Sanchez"), "Sanchez"),
        (("support: What was your mother's maiden name?", "user: My mother's name is Miller"), "Miller"),
        (("user: my code is 998877 and I live in Bern.",), "998877"),
        (("support: Please enter the code.", "user: 639431"), "639431"),
        (("support: Please enter the code.", "user: swordfish"), "swordfish"),
        (("user: I have the clearance code of 93103.",), "93103"),
        (("user: I got the access code on my phone, it is 031431", "agent: So 031431, thank you."), "031431"),
        (("support: Your entry code?", "user: hm", "user: It's written here", "agent: code: AB12"), "AB12"),
    ],
)
def test_secret_stands_nowhere_in_the_answer(lines: tuple[str, ...], secret: str) -> None:
    answer = extract(*lines).model_dump_json()
    assert secret not in answer
    assert MASK not in answer


def test_account_number_is_no_secret_even_when_a_pin_was_asked_for() -> None:
    lines = "support: Right, and your PIN as well please.", "user: i forgot my pin, but my account number is 85731890"
    assert "85731890" in extract(*lines).model_dump_json()


def test_digest_mentions_what_must_not_be_lost_and_no_secret() -> None:
    made = extract(
        "support: Please enter the code.", "user (Eve): 639431, order A-1001, $5 on Friday", "agent: 639431 ok"
    )
    assert made.digest.text == "Mentioned: $5, A-1001."


@given(st.text(max_size=80), st.text(max_size=40))
def test_masking_keeps_length_and_all_that_it_does_not_mask(text: str, asked: str) -> None:
    hidden = hide_secrets(text, asked)
    assert len(hidden) == len(text)
    assert all(new in (old, MASK) for new, old in zip(hidden, text, strict=True))
