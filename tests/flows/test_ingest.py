"""The whole way: messages in, memories out, and the same memories whatever happens on the way."""

import json
import random
import threading
from pathlib import Path

from memory.store import Store
from schemas.claim import ClaimStatus
from schemas.scope import Scope

SAMPLE = Path(__file__).parents[2] / "cli" / "demo_data" / "sessions.jsonl"
START = 1_700_000_000_000
PRIYA = Scope("travel_app", "u-42")


def said(user, session, number, text, at_ms=0, author="user", app="shop", **event):
    body = {"id": f"{session}-{number}", "author": author, "content": {"parts": [{"text": text}]}}
    body["timestamp"] = START + (at_ms or number * 1_000)
    return {"app": app, "userId": user, "sessionId": session, "event": {**body, **event}}


def texts(claims, *statuses):
    return {claim.text for claim in claims if not statuses or claim.status in statuses}


def test_sample_sessions_become_memories_with_evidence(bench, lines):
    summary = bench.ingest(SAMPLE)
    assert (summary.events, summary.invalid, summary.sessions) == (934, 0, 47)
    assert summary.extractions.first_pass + summary.extractions.retry_pass == 47
    assert summary.claims.stored > 100
    claims = bench.claims(PRIYA)
    assert "The user is vegan." in texts(claims, ClaimStatus.ACTIVE)
    assert "The user is vegetarian." in texts(claims, ClaimStatus.SUPERSEDED)
    assert texts(claims, ClaimStatus.CONFLICTING) == {
        "The user wants to be contacted by email.",
        "The user wants to be contacted by phone.",
    }
    said_by_id = {}
    for document in map(json.loads, lines):
        for event in document.get("events") or [document.get("event")]:
            parts = (event.get("content") or {}).get("parts") or []
            said_by_id[event["id"]] = " ".join(json.dumps(part, ensure_ascii=False) for part in parts)
    for claim in claims:
        assert any(json.dumps(claim.quote, ensure_ascii=False)[1:-1] in said_by_id[s] for s in claim.sources), claim


def test_second_run_changes_nothing_and_asks_no_model(bench, scopes):
    first = bench.ingest(SAMPLE)
    before = bench.bank(*scopes)
    second = bench.ingest(SAMPLE)
    assert bench.bank(*scopes) == before
    assert first.claims == second.claims
    assert second.skipped == {**first.skipped, "unchanged": second.events}
    assert (second.extractions.first_pass, second.extractions.retry_pass, second.tokens.input) == (0, 0, 0)
    assert second.slices == first.slices


def test_other_words_or_other_instructions_are_extracted_again(bench, write):
    ann, bob = said("ann", "s", 1, "My name is Ann."), said("bob", "s", 1, "My name is Bob.")
    bench.ingest(write(ann, bob))
    second = bench.ingest(write(said("ann", "s", 1, "My name is Anna."), bob))
    assert (second.extractions.first_pass, second.skipped) == (1, {"unchanged": 1})
    assert texts(bench.claims(Scope("shop", "ann"))) == {"The user is called Anna."}
    third = bench.ingest(write(ann, bob), extraction={"instructions": "Names are of no use."})
    assert (third.extractions.first_pass, third.skipped) == (2, {})


def test_a_backfill_that_adds_a_session_again_longer_gives_the_same_bank_twice(bench, write):
    """The first and shorter slice replaces the longer one's claims: that must then not be passed over as unchanged."""
    one, two = said("ann", "s", 1, "My name is Ann."), said("ann", "s", 2, "I live in Lyon.")
    closed = {"app": "shop", "userId": "ann", "sessionId": "s", "type": "session.closed", "timestamp": START + 5_000}
    days = [said("bob", f"b{n}", 1, "Hello there.", at_ms=n * 86_400_000) for n in range(1, 4)]
    path = write(one, closed, *days, one, two)
    first = bench.ingest(path, sessions={"tombstone_s": 3600})
    assert first.extractions.first_pass == 5
    before = bench.bank(Scope("shop", "ann"))
    assert texts(bench.claims(Scope("shop", "ann"))) == {"The user is called Ann.", "The user lives in Lyon."}
    bench.ingest(path, sessions={"tombstone_s": 3600})
    assert bench.bank(Scope("shop", "ann")) == before


def test_shuffled_and_repeated_events_give_the_same_claims(bench, scopes, lines, write, tmp_path):
    bench.ingest(SAMPLE)
    expected = bench.bank(*scopes)
    shuffled = [*lines, *lines[::3]]
    random.Random(7).shuffle(shuffled)
    other = type(bench)(tmp_path / "other")
    idle_never = {
        "sessions": {"idle_after_s": None, "checkpoint_events": None, "checkpoint_chars": None, "checkpoint_age_s": 3e8}
    }
    summary = other.ingest(write(*shuffled), **idle_never)
    assert summary.duplicates > 0
    assert other.bank(*scopes) == expected


def test_sessions_added_again_after_each_turn_give_the_same_bank(bench, shared, tmp_path):
    scopes = [Scope("shop", "user-7"), Scope("shop", "user-8"), Scope("ops", "team lead"), Scope("books", "anna")]
    adk = shared / "data" / "adk"
    once = bench.ingest(adk / "java_sessions.jsonl")
    other = type(bench)(tmp_path / "other")
    again = other.ingest(adk / "java_readds.jsonl")
    assert (once.events, again.events) == (92, 92)
    assert other.bank(*scopes) == bench.bank(*scopes)
    assert len(bench.bank(*scopes)) > 10


def test_every_adk_file_is_read_without_loss(bench, shared):
    summary = bench.ingest(shared / "data" / "adk")
    assert (summary.invalid, summary.late, summary.extractions.rejected) == (0, 0, 0)


def test_users_that_look_alike_with_one_session_id_do_not_share(bench, write):
    users = [
        "a/b",
        "a",
        "b",
        "café",
        "cafe\u0301",
        "аnna",
        "anna",
        "anna ",
        "A" * 1000,
        "A" * 999,
        "%2e",
        "../a",
        "a\u200b",
    ]
    messages = [said(user, "same", 1, f"My name is Person{chr(65 + n)}.") for n, user in enumerate(users)]
    summary = bench.ingest(write(*messages))
    assert summary.sessions == len(users)
    with Store.open(bench.settings()) as store:
        for n, user in enumerate(users):
            bank = store.bank(Scope("shop", user))
            assert texts(bank.claims()) == {f"The user is called Person{chr(65 + n)}."}
            found = bank.search("Person name called", now_ms=START, limit=50)
            assert {hit.claim.text for hit in found} == {f"The user is called Person{chr(65 + n)}."}


def test_app_and_user_do_not_run_into_each_other(bench, write):
    bench.ingest(
        write(said("b/c", "s", 1, "My name is Ann.", app="a"), said("c", "s", 1, "My name is Bob.", app="a/b"))
    )
    assert texts(bench.claims(Scope("a", "b/c"))) == {"The user is called Ann."}
    assert texts(bench.claims(Scope("a/b", "c"))) == {"The user is called Bob."}


def test_hostile_input_is_set_aside_and_the_rest_goes_on(bench, write):
    deep = b'{"app":"shop","userId":"ann","sessionId":"s","event":' + b'{"x":' * 5_000 + b"1" + b"}" * 5_001
    no_id = said("ann", "s", 5, "I live in Lyon.")
    del no_id["event"]["id"]
    parts = said("ann", "s", 6, "")
    parts["event"]["content"]["parts"] = [{"text": "x"}] * 10_000
    path = write(
        said("ann", "s", 1, "My name is Ann."),
        b"this is not JSON",
        {"app": "shop", "userId": 4.5, "sessionId": "s", "event": {}},
        said("ann", "s", 2, "x" * 2_000_000),
        no_id,
        said("ann", "s", 3, None),
        json.dumps(said("ann", "s", 4, "x")).replace('"x"', '"\\ud800"').encode(),
        said("ann", "s", 7, "I work for Acme.", at_ms=253_402_300_799_000 - START),
        parts,
        deep,
        b"",
        said("ann", "s", 8, "I'm vegetarian."),
    )
    summary = bench.ingest(path)
    letters = [json.loads(line) for line in (bench.folder / "letters" / "invalid.jsonl").read_text().splitlines()]
    assert [letter["reason"] for letter in letters] == [
        "not_json",
        "wrong_type",
        "too_many_parts",
        "not_json",
    ]
    assert summary.invalid == 4
    assert summary.skipped == {"no_content": 1, "empty_message": 1}
    assert summary.events == 6
    assert summary.events + summary.invalid + sum(summary.skipped.values()) == 12
    assert {"The user is called Ann.", "The user lives in Lyon.", "The user is vegetarian."} <= texts(
        bench.claims(Scope("shop", "ann"))
    )


def test_control_messages_close_forget_and_respect_consent(bench, write):
    control = {"app": "shop", "userId": "ann", "timestamp": START + 50_000}
    summary = bench.ingest(
        write(
            said("ann", "s", 1, "My name is Ann."),
            {**control, "type": "session.closed", "sessionId": "s"},
            {**control, "type": "user.forget"},
            said("ann", "t", 1, "I live in Lyon.", at_ms=60_000),
            {**control, "type": "session.closed", "sessionId": "t"},
            said("bob", "s", 1, "My name is Bob."),
            {**control, "userId": "bob", "type": "consent", "consent": False},
            said("bob", "s", 2, "I live in Nice."),
        )
    )
    assert summary.controls == 4
    assert summary.slices.closed == 2
    assert texts(bench.claims(Scope("shop", "ann"))) == {"The user lives in Lyon."}
    assert bench.claims(Scope("shop", "bob")) == []
    assert summary.skipped["no_consent"] == 2


def test_forgotten_user_stays_forgotten_when_the_topic_is_replayed(bench, write):
    path = write(said("ann", "s", 1, "My name is Ann."), said("bob", "s", 1, "My name is Bob."))
    bench.ingest(path)
    with Store.open(bench.settings()) as store:
        receipt = store.bank(Scope("shop", "ann")).forget(START + 90_000)
        assert receipt.claims == 1
    again = bench.ingest(path)
    assert (again.extractions.first_pass, again.skipped) == (1, {"unchanged": 1})
    assert again.claims.dropped["forgotten"] > 0
    assert bench.claims(Scope("shop", "ann")) == []
    assert texts(bench.claims(Scope("shop", "bob"))) == {"The user is called Bob."}


def test_withheld_events_and_memory_tools_leave_no_trace(bench, write):
    result = {"parts": [{"functionResponse": {"name": "load_memory", "response": {"memory": "lives in Nice"}}}]}
    bench.ingest(
        write(
            said("ann", "s", 1, "My name is Ann."),
            said("ann", "s", 2, "I live in Lyon.", customMetadata={"no_memory": True}),
            said("ann", "s", 3, "", author="agent", content=result),
        )
    )
    assert texts(bench.claims(Scope("shop", "ann"))) == {"The user is called Ann."}


def test_stopped_run_keeps_its_sessions_open_and_a_resumed_one_finishes_them(bench, scopes, lines, tmp_path):
    bench.ingest(SAMPLE)
    expected = bench.bank(*scopes)
    other = type(bench)(tmp_path / "other")
    recovery = {"run": {"recovery_dir": str(tmp_path / "recovery"), "dead_letter_dir": str(tmp_path / "letters")}}
    stop = threading.Event()
    stop.set()
    first = other.ingest(SAMPLE, stop=stop, **recovery)
    assert first.slices.end_of_input == 0
    other.ingest(SAMPLE, **recovery)
    assert other.bank(*scopes) == expected


def test_dry_run_stops_before_extraction_and_writes_one_line_a_slice(bench):
    out = bench.folder / "slices.jsonl"
    code, stdout, stderr = bench.run_command("ingest", "--from", SAMPLE, "--dry-run", "--sessions-out", out, "--json")
    assert code == 0, stderr
    summary = json.loads(stdout)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert sum(row["n_events"] for row in rows) == summary["events"] == 934
    assert set(rows[0]) == {"app", "userId", "sessionId", "reason", "n_events", "first_ts", "last_ts", "n_chars"}
    assert summary["extractions"]["first_pass"] == 0
    assert not bench.store.exists()
