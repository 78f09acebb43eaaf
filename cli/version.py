"""`strandline version`: what runs here."""

import platform
from importlib.metadata import version as version_of

import typer

from cli.options import JsonOption
from cli.output import print_json, print_line
from schemas.version import SCHEMA_VERSION

LIBRARIES = (
    "bytewax",
    "instructor",
    "kafka-python",
    "msgspec",
    "openai",
    "prometheus-client",
    "pydantic",
    "qdrant-client",
    "typer",
)


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(version)


def version(*, as_json: JsonOption = False) -> None:
    """Show the versions of what runs here."""
    from extraction.prompt import PROMPT_VERSION  # noqa: PLC0415 - not for every command to pay for

    versions = {
        "version": version_of("strandline"),
        "prompt_version": PROMPT_VERSION,
        "schema_version": SCHEMA_VERSION,
        "python": platform.python_version(),
        "libraries": {name: version_of(name) for name in LIBRARIES},
    }
    if as_json:
        print_json(versions)
        return
    print_line(f"strandline {versions['version']}")
    print_line(f"prompt {PROMPT_VERSION}, schema {SCHEMA_VERSION}, Python {versions['python']}")
    for name in LIBRARIES:
        print_line(f"{name} {version_of(name)}")
