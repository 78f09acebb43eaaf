"""Letters of slices as they are read back: what stands in one, and where it stood.

Two boxes hold them, a folder (`letter_folder`) and a topic of Kafka (`letter_topic`). Both are read from where the last
replay ended to the end as it was when reading began, so a replay never meets the letters that it writes itself.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from operators.dead_letter import RejectedSlice

_MAX_REASON_CHARS = 200

_PLACE = re.compile(r"`\$[\w.\[\]]*`\Z")
"""Where msgspec found a fault, as it ends its message."""


class LetterBroken(ValueError):
    """What stands where a letter should is none; the message says why, and never what it holds."""


class Found(msgspec.Struct, frozen=True):
    """What stood at one place of a box. `letter` is None when it is none, and `fault` says why.

    `where` is for people. `after` is the place behind it: the part of the box and the position in that part.
    """

    where: str
    after: tuple[str, int]
    letter: RejectedSlice | None = None
    fault: str = ""


class LetterBox(Protocol):
    """Where the letters of one kind are kept. Positions are kept with them, so that the next replay goes on there."""

    @property
    def name(self) -> str:
        """What people call it: a path, or a topic."""
        ...

    def read(self, *, from_start: bool) -> Iterator[Found]:
        """Give what stands behind the last replay, or everything; each part in the order it was written."""
        ...

    def done(self, positions: Mapping[str, int]) -> None:
        """Take note, durably, that the next replay begins at these positions; parts not named stay as they are."""
        ...


_decode = msgspec.json.Decoder(RejectedSlice).decode

_LAST_MS = 253_402_300_799_999
"""The end of the year 9999, milliseconds: no time of an event lies behind it."""


def letter_of(value: bytes | str) -> RejectedSlice:
    """Return the letter in the JSON of its value; fields that came with later versions take their defaults.

    Raises:
        LetterBroken: it is no letter of a slice.
    """
    try:
        letter = _decode(value)
    except msgspec.ValidationError as error:
        # Its words may quote the value, which is text of a user; only the place is of the schema's making.
        place = _PLACE.search(str(error))
        msg = (
            f"it is no letter of a slice: what stands at {place[0] if place else '`$`'} is missing, or of another kind"
        )
        raise LetterBroken(msg) from error
    except msgspec.DecodeError as error:
        msg = f"it is no letter of a slice: {error}"
        raise LetterBroken(msg[:_MAX_REASON_CHARS]) from error
    if not letter.slice.events:
        msg = "its slice holds no events"
        raise LetterBroken(msg)
    if not (letter.slice.scope.app and letter.slice.scope.user and letter.slice.session_id):
        msg = "its slice names no app, no user or no session"
        raise LetterBroken(msg)
    if any(not 0 <= event.ts_ms <= _LAST_MS for event in letter.slice.events):
        msg = "an event in it has a time that no calendar has"
        raise LetterBroken(msg)
    return letter
