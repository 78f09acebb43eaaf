"""The settings as a flat list of dotted names: what the loader, `strandline config` and the docs go through."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from schemas.settings import Section, Settings

ENV_PREFIX = "STRANDLINE_"
ENV_NESTING = "__"
MASK = "**********"
"""What stands for a secret wherever a setting is shown; its length says nothing of the secret's."""


@dataclass(frozen=True)
class Leaf:
    """One setting that holds a value, not other settings.

    `name` is dotted (`kafka.topic`). `default` is the value as declared.
    """

    name: str
    field: FieldInfo
    default: object

    @property
    def env(self) -> str:
        """The variable that sets it: `STRANDLINE_KAFKA__TOPIC`."""
        return ENV_PREFIX + self.name.upper().replace(".", ENV_NESTING)

    @property
    def section(self) -> str:
        """The dotted name of the settings it belongs to; empty at the top."""
        return self.name.rpartition(".")[0]

    @property
    def secret(self) -> bool:
        """Whether its value must never be shown."""
        return self.field.annotation is SecretStr


def _leaves(section: Section, prefix: str) -> Iterator[Leaf]:
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield Leaf(prefix + name, field, value)


LEAVES: Mapping[str, Leaf] = {leaf.name: leaf for leaf in _leaves(Settings(), "")}
"""Every setting by its dotted name, in the order they are declared."""

SECTIONS: frozenset[str] = frozenset(leaf.section for leaf in LEAVES.values()) - {""}
"""The dotted names that hold other settings."""


def leaf_of(path: str) -> Leaf | None:
    """Return the setting that `path` is or lies within (`prices.gpt-4.1.input` lies within `prices`), or None."""
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        found = LEAVES.get(".".join(parts[:n]))
        if found is not None:
            return found
    return None


def value_of(settings: Settings, name: str) -> object:
    """Return the value of the setting called `name` (dotted).

    Raises:
        KeyError: There is no setting of this name.
    """
    if name not in LEAVES:
        raise KeyError(name)
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def shown(leaf: Leaf, value: object) -> object:
    """Return `value` fit for a person's eyes: a secret masked, also the one within a URL, everything else as it is."""
    if leaf.secret:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        return MASK if text else ""
    return without_password(value) if isinstance(value, str) else value


def without_password(url: str) -> str:
    """Return `url` with the password before its host masked; a text that is no such URL comes back as it is."""
    if "@" not in url or "://" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    user, _, host = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    return urlunsplit(parts._replace(netloc=f"{name}:{MASK}@{host}" if colon else f"{MASK}@{host}"))
