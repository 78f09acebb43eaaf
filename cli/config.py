"""`strandline config`: every setting, its value, and where the value came from."""

import msgspec
import typer
from pydantic import BaseModel

from cli.options import BootstrapOption, JsonOption, SettingsFile, StoreOption, TopicOption, settings_from
from cli.output import note, print_json, print_line
from schemas.load_settings import Loaded, Origin
from schemas.setting_names import LEAVES, shown, value_of


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(config)


def config(
    *,
    settings_file: SettingsFile = None,
    store: StoreOption = None,
    bootstrap: BootstrapOption = None,
    topic: TopicOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show settings and where they came from.

    An option beats the environment, the environment beats the file, the file beats the default. Secrets are masked.
    """
    loaded = settings_from(settings_file, store=store, bootstrap=bootstrap, topic=topic)
    values = {name: _plain(shown(leaf, value_of(loaded.settings, name))) for name, leaf in LEAVES.items()}
    if as_json:
        print_json({name: {"value": value, **_origin(loaded.origins[name])} for name, value in values.items()})
        return
    for name, value in values.items():
        origin = loaded.origins[name]
        style = "dim" if origin.source == "default" else "bold"
        text = msgspec.json.encode(value).decode()
        print_line((f"{name} = {text}", style), (f"  ({origin.source}{_place(origin)})", "dim"))
    for sentence in remarks(loaded):
        note(sentence)


def remarks(loaded: Loaded) -> list[str]:
    """Return what follows from the settings that their values alone do not show."""
    settings = loaded.settings
    found = []
    if settings.model.is_offline:
        found.append("No model endpoint or key is set: the offline model extracts, by rules.")
    elif settings.model.name not in settings.prices:
        found.append(f"No price is set for {settings.model.name}: its cost counts as 0; add it to `prices`.")
    if not settings.embedding.base_url:
        found.append("No embedding endpoint is set: searches go by words alone.")
    return found


def _origin(origin: Origin) -> dict[str, str]:
    return {"origin": origin.source, **({"place": origin.place} if origin.place else {})}


def _place(origin: Origin) -> str:
    return f" {origin.place}" if origin.place else ""


def _plain(value: object) -> object:
    """Return `value` without models in it, as JSON has it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value
