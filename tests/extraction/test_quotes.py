"""Quotes: every disguise that changes nothing is accepted, every change is not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.evidence import Case
from extraction.folding import canonical, normalise
from extraction.rules.quotes import negation_mismatch, quoted_in
from extraction.transcript import build_transcript
from schemas.events import Event
from schemas.extraction import ExtractedClaim
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason
from schemas.vocabulary import Vocabulary

LINES = (
    "I don't like the \"red\" lamp - it cost €1,250.50 and looks naïve, o'clock at 10:30.",
    "Ich wohne in Köln—Straße 12, „schön“ und ruhig… wirklich",
    "order A-1001 was re-sent on 2026-05-15 to p@x.org (see https://x.org/a?b=1)",
    "Ångström ﬁne e\u0301te\u0301 İstanbul ΣΊΣΥΦΟΣ 東京 です",
)
FULL_WIDTH = {ord("0") + n: chr(0xFF10 + n) for n in range(10)}
DISGUISES = (
    str.upper,
    str.lower,
    lambda t: unicodedata.normalize("NFD", t),
    lambda t: unicodedata.normalize("NFC", t),
    lambda t: unicodedata.normalize("NFKC", t),
    lambda t: t.translate(str.maketrans({"'": "’", '"': "“", "-": "\u2011"})),
    lambda t: t.translate(str.maketrans({"'": "‘", '"': "»", "-": "–", "„": '"', "“": '"'})),
    lambda t: t.replace("…", "...").replace("—", "-"),
    lambda t: t.replace(" ", " \u00a0\n"),
    "\u00ad".join,
    lambda t: f"\ufeff{t}\u200b",
    lambda t: t.translate(FULL_WIDTH),
)


@given(st.sampled_from(LINES), st.data())
def test_any_span_of_words_is_accepted_in_any_disguise(line, data):
    words = line.split()
    start = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[start : data.draw(st.integers(start + 1, len(words)))])
    for disguise in data.draw(st.lists(st.sampled_from(DISGUISES), max_size=4)):
        quote = disguise(quote)
    if normalise(quote):
        assert quoted_in(normalise(quote), [normalise(line)])


@given(st.sampled_from(LINES), st.data())
def test_a_span_with_one_letter_or_digit_altered_is_not(line, data):
    words = line.split()
    start = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[start : data.draw(st.integers(start + 1, len(words)))])
    places = [n for n, char in enumerate(quote) if char.isalnum()]
    if not places:
        return
    at = data.draw(st.sampled_from(places))
    other = "7" if quote[at].isdigit() and quote[at] != "7" else "ж"
    altered = quote[:at] + other + quote[at + 1 :]
    assert not quoted_in(normalise(altered), [normalise(line)])


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("like", "I dislike tea"),
        ("I can", "I can't come"),
        ("I do", "I don't know"),
        ("12", "it cost 12.50"),
        ("50", "it cost 12.50"),
        ("A-100", "order A-1001"),
        ("1001", "order A-1001"),
        ("smoker", "a non-smoker"),
        ("2026-05", "on 2026-05-15"),
        ("10", "at 10:30"),
        ("x", "x\u0331"),
    ],
)
def test_no_word_and_no_number_is_cut(quote, line):
    assert not quoted_in(normalise(quote), [normalise(line)])


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("I like tea", "I like tea—really"),
        ("my sister", "my sister's dog"),
        ("東京", "私は東京です"),
        ("late", "late."),
        ("12", "12, please"),
        ("like tea", "dislike or like tea"),
    ],
)
def test_whole_words_beside_marks_are_whole(quote, line):
    assert quoted_in(normalise(quote), [normalise(line)])


@pytest.mark.parametrize(
    ("said", "quote", "text", "is_breach"),
    [
        ("I don't like vegetarian meals.", "like vegetarian meals", "The user likes vegetarian meals.", True),
        ("I never enjoyed hiking.", "I never enjoyed hiking", "The user likes hiking.", True),
        ("I don't like tea. I like coffee.", "I like coffee", "The user likes coffee.", False),
        ("I don't like tea but like coffee.", "like coffee", "The user likes coffee.", False),
    ],
)
def test_negation_just_before_a_quote_counts(said, quote, text, is_breach):
    event = Event("e1", "user", 1_773_482_400_000, said)
    transcript = build_transcript(Slice(Scope("shop", "u"), "s", SliceReason.CLOSED, 0, (event,)), nonce="n")
    claim = ExtractedClaim(kind="preference", key="likes", text=text, sources=[1], quote=quote, confidence=0.9)
    assert bool(list(negation_mismatch(claim, Case(transcript, Vocabulary())))) is is_breach


def test_digits_of_other_scripts_are_digits():
    assert canonical("\u0661\u0662 \uff13") == "12 3"
