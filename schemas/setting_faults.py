"""What is wrong with a setting, in one sentence that names it, its value, where it came from and what to do."""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from schemas.setting_names import ENV_NESTING, ENV_PREFIX, LEAVES, SECTIONS, leaf_of, shown
from schemas.settings import PREFIX_PATTERN
from schemas.vocabulary import NAME_PATTERN

MAX_SHOWN_CHARS = 80
"""A longer value is cut in a message: a pasted document would bury the sentence."""

CLOSE = 0.75
"""How alike two names must be (`difflib`'s ratio) for one to be offered for the other; less alike it is a guess."""

IN_WORDS: Mapping[str, str] = {
    PREFIX_PATTERN: "it should be 1 to 40 characters, each a small letter a-z, a digit, _ or -",
    NAME_PATTERN: "it should be small letters a-z, digits and _, with dots between words, as in work.role",
}
"""What each pattern of a setting allows."""

EXAMPLES: Mapping[str, Any] = {
    "decode.tool_result_chars": {"search_flights": 3000},
    "extraction.memory_tools": ["load_memory"],
    "extraction.required_entities": ["identifier", "amount"],
    "extraction.patterns": {"contract_no": "K-\\d{6}"},
    "prices": {"gpt-4.1-mini": {"input": 0.4, "cached": 0.1, "output": 1.6}},
    "vocabulary": [{"name": "pet", "kind": "fact", "meaning": "an animal of the user's", "values": "many"}],
}
"""How a setting that is a list or a table is written."""

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
    nearest = _nearest(name)
    remedy = f"did you mean {nearest}?" if nearest else "`strandline config` lists all settings."
    return f"{name} {place} is no setting; {remedy}"


def _nearest(name: str) -> str | None:
    """Return the setting that is meant, written as `name` is; the prefix that all variables share says nothing."""
    is_variable = name.startswith(ENV_PREFIX)
    dotted = name.removeprefix(ENV_PREFIX).replace(ENV_NESTING, ".").lower() if is_variable else name
    names = LEAVES if "." in dotted else (*LEAVES, *SECTIONS)
    close = difflib.get_close_matches(dotted, names, n=1, cutoff=CLOSE)
    if not close:
        return None
    return ENV_PREFIX + close[0].upper().replace(".", ENV_NESTING) if is_variable else close[0]


def unparsable(variable: str) -> str:
    """Return the sentence on a variable that should hold JSON and does not. Its value may be a secret: left out."""
    name = variable.removeprefix(ENV_PREFIX).replace(ENV_NESTING, ".").lower()
    example = f", for example {_example(name)}" if leaf_of(name) else ""
    return f"The environment variable {variable} should be JSON and cannot be parsed as such; mend it{example}."


def faults_of(error: ValidationError, stated: Mapping[str, Stated]) -> list[str]:
    """Return a sentence for each fault that validation found.

    Args:
        error: What `Settings` raised.
        stated: For every setting that a source states, by dotted name, who states it.
    """
    return [_fault(".".join(map(str, one["loc"])), dict(one), stated) for one in error.errors(include_url=False)]


def _fault(name: str, error: Mapping[str, Any], stated: Mapping[str, Stated]) -> str:
    message = _message(name, error)
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
    default = repr(shown(leaf, leaf.default))
    its_value = f", {default}" if not isinstance(leaf.default, dict) and len(default) <= MAX_SHOWN_CHARS else ""
    return f"{name} is {value} {place}, but {message}; mend it, or leave it out for the default{its_value}."


def _message(name: str, error: Mapping[str, Any]) -> str:
    if error["type"] in {"tuple_type", "dict_type", "model_type"} and leaf_of(name):
        return f"it should be like {_example(name)}"
    if error["type"] == "string_pattern_mismatch":
        return IN_WORDS[error["ctx"]["pattern"]]
    return str(error["msg"]).removeprefix("Value error, ").replace("Input should", "it should", 1)


def _example(name: str) -> str:
    """Return how the setting called `name`, or what stands in it there, is written."""
    leaf = leaf_of(name)
    example = EXAMPLES[leaf.name] if leaf else {}
    within = name.removeprefix(leaf.name).strip(".") if leaf else ""
    for _ in within.split(".") if within else ():
        example = next(iter(example.values())) if isinstance(example, dict) else example[0]
    return json.dumps(example)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}..."
