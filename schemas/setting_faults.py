"""What is wrong with a setting, in one sentence that names it, its value, where it came from and what to do."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from schemas.setting_names import LEAVES, SECTIONS, leaf_of, shown

MAX_SHOWN_CHARS = 80
"""A longer value is cut in a message: a pasted document would bury the sentence."""

Source = Literal["option", "environment", "file"]


@dataclass(frozen=True)
class Stated:
    """One setting as one source states it. `place` is the variable or the file, and empty for an option."""

    name: str
    value: Any
    source: Source
    place: str = ""

    @property
    def where(self) -> str:
        """Return the place as a sentence has it."""
        return where(self.source, self.place)


class SettingsError(Exception):
    """The settings cannot be used. `faults` has one sentence each; the message has them one a line."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        super().__init__("\n".join(self.faults))


def where(source: Source, place: str) -> str:
    """Return a source and its place as a sentence has them."""
    if source == "environment":
        return f"in the environment variable {place}"
    return f"in {place}" if source == "file" else "on the command line"


def unknown(name: str, place: str) -> str:
    """Return the sentence on a name that is no setting. Its value is left out: the name misspelt may be a secret's."""
    close = difflib.get_close_matches(name, (*LEAVES, *SECTIONS, *(leaf.env for leaf in LEAVES.values())), n=1)
    remedy = f"did you mean {close[0]}?" if close else "`strandline config` lists all settings."
    return f"{name} {place} is no setting; {remedy}"


def faults_of(error: ValidationError, stated: Mapping[str, Stated]) -> list[str]:
    """Return a sentence for each fault that validation found.

    Args:
        error: What `Settings` raised.
        stated: For every setting that a source states, by dotted name, who states it.
    """
    return [_fault(".".join(map(str, one["loc"])), dict(one), stated) for one in error.errors(include_url=False)]


def _fault(name: str, error: Mapping[str, Any], stated: Mapping[str, Stated]) -> str:
    message = str(error["msg"]).removeprefix("Value error, ").replace("Input should", "it should", 1)
    leaf = leaf_of(name)
    if leaf is None:
        places = {one.where: None for one in stated.values() if f"{one.name}.".startswith(f"{name}.")}
        return f"{message} ({name} is set {' and '.join(places)})"
    place = stated[leaf.name].where
    if error["type"] == "extra_forbidden":
        return f"{name} {place} is not known there; take it out."
    if error["type"] == "missing":
        return f"{name} {place} is missing; add it."
    value = _cut(repr(shown(leaf, error["input"])))
    default = _cut(repr(shown(leaf, leaf.default)))
    return f"{name} is {value} {place}, but {message}; mend it, or leave it out for the default, {default}."


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}..."
