"""The HTTP edge: one asyncio loop, so that hundreds of calls may hang at once and cost nothing."""

import asyncio
import json
import socket
import struct
import time
from collections import Counter
from typing import Final

import msgspec
from aiohttp import web

from bench.fault_model.answers import Answers, ask_of
from bench.fault_model.record import Outside, Report

SLICE_HEADER: Final = "x-slice"
"""Names the slice of a call: the transcript shows no name, and two rounds of a dialogue have the same words."""

RETRY_AFTER_S: Final = 1
MAX_BODY_BYTES: Final = 512 * 1024 * 1024
_DRIPS: Final = 20


class FaultServer:
    """Serves `answers`. A call that hangs, or drips, is served in `hang_s` seconds: longer than the client waits."""

    def __init__(self, answers: Answers, hang_s: float) -> None:
        self._answers = answers
        self._hang_s = hang_s
        self._calls: Counter[tuple[str, int]] = Counter()
        self._not_before: dict[str, float] = {}
        self._too_soon: list[str] = []

    def app(self) -> web.Application:
        """Return the application: the protocol's one path, and two of the bench's own."""
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.add_routes(
            [
                web.post("/v1/chat/completions", self._complete),
                web.post("/outside", self._hear),
                web.get("/planted", self._tell),
            ]
        )
        return app

    async def _hear(self, request: web.Request) -> web.Response:
        self._answers.outside = msgspec.json.decode(await request.read(), type=dict[str, Outside])
        return web.json_response({"slices": len(self._answers.outside)})

    async def _tell(self, _: web.Request) -> web.Response:
        base = {
            key: [(one.kind, one.key, one.text) for one in answer.claims] for key, answer in self._answers.base.items()
        }
        report = Report(
            list(self._answers.planted.values()), base, self._calls.total(), time.process_time(), self._too_soon
        )
        return web.Response(body=msgspec.json.encode(report), content_type="application/json")

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        key = request.headers.get(SLICE_HEADER)
        if key is None:
            raise web.HTTPBadRequest(text=f"the header {SLICE_HEADER} must name the slice")
        raw = await request.read()
        ask = ask_of(json.loads(raw)["messages"])
        self._calls[key, ask] += 1
        if time.monotonic() < self._not_before.pop(key, 0.0):
            self._too_soon.append(key)
        fault = self._answers.wire_fault(key, ask, self._calls[key, ask])
        match fault:
            case "http_429":
                self._not_before[key] = time.monotonic() + RETRY_AFTER_S
                return _error(429, "Rate limit reached.", {"Retry-After": str(RETRY_AFTER_S)})
            case "http_500":
                return _error(500, "The server had an error while processing your request.")
            case "reset" if self._calls.total() % 2:
                return _reset(request)
            case "hang":
                await asyncio.sleep(self._hang_s)
        body = json.dumps(self._answers.completion(key, raw, int(time.time()))).encode()
        if fault == "slow_drip":
            return await self._drip(request, body)
        if fault == "reset":
            response = await _begin(request, body)
            await response.write(body[: len(body) // 2])
            return _reset(request)
        return web.Response(body=body, content_type="application/json")

    async def _drip(self, request: web.Request, body: bytes) -> web.StreamResponse:
        response = await _begin(request, body)
        size = -(-len(body) // _DRIPS)
        for start in range(0, len(body), size):
            await asyncio.sleep(self._hang_s / _DRIPS)
            if request.transport is None or request.transport.is_closing():
                break
            await response.write(body[start : start + size])
        return response


def _error(status: int, words: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(
        {"error": {"message": words, "type": "server_error", "code": None}}, status=status, headers=headers
    )


async def _begin(request: web.Request, body: bytes) -> web.StreamResponse:
    """Send the head of an answer with `body`, and return what the body is written to."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
    await response.prepare(request)
    return response


def _reset(request: web.Request) -> web.Response:
    """Close the connection by RST."""
    if request.transport is not None:
        sock = request.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return web.Response()
