"""Entities: what is found, and what compares equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.entities import find_entities, stands_in
from extraction.recognisers.numbers import number_pool, number_value


def values(text, kind):
    return [e.value for e in find_entities(text) if e.kind == kind]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("order A-1001 and B-2040", ["a-1001", "b-2040"]),
        ("case RF-77120, ORD12345.", ["rf-77120", "ord12345"]),
        ("INV-2024-001 / 1Z999AA10123456784 / XK7P2Q", ["inv-2024-001", "1z999aa10123456784", "xk7p2q"]),
        ("3fa85f64-5717-4562-b3fc-2c963f66afa6", ["3fa85f64-5717-4562-b3fc-2c963f66afa6"]),
        ("account 9912345 or order no. 1001 or #4711", ["1001", "4711", "9912345"]),
        ('{"orderId":"A-1001"}', ["a-1001"]),
        ("A\u20111001", ["a-1001"]),
        ("card 1234-5678-9012-3456, not 5th-16th nor 2024-2025", ["1234-5678-9012-3456"]),
        ("covid-19, 10kg, 3pm, mid-2026, Mar-2026, 24-hour, B2B, mp3, in 2026", []),
    ],
)
def test_find_identifiers(text, found):
    assert sorted(values(text, "identifier")) == sorted(found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$12.50", ["USD 12.5"]),
        ("12.50 USD", ["USD 12.5"]),
        ("USD 12,5", ["USD 12.5"]),
        ("12.5 dollars", ["USD 12.5"]),
        ("EUR 12,50 and 12,50 €", ["EUR 12.5", "EUR 12.5"]),
        ("1.234,50 € or €1,234.50", ["EUR 1234.5", "EUR 1234.5"]),
        ("$125.0", ["USD 125"]),
        ("US$5k, £2 million", ["USD 5000", "GBP 2000000"]),
        ("CHF 1'200.00", ["CHF 1200"]),
        ("12.50", []),
    ],
)
def test_find_amounts(text, found):
    assert values(text, "amount") == found


def test_amounts_that_differ_by_a_shifted_point_are_not_equal():
    assert values("12.50 USD", "amount") != values("125.0 USD", "amount")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-05-15", ["2026-05-15"]),
        ("2026-05-15T10:00:00Z", ["2026-05-15"]),
        ("May 15th", ["--05-15"]),
        ("15 March 2026 and March 15, 2026", ["2026-03-15", "2026-03-15"]),
        ("the 3rd of Sept", ["--09-03"]),
        ("in May 2026, on Friday", ["2026-05", "friday"]),
        ("15.03.2026 03/15/2026", ["2026-03-15", "2026-03-15"]),
        ("2026-02-30", []),
    ],
)
def test_find_dates(text, found):
    assert values(text, "date") == found


def test_find_contacts():
    assert values("Mail Bob.X@Example.com or +49 (30) 123-4567, (555) 010-2030", "email") == ["bob.x@example.com"]
    assert values("+49 30 1234567 or (555) 010-2030 or 555-0123", "phone") == ["49301234567", "5550102030", "5550123"]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("1,234.50", "1234.5"),
        ("1.234,50", "1234.5"),
        ("12,50", "12.5"),
        ("1,234", "1234"),
        ("1.234", "1.234"),
        ("1.234.567", "1234567"),
        ("1.2.3", "1.2.3"),
        ("007", "7"),
    ],
)
def test_number_value(raw, value):
    assert number_value(raw) == value


def test_number_pool_reads_words_and_figures():
    assert number_pool("three of 12.50 on the 2nd") >= {"3", "12.5", "2"}


def test_stands_in_asks_for_the_whole_identifier():
    assert stands_in("a-100", "order a-100.")
    assert not stands_in("a-100", "order a-1001")
    assert not stands_in("a-100", "order a-100-7")
    assert not stands_in("100", "order a-100")


@given(st.text(max_size=200))
def test_find_entities_never_fails_and_never_overlaps(text):
    raws = [e.raw for e in find_entities(text)]
    assert sum(len(r) for r in raws) <= 4 * len(text)


@given(st.integers(1, 99_999), st.integers(0, 99))
def test_amount_is_equal_in_every_notation(whole, cents):
    written = (
        f"${whole}.{cents:02d}",
        f"{whole},{cents:02d} USD",
        f"USD {whole}.{cents:02d}",
        f"${whole:,}.{cents:02d}",
        f"{whole}.{cents:02d} dollars",
    )
    assert len({tuple(values(w, "amount")) for w in written}) == 1
