"""Which messages are common, and so decoded straight into types; all others are left to `detect` and `adk`."""

import json

import pytest

from schemas.adk_typed import common_event, decode_common
from schemas.settings import DecodeSettings

NOW = 1_700_000_000_000
EVENT = {"id": "e", "author": "user", "timestamp": NOW, "content": {"parts": [{"text": "hi"}]}}
MESSAGE = {"app": "shop", "userId": "ann", "sessionId": "s", "event": EVENT}


def common(message):
    return decode_common(json.dumps(message).encode())


def test_common_message_is_decoded():
    found = common(MESSAGE | {"speaker": "Bob", "somethingElse": [1, {"a": None}]})
    event = common_event(found, NOW, DecodeSettings())
    assert (found.app, found.userId, found.sessionId) == ("shop", "ann", "s")
    assert (event.id, event.author, event.ts_ms, event.text, event.speaker) == ("e", "user", NOW, "hi", "Bob")


@pytest.mark.parametrize("field", ["type", "session", "events", "timezone"])
def test_null_where_another_shape_would_have_a_value_is_common(field):
    assert common(MESSAGE | {field: None}) is not None


@pytest.mark.parametrize(
    "more", [{"events": []}, {"session": {}}, {"type": "user.forget"}, {"timezone": "UTC"}, {"speaker": "x" * 101}]
)
def test_message_that_may_have_another_shape_is_not_common(more):
    assert common(MESSAGE | more) is None


@pytest.mark.parametrize("field", ["eval_cases", "evalCases"])
@pytest.mark.parametrize("value", [None, "", "x", []])
def test_message_with_the_field_of_an_eval_set_is_not_common_whatever_stands_there(field, value):
    assert common(MESSAGE | {field: value}) is None


@pytest.mark.parametrize(
    "more",
    [
        {"id": ""},
        {"id": "x" * 201},
        {"author": ""},
        {"timestamp": 0},
        {"timestamp": "2023-11-14"},
        {"partial": True},
        {"customMetadata": {}},
        {"errorCode": "E"},
        {"actions": {"stateDelta": {"temp:no_memory": False}}},
        {"actions": {"stateDelta": {"timezone": "UTC"}}},
        {"actions": {"stateDelta": {"user:timezone": 1}}},
        {"actions": {"compaction": {}}},
        {"content": {"parts": [{"function_call": {"name": "n"}}]}},
    ],
)
def test_event_with_something_unusual_is_not_common(more):
    assert common(MESSAGE | {"event": EVENT | more}) is None


@pytest.mark.parametrize("field", ["app", "userId", "sessionId"])
@pytest.mark.parametrize("value", ["", "x" * 342, 5, None])
def test_scope_that_must_be_looked_at_is_not_common(field, value):
    assert common(MESSAGE | {field: value}) is None
