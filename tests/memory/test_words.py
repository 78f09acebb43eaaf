import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.words import MAX_TERMS, passage_vector, query_vector, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She is allergic to walnuts", ["allerg", "walnut"]),
        ("Order A-1001", ["order", "a-1001", "1001"]),
        ("write to Ada.L@shop.example.org", ["write", "ada.l@shop.example.org", "ada", "l", "shop", "exampl", "org"]),
        ("v2.10 of x", ["v2.10", "v2", "10", "x"]),
        ("我住在柏林", ["我住", "住在", "在柏", "柏林"]),
        ("茶", ["茶"]),
        ("iPhoneを買った", ["iphon", "を買", "買っ", "った"]),
        ("not vegetarian", ["not", "vegetarian"]),
        ("The user", []),
        ("Я люблю книги", ["я", "любл", "книг"]),
        ("मुझे किताबें पसंद हैं", ["मुझ", "किताब", "पसंद", "हैं"]),
        ("", []),
        ("!!! --- ...", []),
    ],
)
def test_terms_of(text, expected):
    assert terms(text) == expected


def test_terms_are_the_same_for_composed_and_decomposed_and_full_width():
    assert terms(unicodedata.normalize("NFD", "café")) == terms("CAFÉ")
    assert terms("Ａ－１００１") == terms("a-1001")


@given(st.text(max_size=300))
def test_vectors_of_any_text_are_valid_and_the_query_finds_the_passage(text):
    passage, query = passage_vector(text), query_vector(text)
    assert passage.indices == sorted(set(passage.indices)) == query.indices
    assert all(0 <= index < 2**32 for index in passage.indices)
    assert all(0 < value < 2.2 for value in passage.values)


def test_frequency_saturates_and_length_is_bounded():
    once, often = passage_vector("walnut").values[0], passage_vector("walnut " * 8).values[0]
    assert once < often < 2.2
    assert len(terms("word1 " * 5000)) == MAX_TERMS
