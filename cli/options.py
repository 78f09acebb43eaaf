"""The options that commands share, and how they become settings."""

from collections.abc import Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Annotated

import typer

from cli import logs
from cli.failures import FAILED, WRONG_USAGE, CommandError
from cli.output import note
from schemas.load_settings import Loaded, load
from schemas.setting_names import without_password
from schemas.settings import Settings

MEMORY_STORE = "memory"
STORE_FILE = "meta.json"
"""What every folder of an embedded store holds."""


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
    if url == MEMORY_STORE:
        msg = "The store `memory` ends with the process that filled it; name a URL or a folder with --store."
        raise CommandError(msg, WRONG_USAGE)
    shown = without_password(url)
    if (content := _folder_content(settings)) in {Content.SERVER, Content.STORE}:
        return
    if content is Content.ABSENT:
        msg = f"There is no store folder {shown!r}; name the one that `strandline ingest --store` filled."
    else:
        msg = f"The folder {shown!r} holds no Strandline store; name the one that `strandline ingest --store` filled."
    raise CommandError(msg, WRONG_USAGE)


def require_writable_store(settings: Settings) -> None:
    """Check that the named store is one that can be filled, before anything creates it; say when it will not last.

    A folder that is absent or empty becomes a store; one that holds something else is not touched.

    Raises:
        CommandError: None is named, or it is a folder with other things in it.
    """
    url = settings.store.url
    if url == MEMORY_STORE:
        note("The store is `memory`: it ends with this process, and nothing can be read from it later.")
        return
    if _folder_content(settings) is Content.OTHER:
        msg = (
            f"The folder {without_password(url)!r} is not empty and holds no Strandline store; name one with --store "
            "that holds a store, is empty or is not there yet."
        )
        raise CommandError(msg, WRONG_USAGE)


class Content(Enum):
    """What stands where `store.url` points to."""

    SERVER = auto()
    STORE = auto()
    EMPTY = auto()
    OTHER = auto()
    ABSENT = auto()


def _folder_content(settings: Settings) -> Content:
    """Look what the named store is; a server is not called.

    Raises:
        CommandError: None is named, it is neither a URL nor a folder, or the folder cannot be looked into.
    """
    url = settings.store.url
    if not url:
        msg = "No store is named; give --store URL|FOLDER or set STRANDLINE_STORE__URL."
        raise CommandError(msg, WRONG_USAGE)
    if is_server(settings):
        return Content.SERVER
    folder, shown = Path(url), without_password(url)
    try:
        if "://" in url or (":" in url and not folder.exists()):
            msg = f"The store {shown!r} is no folder, and a Qdrant URL starts with http:// or https://."
            raise CommandError(msg, WRONG_USAGE)
        if not folder.exists():
            return Content.ABSENT
        if not folder.is_dir():
            msg = f"The store {shown!r} is a file; name a folder, or a Qdrant URL, with --store."
            raise CommandError(msg, WRONG_USAGE)
        if (folder / STORE_FILE).is_file():
            return Content.STORE
        return Content.OTHER if any(folder.iterdir()) else Content.EMPTY
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f"The store folder {shown!r} cannot be looked into: {reason}; make it readable, or name another."
        raise CommandError(msg, FAILED) from error
