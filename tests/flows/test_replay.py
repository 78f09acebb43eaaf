"""What was set aside comes back: in order, bounded, once, and never what was forgotten."""

import json
import signal
import threading
import time
import urllib.request
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import msgspec
import pytest
from kafka_runs import message, produce

from extraction.ids import episode_id
from extraction.offline import OfflineModel
from flows.replay import SPEND_FILE, ReplayJob, build, finish, opened, opened_box, read_window
from flows.replay_tally import Tally
from flows.replay_window import Window, window_of
from flows.run import run
from flows.summary import summarize_replay
from memory.store import Store
from operators.dead_letter import FolderSink, LetterKind, RejectedSlice, from_rejected
from operators.file_source import InputBroken
from operators.letter_folder import STATE, LetterFolder
from operators.letters import Found
from operators.metrics import Metrics
from schemas.events import Event
from schemas.outcome import ExtractionOutcome, Outcome, Problem
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason

START = 1_700_000_000_000
HOUR = 3_600_000
NAMES = ("Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gus", "Hal")


class Fickle:
    """An endpoint that is down, answers nonsense, or serves as the offline model does; it keeps the prompts."""

    def __init__(self, offline):
        self.mode = "serves"
        self.mode_of = lambda prompt: self.mode
        self.delay_s = 0.0
        self.prompts = []
        fickle = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                prompt = json.loads(body)["messages"][1]["content"]
                fickle.prompts.append(prompt)
                time.sleep(fickle.delay_s)
                mode = fickle.mode_of(prompt)
                if mode == "down":
                    self.answer(503, b'{"error":{"message":"overloaded","code":null}}')
                    return
                request = urllib.request.Request(
                    f"{offline.base_url}/chat/completions", body, {"content-type": "application/json"}
                )
                with urllib.request.urlopen(request) as served:
                    document = json.load(served)
                if mode == "nonsense":
                    document["choices"][0]["message"]["content"] = '{"claims": "none"}'
                self.answer(200, json.dumps(document).encode())

            def answer(self, status, payload):
                try:
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(payload)))
                    self.end_headers()
                    self.wfile.write(payload)
                except OSError:
                    self.close_connection = True  # the caller was killed, as a test wants it to be

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self.server.server_port}/v1"

    @property
    def slices(self):
        """The user that each prompt tells of, each slice once, in the order of the calls."""
        return list(dict.fromkeys(name for prompt in self.prompts for name in NAMES if f"is {name}." in prompt))


@pytest.fixture
def model():
    with OfflineModel() as offline:
        fickle = Fickle(offline)
        threading.Thread(target=fickle.server.serve_forever, daemon=True).start()
        yield fickle
        fickle.server.shutdown()
        fickle.server.server_close()


def sections(server, **more):
    """Settings that fail fast; `more` are sections, or fields of `model`, `replay` and `kafka`."""
    settings = {"model": {"base_url": server.base_url, "api_key": "x", "transport_retries": 0, "circuit_failures": 50}}
    for name, fields in more.items():
        settings[name] = {**settings.get(name, {}), **fields}
    return settings


def piece_of(name, at_ms=0, *texts):
    """A slice of the user called `name`, who says so, then `texts` an hour apart."""
    events = [Event(f"{name}-1", "user", START + at_ms, f"My name is {name}.")]
    for number, text in enumerate(texts, 1):
        events.append(Event(f"{name}-{number + 1}", "user", START + at_ms + number * HOUR, text))
    return Slice(Scope("shop", name), f"s-{name}", SliceReason.IDLE, 0, tuple(events))


def letter(piece, attempts=1, status=ExtractionOutcome.REJECTED):
    problems = (Problem("quote_not_verbatim", "x"),) if status is ExtractionOutcome.REJECTED else ()
    outcome = Outcome(
        scope=piece.scope,
        session_id=piece.session_id,
        slice_id=piece.id,
        event_ids=tuple(event.id for event in piece.events),
        first_ts_ms=piece.first_ts_ms,
        last_ts_ms=piece.last_ts_ms,
        status=status,
        model="m",
        prompt_version="1",
        problems=problems,
    )
    return from_rejected(piece, outcome, attempts)


def set_aside(bench, *letters):
    FolderSink(str(bench.folder / "letters"), Metrics()).build("s", 0, 1).write_batch(list(letters))


def replay(bench, settings, kind="rejected", steps=lambda steps: steps, **options):
    """Replay from the bench's folder in this process, or from Kafka with `folder=None`; return the summary."""
    options = {"folder": bench.folder / "letters", **options}
    job = ReplayJob(settings=bench.settings(**settings), kind=LetterKind(kind), **options)
    box = opened_box(job)
    window = read_window(job, box)
    with opened(job, window) as ready:
        run(build(steps(ready.steps)), recovery=None, snapshot_interval_s=1.0)
    finish(job, box, window, ready.tally)
    return summarize_replay(job, window, ready.tally, 1.0)


def counts(summary):
    """The counts of a summary that are not zero."""
    found = msgspec.structs.asdict(summary)
    return {name: value for name, value in found.items() if isinstance(value, int) and value and name != "cost_usd"}


def said(name, number, text):
    event = {"id": f"{name}-{number}", "author": "user", "content": {"parts": [{"text": text}]}}
    return {
        "app": "shop",
        "userId": name,
        "sessionId": f"s-{name}",
        "event": {**event, "timestamp": START + number * 1000},
    }


SCOPES = [Scope("shop", name) for name in NAMES]


def test_what_was_rejected_or_not_served_is_remembered_as_if_nothing_had_been(bench, model, write, tmp_path):
    path = write(
        *(said(name, n, text) for name in NAMES for n, text in ((1, f"My name is {name}."), (2, "I'm vegan.")))
    )
    undisturbed = type(bench)(tmp_path / "undisturbed")
    undisturbed.ingest(path, **sections(model))
    model.mode_of = lambda prompt: "down" if "is Ann." in prompt or "is Bob." in prompt else "nonsense"
    first = bench.ingest(path, **sections(model))
    assert (first.extractions.rejected, first.extractions.to_retry, first.claims.stored) == (6, 2, 0)

    model.mode_of = lambda prompt: "serves"
    rejected = replay(bench, sections(model))
    assert counts(rejected) == {"letters": 6, "slices": 6, "replayed": 6, "first_pass": 6}
    assert rejected.tokens.input > 0
    assert counts(replay(bench, sections(model), "retry")) == {
        "letters": 2,
        "slices": 2,
        "replayed": 2,
        "first_pass": 2,
    }
    expected = undisturbed.bank(*SCOPES)
    assert len(expected) >= 2 * len(NAMES)
    assert bench.bank(*SCOPES) == expected

    calls = len(model.prompts)
    assert counts(replay(bench, sections(model))) == {}
    again = replay(bench, sections(model), again=True)
    assert counts(again) == {"letters": 6, "slices": 6, "unchanged": 6}
    assert (len(model.prompts), bench.bank(*SCOPES)) == (calls, expected)


def test_the_oldest_come_first_and_the_limit_is_where_the_next_call_begins(bench, model):
    times = {"Ann": 5, "Bob": 3, "Cid": 1, "Dee": 4, "Eve": 2}
    set_aside(bench, *(letter(piece_of(name, at * HOUR)) for name, at in times.items()))
    one_by_one = sections(model, model={"max_in_flight": 1})
    first = replay(bench, one_by_one, limit=3)
    assert counts(first) == {"letters": 3, "left": 2, "slices": 3, "replayed": 3, "first_pass": 3}
    assert model.slices == ["Cid", "Bob", "Ann"]
    model.prompts.clear()
    second = replay(bench, one_by_one | {"replay": {"limit": 10}})
    assert counts(second) == {"letters": 2, "slices": 2, "replayed": 2, "first_pass": 2}
    assert model.slices == ["Eve", "Dee"]


def test_a_slice_is_put_to_the_model_a_capped_number_of_times_over_its_life(bench, model):
    model.mode = "nonsense"
    set_aside(bench, letter(piece_of("Ann")))
    settings = sections(model)
    assert [counts(replay(bench, settings)) for _ in range(2)] == [
        {"letters": 1, "slices": 1, "replayed": 1, "rejected": 1},
        {"letters": 1, "slices": 1, "replayed": 1, "rejected": 1},
    ]
    lines = (bench.folder / "letters" / "rejected.jsonl").read_text().splitlines()
    assert [json.loads(json.loads(line)["value"])["attempts"] for line in lines] == [1, 2, 3]
    calls = len(model.prompts)
    assert counts(replay(bench, settings)) == {"letters": 1, "given_up": 1}
    assert counts(replay(bench, settings, again=True)) == {"letters": 3, "older": 2, "given_up": 1}
    assert len(model.prompts) == calls

    model.mode = "serves"
    raised = replay(bench, settings | {"replay": {"max_attempts": 4}}, again=True)
    assert counts(raised) == {"letters": 3, "older": 2, "slices": 1, "replayed": 1, "first_pass": 1}


def test_a_provider_that_is_down_costs_few_slices_an_attempt_and_the_rest_stay_where_they_are(bench, model):
    model.mode = "down"
    set_aside(bench, *(letter(piece_of(name), status=ExtractionOutcome.TO_RETRY) for name in NAMES))
    settings = sections(model, model={"circuit_failures": 3, "slice_budget_s": 3.0})
    down = replay(bench, settings, "retry")
    assert counts(down) == {"letters": 8, "slices": 8, "replayed": 3, "to_retry": 3}
    assert len(model.slices) == 3
    assert not (bench.folder / "letters" / STATE).exists()

    model.mode = "serves"
    up = replay(bench, settings, "retry")
    assert counts(up) == {"letters": 11, "older": 3, "slices": 8, "replayed": 8, "first_pass": 8}


def test_what_was_forgotten_meanwhile_is_neither_sent_nor_stored(bench, model):
    ann, bob, cid = piece_of("Ann"), piece_of("Bob", 0, "I'm vegan."), piece_of("Cid", 0, "I'm vegan.")
    set_aside(bench, *map(letter, (ann, bob, cid)))
    with Store.open(bench.settings()) as store:
        store.bank(ann.scope).forget(START + HOUR)
        store.bank(bob.scope).forget(START + 10 * HOUR, bob.session_id, START)
        store.bank(cid.scope).forget(START + 10 * HOUR, "another session")
    summary = replay(bench, sections(model))
    assert counts(summary) == {"letters": 3, "slices": 3, "replayed": 2, "first_pass": 2, "forgotten": 1}
    assert not any("Ann" in prompt or "Bob" in prompt for prompt in model.prompts)
    texts = {piece.scope: {claim.text for claim in bench.claims(piece.scope)} for piece in (ann, bob, cid)}
    assert texts[ann.scope] == set()
    assert texts[bob.scope] == {"The user is vegan."}
    assert len(texts[cid.scope]) == 2


def test_what_is_forgotten_while_the_model_is_asked_is_refused_by_the_bank(bench, model):
    ann = piece_of("Ann")
    set_aside(bench, letter(ann))
    with Store.open(bench.settings()) as store:
        store.bank(ann.scope).forget(START + HOUR)
    # The forget is there already, and the flow does not look: as if it had come just behind the look.
    summary = replay(bench, sections(model), steps=lambda steps: replace(steps, remaining=lambda piece: piece))
    assert (summary.first_pass, model.slices) == (1, ["Ann"])
    assert bench.bank(ann.scope) == []


def test_a_letter_of_what_is_partly_forgotten_keeps_its_count_and_drops_the_forgotten(bench, model):
    bob = piece_of("Bob", 0, "I'm vegan.")
    set_aside(bench, letter(bob, attempts=2))
    with Store.open(bench.settings()) as store:
        store.bank(bob.scope).forget(START + 10 * HOUR, before_ms=START)
    model.mode = "nonsense"
    replay(bench, sections(model))
    line = (bench.folder / "letters" / "rejected.jsonl").read_text().splitlines()[-1]
    document = json.loads(json.loads(line)["value"])
    assert (document["attempts"], [event[0] for event in document["slice"]["events"]]) == (3, ["Bob-2"])


def test_damaged_lines_are_named_and_the_rest_goes_on_and_old_letters_are_read(bench, model, caplog):
    set_aside(bench, letter(piece_of("Ann")), letter(piece_of("Bob")))
    path = bench.folder / "letters" / "rejected.jsonl"
    ann, bob = path.read_bytes().splitlines()
    old = json.loads(ann)
    value = json.loads(old["value"])
    del value["attempts"], value["outcome"]["fingerprint"]
    value["slice"]["events"] = [event[:11] for event in value["slice"]["events"]]
    old["value"] = json.dumps(value)
    no_events = json.loads(ann)
    value["slice"]["events"] = []
    no_events["value"] = json.dumps(value)
    broken = [
        b"not JSON",
        b'{"kind":"rejected","value":"{}"}',
        b'{"value_base64":"/w=="}',
        json.dumps(no_events).encode(),
    ]
    path.write_bytes(b"\n".join([json.dumps(old).encode(), *broken, b"", bob, bob[:50]]))

    job = ReplayJob(settings=bench.settings(**sections(model)), kind=LetterKind.REJECTED, folder=path.parent)
    faults = read_window(job, opened_box(job)).faults
    assert [fault.split(": ")[0] for fault in faults] == [f"{path} line {number}" for number in (2, 3, 4, 5)]
    assert "My name" not in " ".join(faults)
    assert counts(replay(bench, sections(model))) == {
        "letters": 6,
        "damaged": 4,
        "slices": 2,
        "replayed": 2,
        "first_pass": 2,
    }
    assert model.slices == ["Ann", "Bob"] or model.slices == ["Bob", "Ann"]

    # The line that was not whole is not passed over: its end may be still to come.
    with path.open("ab") as file:
        file.write(bob[50:] + b"\n")
    assert counts(replay(bench, sections(model))) == {"letters": 1, "slices": 1, "unchanged": 1}


@pytest.mark.parametrize("there", [True, False])
def test_nothing_set_aside_is_nothing_to_do(bench, model, there):
    if there:
        (bench.folder / "letters").mkdir()
    assert counts(replay(bench, sections(model))) == {}


def test_another_file_by_the_same_name_is_read_from_its_start(bench, model):
    set_aside(bench, letter(piece_of("Ann")), letter(piece_of("Bob")))
    replay(bench, sections(model))
    (bench.folder / "letters" / "rejected.jsonl").unlink()
    set_aside(bench, *(letter(piece_of(name)) for name in ("Cid", "Dee", "Eve")))
    assert counts(replay(bench, sections(model))) == {"letters": 3, "slices": 3, "replayed": 3, "first_pass": 3}


def test_a_letter_does_not_take_from_the_record_of_a_session_that_came_again_longer(bench, model, write):
    first = [said("Ann", 1, "My name is Ann."), said("Ann", 2, "I'm vegan.")]
    model.mode = "down"
    bench.ingest(write(*first), **sections(model))
    model.mode = "serves"
    bench.ingest(write(*first, said("Ann", 3, "I live in Oslo.")), **sections(model))
    scope = Scope("shop", "Ann")
    expected, calls = bench.bank(scope), len(model.prompts)
    assert any("Ann-3" in row for row in expected)
    assert counts(replay(bench, sections(model), "retry")) == {"letters": 1, "slices": 1, "unchanged": 1}
    assert (bench.bank(scope), len(model.prompts)) == (expected, calls)


def part_of(piece, first, last):
    """The events of `piece` from the first to the last number, as a slice."""
    return msgspec.structs.replace(piece, events=piece.events[first - 1 : last])


def numbers_of(piece):
    return piece and [int(event.id.split("-")[1]) for event in piece.events]


@pytest.mark.parametrize(
    ("letters", "left"),
    [
        ([(1, 3), (1, 2)], [[1, 2, 3], None]),  # told by one that is under way
        ([(1, 2), (1, 3)], [[1, 2], [1, 2, 3]]),  # the whole replaces its part
        ([(1, 3), (2, 4)], [[1, 2, 3], [4]]),  # cut otherwise: the first must not lose 1
    ],
)
def test_slices_of_one_replay_do_not_take_from_each_other(letters, left):
    ann = piece_of("Ann", 0, "two", "three", "four")
    pieces = [part_of(ann, *ends) for ends in letters]
    tally = Tally(Window(slices=pieces, attempts={piece.id: 1 for piece in pieces}), 5)
    assert [numbers_of(tally.remaining(piece, 0)) for piece in pieces] == left


def line_of(piece):
    return SimpleNamespace(id=episode_id(piece), events=tuple(event.id for event in piece.events))


@pytest.mark.parametrize(
    ("stored", "left"),
    [
        ([(1, 3)], [1, 2, 3]),  # its own line: whether it is unchanged is for the fingerprint to say
        ([(1, 1), (2, 4)], None),
        ([(1, 2)], [1, 2, 3]),
        ([(3, 4)], [1, 2]),
    ],
)
def test_a_slice_replaces_lines_of_its_events_alone_and_no_others(stored, left):
    ann = piece_of("Ann", 0, "two", "three", "four")
    piece = part_of(ann, 1, 3)
    tally = Tally(Window(slices=[piece], attempts={piece.id: 1}), 5)
    assert numbers_of(tally.remaining(piece, 0, [line_of(part_of(ann, *ends)) for ends in stored])) == left
    assert (tally.done, tally.outcomes[ExtractionOutcome.UNCHANGED]) == ((1, 1) if left is None else (0, 0))


def test_what_is_left_of_a_slice_keeps_the_higher_of_two_counts():
    ann = piece_of("Ann", 0, "two")
    rest = part_of(ann, 2, 2)
    tally = Tally(Window(slices=[ann, rest], attempts={ann.id: 1, rest.id: 2}), 5)
    assert tally.remaining(ann, START) == rest
    assert tally.attempts_before(rest) == 2


def test_a_slice_that_there_is_no_budget_for_has_had_no_attempt(bench, model):
    set_aside(bench, letter(piece_of("Ann"), 1, ExtractionOutcome.TO_RETRY))
    spend = {"day": datetime.now(UTC).date().isoformat(), "spent_usd": 9.0}
    (bench.folder / "letters" / SPEND_FILE).write_text(json.dumps(spend))
    budget = sections(model, prices={"gpt-4.1-mini": {"input": 1}}, model={"daily_budget_usd": 1.0})
    assert [replay(bench, budget, "retry").to_retry for _ in range(3)] == [1, 1, 1]
    lines = (bench.folder / "letters" / "retry.jsonl").read_text().splitlines()
    assert [json.loads(json.loads(line)["value"])["attempts"] for line in lines] == [1, 1, 1, 1]
    assert model.prompts == []
    assert counts(replay(bench, sections(model), "retry")) == {
        "letters": 1,
        "slices": 1,
        "replayed": 1,
        "first_pass": 1,
    }


def read(bench, *, from_start=False):
    """The users of the letters that a replay would read, and what to call when it is done."""
    box = LetterFolder(bench.folder / "letters", LetterKind.REJECTED)
    window = window_of(box.read(from_start=from_start), 100, 3)
    return [piece.scope.user for piece in window.slices], lambda: box.done(window.positions)


def test_a_file_that_takes_the_name_while_a_replay_runs_is_read_from_its_start(bench):
    file = bench.folder / "letters" / "rejected.jsonl"
    set_aside(bench, letter(piece_of("Ann")))
    _, done = read(bench)
    file.rename(file.with_suffix(".1"))
    set_aside(bench, letter(piece_of("Bob")))
    done()
    set_aside(bench, letter(piece_of("Cid")))
    assert read(bench)[0] == ["Bob", "Cid"]


@pytest.mark.parametrize("from_start", [True, False])
def test_a_damaged_state_is_told_before_anything_is_paid_for(bench, from_start):
    set_aside(bench, letter(piece_of("Ann")))
    (bench.folder / "letters" / STATE).write_text("{")
    with pytest.raises(InputBroken, match=rf"letters/{STATE} is damaged .* remove it"):
        read(bench, from_start=from_start)


def test_a_narrowed_replay_takes_its_own_and_leaves_the_position_alone(bench, model):
    set_aside(bench, *(letter(piece_of(name)) for name in ("Ann", "Bob", "Cid")))
    only = replay(bench, sections(model), app="shop", user="Bob", session="s-Bob")
    assert counts(only) == {"letters": 3, "others": 2, "slices": 1, "replayed": 1, "first_pass": 1}
    assert model.slices == ["Bob"]
    assert counts(replay(bench, sections(model))) == {
        "letters": 3,
        "slices": 3,
        "replayed": 2,
        "first_pass": 2,
        "unchanged": 1,
    }


def test_a_stop_leaves_the_position_where_it_was(bench, model):
    set_aside(bench, *(letter(piece_of(name)) for name in NAMES))
    stop = threading.Event()
    model.mode_of = lambda prompt: (len(model.prompts) >= 3 and stop.set()) or "serves"
    stopped = replay(bench, sections(model, model={"max_in_flight": 1}), stop=stop)
    assert stopped.replayed < len(NAMES)
    rest = replay(bench, sections(model))
    assert rest.letters == len(NAMES)
    assert rest.first_pass + rest.unchanged == len(NAMES)
    assert all(bench.claims(scope) for scope in SCOPES)


def found(*letters):
    """Letters as a box gives them: (name, attempts), None for what is no letter."""
    for number, one in enumerate(letters):
        after = ("part", number + 1)
        if one is None:
            yield Found(f"line {number}", after, fault="no letter")
        else:
            name, attempts = one
            value = msgspec.json.decode(letter(piece_of(name), attempts).value, type=RejectedSlice)
            yield Found(f"line {number}", after, value)


def shown(window):
    return [(one.session_id, one.attempts) for one in window.chosen]


def test_a_newer_letter_behind_the_window_counts_and_not_the_one_in_it():
    letters = [("Ann", 1), None, ("Bob", 1), ("Cid", 1), ("Ann", 2), ("Bob", 3)]
    first = window_of(found(*letters), 2, 3)
    assert (shown(first), first.positions, first.left) == ([], {"part": 3}, 3)
    assert (first.letters, first.older, len(first.faults)) == (3, 2, 1)
    second = window_of(list(found(*letters))[3:], 2, 3)
    assert (shown(second), [one.session_id for one in second.given_up]) == ([("s-Ann", 2), ("s-Cid", 1)], ["s-Bob"])
    assert (second.positions, second.left) == ({"part": 6}, 0)


def test_a_newer_letter_within_the_window_makes_room_for_another_slice():
    window = window_of(found(("Ann", 1), ("Ann", 2), ("Bob", 1), ("Cid", 1)), 2, 3)
    assert (shown(window), window.older, window.left) == ([("s-Ann", 2), ("s-Bob", 1)], 1, 1)


def kafka_of(bootstrap):
    """Settings of topics of the test's own."""
    own = uuid.uuid4().hex[:8]
    kinds = ("invalid", "late", "rejected", "retry")
    return {"bootstrap": bootstrap, "group": own, **{f"{kind}_topic": f"{kind}-{own}" for kind in kinds}}


@pytest.mark.parametrize(
    "broker", ["embedded_kafka", pytest.param("apache_kafka", marks=[pytest.mark.slow, pytest.mark.kafka])]
)
def test_letters_in_kafka_are_read_once_and_those_of_the_replay_by_the_next(bench, model, broker, request):
    where = request.getfixturevalue(broker)
    bootstrap = getattr(where, "bootstrap", where)
    kafka = kafka_of(bootstrap)
    kafka["topic"] = produce(bootstrap, [message(name, 1, f"My name is {name}.") for name in NAMES]).topic
    model.mode = "nonsense"
    settings = sections(model, kafka=kafka, replay={"max_attempts": 10})
    assert bench.ingest("kafka", **settings).extractions.rejected == 8

    model.mode_of = lambda prompt: "nonsense" if "is Ann." in prompt else "serves"
    first = replay(bench, settings, folder=None, limit=5)
    second = replay(bench, settings, folder=None)
    assert (first.letters, first.left, first.replayed) == (5, 3, 5)
    assert second.letters in (3, 4)  # with the new letter of Ann, if she was among the first
    third = replay(bench, settings, folder=None)
    done = first.first_pass + second.first_pass + third.first_pass
    assert (done, third.replayed, third.rejected) == (7, 1, 1)
    model.mode_of = lambda prompt: "serves"
    replay(bench, settings, folder=None)
    assert all(bench.claims(scope) for scope in SCOPES)
    assert counts(replay(bench, settings, folder=None)) == {}
    again = replay(bench, settings, folder=None, again=True)
    assert (again.unchanged, again.older, again.replayed) == (8, again.letters - 8, 0)


@pytest.mark.slow
def test_killed_in_the_middle_and_started_again_gives_the_bank_of_an_undisturbed_replay(bench, model, tmp_path):
    undisturbed = type(bench)(tmp_path / "undisturbed")
    letters = [letter(piece_of(name, n * HOUR)) for n, name in enumerate(NAMES)]
    set_aside(undisturbed, *letters)
    replay(undisturbed, sections(model))
    expected = undisturbed.bank(*SCOPES)

    set_aside(bench, *letters)
    settings = bench.folder / "settings.yaml"
    settings.write_text(json.dumps(sections(model, model={"max_in_flight": 1})))
    arguments = ("replay", "rejected", "--from", bench.folder / "letters", "--store", bench.store)
    arguments += ("--settings", settings, "--json")
    model.delay_s = 0.3
    for calls in (3, 2):
        model.prompts.clear()
        process = bench.command(*arguments)
        deadline = time.monotonic() + 60
        while len(model.prompts) < calls:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    model.delay_s = 0.0
    code, out, err = bench.run_command(*arguments)
    assert code == 0, err
    last = json.loads(out)
    assert last["letters"] == len(NAMES)
    assert last["unchanged"] >= 1
    assert last["unchanged"] + last["first_pass"] == len(NAMES)
    assert bench.bank(*SCOPES) == expected
    assert json.loads(bench.run_command(*arguments)[1])["letters"] == 0


@pytest.mark.slow
def test_the_command_says_what_it_did_and_strict_tells_a_failure_by_its_code(bench, model):
    set_aside(bench, *(letter(piece_of(name)) for name in ("Ann", "Bob")), letter(piece_of("Cid"), attempts=3))
    settings = bench.folder / "settings.yaml"
    settings.write_text(json.dumps(sections(model)))
    arguments = ("replay", "rejected", "--from", bench.folder / "letters", "--store", bench.store)
    arguments += ("--settings", settings)

    code, out, _ = bench.run_command(*arguments, "--dry-run", "--json")
    shown_before = json.loads(out)
    assert (code, [one["session_id"] for one in shown_before["slices"]]) == (0, ["s-Ann", "s-Bob"])
    assert [one["session_id"] for one in shown_before["given_up"]] == ["s-Cid"]
    assert (model.prompts, bench.store.exists(), (bench.folder / "letters" / STATE).exists()) == ([], False, False)

    model.mode_of = lambda prompt: "nonsense" if "is Ann." in prompt else "serves"
    code, out, err = bench.run_command(*arguments, "--strict")
    assert code == 3, err
    assert out.startswith("Replayed 2 of 2 slices")
    assert "first_pass 1, rejected 1" in out
    assert "replay.max_attempts" in out
    assert "--again --dry-run" in out

    model.mode_of = lambda prompt: "down"
    set_aside(bench, letter(piece_of("Dee")))
    code, out, err = bench.run_command(*arguments, "--again", "--user", "Dee", "--json")
    assert (code, json.loads(out)["to_retry"]) == (1, 1)
    assert "served none of 1 slices" in err
    assert "model.base_url" in err
