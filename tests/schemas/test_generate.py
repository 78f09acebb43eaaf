"""What is generated from the types is current, and says what the code does."""

import json
from pathlib import Path

import msgspec
import pytest

from schemas import envelope
from schemas.controls import ControlKind
from schemas.detect import RawControl, RawSession, detect
from schemas.generate import documents, main, stale
from schemas.setting_names import LEAVES
from schemas.summary import IngestSummary

ROOT = Path(__file__).resolve().parents[2]
EVENT = {"id": "e1", "author": "user", "content": {"parts": [{"text": "hello"}]}, "timestamp": 1700000000000}


def test_generated_files_are_current() -> None:
    assert stale(ROOT) == [], "run `make schemas`"
    assert main(["--check"]) == 0


def test_stale_names_a_file_that_is_absent_or_differs(tmp_path: Path) -> None:
    for path, text in documents().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert stale(tmp_path) == []
    (tmp_path / "schemas/json/claim.json").unlink()
    (tmp_path / "docs/settings.md").write_text("old")
    assert set(map(str, stale(tmp_path))) == {"schemas/json/claim.json", "docs/settings.md"}


def test_every_reference_in_a_schema_leads_somewhere() -> None:
    for path, text in documents().items():
        if path.suffix == ".json":
            schema = json.loads(text)
            references = {part.split('"')[0] for part in text.split('"$ref": "')[1:]}
            assert {r.removeprefix("#/$defs/") for r in references} <= set(schema.get("$defs", {})), path


def test_settings_page_tells_of_every_setting_and_no_secret_has_a_default() -> None:
    page = documents()[Path("docs/settings.md")]
    for leaf in LEAVES.values():
        assert f"| `{leaf.name}` | `{leaf.env}` |" in page


@pytest.mark.parametrize(
    "document",
    [
        envelope.EventEnvelope(app="a", user_id="u", session_id="s", event=EVENT),
        envelope.EventEnvelope(app="a", user_id="u", session_id="s", event=EVENT, speaker="Ann"),
        envelope.EventsEnvelope(app="a", user_id="u", session_id="s", events=[EVENT, EVENT]),
        envelope.SessionEnvelope(app="a", user_id="u", session={"id": "s", "events": [EVENT]}),
    ],
)
def test_documents_of_the_contract_are_read_as_sessions(document: msgspec.Struct) -> None:
    found = detect(msgspec.json.decode(msgspec.json.encode(document)), None)
    assert isinstance(found, list)
    assert [(type(one), one.place.scope.app, one.place.scope.user, one.place.session_id) for one in found] == [
        (RawSession, "a", "u", "s")
    ]
    assert found[0].events[0].body == EVENT


@pytest.mark.parametrize(
    ("document", "kind", "session_id"),
    [
        (envelope.SessionClosed(app="a", user_id="u", session_id="s"), ControlKind.SESSION_CLOSED, "s"),
        (envelope.SessionForget(app="a", user_id="u", session_id="s"), ControlKind.SESSION_FORGET, "s"),
        (envelope.UserForget(app="a", user_id="u", timestamp=1), ControlKind.USER_FORGET, ""),
        (envelope.Consent(app="a", user_id="u", consent=False), ControlKind.CONSENT, ""),
    ],
)
def test_documents_of_the_contract_are_read_as_controls(
    document: msgspec.Struct, kind: ControlKind, session_id: str
) -> None:
    found = detect(msgspec.json.decode(msgspec.json.encode(document)), None)
    assert isinstance(found, RawControl)
    assert (found.kind, found.scope.user, found.session_id) == (kind, "u", session_id)


def test_ingest_summary_has_the_names_that_scripts_rely_on() -> None:
    names = msgspec.json.schema(IngestSummary)["$defs"]["IngestSummary"]["required"]
    assert (
        names
        == (
            "events controls invalid partials duplicates late sessions slices skipped extractions problems claims "
            "tokens cost_usd elapsed_s events_per_s"
        ).split()
    )
