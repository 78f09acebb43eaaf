import base64
import json

import pytest

from operators.dead_letter import FolderSink, LetterKind, LettersUnwritable, from_invalid, from_late, from_rejected
from operators.decode import Invalid, decode_message
from operators.letters import LetterBroken, letter_of
from operators.metrics import Metrics
from operators.session_core import LateEvent
from schemas.events import Event
from schemas.message import Message
from schemas.outcome import ExtractionOutcome, Outcome, Problem
from schemas.scope import Scope
from schemas.settings import DecodeSettings
from schemas.slice import Slice, SliceReason

SCOPE = Scope("shop", "ann")
EVENT = Event("e1", "user", 1_700_000_000_000, "hi")


def outcome(status, problems=()):
    return Outcome(
        scope=SCOPE,
        session_id="s",
        slice_id="x",
        event_ids=("e1",),
        first_ts_ms=1_000,
        last_ts_ms=1_000,
        status=status,
        model="m",
        prompt_version="1",
        problems=problems,
    )


def test_invalid_message_keeps_its_bytes_key_headers_and_place():
    message = Message(b"\xff\x00", "events", 3, 17, 5, b"ann", (("h", b"v"),))
    letter = from_invalid(Invalid("not_json", "not JSON", message))
    assert (letter.kind, letter.reason, letter.key, letter.value) == (
        LetterKind.INVALID,
        "not_json",
        b"ann",
        b"\xff\x00",
    )
    assert dict(letter.headers) == {
        "h": b"v",
        "strandline-reason": b"not_json",
        "strandline-detail": b"not JSON",
        "strandline-from": b"events/3/17",
    }


def test_a_late_event_can_be_sent_again():
    letter = from_late(LateEvent(SCOPE, "s", EVENT))
    (found,) = decode_message(Message(letter.value, "late", 0, 0), DecodeSettings(), 1_800_000_000_000).found
    assert (found.scope, found.session_id, found.event) == (SCOPE, "s", EVENT)


def test_rejected_and_retry_slices_can_be_fed_in_again():
    piece = Slice(SCOPE, "s", SliceReason.CLOSED, 0, (EVENT,))
    rejected = from_rejected(piece, outcome(ExtractionOutcome.REJECTED, (Problem("quote_not_verbatim", "x"),)))
    retry = from_rejected(piece, outcome(ExtractionOutcome.TO_RETRY))
    assert (rejected.kind, rejected.reason) == (LetterKind.REJECTED, "quote_not_verbatim")
    assert (retry.kind, retry.reason) == (LetterKind.RETRY, "provider")
    assert json.loads(retry.value)["slice"]["events"][0][0] == "e1"


def test_folder_sink_writes_a_file_for_each_kind_and_counts(tmp_path):
    metrics = Metrics()
    partition = FolderSink(str(tmp_path / "letters"), metrics).build("s", 0, 1)
    assert not (tmp_path / "letters").exists()
    partition.write_batch(
        [
            from_invalid(Invalid("not_json", "no", Message(b"\xff", "t", 0, 0))),
            from_invalid(Invalid("no_scope", "no", Message(b"{}", "t", 0, 1))),
            from_late(LateEvent(SCOPE, "s", EVENT)),
        ]
    )
    invalid = [json.loads(line) for line in (tmp_path / "letters" / "invalid.jsonl").read_text().splitlines()]
    assert base64.b64decode(invalid[0]["value_base64"]) == b"\xff"
    assert (invalid[1]["value"], dict(invalid[1]["headers"])["strandline-from"]) == ("{}", "t/0/1")
    assert len((tmp_path / "letters" / "late.jsonl").read_text().splitlines()) == 1
    assert metrics.total("strandline_dead_letters_total", topic="invalid.jsonl") == 2


def test_a_line_that_was_left_unfinished_does_not_swallow_the_next_letter(tmp_path):
    file = tmp_path / "late.jsonl"
    file.write_bytes(b'{"kind":"la')
    for _ in range(2):
        FolderSink(str(tmp_path), Metrics()).build("s", 0, 1).write_batch([from_late(LateEvent(SCOPE, "s", EVENT))])
    torn, *whole = file.read_bytes().splitlines()
    assert (torn, [json.loads(line)["kind"] for line in whole]) == (b'{"kind":"la', ["late", "late"])


def test_a_folder_that_is_made_is_its_owners_only_and_one_that_is_there_stays_as_it_is(tmp_path):
    letters, there = tmp_path / "a" / "letters", tmp_path / "there"
    there.mkdir()
    there.chmod(0o755)
    for folder in (letters, there):
        FolderSink(str(folder), Metrics()).build("s", 0, 1).write_batch([from_late(LateEvent(SCOPE, "s", EVENT))])
    assert [folder.stat().st_mode & 0o777 for folder in (letters, there)] == [0o700, 0o755]


def test_what_is_said_of_a_broken_letter_never_quotes_it():
    piece = Slice(SCOPE, "s", SliceReason.CLOSED, 0, (EVENT,))
    document = json.loads(from_rejected(piece, outcome(ExtractionOutcome.REJECTED)).value)
    document["slice"]["reason"] = "My secret is 1234 - at `$.secret`"
    with pytest.raises(LetterBroken, match=r"`\$\.slice\.reason`") as broken:
        letter_of(json.dumps(document))
    assert "secret" not in str(broken.value)


def test_a_folder_that_cannot_be_written_is_named_with_the_setting(tmp_path):
    (tmp_path / "letters").write_text("a file")
    partition = FolderSink(str(tmp_path / "letters"), Metrics()).build("s", 0, 1)
    with pytest.raises(LettersUnwritable, match="run.dead_letter_dir"):
        partition.write_batch([from_late(LateEvent(SCOPE, "s", EVENT))])
