"""The settings as a flat list of dotted names: what the loader, `strandline config` and the docs go through."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from schemas.settings import Section, Settings

ENV_PREFIX = "STRANDLINE_"
ENV_NESTING = "__"
MASK = "**********"
"""What stands for a secret wherever a setting is shown; its length says nothing of the secret's."""

_USER_INFO = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)?(?P<name>[^\s:/@]*:)?(?(scheme).|\S)*@", re.IGNORECASE)
"""What stands before the host of a URL: `scheme://name:password@`, to the last @, for a password may hold one."""

_URL_IN_TEXT = re.compile(r"([a-z][a-z0-9+.-]*://)([^\s:/@]*:)?[^\s:/@]+@", re.IGNORECASE)


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
    """Return `url` with the password before its host masked; a text that has none comes back as it is.

    In doubt more is masked than need be: a password may hold a slash or an @, and the scheme may be forgotten.
    """
    found = _USER_INFO.match(url)
    if found is None or not (found["scheme"] or found["name"]):
        return url
    return f"{found['scheme'] or ''}{found['name'] or ''}{MASK}@{url[found.end() :]}"


def without_passwords(text: str) -> str:
    """Return `text`, a log line or a traceback, with the password of every URL in it masked."""
    return _URL_IN_TEXT.sub(rf"\1\2{MASK}@", text)
