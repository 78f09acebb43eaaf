"""An event loop whose clock leaps to the next timer when nothing else is to do, and a provider without a wire."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion

from extraction.admission import Admission, Budget, admission_for
from extraction.errors import ProviderFault
from extraction.signals import NOBODY, Signals
from extraction.transport import call
from schemas.settings import ModelSettings, Settings


class VirtualLoop(asyncio.SelectorEventLoop):
    """Hours pass in no time; code that waits for something real would spin, and has no place on it."""

    def __init__(self) -> None:
        super().__init__()
        self._virtual_s = 0.0
        select = self._selector.select

        def leap(timeout: float | None) -> Any:
            if timeout is None:
                message = "everybody waits, and nothing will ever happen"
                raise RuntimeError(message)
            events = select(0)
            if not events:
                self._virtual_s += timeout
            return events

        self._selector.select = leap

    def time(self) -> float:
        return self._virtual_s


def run_virtually(work: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)


def now() -> float:
    return asyncio.get_running_loop().time()


def answer() -> ChatCompletion:
    message = {"role": "assistant", "content": "{}"}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    return ChatCompletion.model_validate(
        {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    )


def http_error(status: int, words: str = "overloaded", **headers: str) -> openai.APIStatusError:
    request = httpx2.Request("POST", "http://model/v1")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return openai.APIStatusError(words, response=httpx2.Response(status, headers=named, request=request), body=None)


class Provider:
    """Serves each call in `latency_s`, but does `when_down` while it is down; keeps when it was asked."""

    def __init__(self, when_down: Callable[[], Awaitable[None]], down: tuple[float, float], latency_s: float = 0.5):
        self.when_down = when_down
        self.down_from_s, self.down_to_s = down
        self.latency_s = latency_s
        self.asked: list[float] = []

    async def __call__(self) -> ChatCompletion:
        self.asked.append(now())
        if self.down_from_s <= now() < self.down_to_s:
            await self.when_down()
        await asyncio.sleep(self.latency_s)
        return answer()


class Caller:
    """Slices against one admission, as an extractor puts them."""

    def __init__(self, signals: Signals = NOBODY, **model: Any) -> None:
        self.model = ModelSettings.model_validate({"base_url": "http://model/v1"} | model)
        self.admission: Admission = admission_for(Settings(model=self.model), signals=signals)

    async def slice(self, send: Callable[[], Awaitable[Any]], tokens: float = 0.0) -> tuple[str, Budget]:
        """Return `served`, or the words of the fault, and what was used of the budget."""
        budget = Budget(now() + self.model.slice_budget_s)
        try:
            await call(send, self.model, budget, self.admission, tokens)
        except ProviderFault as fault:
            return str(fault), budget
        return "served", budget
