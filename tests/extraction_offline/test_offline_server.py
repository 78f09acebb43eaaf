"""The protocol, over real HTTP and through the client that the project uses."""

import json
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest
from offline_talk import request, user_message

from extraction.offline import MODEL_NAME, OfflineModel
from schemas.extraction import Extraction

ROOT = Path(__file__).resolve().parents[2]
SAID = "user: My name is Sam and I live in Bern."
TOOL = {"type": "function", "function": {"name": "Extraction", "parameters": Extraction.model_json_schema()}}


@pytest.fixture(scope="module")
def model() -> Iterator[OfflineModel]:
    with OfflineModel() as served:
        yield served


@pytest.fixture(scope="module")
def client(model: OfflineModel) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=model.base_url, api_key="none", max_retries=0) as made:
        yield made


def post(model: OfflineModel, body: bytes, path: str = "/v1/chat/completions") -> tuple[int, dict[str, Any]]:
    connection = HTTPConnection(urlsplit(model.base_url).netloc, timeout=10)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def test_models_lists_the_one_model(client: openai.OpenAI) -> None:
    assert [one.id for one in client.models.list()] == [MODEL_NAME]


@pytest.mark.parametrize(
    "response_format",
    [
        {"type": "json_object"},
        {"type": "json_schema", "json_schema": {"name": "Extraction", "schema": Extraction.model_json_schema()}},
    ],
)
def test_completion_holds_an_extraction_as_json(client: openai.OpenAI, response_format: Any) -> None:
    done = client.chat.completions.create(model=MODEL_NAME, messages=request(SAID), response_format=response_format)
    (choice,) = done.choices
    made = Extraction.model_validate_json(choice.message.content or "")
    assert {one.text for one in made.claims} == {"The user is called Sam.", "The user lives in Bern."}
    assert (choice.finish_reason, done.model, done.object) == ("stop", MODEL_NAME, "chat.completion")


def test_completion_calls_the_function_that_is_asked_for(client: openai.OpenAI) -> None:
    done = client.chat.completions.create(
        model=MODEL_NAME,
        messages=request(SAID),
        tools=[TOOL],
        tool_choice={"type": "function", "function": {"name": "Extraction"}},
    )
    message = done.choices[0].message
    assert message.content is None
    (call,) = message.tool_calls or ()
    assert call.function.name == "Extraction"
    assert len(Extraction.model_validate_json(call.function.arguments).claims) == 2


def test_usage_counts_the_text_of_request_and_answer(client: openai.OpenAI) -> None:
    messages = request(SAID)
    short = client.chat.completions.create(model=MODEL_NAME, messages=messages)
    assert short.usage is not None
    assert short.usage.completion_tokens == -(-len(short.choices[0].message.content or "") // 4)
    messages[0]["content"] = str(messages[0]["content"]) + "x" * 400
    longer = client.chat.completions.create(model=MODEL_NAME, messages=messages)
    assert longer.usage is not None
    assert longer.usage.prompt_tokens == short.usage.prompt_tokens + 100
    assert longer.usage.prompt_tokens >= len(user_message(SAID)) // 4
    assert longer.usage.total_tokens == longer.usage.prompt_tokens + longer.usage.completion_tokens
    assert longer.usage.prompt_tokens_details is not None
    assert longer.usage.prompt_tokens_details.cached_tokens == 0


def test_streaming_is_refused_in_openais_shape(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model=MODEL_NAME, messages=request(SAID), stream=True)
    assert (refused.value.param, refused.value.type) == ("stream", "invalid_request_error")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{nonsense", None),
        (b"[]", None),
        (b'{"messages": []}', "messages"),
        (b'{"messages": ["hi"]}', "messages"),
        (b'{"messages": [{"role": "user", "content": "hi"}]}', "messages"),
        (json.dumps({"messages": request(SAID), "n": 2}).encode(), "n"),
        (
            json.dumps(
                {
                    "messages": request(SAID),
                    "tools": [TOOL],
                    "tool_choice": {"type": "function", "function": {"name": "x"}},
                }
            ).encode(),
            "tool_choice",
        ),
    ],
)
def test_bad_request_is_a_400_that_names_the_field(model: OfflineModel, body: bytes, param: str | None) -> None:
    status, reply = post(model, body)
    assert status == 400
    assert reply["error"]["param"] == param
    assert reply["error"]["message"]


def test_unknown_path_is_a_404_and_the_server_goes_on(model: OfflineModel, client: openai.OpenAI) -> None:
    assert post(model, b"{}", "/v1/completions")[0] == 404
    assert client.chat.completions.create(model=MODEL_NAME, messages=request(SAID)).choices


def test_two_models_serve_at_once_and_a_closed_one_frees_its_port() -> None:
    with OfflineModel() as one, OfflineModel() as two:
        assert one.base_url != two.base_url
        port = urlsplit(one.base_url).port or 0
    with OfflineModel(port) as again:
        assert urlsplit(again.base_url).port == port


def test_taken_port_is_told_and_wrong_usage_too(model: OfflineModel) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "extraction.offline", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    port = str(urlsplit(model.base_url).port)
    taken = run(port)
    assert taken.returncode == 1
    assert port in taken.stderr
    assert run("many").returncode == 2


def test_a_client_that_goes_away_leaves_no_traceback(capfd):
    with OfflineModel() as model:
        port = int(model.base_url.rsplit(":", 1)[1].split("/")[0])
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        time.sleep(0.3)
    assert capfd.readouterr().err == ""
