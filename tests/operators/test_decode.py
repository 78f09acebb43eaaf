"""Any bytes on the input are accounted for: as events, as a control, as left out, or as invalid with the reason."""

import gzip
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.decode import Decoder, Found, FoundControl, decode_message
from operators.file_source import FileSource
from operators.metrics import Metrics
from operators.stream_time import StreamTime
from schemas.adk import envelope as envelope_of
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
    (item,) = decoded.found
    assert decoded.invalid is None
    return item.event


def reasons(decoded):
    return [decoded.invalid.reason] if decoded.invalid else []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"not json", "not_json"),
        (b"\xff\xfe", "not_json"),
        (b'{"app": "shop"', "not_json"),
        (b'{"app":"shop","userId":"a\\ud800","sessionId":"s","event":{"id":"e"}}', "bad_id"),
        (b'{"app":"shop","userId":"a","sessionId":"s","event":{"id":"e\\udc00","errorCode":"X"}}', "bad_id"),
        (b'{"app":"shop" \\ud800', "not_json"),
        (b"[" * 100_000, "not_json"),
        (b"[" * 520 + b"]" * 520, "unknown_shape"),
        (b"[" * 900 + b"]" * 900, "unknown_shape"),
        ([[]], "unknown_shape"),
        ({"app": "shop", "userId": "a", "sessionId": "s", "event": event(), "events": [event()]}, "unknown_shape"),
        (envelope(event(id="x" * 2_000)), "too_large"),
        ({"app": "shop", "userId": "a" * 2_000, "sessionId": "s", "event": event()}, "too_large"),
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
    assert decoded.found == []
    assert decoded.invalid.message.value == (value if isinstance(value, bytes) else json.dumps(value).encode())
    assert decoded.invalid.detail


def test_message_over_the_limit_is_invalid_and_names_the_setting():
    decoded = decode(b"x" * 1025, settings=DecodeSettings(max_message_bytes=1024))
    assert reasons(decoded) == ["too_large"]
    assert "decode.max_message_bytes=1024" in decoded.invalid.detail


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"eval_cases": []},
        {"app": "a", "userId": "u", "sessionId": "s", "events": []},
        {"id": "s", "appName": "a", "userId": "u", "events": []},
    ],
)
def test_message_without_events_is_left_out_and_counted(value):
    assert decode(value).left == {"no_events": 1}


def test_many_broken_events_of_one_message_are_one_letter():
    decoded = decode({"app": "a", "userId": "u", "sessionId": "s", "events": [None] * 500 + [event()]})
    assert (decoded.invalid.count, len(decoded.found)) == (500, 1)


def test_names_and_tool_payloads_of_one_event_have_a_ceiling():
    parts = [{"functionResponse": {"id": "c", "name": "n" * 9_000, "response": "x" * 5_000}}] * 900
    found = only_event(decode(envelope(event(author="a" * 9_000, content={"parts": parts}))))
    assert found.n_chars < SETTINGS.max_event_chars + 900 * 201
    assert len(found.author) == len(found.results[0].name) == 200


def test_an_envelope_without_a_user_is_never_the_users_of_the_file():
    place = Place(Scope("local", "local"), "f")
    assert reasons(decode({"app": "shop", "sessionId": "s", "event": event()}, place=place)) == ["no_scope"]
    assert reasons(decode({"type": "user.forget", "app": "shop"}, place=place)) == ["no_scope"]


def decoder():
    metrics = Metrics()
    return Decoder(SETTINGS, StreamTime(), metrics), metrics


def items_of(*documents, ts_ms=0):
    """The items of messages that are all of one scope."""
    ((_, items),) = decoder()[0](messages_of(*documents, ts_ms=ts_ms))
    return items


def messages_of(*documents, ts_ms=0):
    return [Message(json.dumps(one).encode(), "f", 0, n, ts_ms) for n, one in enumerate(documents)]


def test_an_event_without_its_own_time_does_not_move_stream_time():
    """The record's time of a backfill is today; taken for stream time it would close every session of the past."""
    old = 1_600_000_000_000
    timeless, broken = event(id="b", timestamp=None), event(id="c", timestamp=253_402_300_799_000)
    items = items_of(envelope(event(timestamp=old)), envelope(timeless), envelope(broken))
    assert [(item.stream_ms, item.event.ts_ms) for item in items] == [(old, old), (old, old + 1), (old, old + 2)]


def test_events_without_times_keep_the_order_in_which_they_were_sent():
    """Equal times would be put in order of ids, and a conversation would be told out of order."""
    bodies = [event(id=f"e{(n * 7) % 10}", timestamp=None) for n in range(10)]
    whole = {"app": "a", "userId": "u", "sessionId": "s", "events": bodies}
    apart = [envelope(body) for body in bodies]
    for documents in ([whole], apart):
        items = [item.event for item in items_of(*documents)]
        in_time = sorted(items, key=lambda one: (one.ts_ms, one.id))
        assert [one.id for one in in_time] == [body["id"] for body in bodies]


def test_forget_in_a_file_without_a_time_covers_what_stood_before_it():
    old = 1_600_000_000_000
    forget = {"type": "user.forget", "app": "shop", "userId": "ann"}
    assert items_of(envelope(event(timestamp=old)), forget)[1].control.ts_ms == old
    assert items_of(envelope(event(timestamp=old)), forget, ts_ms=old + 9)[1].control.ts_ms == old + 9


@pytest.mark.parametrize("value", [b"", b"  \n", None])
def test_empty_message_is_left_out_and_counted(value):
    assert decode(value).left == {"empty_message": 1}


def test_two_megabytes_of_text_are_trimmed_to_the_head():
    found = only_event(decode(envelope(event(content={"parts": [{"text": "A-1001 " + "x" * 2_000_000}]}))))
    assert len(found.text) == SETTINGS.max_text_chars
    assert found.text.startswith("A-1001 ")


def test_half_an_emoji_costs_that_character_and_nothing_else():
    raw = json.dumps(envelope(event(content={"parts": [{"text": "I like tea XX and \U0001f375"}]})))
    found = only_event(decode(raw.replace("XX", "\\ud83c").encode()))
    assert found.text == "I like tea \N{REPLACEMENT CHARACTER} and \U0001f375"


def test_a_byte_order_mark_is_no_part_of_the_message():
    assert only_event(decode(b"\xef\xbb\xbf" + json.dumps(envelope()).encode())).text == "hello"


def test_null_text_and_null_lists_are_no_fault():
    body = event(content={"parts": [{"text": None}, {"text": "hi"}]}, actions=None, customMetadata=None)
    assert only_event(decode(envelope(body))).text == "hi"


def test_one_broken_event_of_a_session_does_not_take_the_others_with_it():
    session = {"id": "s", "appName": "shop", "userId": "ann", "events": [event(id="a"), event(author=1), event(id="b")]}
    decoded = decode(session)
    assert [item.event.id for item in decoded.found] == ["a", "b"]
    assert reasons(decoded) == ["wrong_type"]
    assert decoded.invalid.detail.startswith("event 1:")


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
    assert len({item.event.id for item in decoded.found}) == 2


@pytest.mark.parametrize("metadata", [{"no_memory": True}, [{"key": "no_memory", "stringValue": "true"}]])
def test_withheld_flag_in_either_shape_of_metadata(metadata):
    assert only_event(decode(envelope(event(customMetadata=metadata)))).withheld


def test_speaker_other_than_the_user_is_kept_and_the_user_is_not():
    assert only_event(decode(envelope(speaker="Bob"))).speaker == "Bob"
    assert only_event(decode(envelope(speaker="ann"))).speaker == ""
    assert only_event(decode(envelope(event(customMetadata={"speaker": "Eve"})))).speaker == "Eve"


def test_headers_place_a_bare_event():
    headers = (("app", b"shop"), ("user-id", b"ann"), ("Strandline-Session-Id", b"s"))
    (item,) = decode(event(), headers).found
    assert (item.scope, item.session_id) == (Scope("shop", "ann"), "s")
    assert reasons(decode(event(), (("app", b"\xff"), ("user", b"a"), ("session", b"s")))) == ["bad_header"]


def test_place_of_a_file_serves_bare_events():
    (item,) = decode(event(), place=Place(Scope("local", "local"), "f")).found
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
    (item,) = decode(body).found
    assert isinstance(item, FoundControl)
    assert (item.control.kind, item.control.scope, item.control.ts_ms) == (kind, Scope("shop", "ann"), NOW - 9)
    assert item.control.session_id == ("s" if kind.startswith("session") else "")


def test_control_from_the_future_counts_as_said_now():
    (item,) = decode({"type": "user.forget", "app": "shop", "userId": "ann", "timestamp": NOW + 10**9}).found
    assert item.control.ts_ms == NOW


def same_by_both_ways(raw: bytes) -> None:
    """What the typed way decodes, the general way decodes alike."""
    message = Message(raw, "t", 0, 0, NOW)
    typed, _ = decoder()
    general, _ = decoder()
    general._common = lambda *arguments: False
    assert typed([message]) == general([message])


def test_an_event_written_out_as_an_envelope_is_read_back_the_same():
    parts = [{"text": "hi"}, {"functionCall": {"id": "c", "name": "look", "args": {"a": [1, 2]}}}]
    parts.append({"functionResponse": {"id": "c", "name": "look", "response": {"b": [1, 2, 3]}}})
    body = event(content={"parts": parts}, errorMessage="E", customMetadata={"no_memory": True})
    found = only_event(decode(envelope(body, speaker="Bob")))
    assert only_event(decode(envelope_of(Scope("shop", "ann"), "s", found))) == found


@given(st.binary(max_size=200))
def test_any_bytes_are_accounted_for(raw):
    decoded = decode(raw)
    assert len(decoded.found) + bool(decoded.invalid) + sum(decoded.left.values()) >= 1


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
    assert len(decoded.found) + bool(decoded.invalid) + sum(decoded.left.values()) >= 1
    for item in decoded.found:
        assert isinstance(item, Found | FoundControl)
    same_by_both_ways(raw)


common_values = st.fixed_dictionaries(
    {
        "app": st.sampled_from(["a", "", 1]),
        "userId": st.sampled_from(["u", "é", None]),
        "sessionId": st.sampled_from(["s", "t" * 1_100]),
        "event": st.fixed_dictionaries(
            {
                "id": st.sampled_from(["e", "", None, 5, "x" * 300]),
                "author": st.sampled_from(["user", "agent", "", None]),
                "timestamp": st.sampled_from([NOW, NOW / 1000, 0, -1, 2 * NOW, None, "2023-11-14", True, 10**30]),
                "content": st.fixed_dictionaries(
                    {
                        "parts": st.lists(
                            st.dictionaries(
                                st.sampled_from(
                                    ["text", "thought", "functionCall", "function_call", "functionResponse"]
                                ),
                                st.sampled_from(
                                    [
                                        "hi",
                                        "",
                                        True,
                                        None,
                                        3,
                                        {"name": "n"},
                                        {"id": "c", "name": "n", "args": {"a": 1}, "response": []},
                                    ]
                                ),
                                max_size=3,
                            ),
                            max_size=3,
                        )
                    }
                ),
            },
            optional={
                "actions": st.sampled_from(
                    [
                        None,
                        {},
                        {"stateDelta": {"temp:no_memory": True}},
                        {"compaction": {}},
                        {"state_delta": {"x": 1}},
                        {"stateDelta": {"timezone": "Asia/Tokyo"}},
                    ]
                ),
                "partial": st.sampled_from([True, False, None]),
                "customMetadata": st.sampled_from([None, {"no_memory": 1}, [{"key": "speaker", "stringValue": "Bob"}]]),
                "errorMessage": st.sampled_from([None, "E"]),
                "speaker": st.sampled_from([None, "Bob"]),
            },
        ),
    },
    optional={
        "speaker": st.sampled_from([None, "u", "Bob", 7]),
        "timezone": st.sampled_from([None, "", "Europe/Berlin", "Mars", 7]),
        "type": st.sampled_from([None, "user.forget"]),
        "session": st.sampled_from([None, {}]),
        "appName": st.just("b"),
        "events": st.sampled_from([None, []]),
    },
)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (envelope(event()), ""),
        (envelope(event(), timezone="Europe/Berlin"), "Europe/Berlin"),
        (envelope(event(), timezone="Mars/Olympus"), ""),
        (envelope(event(), timezone="localtime"), ""),
        (envelope(event(), timezone=7), ""),
        (envelope(event(customMetadata={"timezone": "Asia/Tokyo"}), timezone="Europe/Berlin"), "Asia/Tokyo"),
        (envelope(event(customMetadata={"timezone": "?"}), timezone="Europe/Berlin"), "Europe/Berlin"),
        (envelope(event(actions={"stateDelta": {"user:timezone": "Asia/Tokyo"}})), "Asia/Tokyo"),
        (envelope(event(actions={"state_delta": {"timezone": "UTC", "user:timezone": "Asia/Tokyo"}})), "UTC"),
        (envelope(event(content=None, actions={"stateDelta": {"timezone": "Asia/Tokyo"}})), "Asia/Tokyo"),
        (
            {"appName": "a", "userId": "u", "id": "s", "state": {"timezone": "Asia/Tokyo"}, "events": [event()]},
            "Asia/Tokyo",
        ),
    ],
)
def test_time_zone_is_the_nearest_that_is_stated_and_known(document, expected):
    assert only_event(decode(document)).timezone == expected


@given(common_values)
def test_messages_near_the_common_one_are_decoded_alike_by_both_ways(value):
    same_by_both_ways(json.dumps(value).encode())


def lines_of(path):
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read().splitlines() if path.name.endswith(("l", "gz")) else [file.read()]


def events_of(path, place=None):
    found, invalid = {}, []
    for raw in lines_of(path):
        decoded = decode_message(Message(raw, path.name, 0, 0), SETTINGS, NOW, place)
        invalid += [decoded.invalid] if decoded.invalid else []
        for item in decoded.found:
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
    assert decode(java, ts_ms=NOW).found == decode(session, ts_ms=NOW).found


def test_every_adk_file_is_read_without_loss(shared):
    for path in sorted((shared / "data" / "adk").iterdir()):
        found, invalid = events_of(path, Place(Scope("local", "local"), path.stem))
        assert invalid == [], path.name
        assert found, path.name


def test_star_events_are_all_read(shared):
    source = FileSource(str(shared / "data" / "star_events.jsonl.gz"), __import__("threading").Event())
    decoded = [decode_message(message, SETTINGS, NOW) for message in source.messages()]
    assert sum(len(one.found) for one in decoded) == 89_581
    assert not any(one.invalid for one in decoded)
