"""One call of the model over an unreliable wire: time-outs, back-off, Retry-After, and which fault is whose.

Faults of transport say nothing about the answer, so they are not validation faults: they are tried again here, and what
still fails is handed back for the slice to be put aside. What they say about the provider is told to the circuit.
"""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import openai
from openai.types.chat import ChatCompletion

from extraction.admission import Admission, Budget
from extraction.errors import ModelConfigurationError, ProviderFault, ProviderRefusal
from schemas.settings import ModelSettings

FIRST_WAIT_S: Final = 0.5
MAX_WAIT_S: Final = 20.0
"""Back-off doubles from the first wait to the longest, each shortened at random by up to half, so that the calls of one
process do not come back together."""

MAX_ERROR_CHARS: Final = 500
ECHO_CHARS: Final = 16
"""So many characters in a row that were in the request are an echo of it, and may be a user's words."""

_ECHO: Final = "[...]"
_LOOKED_AT_CHARS: Final = 4 * MAX_ERROR_CHARS

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""A response larger than this, unpacked, is given up: many times the longest answer that can be asked for."""

_SECONDS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_TOO_MANY: Final = 429
_BUSY: Final = frozenset({409, 425, _TOO_MANY})
"""Tried again, but no sign of ill health: a provider that says so is up."""

_PASSING: Final = _BUSY | {408}
_OF_THE_SLICE: Final = (
    "context_length_exceeded",
    "string_above_max_length",
    "content_filter",
    "content_policy_violation",
    "request_too_large",
)
_REMEDIES: Final = {
    401: "set model.api_key (STRANDLINE_MODEL__API_KEY) to a key that the endpoint accepts",
    403: "let model.api_key use model.name, or choose another model.name",
    404: "check model.base_url (it usually ends in /v1) and model.name",
}


class AnswerTooLong(openai.OpenAIError):
    """A response is longer than `MAX_ANSWER_BYTES`. Of openai's own kind, which its client passes on as it is."""


@dataclass(frozen=True, slots=True)
class Served:
    """An answer of the provider and the seconds that the call took which brought it."""

    completion: ChatCompletion
    seconds: float


async def call(
    send: Callable[[], Awaitable[object]],
    model: ModelSettings,
    budget: Budget,
    admission: Admission,
    tokens: float = 0.0,
) -> Served:
    """Return what `send` brings, trying again while `budget` and `model.transport_retries` allow.

    Each try goes through `admission`, as a call of about `tokens`.

    Raises:
        ProviderFault: it was not served in time; the text is the provider's last own words.
        ProviderRefusal: the provider refuses this request for its content or its length.
        ModelConfigurationError: the provider would refuse any request as things are set.
    """
    clock = asyncio.get_running_loop().time
    circuit = admission.circuit
    while True:
        leave = await admission.enter(budget, tokens)
        started = clock()
        asked_wait: float | None = None
        is_ill = True  # whether what came says that the provider as a whole does not serve
        granted_s = min(model.timeout_s, budget.left_s)
        try:
            budget.calls += 1
            async with asyncio.timeout(granted_s):
                completion = await send()
            if isinstance(completion, ChatCompletion) and completion.choices:
                circuit.answered(leave)
                return Served(completion, clock() - started)
            words = f"the endpoint answered no chat completion: {_body_words(completion)}"
        except openai.APIStatusError as error:
            if (final := _final(error, model, budget.said)) is not None:
                circuit.answered(leave)
                raise final from error
            is_ill = error.status_code not in _BUSY
            words, asked_wait = f"HTTP {error.status_code}: {error.message}", retry_after_s(error.response.headers)
            if error.status_code == _TOO_MANY and asked_wait:
                circuit.hold(asked_wait, bounded(words, model, budget.said))
        except (TimeoutError, openai.APIConnectionError) as error:
            words = f"no answer after {clock() - started:.1f} s: {str(error.__cause__ or error) or 'time-out'}"
            # A call that the slice's own time has cut short says little of the provider.
            is_ill = not isinstance(error, TimeoutError) or 2 * granted_s >= model.timeout_s
        except (openai.OpenAIError, ValueError) as error:  # a body that is no JSON, too long, or not of the protocol
            words = f"the endpoint's answer cannot be read: {error}"
        words = bounded(words, model, budget.said)
        if is_ill:
            admission.failed(leave, words)
        # While the circuit is open it sets the pace; a back-off on top would only find the provider's return later.
        wait_s = asked_wait or 0.0 if circuit.is_open else max(asked_wait or 0.0, _back_off_s(budget.retries))
        if (budget.own_retries >= model.transport_retries and not leave.is_probe) or wait_s >= budget.left_s:
            raise ProviderFault(words)
        budget.retries += 1
        budget.probes += leave.is_probe
        await asyncio.sleep(wait_s)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `retry-after-ms` or `retry-after` asks for (seconds or an HTTP date), or None."""
    milliseconds, raw = headers.get("retry-after-ms", "").strip(), headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    if _SECONDS.fullmatch(raw):
        return float(raw)
    try:
        at = parsedate_to_datetime(raw)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def bounded(words: str, model: ModelSettings, said: str = "") -> str:
    """Return the provider's words on one line, at most `MAX_ERROR_CHARS`, without the key and what echoes `said`.

    They are logged and shown, and `said`, what was put to the provider, is what users said.
    """
    if key := model.api_key.get_secret_value():
        words = words.replace(key, "[key]")
    return without_echo(" ".join(words.split()), said)[:MAX_ERROR_CHARS]


def without_echo(words: str, said: str) -> str:
    """Return `words` with every stretch of `ECHO_CHARS` characters and more that stands in `said` taken out."""
    kept: list[str] = []
    at = 0
    words = words[:_LOOKED_AT_CHARS]
    while said and at <= len(words) - ECHO_CHARS:
        if words[at : at + ECHO_CHARS] not in said:
            kept.append(words[at])
            at += 1
            continue
        length = ECHO_CHARS
        while at + length < len(words) and words[at : at + length + 1] in said:
            length += 1
        kept.append(_ECHO)
        at += length
    return "".join(kept) + words[at:]


def _back_off_s(retries: int) -> float:
    longest = min(MAX_WAIT_S, FIRST_WAIT_S * 2.0 ** min(retries, 10))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreading load, not keeping a secret


def _body_words(body: object) -> str:
    """Some gateways answer 200 with an `error` in the body."""
    return str(getattr(body, "error", None) or type(body).__name__)


def _final(
    error: openai.APIStatusError, model: ModelSettings, said: str
) -> ProviderRefusal | ModelConfigurationError | None:
    """Return what `error` means when trying again would not help, None when it may pass by itself."""
    status = error.status_code
    if status >= 500 or status in _PASSING:
        return None
    words = bounded(error.message, model, said)
    if status == 413 or (
        status in (400, 422) and any(mark in f"{error.code} {error.message}" for mark in _OF_THE_SLICE)
    ):
        return ProviderRefusal(words)
    remedy = _REMEDIES.get(status, "check model.name, model.mode, model.max_output_tokens and model.temperature")
    message = f"The model endpoint refused {model.name!r} with HTTP {status}: {words}. Remedy: {remedy}."
    return ModelConfigurationError(message, status)
