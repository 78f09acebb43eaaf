"""The REST side against a small HTTP server that answers as Qdrant does (a real server cannot be had here)."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from memory_cases import ADA, T0, claim, outcome, settings_for

from memory.errors import CollectionMissing, StoreUnavailable
from memory.store import Store


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    code = 500
    delay_s = 0.0

    def _answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        time.sleep(self.delay_s)
        body = json.dumps({"status": {"error": "the server's own words"}, "time": 0.0}).encode()
        self.send_response(self.code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _answer

    def log_message(self, *args):
        pass


@pytest.fixture
def serve():
    servers = []

    def start(code, delay_s=0.0):
        handler = type("Handler", (Answering,), {"code": code, "delay_s": delay_s})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (401, "STRANDLINE_STORE__API_KEY"),
        (403, "no right"),
        (500, "the server's own words"),
        (429, "429|Retry|own words"),
    ],
)
def test_server_errors_name_the_remedy(serve, code, words):
    url = serve(code)
    with Store.open(settings_for(url)) as store, pytest.raises(StoreUnavailable, match=words):
        store.ping()


def test_server_that_is_down_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Store.open(settings_for(url)) as store:
            for call in (store.ping, store.bank(ADA).claims, lambda: store.bank(ADA).forget(T0)):
                with pytest.raises(StoreUnavailable, match=url):
                    call()


def test_server_that_hangs_is_given_up_in_time(serve):
    url = serve(200, delay_s=5.0)
    with Store.open(settings_for(url, store={"timeout_s": 1.0})) as store:
        started = time.monotonic()
        with pytest.raises(StoreUnavailable, match="did not answer"):
            store.ping()
        assert time.monotonic() - started < 3


def test_missing_collection_reads_as_an_empty_bank(serve):
    with Store.open(settings_for(serve(404))) as store:
        bank = store.bank(ADA)
        assert bank.claims() == []
        assert bank.search("tea", now_ms=T0) == []
        with pytest.raises(CollectionMissing):
            store.qdrant.metadata("x")


def test_api_key_does_not_stand_in_errors(serve):
    secret = "very-secret-key"
    with Store.open(settings_for(serve(500), store={"api_key": secret})) as store:
        with pytest.raises(StoreUnavailable) as caught:
            store.bank(ADA).apply([outcome([claim("likes tea")])])
        assert secret not in str(caught.value)


def test_embedded_write_is_one_commit_or_none(store, tmp_path, monkeypatch):
    with Store.open(settings_for(tmp_path / "db")) as folder:
        bank = folder.bank(ADA)
        bank.apply([outcome([claim("likes tea")])])
        collection = next(iter(folder.qdrant._local.collections.values()))
        real, left = collection.storage.persist, [1]

        def full(point):
            if not left:
                raise OSError(28, "No space left on device")
            left.pop()
            real(point)

        monkeypatch.setattr(collection.storage, "persist", full)
        with pytest.raises(StoreUnavailable, match="No space left"):
            bank.apply(
                [outcome([claim("likes jazz", source="e2"), claim("likes cats", source="e3")], events=["e2", "e3"])]
            )
        with pytest.raises(StoreUnavailable, match="start again"):
            folder.ping()
    with Store.open(settings_for(tmp_path / "db")) as folder:
        assert [c.text for c in folder.bank(ADA).claims()] == ["likes tea"]
