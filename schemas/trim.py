"""Trimming at the source: what extraction will not need is never carried through state.

A tool result keeps its head, for identifiers live there; a long array becomes its first items and a count.
"""

from typing import Any

import msgspec

_MAX_DEPTH = 12
"""Deeper levels are cut: no evidence was ever found so deep, and unbounded depth is an attack."""

_encode = msgspec.json.Encoder().encode


def trim_json(value: Any, max_chars: int, max_items: int) -> str:
    """Return `value` as JSON text of at most `max_chars` characters, arrays cut to `max_items` and a count.

    A text that is still too long is cut at the end and marked with an ellipsis, so it may not parse any more.
    """
    if max_chars <= 0:
        return ""
    return trim_text(_encode(_shorten(value, max_items, _MAX_DEPTH)).decode(), max_chars)


def trim_text(text: str, max_chars: int) -> str:
    """Return `text`, or its first characters and an ellipsis when it is longer than `max_chars`."""
    return text if len(text) <= max_chars else text[: max(0, max_chars - 1)] + "…"


def _shorten(value: Any, max_items: int, depth: int) -> Any:
    if isinstance(value, dict):
        if depth == 0:
            return "{…}"
        # Most values are strings; asking here spares a call for each.
        return {
            key: item if isinstance(item, str) else _shorten(item, max_items, depth - 1) for key, item in value.items()
        }
    if isinstance(value, list):
        if depth == 0:
            return "[…]"
        head = [_shorten(item, max_items, depth - 1) for item in value[:max_items]]
        if len(value) > max_items:
            head.append(f"… {len(value) - max_items} more of {len(value)}")
        return head
    return value
