"""The digest: what was asked, what came of it, and every value of high worth that no claim holds."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from extraction.entities import find_entities
from extraction.folding import normalise
from extraction.offline.language import Sentence
from extraction.offline.reading import Line
from extraction.offline.talk import Talk
from extraction.planting import addressed
from extraction.secrecy import MASK
from schemas.extraction import Digest, ExtractedClaim

HIGH_VALUE: Final = ("identifier", "amount", "email")
"""The kinds of entity that must not be lost."""

_OUTCOME: Final = re.compile(
    r"\b(?:booked|reserved|confirmed|scheduled|cancell?ed|submitted|updated|shipped|refund\w*|delivered|completed|deployed|unavailable|unable|unsuccessful|"
    r"no (?:room|table|viewing|flights?)|not (?:successful|available|able)|failed|will (?:contact|send|call|be)"
    r"|is late|balance is|noted)\b",
    re.I,
)
_GREETING: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|there|good (?:morning|afternoon|evening)|yes|no|ok|okay|please|thanks|thank you|bye"
    r"|goodbye|can you help(?: me)?|i need help|help(?: me)?)\b\W*)*$",
    re.I,
)
_MAX_PART: Final = 200
MAX_MENTIONS: Final = 500
"""Characters of the list of values; what does not fit goes into claims of its own."""


def write_digest(talk: Talk, claims: Sequence[ExtractedClaim]) -> tuple[Digest, list[ExtractedClaim]]:
    """Return the digest, and claims for the values that neither `claims` nor it have room for."""
    said = [one for one in (_asked(talk, claims), _outcome(talk)) if one]
    parts, sources = [text for text, _ in said], [n for _, n in said]
    missing = missing_values(talk.reading.lines, " | ".join([*parts, *_kept(claims)]))
    listed: list[tuple[str, Line]] = []
    overflow: list[tuple[str, Line]] = []
    for raw, line in missing:
        (listed if sum(len(known) + 2 for known, _ in listed) + len(raw) < MAX_MENTIONS else overflow).append(
            (raw, line)
        )
    if listed:
        parts.append(f"Mentioned: {', '.join(raw for raw, _ in listed)}.")
        sources += [line.n for _, line in listed]
    if not parts:
        parts, sources = [_nothing(talk)], [line.n for line in talk.reading.lines[:1]]
    return Digest(text=" ".join(parts), sources=sorted(set(sources))), [_mention(raw, line) for raw, line in overflow]


def missing_values(lines: Iterable[Line], kept: str) -> list[tuple[str, Line]]:
    """Return each value of high worth spoken in `lines` that `kept` does not hold, as written, with its first line."""
    held = {(one.kind, one.value) for one in find_entities(kept)}
    missing = []
    for line in lines:
        for one in find_entities(line.text):
            if one.kind in HIGH_VALUE and (one.kind, one.value) not in held:
                held.add((one.kind, one.value))
                missing.append((_as_written(one.raw, line), line))
    return missing


def _as_written(raw: str, line: Line) -> str:
    """A short number is an identifier only by the word before it ("order 402"), so it is listed with that word."""
    if (
        raw.isdigit()
        and len(raw) < 5
        and (found := re.search(rf"[^\s,.;!?]+(?: (?:number|no|id|is|code))*[\s:.#]*{raw}\b", line.text))
    ):
        return found[0]
    return raw


def _kept(claims: Iterable[ExtractedClaim]) -> list[str]:
    return [f"{one.text} | {one.condition or ''} | {one.quote}" for one in claims]


def _asked(talk: Talk, claims: Sequence[ExtractedClaim]) -> tuple[str, int] | None:
    goal = next((one for one in claims if one.key == "session.goal"), None)
    if goal:
        return goal.text, goal.sources[-1]
    said = next((s for s in talk.users_own if _is_telling(s)), None)
    return (f'The user said: "{_shortened(said.text)}".', said.line.n) if said else None


def _is_telling(sentence: Sentence) -> bool:
    if _GREETING.match(sentence.text) or len(sentence.text.split()) < 2 or MASK in sentence.text:
        return False
    return not addressed(normalise(sentence.text))


def _outcome(talk: Talk) -> tuple[str, int] | None:
    said: Sentence | None = None
    for sentence in reversed(talk.agent_side):
        if not sentence.is_question and MASK not in sentence.text and _OUTCOME.search(sentence.text):
            said = sentence
            break
    return (f'The agent said: "{_shortened(said.text)}".', said.line.n) if said else None


def _nothing(talk: Talk) -> str:
    sides = {
        "the user" if line.is_user else "somebody else" if line.speaker else "the agent"
        for line in talk.reading.lines
        if line.text
    }
    who = " and ".join(sorted(sides, reverse=True)) or "the agent"
    return f"{who[0].upper()}{who[1:]} exchanged nothing to keep."


def _shortened(text: str) -> str:
    text = text.rstrip(". ")
    return text if len(text) <= _MAX_PART else f"{text[:_MAX_PART].rsplit(' ', 1)[0]} ..."


def _mention(raw: str, line: Line) -> ExtractedClaim:
    who = "The user" if line.is_user else line.speaker or "The agent"
    return ExtractedClaim(
        kind="fact",
        key="other.mentioned",
        about="user",
        text=f"{who} mentioned {raw}.",
        sources=[line.n],
        quote=raw,
        confidence=0.6,
        durable=False,
    )
