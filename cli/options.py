"""The options that commands share, and how they become settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from cli import logs
from cli.failures import WRONG_USAGE, CommandError
from schemas.load_settings import Loaded, load
from schemas.setting_names import without_password
from schemas.settings import Settings

MEMORY_STORE = "memory"


def scope_part(value: str) -> str:
    """Refuse what no event can have: an empty name, or bytes that are no text."""
    if not value:
        msg = "it is empty; whose memory it is must be named"
        raise typer.BadParameter(msg)
    try:
        value.encode()
    except UnicodeEncodeError:
        msg = "it is no UTF-8 text"
        raise typer.BadParameter(msg) from None
    return value


SettingsFile = Annotated[
    Path | None, typer.Option("--settings", metavar="FILE", help="Settings, YAML or TOML.", show_default=False)
]
StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="URL|FOLDER", help="A Qdrant URL, or a folder for the embedded store."),
]
BootstrapOption = Annotated[
    str | None, typer.Option("--bootstrap", metavar="HOST:PORT", help="Kafka brokers, several with commas.")
]
TopicOption = Annotated[str | None, typer.Option("--topic", metavar="NAME", help="The Kafka topic of the events.")]
AppOption = Annotated[str, typer.Option("--app", metavar="APP", help="The application.", callback=scope_part)]
UserOption = Annotated[str, typer.Option("--user", metavar="USER", help="Its user.", callback=scope_part)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Log everything, and show tracebacks.")]


def settings_from(
    file: Path | None,
    *,
    debug: bool = False,
    store: str | None = None,
    bootstrap: str | None = None,
    topic: str | None = None,
    more: Mapping[str, object] | None = None,
) -> Loaded:
    """Return the settings of this run with its options on top, and set up logging by them.

    `more` are other settings that the command's options state, by dotted name; None is an option that was not given.

    Raises:
        SettingsError: They cannot be used.
    """
    loaded = load(
        file,
        {
            "store.url": store,
            "kafka.bootstrap": bootstrap,
            "kafka.topic": topic,
            "run.log_level": "debug" if debug else None,
            **(more or {}),
        },
    )
    logs.configure(loaded.settings.run)
    return loaded


def is_server(settings: Settings) -> bool:
    """Return whether the store is a Qdrant server, not a folder or memory."""
    return settings.store.url.startswith(("http://", "https://"))


def require_existing_store(settings: Settings) -> None:
    """Check that the named store is one that can hold something, before anything would create it.

    Raises:
        CommandError: None is named, it lives in memory only, or it is a folder where no store is.
    """
    url = settings.store.url
    if not url:
        msg = "No store is named; give --store URL|FOLDER or set STRANDLINE_STORE__URL."
        raise CommandError(msg, WRONG_USAGE)
    if url == MEMORY_STORE:
        msg = "The store `memory` ends with the process that filled it; name a URL or a folder with --store."
        raise CommandError(msg, WRONG_USAGE)
    if is_server(settings) or (Path(url) / "meta.json").is_file():
        return
    if "://" in url or (":" in url and not Path(url).exists()):
        msg = f"The store {without_password(url)!r} is no folder, and a Qdrant URL starts with http:// or https://."
    elif Path(url).is_dir():
        msg = f"The folder {url!r} holds no Strandline store; name the one that `strandline ingest --store` filled."
    else:
        msg = f"There is no store folder {url!r}; name the one that `strandline ingest --store` filled."
    raise CommandError(msg, WRONG_USAGE)
