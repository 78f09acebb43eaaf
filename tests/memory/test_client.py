"""The REST side against a small HTTP server that answers as Qdrant does (a real server cannot be had here)."""

import builtins
import errno
import json
import os
import socket
import sqlite3
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from memory_cases import ADA, T0, claim, outcome, say, settings_for

from memory.errors import CollectionMissing, StoreBroken, StoreError, StoreUnavailable
from memory.store import Store
from schemas.scope import Scope


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
        with pytest.raises(StoreBroken, match=r"db'.*No space left"):
            bank.apply(
                [outcome([claim("likes jazz", source="e2"), claim("likes cats", source="e3")], events=["e2", "e3"])]
            )
        with pytest.raises(StoreBroken, match="No space left.*start again"):
            folder.ping()
    with Store.open(settings_for(tmp_path / "db")) as folder:
        assert [c.text for c in folder.bank(ADA).claims()] == ["likes tea"]


@pytest.mark.parametrize("code", [0, 401, 403, 404, 409, 500])
def test_password_in_the_url_of_a_store_does_not_stand_in_errors(serve, code):
    at = serve(code).replace("http://", "http://me:hunter2@") if code else "http://me:hunter2@127.0.0.1:9"
    with Store.open(settings_for(at)) as store:
        for call in (store.ping, lambda: store.qdrant.metadata("x"), lambda: store.qdrant.upsert("x", [])):
            with pytest.raises(StoreError) as caught:
                call()
            assert "http://me:**********@127.0.0.1" in str(caught.value)
            assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("write", ["create", "drop", "point_alias"])
def test_embedded_store_that_cannot_save_what_it_has_is_broken_and_says_why(tmp_path, monkeypatch, write):
    with Store.open(settings_for(tmp_path / "db")) as folder:
        say(folder.bank(ADA), "likes tea")
        name = next(iter(folder.qdrant.names()))
        calls = {
            "create": lambda: say(folder.bank(Scope("shop", "bob")), "likes jazz"),
            "drop": lambda: folder.qdrant.drop(name),
            "point_alias": lambda: folder.qdrant.point_alias("other", name),
        }

        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(folder.qdrant._local, "_save", full)
        with pytest.raises(StoreBroken, match=r"store folder '.*db' could not be written \(No space left on device\)"):
            calls[write]()
        with pytest.raises(StoreBroken, match="No space left"):
            folder.ping()


def _garble(path):
    path.write_bytes(b"this is no store at all, whatever its name may say" * 100)


def _cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def _wrong_pickle(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE points SET point = ?", (b"\x80\x04garbage",))


@pytest.mark.parametrize(
    ("which", "harm"),
    [
        ("meta.json", _garble),
        ("meta.json", _cut),
        ("meta.json", lambda path: path.write_text("[]")),
        ("meta.json", lambda path: path.write_text('{"collections": 5}')),
        ("storage.sqlite", _garble),
        ("storage.sqlite", _cut),
        ("storage.sqlite", _wrong_pickle),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_damaged_folder_is_named_with_what_to_do(tmp_path, which, harm):
    with Store.open(settings_for(tmp_path / "db")) as folder:
        say(folder.bank(ADA), "likes tea")
    harm(next((tmp_path / "db").rglob(which)))
    with pytest.raises(StoreUnavailable, match=r"store folder '.*db' is no embedded store, or a damaged one"):
        Store.open(settings_for(tmp_path / "db"))


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_folder_without_its_lock_says_that_even_reading_needs_it(tmp_path, monkeypatch, code):
    with Store.open(settings_for(tmp_path / "db")) as folder:
        say(folder.bank(ADA), "likes tea")
    really_open = builtins.open

    def refusing(path, mode="r", *rest, **more):
        if str(path).endswith(".lock"):
            raise OSError(code, os.strerror(code), str(path))
        return really_open(path, mode, *rest, **more)

    monkeypatch.setattr(builtins, "open", refusing)
    with pytest.raises(StoreUnavailable, match="even to read") as caught:
        Store.open(settings_for(tmp_path / "db"))
    assert os.strerror(code) in str(caught.value)
    assert ".lock" in str(caught.value)
