"""Slices of the real dialogues (STAR), as many times over as are asked for, and claims that are true elsewhere."""

import gzip
import random
import re
from collections.abc import Mapping, Sequence
from itertools import islice

import msgspec

from bench.fault_model.record import Told
from bench.star_topic import data_file
from extraction.offline.model import answer
from extraction.prompt import user_text
from extraction.transcript import build_transcript
from operators.decode import Found, decode_message
from schemas.events import Event
from schemas.message import Message
from schemas.scope import Scope
from schemas.settings import Settings
from schemas.slice import Slice, SliceReason

_POOL_SLICES = 400
"""At most so many slices give claims that are true elsewhere: enough for others to find one they say nothing of."""

_UNDATED_MS = 1_590_969_600_000
"""2020-06-01: the time of events that state none, which follow each other by a second as they stand in the file."""


def dialogues(count: int) -> list[Slice]:
    """Return `count` slices, each a whole session; from the second round on the sessions have other names.

    Raises:
        DataMissing: the file of dialogues is not there.
    """
    settings = Settings().decode
    sessions: dict[tuple[Scope, str], list[Event]] = {}
    with gzip.open(data_file()) as lines:
        for offset, line in enumerate(lines):
            now_ms = _UNDATED_MS + offset * 1000
            for found in decode_message(Message(line.rstrip(), "star", 0, offset), settings, now_ms).found:
                if isinstance(found, Found) and found.event is not None:
                    sessions.setdefault((found.scope, found.session_id), []).append(found.event)
    whole = [
        Slice(scope, session, SliceReason.CLOSED, 0, tuple(sorted(events, key=lambda one: one.ts_ms)))
        for (scope, session), events in sessions.items()
    ]
    rounds = -(-count // len(whole))
    named = (
        msgspec.structs.replace(one, session_id=f"{one.session_id}-{turn}") for turn in range(rounds) for one in whole
    )
    return list(islice(named, count))


def pool(slices: Sequence[Slice], rng: random.Random) -> dict[Scope, list[Told]]:
    """Return true claims without values, by the user of whom they are true, of some of `slices`.

    They hold no digit: a claim of somebody else must be caught for being somebody else's.
    """
    found: dict[Scope, list[Told]] = {}
    for piece in rng.sample(slices, min(_POOL_SLICES, -(-len(slices) // 4))):
        transcript = build_transcript(piece)
        for one in answer([{"role": "user", "content": user_text("", transcript.text)}]).claims:
            if not re.search(r"\d", one.text + one.quote) and one.sources:
                told = Told(one.text, one.quote, one.sources[0], one.kind, one.key, one.about)
                found.setdefault(piece.scope, []).append(told)
    return found


def elsewhere(
    piece: Slice, claims: Mapping[Scope, list[Told]], rng: random.Random, tries: int = 6
) -> tuple[list[Told], list[Told]]:
    """Return claims of the same user (else of another) from another session, and some of other users.

    Some may be said in `piece`, too; the server looks at its transcript before it takes one.
    """
    others = [scope for scope in rng.sample(list(claims), min(tries, len(claims))) if scope != piece.scope]
    strange = [rng.choice(claims[scope]) for scope in others]
    return (claims.get(piece.scope) or strange), strange
