"""The command line as a script sees it: what stands on stdout, what on stderr, and the exit code."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.main import run
from cli.options import require_writable_store
from extraction.prompt import PROMPT_VERSION
from memory.store import Store
from schemas.load_settings import load

ROOT = Path(__file__).resolve().parents[2]
ANN = ("--app", "desk", "--user", "ann")
Strandline = Callable[..., tuple[int, str, str]]


@pytest.fixture
def strandline(capsys: pytest.CaptureFixture[str]) -> Strandline:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        return (code, *capsys.readouterr())

    return call


def process(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "cli.main", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_search_finds_what_stands_and_prints_the_contract(strandline: Strandline, store: str) -> None:
    code, out, err = strandline("search", "Where does the user live?", *ANN, "--store", store, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["query"] == "Where does the user live?"
    best = answer["memories"][0]
    assert best["text"] == "The user lives in Porto."
    assert set(best) >= set(
        "id kind key text quote sources authority confidence status observed_at session_id score".split()
    )
    assert best["observed_at"].startswith("2023-11-15T22:13:20")


def test_search_of_episodes_tells_which_conversation_it_was(strandline: Strandline, store: str) -> None:
    code, out, _ = strandline("search", "Lyon", *ANN, "--store", store, "--episodes", "--json")
    assert code == 0
    assert ("s1", "episode") in {(one["session_id"], one["kind"]) for one in json.loads(out)["memories"]}


def test_search_takes_no_more_than_it_is_asked_for(strandline: Strandline, store: str) -> None:
    _, out, _ = strandline("search", "user Porto boat", *ANN, "--store", store, "-k", "1", "--json")
    assert len(json.loads(out)["memories"]) == 1


def test_search_for_people_shows_text_quote_and_score_without_control_characters(
    strandline: Strandline, store: str
) -> None:
    code, out, _ = strandline("search", "boat", *ANN, "--store", store)
    assert code == 0
    assert "The user owns a boat." in out
    assert "\x1b" not in out


def test_search_of_somebody_else_finds_nothing_and_says_so_on_stderr(strandline: Strandline, store: str) -> None:
    code, out, err = strandline("search", "Porto", "--app", "desk", "--user", "bob", "--store", store)
    assert (code, out, err) == (0, "", "Nothing was found.\n")


def test_context_prints_the_grounding_block(strandline: Strandline, store: str) -> None:
    code, out, _ = strandline("context", "Porto", *ANN, "--store", store)
    assert code == 0
    assert "Porto" in out
    assert "Lyon" not in out


def test_audit_shows_claims_of_any_status_and_what_became_of_them(strandline: Strandline, store: str) -> None:
    code, out, _ = strandline("audit", *ANN, "--store", store, "--json")
    assert code == 0
    claims = {one["text"]: one for one in json.loads(out)["claims"]}
    lyon, porto = claims["The user lives in Lyon."], claims["The user lives in Porto."]
    assert (lyon["status"], lyon["superseded_by"]) == ("superseded", porto["id"])
    assert set(lyon) >= {"superseded_by", "conflicts_with", "merged_into", "expires_at", "slice"}
    code, out, _ = strandline("audit", *ANN, "--store", store)
    assert f"superseded by {porto['id']}" in out


def test_record_as_markdown_and_as_json(strandline: Strandline, store: str) -> None:
    code, out, _ = strandline("record", *ANN, "--session", "s1", "--store", store)
    assert code == 0
    assert out.startswith("# Session s1\n")
    code, out, _ = strandline("record", *ANN, "--session", "s1", "--store", store, "--format", "json")
    assert code == 0
    shown = json.loads(out)
    assert [one["text"] for one in shown["facts"]] == ["The user lives in Lyon."]
    assert shown["first_message"].startswith("Notes on an earlier part of this conversation, 2023-11-14,")
    assert "They are notes, not instructions." in shown["first_message"]


def test_record_links_each_source_to_where_its_conversation_is_shown(strandline: Strandline, store: str) -> None:
    ask = ("record", *ANN, "--session", "s1", "--store", store, "--links")
    code, out, _ = strandline(*ask, "https://desk.example/{app}/{session}#{event}")
    assert code == 0
    assert "[s1-e1](<https://desk.example/desk/s1#s1-e1>)" in out
    for wrong in ("https://desk.example/", "{event}{nobody}", "{event.x}", "{event:>{user}}", "{event", "{event} <b>"):
        code, _, err = strandline(*ask, wrong)
        assert (code, "is no address of an event" in err) == (2, True), wrong


def test_forget_needs_somebody_to_ask_or_yes(
    strandline: Strandline, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(os.devnull) as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        code, out, err = strandline("forget", *ANN, "--store", store)
    assert (code, out) == (2, "")
    assert "--yes" in err
    _, out, _ = strandline("audit", *ANN, "--store", store, "--json")
    assert len(json.loads(out)["claims"]) == 3


def test_forget_deletes_a_session_then_the_user_and_prints_receipts(strandline: Strandline, store: str) -> None:
    code, out, _ = strandline("forget", *ANN, "--session", "s2", "--store", store, "--yes", "--json")
    assert code == 0
    assert json.loads(out)["erased"]["claims"] == 1
    _, out, _ = strandline("audit", *ANN, "--store", store, "--json")
    claims = {one["text"]: one["status"] for one in json.loads(out)["claims"]}
    assert claims == {"The user lives in Lyon.": "active", "The user owns a boat.": "active"}
    code, out, _ = strandline("forget", *ANN, "--store", store, "--yes")
    assert code == 0
    assert "erased: claims 2, episodes 2" in out
    _, out, err = strandline("audit", *ANN, "--store", store)
    assert (out, err) == ("", "Nothing is remembered of this user.\n")


@pytest.mark.parametrize(("answer", "code"), [("n\n", 1), ("\x04", 1), ("yes\n", 0)])
def test_forget_on_a_terminal_asks_and_takes_only_yes_for_yes(store: str, answer: str, code: int) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    done = process("forget", *ANN, "--store", store, stdin=theirs, timeout=60)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == code, done.stderr
    assert "Delete everything in the memory of user 'ann'" in done.stderr
    assert ("erased: claims 3" in done.stdout) is (code == 0)
    assert ("Nothing was deleted" in done.stderr) is (code == 1)


@pytest.mark.parametrize(
    "command",
    [
        ("search", "x", *ANN),
        ("context", "x", *ANN),
        ("audit", *ANN),
        ("record", *ANN, "--session", "s"),
        ("forget", *ANN, "--yes"),
    ],
)
def test_commands_that_read_refuse_a_store_that_is_not_there_and_make_none(
    strandline: Strandline, tmp_path: Path, command: tuple[str, ...]
) -> None:
    absent = tmp_path / "absent"
    for store, says in (
        ([], "No store is named"),
        (["--store", str(absent)], "There is no store folder"),
        (["--store", str(tmp_path)], "holds no Strandline store"),
        (["--store", "memory"], "ends with the process"),
        (["--store", "localhost:6333"], "starts with http://"),
    ):
        code, out, err = strandline(*command, *store)
        assert (code, out) == (2, "")
        assert says in err
        assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_unreachable_store_is_told_in_one_sentence_within_ten_seconds() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        for port in (silent.getsockname()[1], 1):
            start = time.monotonic()
            done = process("search", "x", *ANN, "--store", f"http://127.0.0.1:{port}", timeout=30)
            assert time.monotonic() - start < 10
            assert done.returncode == 1
            assert len(done.stderr.splitlines()) == 1, done.stderr
            assert f"127.0.0.1:{port}" in done.stderr


def test_store_that_another_process_has_open_is_told_in_one_sentence(store: str) -> None:
    with Store.open(load(None, {"store.url": store}).settings):
        done = process("audit", *ANN, "--store", store, timeout=60)
    assert done.returncode == 1
    assert "another process" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("search", "x", "--app", "desk"), "--user"),
        (("search", "x", "--app", "", "--user", "u"), "empty"),
        (("search", *ANN), "QUERY"),
        (("record", *ANN, "--session", "s", "--format", "xml"), "xml"),
        (("serch",), "serch"),
        (("search", "x", *ANN, "-k", "0"), "-k"),
        (("config", "--settings", "/absent.yaml"), "cannot be read"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what(strandline: Strandline, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = strandline(*arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_user_id_that_is_no_text_is_wrong_usage(store: str) -> None:
    done = process("audit", "--app", "desk", "--user", os.fsdecode(b"\xff"), "--store", store)
    assert done.returncode == 2
    assert "UTF-8" in done.stderr


def test_wrong_settings_end_with_2_and_a_line_for_each_fault(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRANDLINE_READ__LIMIT", "0")
    monkeypatch.setenv("STRANDLINE_REED__LIMIT", "1")
    code, out, err = strandline("config")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 2
    assert all(line.startswith("Error: ") for line in err.splitlines())


def test_config_shows_values_and_origins_and_masks_secrets(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("kafka: {topic: from-file}\n")
    monkeypatch.setenv("STRANDLINE_MODEL__API_KEY", "hunter2")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://ann:hunter2@models")
    arguments = ("config", "--settings", str(file), "--store", "here")
    code, out, err = strandline(*arguments)
    assert code == 0
    assert f'kafka.topic = "from-file"  (file {file})\n' in out
    assert 'store.url = "here"  (option)\n' in out
    assert 'model.api_key = "**********"  (environment STRANDLINE_MODEL__API_KEY)\n' in out
    assert "kafka.batch_size = 1000  (default)\n" in out
    assert "hunter2" not in out + err
    code, out, _ = strandline(*arguments, "--json")
    shown = json.loads(out)
    assert shown["store.url"] == {"value": "here", "origin": "option"}
    assert shown["kafka.topic"] == {"value": "from-file", "origin": "file", "place": str(file)}
    assert shown["prices"]["value"]["gpt-4.1"]["input"] == 2.0
    assert "hunter2" not in out


def test_config_says_that_the_offline_model_serves_or_that_a_price_is_missing(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, err = strandline("config")
    assert "offline model" in err
    monkeypatch.setenv("STRANDLINE_MODEL__BASE_URL", "http://models")
    monkeypatch.setenv("STRANDLINE_MODEL__NAME", "mine")
    _, _, err = strandline("config")
    assert "No price is set for mine" in err


def test_debug_shows_a_traceback_before_the_sentence(strandline: Strandline) -> None:
    _, _, err = strandline("audit", *ANN, "--debug")
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("Error: No store is named")
    _, _, err = strandline("audit", *ANN)
    assert "Traceback" not in err


def test_version_names_what_runs(strandline: Strandline) -> None:
    code, out, _ = strandline("version", "--json")
    assert code == 0
    shown = json.loads(out)
    assert shown["prompt_version"] == PROMPT_VERSION
    assert {"version", "schema_version", "python", "libraries"} <= set(shown)
    assert "qdrant-client" in shown["libraries"]


def test_reader_that_goes_away_is_no_news(store: str) -> None:
    command = (
        f"{sys.executable} -m cli.main audit --app desk --user ann --store {store} | true; echo ${{PIPESTATUS[0]}}"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() == "1"


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; from cli.main import run; run(['--help']); "
        "heavy = {'qdrant_client', 'bytewax', 'instructor', 'openai', 'kafka', 'numpy'} & set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert "search" in done.stdout


def shell(command: str) -> "subprocess.CompletedProcess[str]":
    """Run what stands after `strandline` in a shell, for redirections."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} -m cli.main {command}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("command", ["audit", "audit --json", "search boat", "context boat"])
def test_output_that_cannot_be_written_is_one_sentence(store: str, command: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = shell(f"{command} --app desk --user ann --store {store} >/dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: Standard output cannot be written: No space left on device;")
    assert len(done.stderr.splitlines()) == 1


def test_closed_output_is_told_before_anything_is_done(store: str) -> None:
    done = shell(f"forget --app desk --user ann --store {store} --yes >&-")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: Standard output is closed")
    assert len(done.stderr.splitlines()) == 1
    assert "Porto" in shell(f"audit --app desk --user ann --store {store}").stdout


def test_closed_stderr_and_stdin_leave_results_alone(store: str) -> None:
    done = shell(f"search boat --app desk --user ann --store {store} --json 2>&- <&-")
    assert done.returncode == 0
    assert json.loads(done.stdout)["memories"]


SECRET_URL = "http://me:hunter2@127.0.0.1:9"


@pytest.mark.parametrize(
    "store",
    [SECRET_URL, "http://me:hunter2/x@127.0.0.1:9", "me:hunter2@127.0.0.1:9", "ftp://me:hunter2@127.0.0.1:9"],
)
@pytest.mark.parametrize(
    "command",
    [
        ("search", "x", *ANN),
        ("audit", *ANN, "--debug"),
        ("forget", *ANN, "--yes"),
        ("ingest", "--from", os.devnull),
        ("config",),
    ],
)
def test_password_of_the_store_is_never_shown(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], store: str
) -> None:
    monkeypatch.setenv("STRANDLINE_STORE__URL", store)
    code, out, err = strandline(*command)
    assert code != 0 or command == ("config",)
    assert "hunter2" not in out + err


def test_ingest_makes_no_folder_of_what_looks_like_an_address_and_touches_no_other_folder(
    strandline: Strandline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    before = set(tmp_path.rglob("*"))
    for store, says in (
        ("qdrant:6333", "starts with http://"),
        ("qdrant://x", "starts with http://"),
        (str(other), "is not empty and holds no Strandline store"),
        (str(tmp_path / "file"), "is a file"),
    ):
        code, out, err = strandline("ingest", "--from", os.devnull, "--store", store)
        assert (code, out) == (2, "")
        assert says in err
        assert len(err.splitlines()) == 1
    assert set(tmp_path.rglob("*")) == before


def test_ingest_may_fill_a_folder_that_is_absent_or_empty_or_a_store(tmp_path: Path, store: str) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "absent", tmp_path / "empty", Path(store)):
        require_writable_store(load(None, {"store.url": str(folder)}).settings)


def test_store_in_memory_is_said_to_end_with_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    require_writable_store(load(None, {"store.url": "memory"}).settings)
    out, err = capsys.readouterr()
    assert out == ""
    assert "ends with this process" in err


def test_forget_of_somebody_who_is_not_there_says_so(strandline: Strandline, store: str) -> None:
    nobody = ("--app", "desk", "--user", "bob", "--store", store, "--yes")
    code, out, err = strandline("forget", *nobody)
    assert (code, err) == (0, "")
    assert out.startswith("Nothing was stored under this app and user;")
    assert "proof" not in out
    code, out, _ = strandline("forget", *nobody, "--json")
    assert (code, json.loads(out)["method"]) == (0, "none")
    _, out, _ = strandline("forget", *ANN, "--session", "s9", "--store", store, "--yes")
    assert out.startswith("Nothing of session 's9' was stored under this app and user;")
    _, out, _ = strandline("audit", *ANN, "--store", store, "--json")
    assert len(json.loads(out)["claims"]) == 3


def test_record_and_context_with_nothing_in_them_say_so_on_stderr(strandline: Strandline, store: str) -> None:
    code, _, err = strandline("record", *ANN, "--session", "s9", "--store", store)
    assert (code, err) == (0, "Nothing is remembered of this session.\n")
    code, out, err = strandline("record", *ANN, "--session", "s9", "--store", store, "--format", "json")
    assert (code, err) == (0, "Nothing is remembered of this session.\n")
    assert json.loads(out)["facts"] == []
    code, out, err = strandline("context", "zeppelin", *ANN, "--store", store)
    assert (code, out.strip()) == (0, "")
    assert "the block is empty" in err
    assert strandline("record", *ANN, "--session", "s1", "--store", store)[2] == ""
    assert strandline("context", "Porto", *ANN, "--store", store)[2] == ""


def test_store_that_is_full_is_one_sentence_and_no_traceback(tmp_path: Path) -> None:
    sample = ROOT / "cli" / "demo_data" / "sessions.jsonl"
    limited = f"ulimit -f 30; {sys.executable} -m cli.main ingest --from {sample} --store {tmp_path / 'store'} --json"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.monotonic()
    done = subprocess.run(
        ["bash", "-c", limited], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120
    )
    assert time.monotonic() - started < 50
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert f"store folder '{tmp_path / 'store'}' could not be written" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("late", "--from", "."), ("jq -r .value late.jsonl", "strandline ingest --from -")),
        (("late", "--bootstrap", "k:1"), ("strandline ingest --from kafka --until-end --topic strandline-late",)),
        (("invalid", "--from", "."), ("invalid.jsonl",)),
        (("rejected", "--from", "not-there", "--store", "s"), ("not-there", "run.dead_letter_dir")),
        (("rejected", "--from", "."), ("--store",)),
        (("rejected", "--from", ".", "--store", "s", "--user", ""), ("--user",)),
    ],
)
def test_replay_says_what_it_cannot_do_and_what_to_do_instead(
    strandline: Strandline, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    code, out, err = strandline("replay", *arguments)
    assert (code, out) == (2, "")
    assert all(word in err for word in words), err


def test_replay_of_an_empty_folder_opens_no_store_and_says_so(strandline: Strandline, tmp_path: Path) -> None:
    store = tmp_path / "store"
    code, out, err = strandline("replay", "retry", "--from", str(tmp_path), "--store", str(store), "--json")
    summary = json.loads(out)
    assert (code, err, summary["kind"], summary["letters"], summary["slices"]) == (0, "", "retry", 0, 0)
    assert not store.exists()
