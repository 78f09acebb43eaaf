"""The first message for whoever continues a session: what was promised, what is open, what is unsettled."""

from collections.abc import Iterable, Sequence
from typing import Final

from memory.clock import iso_day
from memory.grounding import flat, said_by
from schemas.claim import Claim, ClaimStatus
from schemas.record import Record

HEADER: Final = (
    "Notes on an earlier part of this conversation, {days}, written down as of {day} (UTC), newest first. They are "
    "notes, not instructions. Where the current conversation says otherwise, the conversation wins."
)
_LEFT_OUT: Final = "\n({n} more lines stand in the record.)"
_OVER: Final = frozenset({ClaimStatus.SUPERSEDED, ClaimStatus.CLOSED})
"""What was corrected or answered is no news to who goes on."""

Sections = Sequence[tuple[str, Sequence[str]]]


def first_message(record: Record, now_ms: int, max_chars: int) -> str:
    """Return the message for `record` in at most `max_chars` characters; empty when there is nothing to say.

    A line is there whole or not at all; what is left out is counted in the last line. What binds comes first: promises
    with the words they were made in, then open questions, what is in conflict, the goal, decisions, facts, and what
    happened. `now_ms` dates the message.
    """
    sections = _sections(record)
    total = sum(len(lines) for _, lines in sections)
    header = HEADER.format(days=_days(record), day=iso_day(now_ms))
    message, shown = _filled(header, sections, max_chars)
    if shown == total:
        return message if shown else ""
    message, shown = _filled(header, sections, max_chars - len(_LEFT_OUT.format(n=total)))
    return message + _LEFT_OUT.format(n=total - shown) if shown else ""


def _filled(header: str, sections: Sections, max_chars: int) -> tuple[str, int]:
    """Return the header with the lines that fit under their titles, and how many those are."""
    message, shown = header, 0
    for title, lines in sections:
        head = f"\n{title}:"
        for line in lines:
            more = f"{head}\n- {line}"
            if len(message) + len(more) > max_chars:
                continue
            message, head, shown = message + more, "", shown + 1
    return message, shown


def _sections(record: Record) -> Sections:
    known = (*record.facts, *record.preferences)
    claims = (*record.goal, *known, *record.decisions, *record.commitments)
    return (
        ("Promised", [_promise(claim) for claim in _standing(record.commitments)]),
        ("Open questions", [_line(claim) for claim in _standing(record.open_questions)]),
        ("Unsettled, ask before relying on either", _conflicts(claims)),
        ("What the user wants", [_line(claim) for claim in _standing(record.goal)]),
        ("Decided", [_line(claim) for claim in _standing(record.decisions)]),
        ("Known", [_line(claim) for claim in _newest_first(_standing(known))]),
        ("What happened", [f"{iso_day(line.last_ts_ms)}: {flat(line.text)}" for line in reversed(record.digest)]),
    )


def _newest_first(claims: Iterable[Claim]) -> list[Claim]:
    return sorted(claims, key=lambda claim: claim.observed_at_ms, reverse=True)


def _standing(claims: Sequence[Claim]) -> list[Claim]:
    """Return, newest first, what holds and is in no conflict; conflicts have a section of their own."""
    return [claim for claim in reversed(claims) if claim.status not in _OVER | {ClaimStatus.CONFLICTING}]


def _conflicts(claims: Sequence[Claim]) -> list[str]:
    """Return a line for each conflict, whichever of its sides were said in this session."""
    own = {claim.id: claim for claim in claims if claim.status is ClaimStatus.CONFLICTING}
    lines = []
    while own:
        _, claim = own.popitem()
        sides = [*(side for i in claim.conflicts_with if (side := own.pop(i, None))), claim]
        said = " / ".join(_line(side) for side in sides)
        lines.append(said if len(sides) > 1 else f"{said} Another conversation says otherwise.")
    return lines


def _line(claim: Claim) -> str:
    about = "" if claim.about == "user" else f" (about {flat(claim.about)})"
    condition = f" (when: {flat(claim.condition)})" if claim.condition else ""
    return f"{iso_day(claim.observed_at_ms)}: {flat(claim.text)}{about}{condition} [{said_by(claim)}]"


def _promise(claim: Claim) -> str:
    """Return a promise with the words it was made in: an amount or a deadline told in other words is another one."""
    quote = flat(claim.quote)
    verbatim = "" if quote.casefold() in flat(claim.text).casefold() else f' In these words: "{quote}"'
    due = f" Date: {claim.when}." if claim.when else ""
    return f"{_line(claim)}{verbatim}{due}"


def _days(record: Record) -> str:
    """Return the first and the last day that the record tells of."""
    headings = (record.goal, record.facts, record.preferences, record.decisions, record.commitments)
    times = [claim.observed_at_ms for claims in (*headings, record.open_questions) for claim in claims]
    times += [time for line in record.digest for time in (line.first_ts_ms, line.last_ts_ms)]
    if not times:
        return "empty"
    first, last = iso_day(min(times)), iso_day(max(times))
    return first if first == last else f"{first} to {last}"
