"""From the messages of a request to what the offline model works on: lines, notes of the record, complaints.

Everything the model knows comes through here, as text, exactly as a hosted model would receive it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from extraction.disclosure import Said, SpokenSecrets

_FENCE: Final = re.compile(r"^Transcript (?P<nonce>\S+):\n(?P<body>.*?)^End of transcript (?P=nonce)$", re.M | re.S)
_DAY: Final = re.compile(r"^== (\d{4}-\d\d-\d\d)\b")
_NOTE: Final = re.compile(
    r"^(?P<label>r\d+) \[(?P<kind>\w+)\] (?P<key>\S+) \| about (?P<about>[^|]*) \| (?P<text>.*)$", re.M
)
_LINE: Final = re.compile(r"\[(\d+)\] ([^\[\]():<>!]*?)(?: \(([^()]*)\))?(: | ! | -> | <- )(.*)")
_TOOLS: Final = re.compile(r" -> [^\[\]():<>!]+\((?=[{)])| <- [^\[\]():<>!]+: ")
_PROBLEM: Final = re.compile(r"^- ([\w.-]+): (.*)$", re.M)


class NoTranscriptError(ValueError):
    """No message of the request holds a fenced transcript, so there is nothing to extract from."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the transcript.

    `text` is what was said, every secret of the transcript masked; `day` is the UTC day it was said on.
    """

    n: int
    day: date | None
    author: str
    speaker: str
    text: str

    @property
    def is_user(self) -> bool:
        """Whether the user that the memory is about said it."""
        return self.author == "user" and not self.speaker

    @property
    def is_agent(self) -> bool:
        """Whether an agent said it."""
        return self.author != "user"


@dataclass(frozen=True, slots=True)
class Note:
    """One line of the record so far, by its label (`r1`)."""

    label: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """One rule that the earlier answer broke, as the retry message names it."""

    rule: str
    detail: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A request, read."""

    lines: tuple[Line, ...]
    notes: tuple[Note, ...]
    complaints: tuple[Complaint, ...]


def read(messages: Sequence[Mapping[str, object]]) -> Reading:
    """Return what `messages` (chat-completions shape) hold.

    Raises:
        NoTranscriptError: there is no fenced transcript in any user message.
    """
    said = [message_text(message) for message in messages if message.get("role") == "user"]
    for index, text in enumerate(said):
        if fence := _FENCE.search(text):
            notes = tuple(Note(m["label"], m["kind"], m["text"]) for m in _NOTE.finditer(text, 0, fence.start()))
            complaints = (Complaint(*m.groups()) for later in said[index + 1 :] for m in _PROBLEM.finditer(later))
            return Reading(tuple(_lines(fence["body"])), notes, tuple(complaints))
    msg = "no user message holds a transcript between `Transcript <nonce>:` and `End of transcript <nonce>`"
    raise NoTranscriptError(msg)


def message_text(message: Mapping[str, object]) -> str:
    """Return the text of a message, whether its content is a string or a list of text parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _lines(body: str) -> Iterator[Line]:
    day = None
    lines: list[Line] = []
    said: list[Said] = []
    for row in body.split("\n"):
        if header := _DAY.match(row):
            day = date.fromisoformat(header[1])
        elif shown := _LINE.fullmatch(row):
            n, author, speaker, mark, rest = shown.groups()
            text, shows = (rest, "") if mark == ": " else ("", rest)
            if author != "user" and (tools := _TOOLS.search(text)):
                text, shows = text[: tools.start()], text[tools.start() :]
            lines.append(Line(int(n), day, author, speaker or "", text))
            said.append(Said(int(n), author == "user", text, tuple(piece for piece in (text, shows) if piece)))
    secrets = SpokenSecrets.told(said)
    for line, masked in zip(lines, secrets.masked, strict=True):
        yield replace(line, text=secrets.hide_in(masked))
