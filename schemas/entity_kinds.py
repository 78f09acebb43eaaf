"""The kinds of value that are looked for in every text, and what a deployment's own kinds may be."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import regex

ENTITY_KINDS: Final = ("identifier", "amount", "date", "email", "phone", "url", "number")
"""Known everywhere. What a claim states of them must stand in its sources; only required ones must not be dropped."""

_NAME: Final = re.compile(r"[a-z0-9_]+")


def checked_patterns(patterns: dict[str, str]) -> dict[str, str]:
    """Return `patterns`, by name, as they are.

    Raises:
        ValueError: a name is taken or is no name, an expression cannot be compiled or matches where nothing stands.
    """
    for name, pattern in patterns.items():
        if not _NAME.fullmatch(name):
            msg = f"the pattern name {name!r} should be small letters a-z, digits and _, as in contract_no"
            raise ValueError(msg)
        if name in ENTITY_KINDS:
            msg = f"the pattern name {name!r} is that of a kind known everywhere; choose another, as in own_{name}"
            raise ValueError(msg)
        try:
            compiled = regex.compile(pattern, regex.IGNORECASE)
        except regex.error as error:
            msg = f"the pattern {name} {pattern!r} is no regular expression ({error}); mend it, as in 'K-\\d{{6}}'"
            raise ValueError(msg) from None
        if compiled.search("") is not None:
            msg = (
                f"the pattern {name} {pattern!r} matches the empty text; "
                "make it ask for at least one character, as in 'K-[0-9]+'"
            )
            raise ValueError(msg)
    return patterns


def check_required(required: Iterable[str], patterns: Mapping[str, str]) -> None:
    """Check that every kind that is required is known.

    Raises:
        ValueError: one is neither known everywhere nor the name of a pattern, so that it would never be asked for.
    """
    known = (*ENTITY_KINDS, *patterns)
    for kind in required:
        if kind not in known:
            msg = (
                f"extraction.required_entities names {kind!r}, which is no kind of entity; use {', '.join(known)}, "
                "or add it to extraction.patterns"
            )
            raise ValueError(msg)
