"""An OpenAI-compatible server that takes its time, and fails when it is told to; it keeps a list of all calls.

`python -m bench.slow_model [--mean S] [--seed N]` serves the offline model's answers, each after a log-normal latency,
until it is stopped, and says at which port. `SlowModel` runs it as a process of its own. Beside the protocol:

    GET  /calls    every request to the model so far, and how many are under way now and were at most
    POST /down     {"seconds": 20, "how": "503"}   serve nothing for so long; "cut" closes connections without an answer
    POST /latency  {"mean_s": 0.1}                 from now on
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from collections import OrderedDict
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from bench.latencies import latencies_s
from extraction.offline.protocol import complete

_KEPT_ANSWERS = 20_000
_START_S = 30.0
_MAX_BODY = 32 * 1024 * 1024
FIRST_MESSAGES = 2
"""A first question is a system and a user message; an answer sent back makes it longer."""


@dataclass
class Call:
    """One request: times by the monotonic clock, seconds; `status` 0 until it was answered, or when it was cut.

    `first` tells a slice's first question from one that sends a bad answer back. `asked` is a hash of the messages.
    """

    arrived: float
    latency_s: float
    asked: str
    first: bool
    ended: float = 0.0
    status: int = 0


class _Model:
    def __init__(self, mean_s: float, seed: int) -> None:
        self._seed = seed
        self._latencies = latencies_s(mean_s, seed)
        self._answers: OrderedDict[str, bytes] = OrderedDict()
        self._down_until = 0.0
        self._how = "503"
        self.calls: list[Call] = []
        self.under_way = 0
        self.most = 0

    async def complete(self, request: web.Request) -> web.StreamResponse:
        arrived = time.monotonic()
        raw = await request.read()
        messages = json.loads(raw)["messages"]
        asked = blake2b(json.dumps(messages).encode(), digest_size=16).hexdigest()
        call = Call(arrived, 0.0, asked, len(messages) == FIRST_MESSAGES)
        self.calls.append(call)
        if arrived < self._down_until:
            return self._refuse(request, call)
        call.latency_s = next(self._latencies)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            if asked not in self._answers:
                self._answers[asked] = json.dumps(complete(raw, int(time.time()))).encode()
                if len(self._answers) > _KEPT_ANSWERS:
                    self._answers.popitem(last=False)
            await asyncio.sleep(max(0.0, arrived + call.latency_s - time.monotonic()))
            if time.monotonic() < self._down_until:
                return self._refuse(request, call)
            call.status, call.ended = 200, time.monotonic()
            return web.Response(body=self._answers[asked], content_type="application/json")
        finally:
            self.under_way -= 1

    def _refuse(self, request: web.Request, call: Call) -> web.Response:
        call.ended = time.monotonic()
        if self._how == "cut":
            assert request.transport is not None
            request.transport.abort()
        else:
            call.status = 503
        return web.json_response({"error": {"message": "the model is down", "type": "server_error"}}, status=503)

    async def tell(self, request: web.Request) -> web.Response:
        calls = self.calls if request.query.get("list") != "0" else []
        return web.json_response(
            {"under_way": self.under_way, "most": self.most, "calls": [asdict(call) for call in calls]}
        )

    async def go_down(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self._how = asked["how"]
        self._down_until = time.monotonic() + asked["seconds"]
        return web.json_response({"until": self._down_until})

    async def set_latency(self, request: web.Request) -> web.Response:
        self._latencies = latencies_s((await request.json())["mean_s"], self._seed)
        return web.json_response({})


async def _serve(mean_s: float, seed: int) -> None:
    model = _Model(mean_s, seed)
    app = web.Application(client_max_size=_MAX_BODY)
    app.router.add_post("/v1/chat/completions", model.complete)
    app.router.add_get("/calls", model.tell)
    app.router.add_post("/down", model.go_down)
    app.router.add_post("/latency", model.set_latency)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


class SlowModel:
    """The server as a process of its own, while the context lasts."""

    def __init__(self, mean_s: float = 1.0, seed: int = 1) -> None:
        """Remember what it shall be like; nothing runs before the `with` block."""
        self._arguments = ["--mean", str(mean_s), "--seed", str(seed)]
        self._process: subprocess.Popen[str] | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """What `model.base_url` is to be."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        """Start it and wait until it listens."""
        command = [sys.executable, "-m", "bench.slow_model", *self._arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
        assert self._process.stdout is not None
        self._port = int(self._process.stdout.readline())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=_START_S)

    def calls(self) -> list[Call]:
        """Return every request so far."""
        return [Call(**one) for one in self.told()["calls"]]

    def told(self, *, calls: bool = True) -> dict[str, Any]:
        """Return what GET /calls answers; without `calls` only the counts, which is quick."""
        return self._ask(f"/calls?list={int(calls)}", None)

    def go_down(self, seconds: float, how: str = "503") -> float:
        """Have it serve nothing for so long; return the time, by the monotonic clock, at which it serves again."""
        return float(self._ask("/down", {"seconds": seconds, "how": how})["until"])

    def set_latency(self, mean_s: float) -> None:
        """Have later calls take `mean_s` on average."""
        self._ask("/latency", {"mean_s": mean_s})

    def _ask(self, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=_START_S) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mean", type=float, default=1.0, help="mean latency, seconds")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    asyncio.run(_serve(arguments.mean, arguments.seed))


if __name__ == "__main__":
    main()
