"""What people said is printed so that it stays text."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from cli.output import visible


def test_visible_keeps_ordinary_text_of_any_script() -> None:
    for text in ("I'm a nurse", "我对核桃过敏", "שלום", "naïve 🦀 [x] <b>"):
        assert visible(text) == text


def test_visible_disarms_terminal_sequences_and_turned_text() -> None:
    assert "\x1b" not in visible("\x1b[2Jgone")
    assert "\u202e" not in visible("\u202eevil")
    assert visible("one\r\ntwo\tthree") == "one  two three"


@given(st.text())
def test_visible_never_lets_a_control_character_through(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any(unicodedata.category(c) == "Cc" for c in shown)
