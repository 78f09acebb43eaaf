"""Any bytes on the input are accounted for: as events, as a control, as left out, or as invalid with the reason."""

import gzip
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.decode import SessionControl, SessionEvent, decode_message
from operators.file_source import FileSource
from schemas.controls import ControlKind
from schemas.detect import Place
from schemas.message import Message
from schemas.scope import Scope
from schemas.settings import DecodeSettings

NOW = 1_800_000_000_000
SETTINGS = DecodeSettings()


def decode(value, headers=(), ts_ms=NOW, place=None, settings=SETTINGS):
    raw = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
    return decode_message(Message(raw, "t", 0, 7, ts_ms, None, headers), settings, NOW, place)


def event(**more):
    return {"id": "e1", "author": "user", "content": {"parts": [{"text": "hello"}]}, "timestamp": NOW, **more}


def envelope(body=None, **more):
    return {"app": "shop", "userId": "ann", "sessionId": "s", "event": event() if body is None else body, **more}


def only_event(decoded):
    (item,) = decoded.items
    assert decoded.invalid == []
    return item.event


def reasons(decoded):
    return [invalid.reason for invalid in decoded.invalid]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"not json", "not_json"),
        (b"\xff\xfe", "not_json"),
        (b'{"app": "shop"', "not_json"),
        (b'{"app":"shop","userId":"a","sessionId":"s","event":{"content":{"parts":[{"text":"\\ud800"}]}}}', "not_json"),
        (b"[" * 100_000, "not_json"),
        (b'"a string"', "not_an_object"),
        (b"17", "not_an_object"),
        ({"hello": 1}, "unknown_shape"),
        (event(), "no_scope"),
        ({"app": "shop", "sessionId": "s", "event": event()}, "no_scope"),
        ({"app": "shop", "userId": "", "sessionId": "s", "event": event()}, "no_scope"),
        ({"app": "shop", "userId": "a", "event": event()}, "no_session"),
        ({"app": "shop", "userId": ["a"], "sessionId": "s", "event": event()}, "wrong_type"),
        ({"app": "shop", "userId": "a", "sessionId": "s", "event": None}, "no_event"),
        ({"app": "shop", "userId": "a", "sessionId": "s", "events": {}}, "wrong_type"),
        (envelope(event(timestamp="yesterday")), "bad_time"),
        (envelope(event(timestamp=-1)), "bad_time"),
        (envelope(event(timestamp=[1])), "bad_time"),
        (envelope(event(author=5)), "wrong_type"),
        (envelope(event(id={})), "wrong_type"),
        (envelope(event(content=[])), "wrong_type"),
        (envelope(event(content={"parts": "text"})), "wrong_type"),
        (envelope(event(content={"parts": [{"text": 3}]})), "wrong_type"),
        (envelope(event(content={"parts": [{"functionCall": 3}]})), "wrong_type"),
        (envelope(event(content={"parts": [{"text": "x"}] * 10_000})), "too_many_parts"),
        ({"type": "consent", "app": "shop", "userId": "a"}, "wrong_type"),
    ],
)
def test_what_cannot_be_read_goes_aside_with_its_reason_and_its_bytes(value, reason):
    decoded = decode(value)
    assert reasons(decoded) == [reason]
    assert decoded.items == []
    assert decoded.invalid[0].message.value == (value if isinstance(value, bytes) else json.dumps(value).encode())
    assert decoded.invalid[0].detail


def test_message_over_the_limit_is_invalid_and_names_the_setting():
    decoded = decode(envelope(), settings=DecodeSettings(max_message_bytes=10))
    assert reasons(decoded) == ["too_large"]
    assert "decode.max_message_bytes=10" in decoded.invalid[0].detail


@pytest.mark.parametrize("value", [b"", b"  \n", None])
def test_empty_message_is_left_out_and_counted(value):
    assert decode(value).left == {"empty_message": 1}


def test_two_megabytes_of_text_are_trimmed_to_the_head():
    found = only_event(decode(envelope(event(content={"parts": [{"text": "A-1001 " + "x" * 2_000_000}]}))))
    assert len(found.text) == SETTINGS.max_text_chars
    assert found.text.startswith("A-1001 ")


def test_null_text_and_null_lists_are_no_fault():
    body = event(content={"parts": [{"text": None}, {"text": "hi"}]}, actions=None, customMetadata=None)
    assert only_event(decode(envelope(body))).text == "hi"


def test_one_broken_event_of_a_session_does_not_take_the_others_with_it():
    session = {"id": "s", "appName": "shop", "userId": "ann", "events": [event(id="a"), event(author=1), event(id="b")]}
    decoded = decode(session)
    assert [item.event.id for item in decoded.items] == ["a", "b"]
    assert reasons(decoded) == ["wrong_type"]
    assert decoded.invalid[0].detail.startswith("event 1:")


@pytest.mark.parametrize("stamp", [253_402_300_799, 253_402_300_799.0, 253_402_300_799_000, "9999-12-31T23:59:59Z"])
def test_year_9999_is_a_broken_clock_and_takes_the_records_time(stamp):
    decoded = decode(envelope(event(timestamp=stamp)), ts_ms=NOW)
    assert only_event(decoded).ts_ms == NOW
    assert decoded.clocks_ahead == 1


@pytest.mark.parametrize(
    "stamp", [1_700_000_000_250, 1_700_000_000.25, "2023-11-14T22:13:20.250+00:00", "2023-11-14T22:13:20.250"]
)
def test_times_of_java_and_python_mean_the_same_moment(stamp):
    assert only_event(decode(envelope(event(timestamp=stamp)))).ts_ms == 1_700_000_000_250


def test_missing_time_is_the_records_time():
    assert only_event(decode(envelope(event(timestamp=None)), ts_ms=NOW - 5)).ts_ms == NOW - 5


def test_author_decides_not_the_role():
    body = event(
        author="support", content={"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {}}}]}
    )
    found = only_event(decode(envelope(body)))
    assert found.author == "support"
    assert found.results[0].name == "look"


def test_partials_thoughts_and_compactions_are_left_out():
    thought = {"parts": [{"text": "secret plan", "thought": True}, {"text": "said"}]}
    assert decode(envelope(event(partial=True))).left == {"partial": 1}
    assert only_event(decode(envelope(event(content=thought)))).text == "said"
    compaction = event(content=None, actions={"compaction": {"compactedContent": {"parts": [{"text": "summary"}]}}})
    assert decode(envelope(compaction)).left == {"compaction": 1}
    assert decode(envelope(event(content={"parts": [{"thought": True, "text": "x"}]}))).left == {"no_content": 1}


def test_error_without_content_is_an_event():
    found = only_event(decode(envelope({"id": "e", "author": "a", "errorCode": "SAFETY", "errorMessage": "blocked"})))
    assert found.error == "SAFETY: blocked"


def test_missing_id_is_derived_alike_every_time_and_said_so():
    body = {k: v for k, v in event().items() if k != "id"}
    first, again = only_event(decode(envelope(body))), only_event(decode(envelope(body)))
    assert first.id == again.id
    assert first.derived_id
    assert only_event(decode(envelope({**body, "content": {"parts": [{"text": "other"}]}}))).id != first.id


def test_equal_events_without_id_and_time_are_told_apart_by_position():
    body = {"author": "user", "content": {"parts": [{"text": "ok"}]}}
    decoded = decode({"app": "a", "userId": "u", "sessionId": "s", "events": [body, body]})
    assert len({item.event.id for item in decoded.items}) == 2


@pytest.mark.parametrize("metadata", [{"no_memory": True}, [{"key": "no_memory", "stringValue": "true"}]])
def test_withheld_flag_in_either_shape_of_metadata(metadata):
    assert only_event(decode(envelope(event(customMetadata=metadata)))).withheld


def test_speaker_other_than_the_user_is_kept_and_the_user_is_not():
    assert only_event(decode(envelope(speaker="Bob"))).speaker == "Bob"
    assert only_event(decode(envelope(speaker="ann"))).speaker == ""
    assert only_event(decode(envelope(event(customMetadata={"speaker": "Eve"})))).speaker == "Eve"


def test_headers_place_a_bare_event():
    headers = (("app", b"shop"), ("user-id", b"ann"), ("Strandline-Session-Id", b"s"))
    (item,) = decode(event(), headers).items
    assert (item.scope, item.session_id) == (Scope("shop", "ann"), "s")
    assert reasons(decode(event(), (("app", b"\xff"), ("user", b"a"), ("session", b"s")))) == ["bad_header"]


def test_place_of_a_file_serves_bare_events():
    (item,) = decode(event(), place=Place(Scope("local", "local"), "f")).items
    assert item.session_id == "f"


def test_tool_results_keep_their_head_and_count_their_items():
    response = {"id": "A-1001", "items": [{"sku": n} for n in range(40)]}
    body = event(
        author="agent", content={"parts": [{"functionResponse": {"id": "c", "name": "look", "response": response}}]}
    )
    text = only_event(decode(envelope(body))).results[0].text
    assert text.startswith('{"id":"A-1001"')
    assert '"… 37 more of 40"' in text
    none = DecodeSettings(tool_result_chars={"look": 0})
    assert only_event(decode(envelope(body), settings=none)).results[0].text == ""


def test_deep_nesting_inside_a_tool_result_is_cut():
    deep = {}
    for _ in range(300):
        deep = {"x": deep}
    body = event(author="agent", content={"parts": [{"functionResponse": {"name": "look", "response": deep}}]})
    assert "{…}" in only_event(decode(envelope(body))).results[0].text


@pytest.mark.parametrize("kind", list(ControlKind))
def test_controls_are_recognised(kind):
    body = {"type": kind, "app": "shop", "userId": "ann", "sessionId": "s", "timestamp": NOW - 9, "consent": False}
    (item,) = decode(body).items
    assert isinstance(item, SessionControl)
    assert (item.control.kind, item.control.scope, item.control.ts_ms) == (kind, Scope("shop", "ann"), NOW - 9)
    assert item.control.session_id == ("s" if kind.startswith("session") else "")


def test_control_from_the_future_counts_as_said_now():
    (item,) = decode({"type": "user.forget", "app": "shop", "userId": "ann", "timestamp": NOW + 10**9}).items
    assert item.control.ts_ms == NOW


@given(st.binary(max_size=200))
def test_any_bytes_are_accounted_for(raw):
    decoded = decode(raw)
    assert len(decoded.items) + len(decoded.invalid) + sum(decoded.left.values()) >= 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "app",
                    "userId",
                    "sessionId",
                    "event",
                    "events",
                    "session",
                    "id",
                    "author",
                    "content",
                    "parts",
                    "text",
                    "timestamp",
                    "actions",
                    "functionCall",
                    "functionResponse",
                    "customMetadata",
                    "type",
                    "state",
                    "eval_cases",
                    "conversation",
                    "query",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(json_values)
def test_any_json_is_accounted_for(value):
    try:
        raw = msgspec.json.encode(value)
    except (msgspec.MsgspecError, OverflowError, UnicodeError):
        return
    decoded = decode_message(Message(raw, "t", 0, 0, NOW), SETTINGS, NOW, Place(Scope("a", "u"), "s"))
    for item in decoded.items:
        assert isinstance(item, SessionEvent | SessionControl)


def lines_of(path):
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read().splitlines() if path.name.endswith(("l", "gz")) else [file.read()]


def events_of(path, place=None):
    found, invalid = {}, []
    for raw in lines_of(path):
        decoded = decode_message(Message(raw, path.name, 0, 0), SETTINGS, NOW, place)
        invalid += decoded.invalid
        for item in decoded.items:
            if item.event is not None:
                found[item.scope, item.session_id, item.event.id] = item.event
    return found, invalid


def test_both_casings_of_a_python_session_give_the_same_events(shared):
    adk = shared / "data" / "adk"
    assert events_of(adk / "python_session.camel.json") == events_of(adk / "python_session.snake.json")


def test_sessions_added_again_after_each_turn_give_the_same_events(shared):
    adk = shared / "data" / "adk"
    once, _ = events_of(adk / "java_sessions.jsonl")
    again, invalid = events_of(adk / "java_readds.jsonl")
    assert once == again
    assert (len(once), invalid) == (92, [])


def test_java_and_python_forms_of_one_session_give_the_same_events(shared):
    """The Python session written as ADK for Java would: camelCase, milliseconds, metadata as an array."""
    session = json.loads((shared / "data" / "adk" / "python_session.camel.json").read_text())
    java = json.loads(json.dumps(session))
    for body in java["events"]:
        body["timestamp"] = round(body["timestamp"] * 1000)
        if isinstance(body.get("customMetadata"), dict):
            body["customMetadata"] = [{"key": k, "stringValue": v} for k, v in body["customMetadata"].items()]
    assert decode(java, ts_ms=NOW).items == decode(session, ts_ms=NOW).items


def test_every_adk_file_is_read_without_loss(shared):
    for path in sorted((shared / "data" / "adk").iterdir()):
        found, invalid = events_of(path, Place(Scope("local", "local"), path.stem))
        assert invalid == [], path.name
        assert found, path.name


def test_star_events_are_all_read(shared):
    source = FileSource(str(shared / "data" / "star_events.jsonl.gz"), __import__("threading").Event())
    decoded = [decode_message(message, SETTINGS, NOW) for message in source.messages()]
    assert sum(len(one.items) for one in decoded) == 89_581
    assert sum(len(one.invalid) for one in decoded) == 0
