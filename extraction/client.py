"""Puts messages to the model and reads its answer, through instructor over the OpenAI protocol.

instructor's own `context=` is never used: it renders every message as a Jinja template, and these hold customers' text.
Its retries are off: an answer is sent back once, with all problems of form and content together, by the extractor.
"""

import logging
from collections.abc import AsyncGenerator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Final

import instructor
from instructor.core.exceptions import IncompleteOutputException, InstructorRetryException
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai.types.chat import ChatCompletionMessageParam
from pydantic import ValidationError

from extraction.admission import Admission, Budget
from extraction.errors import ModelConfigurationError
from extraction.transcript import estimate_tokens
from extraction.transport import MAX_ANSWER_BYTES, AnswerTooLong, Served, call
from schemas.extraction import Extraction
from schemas.outcome import Problem
from schemas.setting_names import without_password
from schemas.settings import ModelSettings

OPENAI_URL: Final = "https://api.openai.com/v1"
"""Where a key without a `base_url` belongs; given to the client so that it reads no variable of its own."""

MAX_SCHEMA_PROBLEMS: Final = 12

_MOST_TOKENS: Final = 100_000_000
"""No prompt and no answer is longer; more is a slip of the server, and would be priced."""

_MODES: Final = {
    "json_schema": instructor.Mode.JSON_SCHEMA,
    "json": instructor.Mode.JSON,
    "tools": instructor.Mode.TOOLS,
}

# instructor logs at error level the text of validation errors, which quotes what a customer said.
logging.getLogger("instructor").setLevel(logging.CRITICAL + 1)


_SAID_IN_PROMPT: Final = ("title", "description", "default")


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    """The bare form: what a field means is said once, in the prompt; providers count these words as tokens too."""

    def bare(node: Any) -> Any:
        if isinstance(node, dict):
            return {k: bare(v) for k, v in node.items() if not (k in _SAID_IN_PROMPT and not isinstance(v, dict))}
        return [bare(item) for item in node] if isinstance(node, list) else node

    schema: dict[str, Any] = bare(Extraction.model_json_schema())
    return schema | {"title": Extraction.__name__}


class Answer(instructor.ResponseSchema):
    """Stands for `Extraction` before instructor, which walks the fields of what it is given four times a call.

    It has none, so that costs nothing, and its JSON schema is worked out once.
    """

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """Return the schema of `Extraction`; it is shared, and not to be changed."""
        return _schema()

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Extraction:  # type: ignore[override]
        """Return the `Extraction` that `json_data` holds.

        :raises ValidationError: It holds none.
        """
        return Extraction.model_validate_json(json_data, **options)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. Either `answer` is there, or `problem` says why it cannot be read; `raw` is the text it came as.

    Tokens are as the provider counted them (`input_tokens` includes `cached_tokens`), 0 when it does not say.
    """

    raw: str
    answer: Extraction | None
    problems: tuple[Problem, ...]
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    seconds: float


@dataclass(slots=True)
class _Call:
    """What one `ask` hands to the function that instructor calls, and what comes back past instructor."""

    budget: Budget
    served: list[Served] = field(default_factory=list)


_CALL: ContextVar[_Call] = ContextVar("strandline_model_call")


class ModelClient:
    """The endpoint of `model`. Make and use it on one event loop."""

    def __init__(self, model: ModelSettings, admission: Admission, http: Any = None) -> None:
        """Take the settings, and `http`, a client of openai's HTTP library, when the caller has its own.

        Every call goes out through `admission`, which the clients of one process share.

        Raises:
            ModelConfigurationError: `model.base_url` is no HTTP address.
        """
        if model.base_url and not model.base_url.lower().startswith(("http://", "https://")):
            message = (
                f"model.base_url is {without_password(model.base_url)!r}; it must start with http:// or https://, and "
                "usually ends in /v1"
            )
            raise ModelConfigurationError(message)
        self._model = model
        self._admission = admission
        self._openai = AsyncOpenAI(
            base_url=model.base_url or OPENAI_URL,
            api_key=model.api_key.get_secret_value() or "none",  # keyless servers ignore it, the library wants one
            timeout=model.timeout_s,
            max_retries=0,
            http_client=http or DefaultAioHttpClient(event_hooks={"response": [_bound_body]}),
        )
        self._sampling: dict[str, Any] = {
            "max_tokens": model.max_output_tokens,
            "temperature": model.temperature,
        }
        self._create: Any = instructor.patch(create=self._send, mode=_MODES[model.mode])

    async def ask(self, messages: list[ChatCompletionMessageParam], budget: Budget) -> Reply:
        """Return the model's answer to `messages`, read or not.

        Raises:
            ProviderFault: the provider did not serve it within `budget`.
            ProviderRefusal: it refuses this request for its content or its length.
            ModelConfigurationError: it would refuse any request as things are set.
        """
        current = _Call(budget)
        token = _CALL.set(current)
        try:
            answer = await self._create(
                response_model=Answer,
                max_retries=0,
                strict=False,
                model=self._model.name,
                messages=messages,
                **self._sampling,
            )
        except (InstructorRetryException, IncompleteOutputException) as error:
            if not current.served:  # no answer came: the cause is a fault of transport or of configuration
                raise (error.__cause__ or error) from None
            return self._reply(current.served[-1], None, error)
        finally:
            _CALL.reset(token)
        return self._reply(current.served[-1], answer, None)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._openai.close()

    async def _send(self, **request: Any) -> Any:
        current = _CALL.get()
        rates = self._admission.rates
        tokens = self._model.max_output_tokens + prompt_tokens(request["messages"]) if rates.counts_tokens else 0
        # Given as parameters, the messages and the schema would be walked node by node at every call, against all the
        # types that a message may have: a fifth of the client's CPU.
        send = partial(self._openai.chat.completions.create, model=self._model.name, messages=(), extra_body=request)
        while True:
            try:
                served = await call(send, self._model, current.budget, self._admission, tokens)
            except ModelConfigurationError as error:
                if not self._adapted(request, error):
                    raise
            else:
                current.served.append(served)
                if rates.counts_tokens and (usage := served.completion.usage):
                    rates.correct(tokens, _count(usage.prompt_tokens) + _count(usage.completion_tokens))
                return served.completion

    def _adapted(self, request: dict[str, Any], error: ModelConfigurationError) -> bool:
        """Drop what this model does not take, for this request and all later ones; return whether that changed it.

        OpenAI's reasoning models refuse `max_tokens` for `max_completion_tokens`, and any `temperature` but their own;
        most other servers know the older name only.
        """
        words = str(error)
        if "max_completion_tokens" in words and "max_tokens" in request:
            request["max_completion_tokens"] = request.pop("max_tokens")
            self._sampling.pop("max_tokens", None)
            self._sampling["max_completion_tokens"] = self._model.max_output_tokens
            return True
        if "'temperature'" in words and "temperature" in request:
            del request["temperature"]
            self._sampling.pop("temperature", None)
            return True
        return False

    def _reply(self, served: Served, answer: Extraction | None, error: Exception | None) -> Reply:
        usage = served.completion.usage
        details = usage.prompt_tokens_details if usage else None
        raw = _raw_text(served)
        return Reply(
            raw=raw,
            answer=answer,
            problems=self._unread(served, raw, error) if error else (),
            input_tokens=_count(usage.prompt_tokens) if usage else 0,
            cached_tokens=_count(details.cached_tokens) if details else 0,
            output_tokens=_count(usage.completion_tokens) if usage else 0,
            seconds=served.seconds,
        )

    def _unread(self, served: Served, raw: str, error: Exception) -> tuple[Problem, ...]:
        """Say why an answer that came cannot be read: empty, cut off, no JSON, or JSON of another shape."""
        choice = served.completion.choices[0]
        if choice.finish_reason == "length":
            limit = f"the answer was cut off at {self._model.max_output_tokens} tokens"
            return (Problem("truncated", f"{limit}; be brief: fewer claims, shorter texts and quotes"),)
        if not raw.strip():
            reason = "a refusal" if choice.message.refusal else f"finish_reason {choice.finish_reason}"
            return (Problem("empty_answer", f"no JSON object was given ({reason})"),)
        cause = error.__cause__
        if not isinstance(cause, ValidationError):
            return (Problem("malformed_json", "the answer holds no JSON object of the asked form"),)
        wrong = cause.errors(include_input=False, include_url=False, include_context=False)
        if any(item["type"] == "json_invalid" for item in wrong):
            return (Problem("malformed_json", wrong[0]["msg"]),)
        return tuple(
            Problem("wrong_schema", f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}")
            for item in wrong[:MAX_SCHEMA_PROBLEMS]
        )


def prompt_tokens(messages: list[ChatCompletionMessageParam]) -> int:
    """Return about how many tokens `messages` are."""
    return sum(estimate_tokens(str(message.get("content") or "")) for message in messages)


async def _bound_body(response: Any) -> None:
    """Have the reading of a response's body end with `AnswerTooLong` once it is longer than any answer can be."""
    whole = response.aiter_bytes

    async def bounded(*args: Any) -> AsyncGenerator[bytes, None]:
        size = 0
        async for part in whole(*args):
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                message = f"it is longer than {MAX_ANSWER_BYTES} bytes"
                raise AnswerTooLong(message)
            yield part

    response.aiter_bytes = bounded


def _count(told: object) -> int:
    """Return a number of tokens as the provider told it, 0 where that is no such number: the SDK checks nothing."""
    return told if isinstance(told, int) and 0 <= told <= _MOST_TOKENS else 0


def _raw_text(served: Served) -> str:
    """Return the answer's text, or the arguments of the call it came in."""
    message = served.completion.choices[0].message
    for tool_call in message.tool_calls or ():
        if tool_call.type == "function":
            return tool_call.function.arguments
    return message.content or ""
