"""From the messages of a request to an extraction. Pure: the same messages always give the same answer."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import ValidationError

from extraction.offline.digest import write_digest
from extraction.offline.mend import mend
from extraction.offline.patterns import FAMILIES, questions
from extraction.offline.reading import message_text, read
from extraction.offline.retract import without_retracted
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim, Extraction


def answer(messages: Sequence[Mapping[str, object]]) -> Extraction:
    """Return the extraction for `messages` (chat-completions shape); a corrected one when they complain of an earlier.

    Raises:
        NoTranscriptError: there is no fenced transcript in them.
    """
    reading = read(messages)
    talk = Talk.of(reading)
    if reading.complaints:
        return mend(_earlier(messages) or _first(talk), reading.complaints, talk)
    return _first(talk)


def _first(talk: Talk) -> Extraction:
    found = (made for family in FAMILIES for made in family(talk))
    claims = questions.close(without_retracted(_distinct(found), talk), talk)
    digest, more = write_digest(talk, claims)
    return Extraction(claims=[*claims, *more], digest=digest)


def _distinct(found: Iterable[ExtractedClaim]) -> list[ExtractedClaim]:
    """Drop a claim that says what an earlier one says; of one key, the same text said again is one claim."""
    distinct: dict[str, ExtractedClaim] = {}
    for made in found:
        distinct.setdefault(made.text.casefold(), made)
    return list(distinct.values())


def _earlier(messages: Sequence[Mapping[str, object]]) -> Extraction | None:
    """Return the last answer that the messages hold, if it can be read."""
    for message in reversed(messages):
        if message.get("role") == "assistant":
            try:
                return Extraction.model_validate_json(message_text(message))
            except ValidationError:
                return None  # an answer that cannot be read is given anew
    return None
