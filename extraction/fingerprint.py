"""A digest over what the answer for a slice depends on: where the stored one is equal, no model need be asked again."""

from hashlib import blake2b
from typing import Any, Final

import msgspec

from extraction.prompt import PROMPT_VERSION
from extraction.withholding import withheld_by_words
from schemas.events import Event
from schemas.settings import ExtractionSettings
from schemas.slice import Slice

_SIZE: Final = 16
"""128 bits: a chance meeting of two different slices is out of the question, and on purpose only one's own are met."""

_encode: Final = msgspec.msgpack.Encoder().encode


def way_of(model: str, system: str, settings: ExtractionSettings) -> bytes:
    """Return a digest of how slices are extracted: the model's name, the words put to it, the settings of the rules.

    `system` is the system message, in which the vocabulary and a deployment's instructions stand; `PROMPT_VERSION`
    stands for all other words. Where the model is reached and how it is paid says nothing about its answers.
    """
    way = (PROMPT_VERSION, model, system, settings.model_dump_json())
    return blake2b(_encode(way), digest_size=_SIZE).digest()


def fingerprint(piece: Slice, way: bytes) -> str:
    """Return 32 hex digits for the words of `piece` and the `way` it is extracted.

    Left out is how the events came (`late`, and the slice's `reason` and `seq`), for a slice that is added again comes
    differently; and the record so far, though it is shown to the model: it holds what this very slice gave, so no slice
    would ever be found unchanged. What a correction or an answer points at is an event, and those are the same.
    """
    digest = blake2b(way, digest_size=_SIZE)
    hidden = withheld_by_words(piece.events)
    digest.update(_encode([_words(event, event.withheld or event.id in hidden) for event in piece.events]))
    return digest.hexdigest()


def _words(event: Event, is_withheld: bool) -> tuple[Any, ...]:
    """Return what is told of an event; of one that was withheld only that it is there, for a digest is a trace too."""
    if is_withheld:
        return (event.id, event.ts_ms)
    return (
        event.id,
        event.ts_ms,
        event.author,
        event.speaker,
        event.text,
        event.calls,
        event.results,
        event.error,
        event.timezone,
    )
