"""Rules about values: nothing invented, nothing of high value dropped."""

from collections.abc import Iterable, Iterator

from extraction.dates import parse_when
from extraction.entities import Entity, find_entities, number_pool
from extraction.evidence import Case, LineEvidence
from extraction.transcript import day_of
from schemas.extraction import Digest, ExtractedClaim, Extraction


def invented_value(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """Every id, amount, date, number, phone and e-mail in text and condition stands in a cited line."""
    lines = case.cited(claim.sources)
    for text in (claim.text, claim.condition or "", claim.about):
        yield from _unproven(text, lines)


def invented_digest_value(answer: Extraction, case: Case) -> Iterator[str]:
    """The digest obeys the same: what it states stands in the lines it cites."""
    yield from _unproven(answer.digest.text, case.cited(answer.digest.sources))


def _unproven(text: str, lines: list[LineEvidence]) -> Iterator[str]:
    for entity in find_entities(text):
        if not any(line.proves(entity) for line in lines):
            yield (
                f'the {entity.kind} "{entity.raw}" does not stand in the cited lines '
                f"{[line.line.ordinal for line in lines]}; cite the line that states it, or leave it out"
            )


def invented_when(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """`when` is said in a cited line, or follows from a relative expression there and that event's own day.

    A range may also begin or end on the day of a cited event ("until Friday").
    """
    said = parse_when(claim.when) if claim.when is not None else None
    if said is None:
        return
    lines = case.cited(claim.sources)
    spoken = {interval for line in lines for interval in line.intervals}
    if said in spoken:
        return
    ends = {day for interval in spoken for day in interval}
    today = {day_of(line.line.event.ts_ms) for line in lines}
    if said[0] != said[1] and not ends.isdisjoint(said) and (ends | today).issuperset(said):
        return
    yield (
        f'when "{claim.when}" neither stands in the cited lines nor follows from their words and dates; '
        "use null if no date is said"
    )


def dropped_entity(answer: Extraction, case: Case) -> Iterator[str]:
    """Every value of high worth that was spoken stands in some claim or the digest."""
    for entity in missing_entities(answer.claims, answer.digest, case):
        yield f'the {entity.kind} "{entity.raw}" was said but stands in no claim and not in the digest'


def missing_entities(claims: Iterable[ExtractedClaim], digest: Digest, case: Case) -> list[Entity]:
    """Return the high-value entities of the transcript that neither `claims` nor `digest` hold."""
    if not case.high_value:
        return []
    kept = " | ".join([digest.text, *(f"{c.text} | {c.condition or ''} | {c.quote}" for c in claims)])
    values = {(entity.kind, entity.value) for entity in find_entities(kept)}
    numbers = number_pool(kept)
    return [
        entity
        for entity in case.high_value
        if (entity.kind, entity.value) not in values and not (entity.value.isdigit() and entity.value in numbers)
    ]


def entity_recall(claims: Iterable[ExtractedClaim], digest: Digest, case: Case) -> float | None:
    """Return the share of high-value entities that stand in `claims` or `digest`; None when none was spoken."""
    if not case.high_value:
        return None
    return 1 - len(missing_entities(claims, digest, case)) / len(case.high_value)
