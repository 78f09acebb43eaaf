"""Secrets: asked for by no rule, stored in no claim and no digest."""

import asyncio
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.evidence import Case
from extraction.extractor import Extractor
from extraction.rules import judge
from extraction.secrecy import MASK, hide_secrets
from extraction.transcript import build_transcript
from schemas.events import USER_AUTHOR, Event, ToolCall, ToolResult
from schemas.extraction import Extraction
from schemas.outcome import ExtractionOutcome
from schemas.scope import Scope
from schemas.settings import Settings
from schemas.slice import Slice, SliceReason
from schemas.vocabulary import Vocabulary

SATURDAY = 1_773_482_400_000
REQUIRED = Settings().extraction.required_entities


def piece_of(*said):
    """A slice of texts, or events, the agent's marked by a leading ">"."""
    events = (
        one
        if isinstance(one, Event)
        else Event(f"e{n}", "agent" if one.startswith(">") else "user", SATURDAY + n, one.removeprefix(">"))
        for n, one in enumerate(said)
    )
    return Slice(Scope("shop", "u1"), "s1", SliceReason.CLOSED, 0, tuple(events))


def case_of(*said):
    return Case(build_transcript(piece_of(*said), nonce="n"), Vocabulary(), (), REQUIRED)


def claim_of(text="The user said something.", quote="hello", **more):
    base = {"kind": "fact", "key": "other.x", "text": text, "sources": [1], "quote": quote, "confidence": 0.9}
    return base | more


def answer_of(*claims, digest="The user wrote.", sources=(1,)):
    return Extraction.model_validate({"claims": claims, "digest": {"text": digest, "sources": list(sources)}})


def tool(**parts):
    return Event("t", "agent", SATURDAY, **parts)


ASKED = ">Right, and your PIN as well please."
SECRETS = [
    (("My PIN is 4821.",), "4821"),
    ((ASKED, "I think my PIN is either3941 or 7402"), "3941"),
    ((ASKED, "I think my PIN is either3941 or 7402"), "7402"),
    (("I think my PIN is either 3941 or 7402",), "3941"),
    (("I think my PIN is either 3941 or 7402",), "7402"),
    (("password: hunter2-A-1001!",), "hunter2-A-1001!"),
    (("password: kite!85731890%x",), "kite!85731890%x"),
    (("My card is 4111 1111 1111 1111.",), "4111-1111-1111-1111"),
    (("My card is 4111-1111-1111-1111, cvv 123",), "4111111111111111"),
    (("My card number is 4111 1111 9203 6710.",), "4111111192036710"),
    (("My card is 4111-1111-1111-1111, cvv 123",), "123"),
    (("It is 123-45-6789.",), "123-45-6789"),
    (("It is 123-45-6789.",), "123456789"),
    ((">Your one-time code is 482913.",), "482913"),
    (("Use sk-abcdefghijklmnop1234 for it.",), "sk-abcdefghijklmnop1234"),
    ((">What was your mother's maiden name?", "It was Sanchez."), "Sanchez"),
    ((tool(calls=(ToolCall("c", "report", '{"Name":"Ann","PIN":"7402"}'),)),), "7402"),
    ((tool(results=(ToolResult("c", "login", '{"accessToken":"zebra-crossing","id":1}'),)),), "zebra-crossing"),
    ((tool(results=(ToolResult("c", "login", '{"user":{"password":"swordfi'),)),), "swordfi"),
    ((tool(results=(ToolResult("c", "mcp", r'{"text":"{\"api_key\": \"quartz99\"}"}'),)),), "quartz99"),
    ((tool(results=(ToolResult("c", "card", '{"cvv2": 987, "SecurityAnswer1": "Poppy"}'),)),), "987"),
    ((tool(results=(ToolResult("c", "card", '{"cvv2": 987, "SecurityAnswer1": "Poppy"}'),)),), "Poppy"),
    ((tool(results=(ToolResult("c", "sms", '{"sent":"Your OTP is 55012"}'),)),), "55012"),
    (("My code is 998877.",), "998877"),
    ((">Please enter the code.", "639431"), "639431"),
    ((">Please enter the code.", "I think I know. It is 9315831!"), "9315831"),
    ((">Your entry code?", "swordfish"), "swordfish"),
    (("I have the clearance code of 93103",), "93103"),
    (("It's an Access Code, number 425931",), "425931"),
    (("the code - it's 031431",), "031431"),
    (("The door code (4411#) works.",), "4411"),
    ((tool(results=(ToolResult("c", "door", '{"accessCode":"AB-12-C"}'),)),), "AB-12-C"),
    ((">What was your mother's maiden name?", "My mother's name is Miller"), "Miller"),
]


@pytest.mark.parametrize(("said", "secret"), SECRETS)
def test_secret_is_dropped_from_claims_and_sent_back_in_a_digest(said, secret):
    case = case_of(*said)
    for field in ("text", "quote", "condition", "about"):
        verdict = judge(answer_of(claim_of(**{field: f"so {secret}, then"})), case)
        assert (verdict.claims, [p.rule for p in verdict.dropped]) == ((), ["secret_disclosed"])
        assert verdict.problems == ()
    verdict = judge(answer_of(digest=f"The user gave {secret}."), case)
    assert "secret_in_digest" in {p.rule for p in verdict.problems}
    assert not any(secret in p.detail for p in verdict.problems)


@pytest.mark.parametrize("said", dict.fromkeys(said for said, _ in SECRETS))
def test_secret_is_not_asked_for(said):
    verdict = judge(answer_of(digest="The user wrote."), case_of(*said))
    assert (verdict.problems, verdict.dropped, verdict.recall) == ((), (), None)


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        (("My order is A-1001 and my PIN is 4821.",), "A-1001"),
        ((ASKED, "I forgot it, but my account number is 85731890"), "85731890"),
        (("My PIN is 4821.",), "48210"),
        ((">What was your mother's maiden name?", "I don't know"), "I don't know"),
        ((">What was your mother's maiden name?", "Wong."), "Wongs"),
        ((">Please give security answer 2", "Later."), "2"),
        ((">Your booking code?", "My booking code is BK-9913, zip code 94110."), "BK-9913 94110"),
        (("Error code 40417, promo code SAVE20, my order code is A-1001.",), "40417 SAVE20 A-1001"),
        ((">Please specify the code type.", "access code"), "access code"),
        ((">Please enter the code.", "I need help, my order number is 77120"), "help 77120"),
        (("Use the access code to see order A-1001.",), "A-1001"),
        ((tool(results=(ToolResult("c", "t", '{"pin_required":"always","tokens":12345}'),)),), "12345 always"),
        ((tool(results=(ToolResult("c", "t", '{"password":"required","pinned":"Porto"}'),)),), "required Porto"),
    ],
)
def test_what_is_no_secret_is_neither_dropped_nor_sent_back(said, stated):
    verdict = judge(answer_of(claim_of(text=f"It is {stated}."), digest=f"It is {stated}."), case_of(*said))
    assert verdict.dropped == ()
    assert len(verdict.claims) == 1
    assert "secret_in_digest" not in {p.rule for p in verdict.problems}


def test_identifiers_beside_a_secret_are_still_asked_for():
    case = case_of("My order is A-1001 and my PIN is Z99481.", ">Z99481, thank you. Ticket RF-77120.")
    assert [one.raw for one in case.high_value] == ["A-1001", "RF-77120"]
    details = [p.detail for p in judge(answer_of(), case).problems if p.rule == "dropped_entity"]
    assert [("A-1001" in d, "RF-77120" in d) for d in details] == [(True, False), (False, True)]


def test_value_that_only_a_disclosing_claim_held_is_not_asked_for_again():
    both = "My order is A-1001 and my PIN is 4821."
    verdict = judge(answer_of(claim_of(text=both, quote=both)), case_of(both))
    assert (verdict.claims, verdict.problems, verdict.recall) == ((), (), 0.0)


def test_no_problem_of_another_rule_repeats_a_secret():
    case = case_of("Hi.", "My PIN is Z99481.")
    verdict = judge(answer_of(claim_of(quote="Hi", when="Z99481", closes="Z99481"), digest="It is Z99481."), case)
    rules = {p.rule for p in verdict.problems}
    assert {"malformed_when", "unknown_closes", "invented_digest_value", "secret_in_digest"} <= rules
    assert not any("Z99481" in p.detail for p in verdict.problems)
    assert next(p.detail for p in verdict.problems if p.rule == "malformed_when").startswith("claim 1 (other.x): ")


async def _extract(endpoint, piece):
    extractor = Extractor(endpoint.settings())
    try:
        return await extractor.extract(piece)
    finally:
        await extractor.aclose()


def test_obedient_model_passes_at_once(endpoint):
    endpoint.answer(json.dumps(answer_of(digest="The user tried to prove who they are.").model_dump()))
    outcome = asyncio.run(_extract(endpoint, piece_of(ASKED, "I think my PIN is either3941 or 7402")))
    assert (outcome.status, outcome.problems) == (ExtractionOutcome.FIRST_PASS, ())


def test_disclosing_claim_costs_no_second_call_and_a_disclosing_digest_does(endpoint):
    piece = piece_of("My PIN is 4821.")
    leak = answer_of(claim_of(text="The PIN is 4821.", quote="My PIN is 4821")).model_dump()
    bad = answer_of(digest="The PIN is 4821.").model_dump()
    endpoint.answer(bad, leak)
    outcome = asyncio.run(_extract(endpoint, piece))
    assert outcome.status == ExtractionOutcome.RETRY_PASS
    assert [p.rule for p in outcome.problems] == ["secret_in_digest"]
    assert (outcome.claims, [p.rule for p in outcome.dropped]) == ((), ["secret_disclosed"])
    assert len(endpoint.requests) == 2
    retry = endpoint.requests[1]["messages"][3]["content"]
    assert "secret_in_digest" in retry
    assert "4821" not in retry


def told_secrets(transcript):
    """Every secret that hide_secrets finds, as it stands in the transcript, worked out apart from the rules."""
    found, asked = set(), ""
    for line in transcript.lines:
        is_user = line.event.author == USER_AUTHOR
        for piece in line.evidence:
            hidden = hide_secrets(piece, asked if is_user and piece == line.text else "")
            runs = (piece[m.start() : m.end()] for m in re.finditer(f"{MASK}+", hidden))
            found |= {run.strip(" .,;:!?\"'()[]{}<>\\") for run in runs}
        if line.text and not is_user:
            asked = line.text
    return {one for one in found if len(one) >= 3}


def tells(text, secret):
    return re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text, re.IGNORECASE) is not None


_PARTS = st.sampled_from(
    "my PIN is|pin: 4821|4821|password hunter2|hunter2|either3941 or 7402|7402|cvv 123,|4111 1111 1111 1111|A-1001"
    '|order 4821|Sanchez|it was|123-45-6789|{"pin":"0314"}|0314|and|sk-abcdefghijklmnop1234|passWORD=Ünï9|東京9'.split(
        "|"
    )
)
_SAID = st.lists(_PARTS, min_size=1, max_size=5).map(" ".join)
_ASK = st.sampled_from([">Your PIN please?", ">Your password or maiden name?", ">Hello.", ">Your OTP is 55012"])


@given(st.lists(_SAID | _ASK, min_size=1, max_size=6), st.data())
def test_no_stored_claim_or_episode_holds_a_secret_of_its_transcript(said, data):
    case = case_of(*said)
    lines = [line.text for line in case.transcript.lines]
    picked = st.sampled_from(lines) | _SAID
    claims = [
        claim_of(text=data.draw(picked), quote=data.draw(picked), condition=data.draw(st.none() | picked))
        for _ in range(data.draw(st.integers(0, 3)))
    ]
    digest = data.draw(picked)
    verdict = judge(answer_of(*claims, digest=digest), case)
    stored = [text for c in verdict.claims for text in (c.text, c.quote, c.condition or "")]
    if not verdict.problems:
        stored.append(digest)
    for secret in told_secrets(case.transcript):
        assert not any(tells(text, secret) for text in stored)
        assert not any(tells(entity.raw, secret) for entity in case.high_value)
