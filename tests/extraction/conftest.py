"""Shared by these tests: a scripted OpenAI-compatible endpoint, and short ways to make slices and answers."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from extraction import transport
from schemas.events import Event
from schemas.scope import Scope
from schemas.settings import ModelSettings, Price, Settings
from schemas.slice import Slice, SliceReason

SATURDAY_MS = 1_773_482_400_000
"""2026-03-14 10:00 UTC, a Saturday."""


@dataclass
class Step:
    """What the endpoint does at one request."""

    content: str | None = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    hang_s: float = 0.0
    body: bytes | None = None
    message: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None

    def payload(self) -> bytes:
        if self.body is not None:
            return self.body
        if self.status >= 400:
            return json.dumps({"error": {"message": self.content, "type": "x", "code": None}}).encode()
        usage = self.usage or {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 400},
        }
        message = self.message or {"role": "assistant", "content": self.content}
        choice = {"index": 0, "finish_reason": self.finish_reason, "message": message}
        return json.dumps(
            {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        ).encode()


class Endpoint:
    """Serves its `script` step by step, the last step for ever, and keeps the requests."""

    def __init__(self) -> None:
        self.script: list[Step] = []
        self.requests: list[dict[str, Any]] = []
        self.times: list[float] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                step = endpoint.script[min(len(endpoint.requests), len(endpoint.script) - 1)]
                endpoint.requests.append(json.loads(body))
                endpoint.times.append(time.monotonic())
                time.sleep(step.hang_s)
                payload = step.payload()
                try:
                    self.send_response(step.status)
                    for name, value in ({"content-type": "application/json"} | step.headers).items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(payload)))
                    self.end_headers()
                    self.wfile.write(payload)
                except OSError:
                    self.close_connection = True  # the caller gave up, as a test of time-outs wants it to

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, *answers: dict[str, Any] | str | Step) -> None:
        self.script = [a if isinstance(a, Step) else Step(a if isinstance(a, str) else json.dumps(a)) for a in answers]

    def settings(self, **model: Any) -> Settings:
        chosen = {"base_url": self.base_url, "name": "scripted", "api_key": "sk-secret-key", "timeout_s": 5.0} | model
        return Settings(
            model=ModelSettings.model_validate(chosen),
            prices={"scripted": Price(input=1.0, cached=0.5, output=2.0)},
        )


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(transport, "FIRST_WAIT_S", 0.01)
    one = Endpoint()
    thread = threading.Thread(target=one.server.serve_forever, daemon=True)
    thread.start()
    yield one
    one.server.shutdown()
    one.server.server_close()


def said(number: int, text: str, author: str = "user", **more: Any) -> Event:
    return Event(id=f"e{number}", author=author, ts_ms=SATURDAY_MS + number * 1000, text=text, **more)


def slice_of(*events: Event, user: str = "u1") -> Slice:
    return Slice(Scope("shop", user), "s1", SliceReason.CLOSED, 0, events)


def claim_json(**fields: Any) -> dict[str, Any]:
    return {
        "kind": "fact",
        "key": "order.id",
        "about": "user",
        "text": "The user's order A-1001 is late.",
        "sources": [1],
        "quote": "my order A-1001 is late",
        "confidence": 0.9,
    } | fields


def answer_json(*claims: dict[str, Any], digest: str = "The user asked.", sources: Any = (1,)) -> Any:
    return {"claims": list(claims), "digest": {"text": digest, "sources": list(sources)}}


Make = Callable[..., Any]


@pytest.fixture
def make_event() -> Make:
    return said


@pytest.fixture
def make_slice() -> Make:
    return slice_of


@pytest.fixture
def make_claim() -> Make:
    return claim_json


@pytest.fixture
def make_answer() -> Make:
    return answer_json


@pytest.fixture
def step() -> Make:
    return Step
