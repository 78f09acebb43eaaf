"""Reads YAML as `yaml.safe_load` does, but a key that stands twice is an error: the parser silently takes the last."""

from typing import Any

import yaml


class DoubledKeyError(Exception):
    """A mapping has `key` (dotted, from the top of the document) twice; `line` is the second's, counted from 1."""

    def __init__(self, key: str, line: int) -> None:
        self.key = key
        self.line = line
        super().__init__(f"{key} at line {line}")


def read_yaml(text: str) -> Any:
    """Return what `text` holds: None, a scalar, a list or a dict.

    Raises:
        yaml.YAMLError: It is no YAML, or asks for more than plain values.
        DoubledKeyError: A mapping states a key twice.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is not None:
        _check(root, "", set())
    return yaml.safe_load(text)


def _check(node: yaml.Node, above: str, seen: set[int]) -> None:
    """Walk down `node`; an anchor's node is met again at each alias, and is looked at once."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for i, one in enumerate(node.value):
            _check(one, f"{above}{i}.", seen)
    if not isinstance(node, yaml.MappingNode):
        return
    keys: set[str] = set()
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            name = f"{above}{key.value}"
            if key.value in keys:
                raise DoubledKeyError(name, key.start_mark.line + 1)
            keys.add(key.value)
            _check(value, f"{name}.", seen)
