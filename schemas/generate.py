"""Writes what follows from the types: the JSON Schemas of the public contracts and the page of all settings.

`python -m schemas.generate` writes them, `--check` only tells which are out of date (exit code 1 then).
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from pydantic import BaseModel, SecretStr

from schemas.claim import Claim, Episode
from schemas.envelope import INPUT_DOCUMENTS
from schemas.extraction import Extraction
from schemas.outcome import Outcome
from schemas.record import Record
from schemas.setting_names import LEAVES, Leaf
from schemas.settings import Section, Settings
from schemas.slice import Slice
from schemas.summary import IngestSummary, ReplaySummary

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ROOT = Path(__file__).resolve().parent.parent
STRUCTS: Mapping[str, type[msgspec.Struct]] = {
    "slice": Slice,
    "claim": Claim,
    "episode": Episode,
    "record": Record,
    "outcome": Outcome,
    "ingest_summary": IngestSummary,
    "replay_summary": ReplaySummary,
}
PRECEDENCE = (
    "An option of a command beats the environment, the environment beats the file, the file beats the default.",
    "The file is YAML or TOML, named by `--settings` or `STRANDLINE_SETTINGS`; a setting `kafka.topic` stands in it as",
    "`topic` under `kafka`. A variable that is empty states nothing, and the word `null` states none; lists and tables",
    "are given as JSON. `OPENAI_BASE_URL` and `OPENAI_API_KEY` serve where `model.base_url` and `model.api_key` are",
    "not stated. `strandline config` shows what holds and where it came from.",
)
_BOUNDED = re.compile(r"(?:typing\.)?Annotated\[(\w+), FieldInfo\(.*?\]\)\]")
"""A number with bounds within a table, as Python writes its type: the page shows the type alone."""

MODELS: Mapping[str, type[BaseModel]] = {"extraction": Extraction, "settings": Settings}


def documents() -> dict[Path, str]:
    """Return the text of every generated file by its path within the project."""
    schemas = {
        "input": _input_schema(),
        **{name: msgspec.json.schema(struct) for name, struct in STRUCTS.items()},
        **{name: model.model_json_schema() for name, model in MODELS.items()},
    }
    pages = {
        Path("schemas/json") / f"{name}.json": json.dumps({"$schema": DIALECT, **schema}, indent=2, sort_keys=True)
        + "\n"
        for name, schema in schemas.items()
    }
    return {**pages, Path("docs/settings.md"): "\n".join(_settings_page()) + "\n"}


def stale(root: Path) -> list[Path]:
    """Return the generated files under `root` that are absent or differ from what the types say now."""
    return [
        path
        for path, text in documents().items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]


def _input_schema() -> dict[str, Any]:
    references, components = msgspec.json.schema_components(INPUT_DOCUMENTS)
    return {
        "title": "InputDocument",
        "description": "One message of the input topic, or one line of an input file.",
        "anyOf": list(references),
        "$defs": components,
    }


def _settings_page() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "Written by `make schemas` from `schemas/settings.py`; a change goes there."
    yield ""
    yield from PRECEDENCE
    section = None
    for leaf in LEAVES.values():
        if leaf.section != section:
            section = leaf.section
            yield from _heading(section)
        meaning = _plain(leaf.field.description or "")
        yield f"| `{leaf.name}` | `{leaf.env}` | {_type(leaf)} | {_default(leaf)} | {meaning} |"


def _heading(section: str) -> Iterator[str]:
    yield ""
    yield f"## {section or 'Tables'}"
    yield ""
    if section:
        holder: Any = Settings()
        for part in section.split("."):
            holder = getattr(holder, part)
        if isinstance(holder, Section) and holder.__doc__:
            yield holder.__doc__.strip()
            yield ""
    yield "| setting | variable | type | default | meaning |"
    yield "|---|---|---|---|---|"


def _type(leaf: Leaf) -> str:
    annotation = leaf.field.annotation
    if annotation is SecretStr:
        return "secret text"
    name = (
        annotation.__name__ if isinstance(annotation, type) and not hasattr(annotation, "__args__") else str(annotation)
    )
    name = _BOUNDED.sub(r"\1", name)
    return (
        f"`{_plain(name.replace('typing.', '').replace('schemas.settings.', '').replace('schemas.vocabulary.', ''))}`"
    )


def _default(leaf: Leaf) -> str:
    if leaf.secret or leaf.default in ("", (), {}):
        return "none"
    if isinstance(leaf.default, dict):
        return _plain(", ".join(leaf.default))
    value = json.dumps(leaf.default, default=list) if leaf.default is not None else "none"
    return f"`{value}`"


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the generated files, or with `--check` name the stale ones; return the exit code."""
    if arguments == ["--check"]:
        late = stale(ROOT)
        for path in late:
            print(f"{path} is out of date: run `make schemas`.", file=sys.stderr)
        return 1 if late else 0
    for path, text in documents().items():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
