"""One call of the model over an unreliable wire: time-outs, back-off, Retry-After, and which fault is whose.

Faults of transport say nothing about the answer, so they are not validation faults: they are tried again here, and what
still fails is handed back for the slice to be put aside.
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

from extraction.errors import ModelConfigurationError, ProviderFault, ProviderRefusal
from schemas.settings import ModelSettings

FIRST_WAIT_S: Final = 0.5
MAX_WAIT_S: Final = 20.0
"""Back-off doubles from the first wait to the longest, each shortened at random by up to half, so that the calls of one
process do not come back together."""

MAX_ERROR_CHARS: Final = 500

_SECONDS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_PASSING: Final = frozenset({408, 409, 425, 429})
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


@dataclass(slots=True)
class Budget:
    """What one slice may still use: `until` is a time of the event loop's clock, `retries` counts transport retries."""

    until: float
    retries: int = 0

    @property
    def left_s(self) -> float:
        """Seconds that are left; never below zero."""
        return max(0.0, self.until - asyncio.get_running_loop().time())


@dataclass(frozen=True, slots=True)
class Served:
    """An answer of the provider and the seconds that the call took which brought it."""

    completion: ChatCompletion
    seconds: float


async def call(send: Callable[[], Awaitable[object]], model: ModelSettings, budget: Budget) -> Served:
    """Return what `send` brings, trying again while `budget` and `model.transport_retries` allow.

    Raises:
        ProviderFault: it was not served in time; the text is the provider's last own words.
        ProviderRefusal: the provider refuses this request for its content or its length.
        ModelConfigurationError: the provider would refuse any request as things are set.
    """
    clock = asyncio.get_running_loop().time
    while True:
        started = clock()
        asked_wait: float | None = None
        try:
            async with asyncio.timeout(min(model.timeout_s, budget.left_s)):
                completion = await send()
            if isinstance(completion, ChatCompletion) and completion.choices:
                return Served(completion, clock() - started)
            words = f"the endpoint answered no chat completion: {_body_words(completion)}"
        except openai.APIStatusError as error:
            _raise_if_final(error, model)
            words, asked_wait = f"HTTP {error.status_code}: {error.message}", retry_after_s(error.response.headers)
        except (TimeoutError, openai.APIConnectionError) as error:
            words = f"no answer after {clock() - started:.1f} s: {error.__cause__ or error or 'time-out'}"
        except (openai.APIError, ValueError) as error:  # a body that is no JSON, or not of the protocol
            words = f"the endpoint's answer cannot be read: {error}"
        wait = max(asked_wait or 0.0, _back_off_s(budget.retries))
        if budget.retries >= model.transport_retries or wait >= budget.left_s:
            raise ProviderFault(bounded(words, model))
        budget.retries += 1
        await asyncio.sleep(wait)


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


def bounded(words: str, model: ModelSettings) -> str:
    """Return the provider's words without the key, on one line, and no longer than `MAX_ERROR_CHARS`."""
    if key := model.api_key.get_secret_value():
        words = words.replace(key, "[key]")
    return " ".join(words.split())[:MAX_ERROR_CHARS]


def _back_off_s(retries: int) -> float:
    longest = min(MAX_WAIT_S, FIRST_WAIT_S * 2.0 ** min(retries, 10))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreading load, not keeping a secret


def _body_words(body: object) -> str:
    """Some gateways answer 200 with an `error` in the body."""
    return str(getattr(body, "error", None) or type(body).__name__)


def _raise_if_final(error: openai.APIStatusError, model: ModelSettings) -> None:
    """Raise unless `error` may pass by itself."""
    status = error.status_code
    if status >= 500 or status in _PASSING:
        return
    words = bounded(error.message, model)
    if status == 413 or (
        status in (400, 422) and any(mark in f"{error.code} {error.message}" for mark in _OF_THE_SLICE)
    ):
        raise ProviderRefusal(words) from error
    remedy = _REMEDIES.get(status, "check model.name, model.mode, model.max_output_tokens and model.temperature")
    message = f"The model endpoint refused {model.name!r} with HTTP {status}: {words}. Remedy: {remedy}."
    raise ModelConfigurationError(message, status) from error
