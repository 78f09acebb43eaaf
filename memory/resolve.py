"""What stands, what was superseded, what says the same, what conflicts: a pure function of the set of claims.

Status is derived and never edited by hand, so a bank is the same whatever order, however often and in however many
pieces its claims arrived. Time that passes changes nothing here: expiry and ageing are applied when reading.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from msgspec.structs import replace

from memory.rows import DAY_MS, Contents
from schemas.claim import Claim, ClaimStatus
from schemas.settings import Settings
from schemas.vocabulary import Key, Vocabulary

Order = tuple[int, str, tuple[str, ...], str, str]
Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class Rules:
    """What `resolve` needs of the settings; the window is milliseconds, the confidence a number from 0 to 1."""

    vocabulary: Vocabulary
    conflict_window_ms: float
    conflict_confidence: float

    @classmethod
    def of(cls, settings: Settings) -> "Rules":
        """Return the rules of a deployment."""
        read = settings.read
        return cls(settings.keys(), read.conflict_window_days * DAY_MS, read.conflict_confidence)


@lru_cache(maxsize=65_536)
def normalised(text: str) -> str:
    """Return `text` as it is compared: NFKC, case-folded, one space between words, no "the" and no end mark."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(word for word in folded.split() if word != "the").rstrip(".!?。！？ ")


def order(claim: Claim) -> Order:
    """Return the claim's place in time: evidence first, never arrival. The id makes the order total."""
    return (claim.observed_at_ms, claim.session_id, claim.sources, claim.text, claim.id)


def place(claim: Claim, vocabulary: Vocabulary) -> Place:
    """Return where a claim meets others: its key, whom it is about, its condition, and its session where that counts.

    What happened in one session is not said again by the same words in another: a second flight was booked.
    """
    session_id = claim.session_id if vocabulary.entry(claim.key, claim.kind).meets == "session" else ""
    return (claim.key, normalised(claim.about), normalised(claim.condition or ""), session_id)


@dataclass(frozen=True)
class _Derived:
    status: ClaimStatus = ClaimStatus.ACTIVE
    superseded_by: str | None = None
    conflicts_with: tuple[str, ...] = ()
    merged_into: str | None = None
    mentions: int = 1


def resolve(claims: Iterable[Claim], rules: Rules) -> list[Claim]:
    """Return the claims with their derived fields set, in order of `order`. The derived fields given are ignored.

    All claims of a scope belong in one call: a claim that closes a question need not share its key.
    """
    ordered = sorted(claims, key=order)
    closers = _closers(ordered)
    groups: defaultdict[Place, list[Claim]] = defaultdict(list)
    for claim in ordered:
        groups[place(claim, rules.vocabulary)].append(claim)
    derived: dict[str, _Derived] = {}
    for group in groups.values():
        derived.update(_resolve_group(group, rules, closers))
    return [_with(claim, derived[claim.id]) for claim in ordered]


def resolved(contents: Contents, rules: Rules) -> Contents:
    """Return `contents` with its claims resolved."""
    return Contents({claim.id: claim for claim in resolve(contents.claims.values(), rules)}, contents.episodes)


def _with(claim: Claim, derived: _Derived) -> Claim:
    """Return `claim` with its derived fields; the very same object when nothing changes."""
    now = (claim.status, claim.superseded_by, claim.conflicts_with, claim.merged_into, claim.mentions)
    then = (derived.status, derived.superseded_by, derived.conflicts_with, derived.merged_into, derived.mentions)
    if now == then:
        return claim
    return replace(
        claim,
        status=derived.status,
        superseded_by=derived.superseded_by,
        conflicts_with=derived.conflicts_with,
        merged_into=derived.merged_into,
        mentions=derived.mentions,
    )


def _closers(ordered: list[Claim]) -> dict[tuple[str, str], list[Claim]]:
    """Return the claims that close something, by session and the event that asked."""
    closers: defaultdict[tuple[str, str], list[Claim]] = defaultdict(list)
    for claim in ordered:
        if claim.closes is not None:
            closers[claim.session_id, claim.closes].append(claim)
    return closers


def _resolve_group(
    group: list[Claim], rules: Rules, closers: dict[tuple[str, str], list[Claim]]
) -> dict[str, _Derived]:
    """Resolve claims of one place, which come in order.

    Step 1: of claims with one value the newest stands for all.
    Step 2: values that a later claim closed leave the field.
    Step 3: of what is left, all stand (many values) but those that a later claim corrected, or the newest does, or
    several do that contradict each other.
    """
    entry = rules.vocabulary.entry(group[0].key, group[0].kind)
    values: defaultdict[str, list[Claim]] = defaultdict(list)
    for claim in group:
        values[normalised(claim.text)].append(claim)
    newest = {value: members[-1] for value, members in values.items()}
    derived = {
        claim.id: _Derived(ClaimStatus.MERGED, merged_into=newest[value].id)
        for value, members in values.items()
        for claim in members[:-1]
    }
    closed = {value: by for value, members in values.items() if (by := _closed_by(members, closers))}
    open_claims = [claim for claim in group if normalised(claim.text) not in closed]
    standing = _standing(open_claims, entry, rules)
    stay = {value: members for value, members in values.items() if value not in closed}
    corrected = _corrected(stay) if entry.values == "many" else {}
    for value, claim in newest.items():
        mentions = len(values[value])
        if value in closed:
            derived[claim.id] = _Derived(ClaimStatus.CLOSED, superseded_by=closed[value], mentions=mentions)
        elif value in corrected:
            by = newest[corrected[value]].id
            derived[claim.id] = _Derived(ClaimStatus.SUPERSEDED, superseded_by=by, mentions=mentions)
        else:
            derived[claim.id] = _state_of(value, standing, newest, mentions)
    return derived


def _state_of(value: str, standing: list[str], newest: dict[str, Claim], mentions: int) -> _Derived:
    if standing == [value] or not standing:
        return _Derived(mentions=mentions)
    if value in standing and len(standing) > 1:
        others = tuple(newest[other].id for other in standing if other != value)
        return _Derived(ClaimStatus.CONFLICTING, conflicts_with=others, mentions=mentions)
    last = max((newest[other] for other in standing), key=order)
    return _Derived(ClaimStatus.SUPERSEDED, superseded_by=last.id, mentions=mentions)


def _closed_by(members: list[Claim], closers: dict[tuple[str, str], list[Claim]]) -> str | None:
    """Return the id of the claim that closes a question: it names an event that a member cites, and is not older.

    A question that was asked again after it was answered is open again.
    """
    last = members[-1]
    if last.kind != "open_question" or not closers:
        return None
    ids = {member.id for member in members}
    found = [
        closer
        for member in members
        for source in member.sources
        for closer in closers.get((member.session_id, source), ())
        if closer.id not in ids and closer.observed_at_ms >= last.observed_at_ms
    ]
    return min(found, key=order).id if found else None


def _corrected(values: dict[str, list[Claim]]) -> dict[str, str]:
    """Return the values that later ones of the same place took back, each with the value that stands for it.

    A correction says so (`change`) and names an event that the value rests on. Where several values rest on that event
    nobody knows which is meant, and all stand.
    """
    found: dict[str, str] = {}
    changes = [(claim, value) for value, members in values.items() for claim in members if claim.change]
    for change, value in sorted(changes, key=lambda pair: order(pair[0])):
        meant = [
            other
            for other, members in values.items()
            if other != value and any(c.session_id == change.session_id and change.closes in c.sources for c in members)
        ]
        if len(meant) == 1 and order(values[meant[0]][-1]) < order(change):
            found = {old: value if by == meant[0] else by for old, by in found.items()} | {meant[0]: value}
    return found


def _standing(claims: list[Claim], entry: Key, rules: Rules) -> list[str]:
    """Return the values that stand at the end, oldest first; empty says that all do (a key of many values)."""
    if entry.values == "many":
        return []
    standing: dict[str, Claim] = {}
    for claim in claims:
        value = normalised(claim.text)
        if _contradicts(standing, value, claim, entry, rules):
            standing[value] = claim
        else:
            standing = {value: claim}
    return list(standing)


def _contradicts(standing: dict[str, Claim], value: str, claim: Claim, entry: Key, rules: Rules) -> bool:
    """Say whether `claim` stands beside what stood before it, instead of in its place.

    A conflict is between two values; a claim of a later time settles it, one of the same time joins it.
    """
    if not entry.may_conflict or claim.change or not standing:
        return False
    latest = max(other.observed_at_ms for other in standing.values())
    if value in standing:
        return len(standing) > 1 and claim.observed_at_ms == latest
    if len(standing) > 1 and claim.observed_at_ms > latest:
        return False
    return all(
        claim.observed_at_ms - other.observed_at_ms <= rules.conflict_window_ms
        and min(claim.confidence, other.confidence) >= rules.conflict_confidence
        for other in standing.values()
    )
