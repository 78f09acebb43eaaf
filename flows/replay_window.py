"""Which slices one replay feeds back: the next letters of a box, each slice once, oldest first.

The window is the next letters until `limit` slices are in it. What stands behind it is looked through as well, though
not kept: of several letters of one slice the newest counts, and a letter in the window that has a newer one behind it
is left to that one. So at most `limit` slices are held, and of those that are given up what `Listed` says.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from operators.dead_letter import RejectedSlice
from operators.letters import Found
from schemas.scope import Scope
from schemas.slice import Slice


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One slice for people: where its newest letter stands, whose it is, and why it was set aside.

    `reason` is the last rule it broke, or what the provider said.
    """

    where: str
    scope: Scope
    session_id: str
    slice_id: str
    first_ts_ms: int
    attempts: int
    reason: str


@dataclass
class Window:
    """What was read. `letters` = `len(faults)` + `older` + `others` + `len(given_up)` + `len(slices)`.

    `slices` are those to feed back, oldest first, and `attempts` how often each was put to the model before, by id.
    `older` counts letters that a newer one of their slice replaces, `others` those of other scopes or sessions than
    were asked for, `left` the letters behind the window. `faults` name the place of what is no letter, and say why.
    `positions` are where the next window begins.
    """

    letters: int = 0
    older: int = 0
    others: int = 0
    left: int = 0
    faults: list[str] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=dict)
    chosen: list[Listed] = field(default_factory=list)
    given_up: list[Listed] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)


def window_of(
    found: Iterable[Found], limit: int, max_attempts: int, wanted: Callable[[Slice], bool] = lambda piece: True
) -> Window:
    """Return the window of the letters `found`: at most `limit` slices, all `wanted`, none that had `max_attempts`."""
    window = Window()
    chosen: dict[str, tuple[str, RejectedSlice]] = {}
    given_up: dict[str, Listed] = {}
    full = False
    for one in found:
        if one.letter is None:
            key = ""
        elif wanted(one.letter.slice):
            key = one.letter.slice.id
            if chosen.pop(key, None) or given_up.pop(key, None):
                window.older += 1
            full = full or (len(chosen) == limit and one.letter.attempts < max_attempts)
        if full:
            window.left += 1
            continue
        window.letters += 1
        part, window.positions[part] = one.after[0], one.after[1]
        if one.letter is None:
            window.faults.append(f"{one.where}: {one.fault}")
        elif not wanted(one.letter.slice):
            window.others += 1
        elif one.letter.attempts < max_attempts:
            chosen[key] = (one.where, one.letter)
        else:
            given_up[key] = listed(one.where, one.letter)
    for where, letter in sorted(chosen.values(), key=lambda pair: _age(pair[1].slice)):
        window.slices.append(letter.slice)
        window.attempts[letter.slice.id] = letter.attempts
        window.chosen.append(listed(where, letter))
    window.given_up = sorted(given_up.values(), key=lambda one: (one.first_ts_ms, one.slice_id))
    return window


def listed(where: str, letter: RejectedSlice) -> Listed:
    """Return a letter as it is shown to people."""
    piece, outcome = letter.slice, letter.outcome
    return Listed(
        where=where,
        scope=piece.scope,
        session_id=piece.session_id,
        slice_id=piece.id,
        first_ts_ms=piece.first_ts_ms,
        attempts=letter.attempts,
        reason=outcome.error or (outcome.problems[-1].rule if outcome.problems else ""),
    )


def _age(piece: Slice) -> tuple[int, str, str, int, str]:
    return piece.first_ts_ms, piece.scope.key(), piece.session_id, piece.seq, piece.id
