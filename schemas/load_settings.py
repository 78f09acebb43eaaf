"""Makes the settings of a run from its options, the environment, a file and the defaults, and tells which came whence.

The strongest source that states a setting decides it whole: an option of the command, then a `STRANDLINE_*` variable,
then the file, then the default. An empty variable states nothing; the word `null` states "none".
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as UnparsableVariable

from schemas.setting_faults import SettingsError, Source, Stated, faults_of, unknown, unparsable, where
from schemas.setting_names import ENV_NESTING, ENV_PREFIX, LEAVES, SECTIONS
from schemas.settings import Settings
from schemas.yaml_text import DoubledKeyError, read_yaml

FILE_VARIABLE = "STRANDLINE_SETTINGS"
"""The variable that names the settings file when no option does."""

NOT_SETTINGS = frozenset({FILE_VARIABLE, "STRANDLINE_SHARED"})
"""Variables with our prefix that are no settings: where the file is, and where the tests find their data."""

BORROWED: Mapping[str, str] = {"model.base_url": "OPENAI_BASE_URL", "model.api_key": "OPENAI_API_KEY"}
"""Settings that another product's variable serves when nobody states them."""

SERVICE_LINK = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$")
"""Variables that Kubernetes puts into every pod for a Service called `strandline` or `strandline-...`."""


@dataclass(frozen=True)
class Origin:
    """Where a value came from. `place` is the variable or the file, and empty for an option or a default."""

    source: Source | Literal["default"]
    place: str = ""


@dataclass(frozen=True)
class Loaded:
    """The settings, the origin of each by dotted name, and the file that was read."""

    settings: Settings
    origins: Mapping[str, Origin]
    file: Path | None


class _Variables(Settings, BaseSettings):
    """The settings as pydantic-settings finds them in variables; only described by this class, never made."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter=ENV_NESTING, env_ignore_empty=True, env_parse_none_str="null"
    )


def load(file: Path | None, overrides: Mapping[str, object]) -> Loaded:
    """Return the settings of this run.

    Args:
        file: YAML (.yaml, .yml) or TOML (.toml); None: the file that STRANDLINE_SETTINGS names, if any.
        overrides: What the options of the command say, by dotted name (`store.url`); None is an option not given.

    Raises:
        SettingsError: One sentence per fault: an unreadable file, an unknown name, a value that is not allowed.
    """
    source = EnvSettingsSource(_Variables)
    variables = {name.upper(): value for name, value in source.env_vars.items() if value is not None}
    if file is None and (named := variables.get(FILE_VARIABLE)):
        file = Path(named)
    faults: list[str] = []
    stated = _from_file(file, faults) if file else {}
    stated |= _from_environment(source, variables, faults)
    for name, value in overrides.items():
        if name not in LEAVES:
            faults.append(unknown(name, where("option", "")))
        elif value is not None:
            stated[name] = Stated(name, value, "option")
    for name, variable in BORROWED.items():
        if name not in stated and (borrowed := variables.get(variable)):
            stated[name] = Stated(name, borrowed, "environment", variable)
    try:
        settings = Settings.model_validate(_nested(stated))
    except ValidationError as e:
        raise SettingsError([*faults, *faults_of(e, stated)]) from None
    if faults:
        raise SettingsError(faults)
    origins = {
        name: Origin(stated[name].source, stated[name].place) if name in stated else Origin("default")
        for name in LEAVES
    }
    return Loaded(settings, origins, file)


def _from_file(file: Path, faults: list[str]) -> dict[str, Stated]:
    """Return what the file states.

    Raises:
        SettingsError: It cannot be read or parsed at all. The parser's own message is left out where it would quote the
            file, for a secret may stand there.
    """
    try:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".toml":
            document = tomllib.loads(text)
        elif file.suffix in {".yaml", ".yml"}:
            document = read_yaml(text)
        else:
            msg = f"The format of the settings file {file} is not known; call it .yaml, .yml or .toml."
            raise SettingsError([msg])
    except OSError as e:
        msg = f"The settings file {file} cannot be read: {e.strerror}; name another with --settings or {FILE_VARIABLE}."
        raise SettingsError([msg]) from None
    except DoubledKeyError as e:
        msg = f"{e.key} stands twice in the settings file {file}, again at line {e.line}; take one out."
        raise SettingsError([msg]) from None
    except (tomllib.TOMLDecodeError, yaml.YAMLError, UnicodeDecodeError) as e:
        msg = f"The settings file {file} cannot be parsed{_spot(e)}; mend it there."
        raise SettingsError([msg]) from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        msg = f"The settings file {file} holds no names with values at its top; write `kafka:` and so on there."
        raise SettingsError([msg])
    return {one.name: one for one in _statements(document, "", Stated("", None, "file", str(file)), faults)}


def _spot(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f" at line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1}"
    if isinstance(error, tomllib.TOMLDecodeError):
        return f": {error}"
    return ": it is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else ""


def _from_environment(source: EnvSettingsSource, variables: Mapping[str, str], faults: list[str]) -> dict[str, Stated]:
    """Return what the variables state, each parsed by itself, so that a fault can be laid at the right one."""
    stated: dict[str, Stated] = {}
    for variable in sorted(variables):
        if not variable.startswith(ENV_PREFIX) or variable in NOT_SETTINGS or _is_service_link(variable):
            continue
        source.env_vars = {variable.lower(): variables[variable]}
        try:
            document = source()
        except UnparsableVariable:
            faults.append(unparsable(variable))
            continue
        if not document:
            faults.append(unknown(variable, "in the environment"))
        for one in _statements(document, "", Stated("", None, "environment", variable), faults):
            before = stated.get(one.name)
            if before and isinstance(before.value, dict) and isinstance(one.value, dict):
                both = f"{before.place}, {variable}"
                stated[one.name] = replace(one, value=_merged(before.value, one.value), place=both)
            else:
                stated[one.name] = one
    return stated


def _is_service_link(variable: str) -> bool:
    return ENV_NESTING not in variable and SERVICE_LINK.search(variable) is not None


def _statements(document: Mapping[Any, Any], above: str, source: Stated, faults: list[str]) -> Iterator[Stated]:
    """Walk down `document` to the settings it states; what is no setting becomes a fault."""
    for key, value in document.items():
        name = f"{above}{key}"
        if name in LEAVES:
            yield replace(source, name=name, value=value)
        elif name not in SECTIONS:
            shown_name = source.place if source.source == "environment" else name
            faults.append(unknown(shown_name, source.where if source.source == "file" else "in the environment"))
        elif isinstance(value, dict):
            yield from _statements(value, f"{name}.", source, faults)
        elif value is not None:
            faults.append(f"{name} {source.where} should hold settings by name, not one value; indent them under it.")


def _nested(stated: Mapping[str, Stated]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, one in stated.items():
        *above, last = name.split(".")
        place = document
        for part in above:
            place = place.setdefault(part, {})
        place[last] = one.value
    return document


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two documents; where both state a value the second's stands."""
    merged = dict(one)
    for key, value in other.items():
        mine = merged.get(key)
        merged[key] = _merged(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return merged
