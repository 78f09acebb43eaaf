"""What a provider can do wrong on the wire, one case each, against a socket that does it; then it serves."""

import asyncio
import gzip
import json

import pytest

from extraction import client, transport
from extraction.extractor import Extractor
from schemas.outcome import ExtractionOutcome
from schemas.settings import ModelSettings, Price, Settings

LIMIT_BYTES = 100_000


def response(body: bytes, *, status: str = "200 OK", length: int | None = None, headers: str = "") -> bytes:
    size = len(body) if length is None else length
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {size}\r\n\r\n"
    return head.encode() + body


async def reset(writer, good):
    writer.transport.abort()


async def closed_in_the_head(writer, good):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-ty")


async def truncated(writer, good):
    writer.write(response(good[:50], length=len(good)))


async def dripping(writer, good):
    writer.write(response(b"", length=1_000_000))
    for _ in range(1_000):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


async def endless(writer, good):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
    part = b"%x\r\n%b\r\n" % (20_000, b" " * 20_000)
    while not writer.is_closing():
        writer.write(part)
        await writer.drain()


async def unpacks_to_far_more(writer, good):
    writer.write(response(gzip.compress(b" " * 50 * LIMIT_BYTES), headers="content-encoding: gzip\r\n"))


async def no_http(writer, good):
    writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")


def status(line):
    async def send(writer, good):
        writer.write(response(b'{"error": {"message": "busy"}}', status=line))

    return send


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (reset, "no answer after"),
        (closed_in_the_head, "no answer after"),
        (truncated, "no answer after"),
        (dripping, "no answer after 0.4 s"),
        (endless, f"it is longer than {LIMIT_BYTES} bytes"),
        (unpacks_to_far_more, f"it is longer than {LIMIT_BYTES} bytes"),
        (no_http, "no answer after"),
        (status("408 Request Timeout"), "HTTP 408"),
        (status("409 Conflict"), "HTTP 409"),
        (status("429 Too Many Requests"), "HTTP 429"),
        (status("500 Internal Server Error"), "HTTP 500"),
        (status("529 Overloaded"), "HTTP 529"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
@pytest.mark.parametrize("retries", [0, 1])
def test_a_fault_of_the_wire_is_tried_again_and_then_set_aside(
    monkeypatch, make_event, make_slice, make_answer, make_claim, step, fault, words, retries
):
    monkeypatch.setattr(transport, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(client, "MAX_ANSWER_BYTES", LIMIT_BYTES)
    good = step(json.dumps(make_answer(make_claim()))).payload()
    asked = 0

    async def serve(reader, writer):
        nonlocal asked
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(size.split(b":")[1]))
            asked += 1
            if asked == 1:
                await fault(writer, good)
            else:
                writer.write(response(good, headers="connection: close\r\n"))
        except ConnectionError:
            pass  # whoever asked has hung up
        finally:
            writer.close()

    async def go():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        model = ModelSettings(
            base_url=f"http://127.0.0.1:{port}/v1", name="m", timeout_s=0.4, transport_retries=retries
        )
        extractor = Extractor(Settings(model=model, prices={"m": Price()}))
        outcome = await extractor.extract(make_slice(make_event(1, "Hi, my order A-1001 is late.")))
        await extractor.aclose()
        server.close()
        return outcome

    outcome = asyncio.run(go())
    assert asked == outcome.transport_retries + 1 == retries + 1
    if retries:
        assert outcome.status == ExtractionOutcome.FIRST_PASS
        assert len(outcome.claims) == len(outcome.attempts) == 1
    else:
        assert outcome.status == ExtractionOutcome.TO_RETRY
        assert outcome.asked
        assert words in outcome.error
        assert outcome.claims == ()


def test_five_hundred_claims_are_asked_for_again_and_then_rejected(
    endpoint, make_event, make_slice, make_answer, make_claim
):
    many = [make_claim(key=f"other.k{n}") for n in range(500)]
    endpoint.answer(make_answer(*many))

    async def go():
        extractor = Extractor(endpoint.settings())
        outcome = await extractor.extract(make_slice(make_event(1, "Hi, my order A-1001 is late.")))
        await extractor.aclose()
        return outcome

    outcome = asyncio.run(go())
    assert outcome.status == ExtractionOutcome.REJECTED
    assert len(endpoint.requests) == 2
    assert [problem.rule for problem in outcome.problems].count("too_many_claims") == 2
