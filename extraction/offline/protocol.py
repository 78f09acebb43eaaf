"""The OpenAI chat-completions protocol: what a request may ask, how an answer and an error look."""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

from extraction.offline.model import answer
from extraction.offline.reading import NoTranscriptError

MODEL_NAME: Final = "strandline-offline"
CHARS_PER_TOKEN: Final = 4
"""About what a tokenizer makes of English; the counts are of the true text of request and answer."""


class RequestError(Exception):
    """A request that this server does not serve: `status` is the HTTP status, `param` the field to mend."""

    def __init__(self, message: str, param: str | None = None, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code

    def body(self) -> dict[str, Any]:
        """Return the error in OpenAI's shape."""
        return {
            "error": {"message": str(self), "type": "invalid_request_error", "param": self.param, "code": self.code}
        }


def models(created_s: int) -> dict[str, Any]:
    """Return the answer to `GET /v1/models`."""
    return {
        "object": "list",
        "data": [{"id": MODEL_NAME, "object": "model", "created": created_s, "owned_by": "strandline"}],
    }


def complete(raw: bytes, created_s: int) -> dict[str, Any]:
    """Return the chat completion for the body `raw` of a request.

    Raises:
        RequestError: the body is not a request, or asks for what this model has not.
    """
    request = _parse(raw)
    messages = _messages(request)
    function = _function(request)
    try:
        text = answer(messages).model_dump_json()
    except NoTranscriptError as error:
        msg = f"{MODEL_NAME} only extracts from transcripts: {error}"
        raise RequestError(msg, "messages") from None
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    identity = blake2b(raw, digest_size=12).hexdigest()
    if function:
        call = {"id": f"call_{identity}", "type": "function", "function": {"name": function, "arguments": text}}
        message |= {"content": None, "tool_calls": [call]}
    return {
        "id": f"chatcmpl-{identity}",
        "object": "chat.completion",
        "created": created_s,
        "model": MODEL_NAME,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": _usage(request, text),
    }


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        request = json.loads(raw)
    except (ValueError, RecursionError) as error:
        msg = f"the body is not JSON: {error}"
        raise RequestError(msg) from None
    if not isinstance(request, dict):
        msg = f"the body is a JSON {type(request).__name__}, not an object"
        raise RequestError(msg)
    if request.get("stream"):
        msg = f"{MODEL_NAME} does not stream; send stream: false"
        raise RequestError(msg, "stream", code="unsupported_value")
    if request.get("n") not in (None, 1):
        msg = f"{MODEL_NAME} gives one choice; n={request['n']} was asked for"
        raise RequestError(msg, "n", code="unsupported_value")
    return request


def _messages(request: Mapping[str, Any]) -> Sequence[Mapping[str, object]]:
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(one, dict) for one in messages):
        msg = "messages must be a list of objects, at least one"
        raise RequestError(msg, "messages")
    return messages


def _function(request: Mapping[str, Any]) -> str:
    """Return the name of the function that the answer is to call, or nothing: the answer is JSON text.

    A model may choose under "auto"; this one always calls, for its answer is nothing but the arguments.
    """
    choice = request.get("tool_choice")
    tools = request.get("tools") or []
    if choice == "none" or not tools:
        return ""
    names = [
        tool["function"]["name"]
        for tool in tools
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict) and "name" in tool["function"]
    ]
    wanted = (
        choice["function"]["name"] if isinstance(choice, dict) and isinstance(choice.get("function"), dict) else None
    )
    if not names or (wanted is not None and wanted not in names):
        msg = f"tool_choice names {wanted!r}, tools hold {names}"
        raise RequestError(msg, "tool_choice")
    return str(wanted or names[0])


def _usage(request: Mapping[str, Any], text: str) -> dict[str, Any]:
    asked = {name: request[name] for name in ("messages", "tools", "response_format") if request.get(name)}
    prompt = -(-_length(asked) // CHARS_PER_TOKEN)
    completion = -(-len(text) // CHARS_PER_TOKEN)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _length(value: object) -> int:
    """Return the characters of every text in `value`, keys included: what a model would have to read."""
    if isinstance(value, dict):
        return sum(len(str(key)) + _length(inner) for key, inner in value.items())
    if isinstance(value, list):
        return sum(_length(inner) for inner in value)
    return len(value) if isinstance(value, str) else len(str(value))
