"""Recognisers: the notations of one value agree, and values that differ do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.entities import compile_patterns, find_entities, stands_alone
from extraction.errors import ModelConfigurationError
from extraction.evidence import Case
from extraction.recognisers.identifiers import is_iban
from extraction.recognisers.numbers import spoken_value
from extraction.rules import judge
from extraction.transcript import build_transcript
from schemas.events import Event
from schemas.extraction import Extraction
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason
from schemas.vocabulary import Vocabulary


def values(text, kind, patterns=()):
    return [e.value for e in find_entities(text, patterns) if e.kind == kind]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (
            ("$12.50", "12.50 USD", "USD 12,50", "US$ 12.5", "twelve dollars fifty", "12 dollars and 50 cents"),
            "USD 12.5",
        ),
        (("EUR 1.234,50", "1 234,50 €", "€1,234.50", "1234,5 Euro", "€ 1 234,50", "1'234.50 EUR"), "EUR 1234.5"),
        (("1.234 €", "EUR 1,234", "1 234 €", "€1234"), "EUR 1234"),
        (("$5k", "5 thousand dollars", "five thousand dollars", "$5,000.00"), "USD 5000"),
        (("a hundred and twenty pounds", "£120", "120 GBP"), "GBP 120"),
        (("twenty-five euros", "25€"), "EUR 25"),
        (("１２.５０ USD", "\u0661\u0662.50 USD"), "USD 12.5"),
    ],
)
def test_notations_of_one_amount_agree(written, value):
    assert {text: values(text, "amount") for text in written} == dict.fromkeys(written, [value])


@given(st.integers(1, 9_999), st.integers(0, 99))
def test_a_shifted_point_is_another_amount(whole, cents):
    one = values(f"${whole}.{cents:02d}", "amount")
    assert one != values(f"${whole}{cents:02d}", "amount")
    assert one != values(f"{whole}0.{cents:02d} USD", "amount")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10-20 euros", ["EUR 10", "EUR 20"]),
        ("between 10 and 20 dollars", ["USD 10", "USD 20"]),
        ("10 € 20", ["EUR 10"]),
        ("A-1001 and 3 lamps", []),
        ("pound cake, 3 of them", []),
    ],
)
def test_where_an_amount_begins_and_ends(text, found):
    assert values(text, "amount") == found


@pytest.mark.parametrize(
    "text", ["DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"]
)
def test_an_iban_is_one_identifier_however_grouped(text):
    (value,) = values(f"Pay to {text} today, please", "identifier")
    assert value == text.replace(" ", "").casefold()
    assert is_iban(value.upper())


def test_an_iban_with_wrong_check_digits_is_none():
    assert not is_iban("DE88370400440532013000")
    assert values("from XX12 ABCD EFGH today", "identifier") == []


@pytest.mark.parametrize("text", ["account 1234 5678 90", "Kontonummer: 1234567890", "my IBAN is 12 34 56 78 90"])
def test_account_numbers_by_the_word_before_them(text):
    assert values(text, "identifier") == ["1234567890"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://Example.ORG/A/b?x=1.", ["example.org/A/b?x=1"]),
        ("(http://example.org/)", ["example.org"]),
        ("www.example.org, shop.example.com/cart!", ["www.example.org", "shop.example.com/cart"]),
        ("en.wikipedia.org/wiki/Tea_(meal)", ["en.wikipedia.org/wiki/Tea_(meal)"]),
        ("readme.md, Node.js, e.g. this, bob@example.org", []),
    ],
)
def test_urls(text, found):
    assert values(text, "url") == found


@pytest.mark.parametrize("text", ["+49 30 1234567", "0049 30 1234567", "+49 (0)30 1234567", "+49-30-123 45 67"])
def test_notations_of_one_phone_number_agree(text):
    assert values(f"call {text} now", "phone") == ["49301234567"]


@given(st.integers(1, 999_999))
def test_numbers_in_words(number):
    units = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
    )
    units += "seventeen eighteen nineteen".split()
    tens = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()

    def below_thousand(n):
        hundreds, rest = divmod(n, 100)
        said = [units[hundreds], "hundred"] if hundreds else []
        if rest >= 20:
            said.append(tens[rest // 10] + (f"-{units[rest % 10]}" if rest % 10 else ""))
        elif rest:
            said.append(units[rest])
        return said

    thousands, rest = divmod(number, 1000)
    said = [*below_thousand(thousands), "thousand"] if thousands else []
    assert spoken_value(" ".join([*said, *below_thousand(rest)])) == number


def case_of(*said, **fields):
    events = tuple(Event(f"e{n}", "user", 1_773_482_400_000 + n, text) for n, text in enumerate(said))
    piece = Slice(Scope("shop", "u"), "s", SliceReason.CLOSED, 0, events)
    return Case(build_transcript(piece, nonce="n"), Vocabulary(), **fields)


def rules_broken(case, text, digest="They talked."):
    claim = {
        "kind": "fact", "key": "other.x", "text": text, "quote": case.transcript.lines[0].text, "sources": [1],
        "confidence": 0.9,
    }  # fmt: skip
    answer = Extraction.model_validate({"claims": [claim], "digest": {"text": digest, "sources": [1]}})
    return [problem.rule for problem in judge(answer, case).problems]


@pytest.mark.parametrize(
    ("said", "good", "bad"),
    [
        ("I paid twelve dollars fifty.", "Paid $12.50.", "Paid $12.60."),
        ('{"total":9.9,"currency":"USD"}', "The total is $9.90.", "The total is EUR 9.90."),
        ("I paid $12 for 500 lamps.", "Paid $12.", "Paid $500."),
        ("I paid 12.50 USD.", "Paid USD 12,50.", "Paid 50 USD."),
        ("See https://Example.org/a/b.", "See example.org/a/b.", "See example.org/a/c."),
        ("See https://example.org/a/b.", "The site is example.org.", "The site is example.com."),
        ("Call +49 30 1234567.", "Call 0049 30 1234567.", "Call +49 30 1234568."),
        ("Pay to DE89370400440532013000.", "IBAN DE89 3704 0044 0532 0130 00.", "IBAN DE75512108001245126199."),
        ("Contract K-12 is mine.", "Contract k-12.", "Contract K-13."),
    ],
)
def test_a_claim_states_only_values_of_its_sources(said, good, bad):
    case = case_of(said, patterns=compile_patterns({"contract": r"K-\d+"}))
    assert "invented_value" not in rules_broken(case, good)
    assert "invented_value" in rules_broken(case, bad)


def test_a_required_pattern_must_not_be_dropped_and_noisy_kinds_may():
    said = ("Hello Anna.", "Contract K-12, call 555-010-2030 on 2026-05-15, see www.x.org, 42 times.")
    patterns = compile_patterns({"contract": r"K-\d+"})
    default = ("identifier", "amount", "email")
    assert rules_broken(case_of(*said, patterns=patterns, required=default), "Hello.") == []
    case = case_of(*said, patterns=patterns, required=(*default, "contract"))
    assert rules_broken(case, "Hello.") == ["dropped_entity"]
    assert (
        judge(Extraction.model_validate({"claims": [], "digest": {"text": "K-12", "sources": [2]}}), case).problems
        == ()
    )


def test_a_pattern_makes_no_identifier_unseen():
    found = find_entities("order A-1001", compile_patterns({"order": "A-[0-9]+"}))
    assert {(e.kind, e.value) for e in found} == {("order", "a-1001"), ("identifier", "a-1001")}


def test_too_many_claims():
    case = case_of("Hi there.", max_claims=1)
    claim = {"kind": "fact", "key": "other.x", "text": "Hi.", "quote": "Hi there", "sources": [1], "confidence": 0.9}

    def broken(claims):
        answer = {"claims": claims, "digest": {"text": "Hi.", "sources": [1]}}
        return [problem.rule for problem in judge(Extraction.model_validate(answer), case).problems]

    assert broken([claim]) == []
    assert broken([claim, claim]) == ["too_many_claims"]


@pytest.mark.parametrize(("needle", "is_alone"), [("12.50 usd", True), ("50 usd", False), ("12", False), ("usd", True)])
def test_stands_alone(needle, is_alone):
    assert stands_alone(needle, "i paid 12.50 usd.") is is_alone


def test_a_pattern_that_never_comes_to_an_end_is_named(monkeypatch):
    monkeypatch.setattr("extraction.entities.PATTERN_S", 0.05)
    with pytest.raises(ModelConfigurationError, match=r"extraction\.patterns\.order took longer"):
        find_entities("a b c d " * 200 + "!", compile_patterns({"order": "(?:[a-z ]+)+[0-9]{30}"}))
