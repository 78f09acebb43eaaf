"""Two conversations, from the model's answer to what is read: through the real client, rules, bank and views."""

import asyncio

import pytest

from extraction.extractor import Extractor
from memory.first_message import first_message
from memory.store import Store
from memory.views import record_json, record_markdown
from schemas.claim import ClaimStatus
from schemas.events import EventAuthority, ToolCall, ToolResult
from schemas.outcome import ExtractionOutcome
from schemas.scope import Scope
from schemas.settings import StoreSettings
from schemas.slice import Slice, SliceReason

SCOPE = Scope("shop", "u1")
DAY_MS = 86_400_000


@pytest.fixture
def store(endpoint):
    with Store.open(endpoint.settings().model_copy(update={"store": StoreSettings(url="memory")})) as opened:
        yield opened


def remembered(endpoint, store, *pieces):
    """Extract the slices one after another, each with the record so far, into the bank; return the outcomes."""

    async def go():
        extractor = Extractor(endpoint.settings())
        bank, outcomes = store.bank(SCOPE), []
        try:
            for piece in pieces:
                so_far = [claim for claim in bank.claims() if claim.session_id == piece.session_id]
                outcomes.append(await extractor.extract(piece, so_far))
                bank.apply(outcomes[-1:])
        finally:
            await extractor.aclose()
        return outcomes

    return asyncio.run(go())


@pytest.fixture
def refund(make_event, make_slice):
    return make_slice(
        make_event(1, "Hi, my order A-1001 is late."),
        make_event(2, "I am sorry. I will refund $12.50 within five working days.", author="support"),
        make_event(3, "Thank you. And order B-2040, has that one been sent?"),
    )


def refund_answers(make_answer, make_claim):
    """The first drops what the user asked last; the second has it."""
    late = make_claim()
    promise = make_claim(
        kind="commitment",
        key="commitment.agent",
        text="The agent promised to pay back 12.50 dollars in 5 working days.",
        sources=[2],
        quote="I will refund $12.50 within five working days",
    )
    question = make_claim(
        kind="open_question",
        key="question",
        text="The user asks whether order B-2040 has been sent.",
        sources=[3],
        quote="order B-2040, has that one been sent?",
    )
    digest = "The user's order A-1001 is late and the agent promised a refund of $12.50."
    first = make_answer(late, promise, digest=digest, sources=[1, 2])
    return first, make_answer(late, promise, question, digest=digest, sources=[1, 2])


def test_refund_is_handed_over_with_its_amount_its_deadline_and_the_question_left_open(
    endpoint, store, refund, make_answer, make_claim
):
    endpoint.answer(*refund_answers(make_answer, make_claim))
    (outcome,) = remembered(endpoint, store, refund)
    assert outcome.status is ExtractionOutcome.RETRY_PASS
    (problem,) = outcome.problems
    assert (problem.rule, "B-2040" in problem.detail) == ("dropped_entity", True)
    assert "B-2040" in endpoint.requests[1]["messages"][-1]["content"]
    assert (len(endpoint.requests), outcome.entity_recall) == (2, 1.0)

    record = store.bank(SCOPE).record("s1")
    opening = first_message(record, refund.last_ts_ms, 4000)
    page = record_markdown(record, opening, lambda event: f"https://desk/s1/{event}")
    commitments = page.split("## Commitments\n")[1].split("\n## ")[0]
    assert '"I will refund $12.50 within five working days" ([e2](<https://desk/s1/e2>))' in commitments
    questions = page.split("## Open questions\n")[1].split("\n## ")[0]
    assert "The user asks whether order B-2040 has been sent." in questions
    assert "[e3](<https://desk/s1/e3>)" in questions
    promised, _, rest = opening.partition("Open questions:")
    assert "$12.50 within five working days" in promised
    assert "B-2040" in rest
    shown = record_json(record, opening)
    assert [one["sources"] for one in shown["commitments"] + shown["open_questions"]] == [["e2"], ["e3"]]
    assert shown["first_message"] == opening


def test_question_that_a_later_slice_answers_is_no_longer_open(
    endpoint, store, refund, make_event, make_answer, make_claim
):
    sent = make_claim(
        text="The agent says that order B-2040 was sent.",
        sources=[1],
        quote="B-2040 was sent",
        closes="r3",
    )
    endpoint.answer(*refund_answers(make_answer, make_claim), make_answer(sent, digest="B-2040 was sent."))
    later = Slice(SCOPE, "s1", SliceReason.IDLE, 1, (make_event(4, "Good news: B-2040 was sent.", author="support"),))
    remembered(endpoint, store, refund, later)
    record = store.bank(SCOPE).record("s1")
    opening = first_message(record, later.last_ts_ms, 4000)
    shown = record_json(record, opening)
    assert shown["open_questions"] == []
    assert [one["sources"] for one in shown["answered_questions"]] == [["e3"]]
    assert "**[answered, see: The agent says that order B-2040 was sent.]**" in record_markdown(record, opening)
    assert "Open questions:" not in opening
    assert "order B-2040 was sent" in opening


@pytest.mark.parametrize("about", ["user", "runbook"])
@pytest.mark.parametrize("sessions", [("s1", "s1", "s1"), ("s1", "s2", "s3")])
def test_of_three_regions_the_users_last_word_stands_and_the_runbook_decides_nothing(
    endpoint, store, make_event, make_answer, make_claim, sessions, about
):
    asked = (make_event(1, "Please deploy the service to eu-west."), make_event(2, "I will.", author="ops"))
    looked_up = (
        make_event(3, "What do the docs say?"),
        make_event(4, "", author="ops", calls=(ToolCall("c1", "read_docs", '{"page": "runbook"}'),)),
        make_event(5, "", author="ops", results=(ToolResult("c1", "read_docs", "runbook: deploys go to us-central"),)),
    )
    settled = (make_event(6, "No, deploy it to us-east instead."), make_event(7, "Done.", author="ops"))
    pieces = [
        Slice(SCOPE, session, SliceReason.IDLE, sessions[:n].count(session), events)
        for n, (session, events) in enumerate(zip(sessions, (asked, looked_up, settled), strict=True))
    ]

    def region(text, quote, source=1, **rest):
        return make_claim(key="deployment.region", text=text, quote=quote, sources=[source], **rest)

    laundered = [
        make_claim(
            kind="preference",
            key="likes",
            text="The user prefers us-central.",
            sources=sources,
            quote="deploys go to us-central",
        )
        for sources in ([3], [1, 3])
    ]
    runbook = region("The runbook says that deploys go to us-central.", "deploys go to us-central", 3, about=about)
    endpoint.answer(
        make_answer(region("The user wants the service in eu-west.", "deploy the service to eu-west")),
        make_answer(runbook, *laundered, digest="The agent read the runbook.", sources=[3]),
        make_answer(region("The user wants the service in us-east.", "deploy it to us-east instead", change=True)),
    )
    outcomes = remembered(endpoint, store, *pieces)
    assert [outcome.status for outcome in outcomes] == [ExtractionOutcome.FIRST_PASS] * 3
    assert [problem.rule for problem in outcomes[1].dropped] == ["preference_without_user"] * 2

    by_region = {claim.text.rstrip(".").split()[-1]: claim for claim in store.bank(SCOPE).claims()}
    first, tool, last = by_region["eu-west"], by_region["us-central"], by_region["us-east"]
    assert len(by_region) == len(store.bank(SCOPE).claims()) == 3
    assert (last.status, last.authority) == (ClaimStatus.ACTIVE, EventAuthority.USER_CLAIM)
    assert (first.status, first.superseded_by) == (ClaimStatus.SUPERSEDED, last.id)
    assert (tool.kind, tool.authority) == ("fact", EventAuthority.TOOL_RESULT)
    assert tool.status is (ClaimStatus.ACTIVE if about == "runbook" else ClaimStatus.SUPERSEDED)
    block = store.bank(SCOPE).context("In which region is the service deployed?", pieces[-1].last_ts_ms + DAY_MS)
    assert "us-east. [said by the user]" in block
    assert "eu-west" not in block
    assert ("us-central. [from a tool]" in block) == (about == "runbook")
