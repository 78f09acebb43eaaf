"""Every rule: an answer that passes it, and one that it catches."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from extraction.evidence import Case
from extraction.folding import normalise
from extraction.rules import ANSWER_RULES, CLAIM_RULES, DROP_RULES, judge
from extraction.transcript import Line, Transcript, build_transcript
from schemas.claim import Claim
from schemas.events import Event, ToolCall, ToolResult
from schemas.extraction import ExtractedClaim, Extraction
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason
from schemas.vocabulary import Vocabulary

SATURDAY = 1_773_482_400_000
SCOPE = Scope("shop", "u1")

EVENTS = (
    Event("e1", "user", SATURDAY, "Hi, my order A-1001 is late. I paid 12.50 USD for three lamps yesterday."),
    Event("e2", "support", SATURDAY + 1, "You would love our spa!", calls=(ToolCall("c", "find", '{"id":"A-1001"}'),)),
    Event("e3", "support", SATURDAY + 2, results=(ToolResult("c", "find", '{"status":"late","total":9.9}'),)),
    Event("e4", "user", SATURDAY + 3, "I am her sister and I love tea.", speaker="Anna"),
    Event("e5", "user", SATURDAY + 4, "My niece dislikes tea. I prefer e-mail. Write to p@x.org by next Friday."),
    Event("e6", "support", SATURDAY + 5, "The refund until Friday is confirmed."),
)


def case_of(*events, context=(), required=("identifier", "amount", "email")):
    piece = Slice(SCOPE, "s1", SliceReason.CLOSED, 0, events)
    return Case(build_transcript(piece, nonce="n"), Vocabulary(), context, required)


QUESTION = Claim(
    id="c1", scope=SCOPE, session_id="s0", slice_id="x", kind="open_question", key="question", about="user",
    text="When?", sources=("q1",), quote="When?", confidence=0.9, observed_at_ms=1, authority="user_claim",
)  # fmt: skip


def claim(**fields):
    base = {
        "kind": "fact", "key": "order.id", "text": "The user's order A-1001 is late.", "sources": [1],
        "quote": "my order A-1001 is late", "confidence": 0.9,
    }  # fmt: skip
    return ExtractedClaim.model_validate(base | fields)


def breaches(rule, **fields):
    return list(CLAIM_RULES[rule](claim(**fields), case_of(*EVENTS, context=(QUESTION,))))


PREFERENCE = {"kind": "preference", "key": "likes"}

CLAIM_CASES = [
    ("unknown_source", {"sources": [1, 6]}, {"sources": [7]}),
    ("unknown_source", {}, {"sources": []}),
    ("unknown_source", {}, {"sources": [0]}),
    ("unknown_source", {}, {"sources": [-1]}),
    ("quote_not_verbatim", {"quote": "MY  order\na-1001 Is late"}, {"quote": "my order is late"}),
    ("quote_not_verbatim", {"quote": "late. I paid"}, {"quote": " . "}),
    ("quote_not_verbatim", {"quote": '"status":"late"', "sources": [3]}, {"quote": '"status":"late"', "sources": [2]}),
    ("quote_not_verbatim", {"quote": "dislikes tea", "sources": [5]}, {"quote": "likes tea", "sources": [5]}),
    ("quote_not_verbatim", {}, {"quote": "order A-100"}),
    ("quote_not_verbatim", {"sources": [1, 2]}, {"quote": 'our spa! {"id":"A-1001"}', "sources": [2]}),
    ("quote_not_verbatim", {}, {"quote": "user: Hi, my order"}),
    ("quote_not_verbatim", {"quote": "lamps yesterday"}, {"quote": "12"}),
    ("quote_not_verbatim", {}, {"quote": "x" * 1001}),
    ("quote_proves_nothing", {"quote": "late"}, {"quote": "is"}),
    ("quote_proves_nothing", {"quote": "yes", "sources": [1, 2]}, {"quote": "Yes."}),
    (
        "negation_mismatch",
        {"text": "The user prefers e-mail.", "quote": "I prefer e-mail"},
        {"text": "The user does not prefer e-mail.", "quote": "I prefer e-mail"},
    ),
    (
        "negation_mismatch",
        {"text": "The user does not want tea but likes coffee.", "quote": "I like coffee, I don't want tea"},
        {"text": "The user wants tea.", "quote": "I don't want tea"},
    ),
    ("unknown_key", {"key": "other.lamp_color"}, {"key": "lamp.color"}),
    ("unknown_key", {"key": "name"}, {"key": "other."}),
    ("unknown_key", {"key": "other.a.b"}, {"key": "other.Größe"}),
    ("kind_mismatch", {"kind": "preference", "key": "diet"}, {"kind": "fact", "key": "diet"}),
    ("kind_mismatch", {"kind": "decision", "key": "other.x"}, {"kind": "decision", "key": "name"}),
    ("text_missing", {}, {"text": "  "}),
    ("text_missing", {}, {"text": "x" * 1001}),
    ("about_not_in_source", {"about": "niece", "sources": [5]}, {"about": "nephew", "sources": [5]}),
    ("about_not_in_source", {"about": "Anna", "sources": [4]}, {"about": "Anna", "sources": [5]}),
    ("about_not_in_source", {"about": "User"}, {"about": ""}),
    ("about_not_in_source", {"about": "A-1001"}, {"about": "A-100"}),
    (
        "said_of_another",
        {"text": "The user's niece dislikes tea.", "quote": "My niece dislikes tea", "sources": [5]},
        {"text": "The user dislikes tea.", "quote": "dislikes tea", "sources": [5]},
    ),
    (
        "said_of_another",
        {"text": "The user's sister Anna loves tea.", "quote": "I love tea", "sources": [4]},
        {"text": "The user loves tea.", "quote": "I love tea", "sources": [4]},
    ),
    ("called_verified", {"text": "The user says it is late."}, {"text": "It was verified that it is late."}),
    (
        "called_verified",
        {"text": "It is confirmed.", "sources": [6], "quote": "is confirmed"},
        {"text": "It is confirmed by the system."},
    ),
    ("called_verified", {"text": "Verified late.", "sources": [3]}, {"text": "Verified late.", "sources": [1, 4]}),
    ("unrelated_text", {"text": "It arrived lately."}, {"text": "The user plays chess."}),
    ("invented_name", {"text": "The order of ANNA is late.", "sources": [1, 4]}, {"text": "It is late, says Greta."}),
    ("invented_value", {"text": "Order a-1001."}, {"text": "Order A-1002."}),
    ("invented_value", {"text": "They paid $12.50."}, {"text": "They paid $125.0."}),
    ("invented_value", {"text": "They paid $12.50."}, {"text": "They paid EUR 12.50."}),
    ("invented_value", {"text": "Total of 9.90.", "sources": [3]}, {"text": "Total of $9.90.", "sources": [3]}),
    ("invented_value", {"text": "3 lamps."}, {"text": "4 lamps."}),
    ("invented_value", {"text": "Paid on 2026-03-13."}, {"text": "Paid on 2026-03-12."}),
    ("invented_value", {"text": "Paid on March 13."}, {"text": "Paid on March 14."}),
    ("invented_value", {"text": "Write to P@X.org.", "sources": [5]}, {"text": "Write to q@x.org.", "sources": [5]}),
    ("invented_value", {"text": "By 2026-03-20.", "sources": [5]}, {"text": "By 2026-03-20.", "sources": [1]}),
    ("invented_value", {"condition": "if A-1001 comes"}, {"condition": "if B-2040 comes"}),
    ("invented_value", {"text": "It is late."}, {"text": "It is late, call 555-0123."}),
    ("invented_value", {"key": "other.paid_for_3"}, {"key": "other.paid_500"}),
    ("invented_value", {"text": "Zw\u00f6lf is no \u0663."}, {"text": "It was \u0664 lamps."}),
    ("malformed_when", {"when": "2026-03-13"}, {"when": "yesterday"}),
    ("malformed_when", {"when": "2026-03-13/2026-03-14"}, {"when": "2026-03-14/2026-03-13"}),
    ("malformed_when", {"when": None}, {"when": ""}),
    ("invented_when", {"when": "2026-03-13"}, {"when": "2026-03-14"}),
    ("invented_when", {"when": "2026-03-20", "sources": [5]}, {"when": "2026-03-27", "sources": [5]}),
    ("invented_when", {"when": "2026-03-14/2026-03-20", "sources": [6]}, {"when": "2026-03-14/2026-03-20"}),
    ("unknown_closes", {"closes": "3", "sources": [5]}, {"closes": "7"}),
    ("unknown_closes", {"closes": "1"}, {"closes": "3"}),
    ("unknown_closes", {"closes": "r1"}, {"closes": "r2"}),
    ("unknown_closes", {"closes": None}, {"closes": "the question"}),
]


@pytest.mark.parametrize(("rule", "good", "bad"), CLAIM_CASES)
def test_claim_rule(rule, good, bad):
    assert breaches(rule, **good) == []
    assert breaches(rule, **bad) != []


def test_every_rule_has_a_case():
    assert {rule for rule, _, _ in CLAIM_CASES} == set(CLAIM_RULES)
    assert set(ANSWER_RULES) == {
        "digest_missing", "unknown_digest_source", "invented_digest_value", "dropped_entity", "secret_in_digest",
        "too_many_claims", "planted_in_digest", "withheld_in_digest", "invented_digest_name",
    }  # fmt: skip
    assert set(DROP_RULES) == {
        "secret_disclosed", "preference_without_user", "promise_without_agent", "withheld_source", "planted_policy",
    }  # fmt: skip


def test_every_rule_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()
    for rule in (*CLAIM_RULES, *ANSWER_RULES, *DROP_RULES):
        assert f"| `{rule}` |" in page


def answer(*claims, digest="The order A-1001 for 12.50 USD is late; p@x.org.", sources=(1, 5)):
    return Extraction.model_validate(
        {"claims": [c.model_dump() for c in claims], "digest": {"text": digest, "sources": list(sources)}}
    )


@pytest.mark.parametrize(
    ("rule", "bad"),
    [
        ("digest_missing", answer(digest=" ")),
        ("digest_missing", answer(digest="x" * 2000)),
        ("unknown_digest_source", answer(sources=())),
        ("unknown_digest_source", answer(sources=(1, 9))),
        ("invented_digest_value", answer(digest="Order A-1002 is late.")),
        ("invented_digest_value", answer(digest="The order A-1001 is late.", sources=(5,))),
        ("dropped_entity", answer(digest="The order A-1001 for 12.50 USD is late.")),
    ],
)
def test_answer_rule(rule, bad):
    case = case_of(*EVENTS)
    assert list(ANSWER_RULES[rule](answer(), case)) == []
    assert list(ANSWER_RULES[rule](bad, case)) != []


def test_dropped_entity_is_named_once_and_counts_what_claims_hold():
    case = case_of(Event("e1", "user", SATURDAY, "A-1001! A-1001 and RF-77120, please."))
    one = answer(claim(text="It is A-1001."), digest="The user asked.", sources=(1,))
    (detail,) = ANSWER_RULES["dropped_entity"](one, case)
    assert "RF-77120" in detail
    assert judge(one, case).recall == 0.5


def test_dropped_entity_of_tool_results_is_no_breach():
    case = case_of(Event("e1", "agent", SATURDAY, results=(ToolResult("c", "t", '{"id":"A-1001"}'),)))
    assert list(ANSWER_RULES["dropped_entity"](answer(digest="A lookup.", sources=(1,)), case)) == []
    assert judge(answer(digest="A lookup.", sources=(1,)), case).recall is None


@pytest.mark.parametrize(
    ("fields", "is_dropped"),
    [
        ({"sources": [5], "quote": "I prefer e-mail"}, False),
        ({"sources": [2, 5], "quote": "I prefer e-mail"}, False),
        ({"sources": [2], "quote": "love our spa"}, True),
        ({"sources": [2, 5], "quote": "love our spa"}, True),
        ({"sources": [4], "quote": "I love tea"}, True),
        ({"sources": [3], "quote": "late"}, True),
    ],
)
def test_preference_without_user(fields, is_dropped):
    case = case_of(*EVENTS)
    one = claim(**PREFERENCE, text="The user likes it.", **fields)
    verdict = judge(answer(one), case)
    assert [p.rule for p in verdict.dropped] == ["preference_without_user"] * is_dropped
    assert verdict.problems == ()
    assert len(verdict.claims) == (not is_dropped)


def test_preference_of_a_line_that_does_not_exist_is_a_slip_not_laundering():
    verdict = judge(answer(claim(**PREFERENCE, text="The user likes it.", sources=[99])), case_of(*EVENTS))
    assert verdict.dropped == ()
    assert "unknown_source" in {p.rule for p in verdict.problems}


def test_withheld_source_is_dropped_whoever_built_the_transcript():
    secret = Event("e1", "user", SATURDAY, "my order A-1001 is late", withheld=True)
    shown = Transcript("", (Line(1, secret, date(2026, 3, 14), secret.text, (secret.text,)),), {})
    assert [p.rule for p in judge(answer(claim()), Case(shown, Vocabulary())).dropped] == ["withheld_source"]
    open_event = Event("e1", "user", SATURDAY, "my order A-1001 is late")
    assert judge(answer(claim(), sources=(1,)), case_of(open_event)).dropped == ()


def test_judge_does_not_ask_again_for_what_only_a_dropped_claim_held():
    case = case_of(Event("e1", "agent", SATURDAY, "You want A-1001 by mail."), Event("e2", "user", SATURDAY, "Hm."))
    guess = claim(**PREFERENCE, text="The user wants A-1001 by mail.", quote="want A-1001 by mail")
    verdict = judge(answer(guess, digest="They talked.", sources=(2,)), case)
    assert (verdict.claims, verdict.problems) == ((), ())
    assert verdict.recall == 0.0


_WORDS = st.lists(
    st.sampled_from("I like tea dislike A-1001 the spa late İstanbul ﬁne ß 東京".split()), max_size=8
).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["user", "agent"]), _WORDS), min_size=1, max_size=4), _WORDS, st.data())
def test_no_claim_is_accepted_whose_quote_is_not_in_its_source(lines, quote, data):
    events = [Event(f"e{n}", author, SATURDAY + n, text) for n, (author, text) in enumerate(lines)]
    case = case_of(*events)
    assume(case.lines)
    sources = data.draw(st.lists(st.integers(-1, len(events) + 1), max_size=3))
    kind = data.draw(st.sampled_from(["fact", "preference"]))
    one = claim(kind=kind, key="other.x", text="Something.", quote=quote, sources=sources)
    verdict = judge(answer(one, digest="Something.", sources=(1,)), case)
    unproven = {"quote_not_verbatim", "unknown_source"} & {p.rule for p in verdict.problems}
    if verdict.claims and not unproven:
        cited = [case.transcript.event(n) for n in sources]
        assert all(cited)
        assert any(normalise(quote) in normalise(event.text) for event in cited)
        if kind == "preference":
            assert any(event.is_users_own for event in cited)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda c: st.lists(c, max_size=3)))
def test_rules_never_fail_on_strange_values(value):
    text = json.dumps(value, ensure_ascii=False)
    case = case_of(Event("e1", "user", SATURDAY, text or "x"), context=(QUESTION,))
    assume(case.lines)
    judge(answer(claim(text=text, quote=text, about=text, condition=text, when=text, closes=text, key=text)), case)
