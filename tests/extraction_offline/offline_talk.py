"""Requests as the extractor sends them, made from lines of speech."""

from collections.abc import Sequence

from extraction.offline.model import answer
from schemas.extraction import ExtractedClaim, Extraction

DAY = "2026-03-14 Saturday"
NONCE = "5eed5eed"


def user_message(*lines: str, record: Sequence[str] = (), day: str = DAY) -> str:
    """Return the user message of a request whose transcript holds `lines` (`author: text`)."""
    shown = "\n".join(f"[{n}] {line}" for n, line in enumerate(lines, 1))
    context = "\n".join(["Record so far:", *(f"r{n} {note}" for n, note in enumerate(record, 1)), "", ""])
    fenced = f"Transcript {NONCE}:\n== {day} ==\n{shown}\nEnd of transcript {NONCE}"
    return (context if record else "") + fenced


def request(*lines: str, record: Sequence[str] = (), day: str = DAY) -> list[dict[str, object]]:
    """Return the messages of a first request."""
    return [
        {"role": "system", "content": "instructions and vocabulary"},
        {"role": "user", "content": user_message(*lines, record=record, day=day)},
    ]


def extract(*lines: str, record: Sequence[str] = (), day: str = DAY) -> Extraction:
    """Return what the model makes of `lines`."""
    return answer(request(*lines, record=record, day=day))


def claims(*lines: str, key: str = "", record: Sequence[str] = ()) -> list[ExtractedClaim]:
    """Return the claims under `key`, or all."""
    return [one for one in extract(*lines, record=record).claims if not key or one.key == key]


def texts(*lines: str, key: str = "") -> list[str]:
    """Return the texts of the claims under `key`, or of all."""
    return [one.text for one in claims(*lines, key=key)]
