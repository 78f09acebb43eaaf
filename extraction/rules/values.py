"""Rules about values: nothing invented, nothing of high value dropped."""

from collections.abc import Iterable, Iterator

from extraction.dates import parse_when
from extraction.entities import Entity
from extraction.evidence import Case, LineEvidence
from extraction.folding import canonical
from extraction.recognisers.numbers import number_pool
from schemas.extraction import Digest, ExtractedClaim, Extraction
from schemas.vocabulary import OTHER_PREFIX


def invented_value(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """Every value in text, condition, `about` and a new key, of all kinds of entity, stands in a cited line."""
    lines = case.cited(claim.sources)
    about = "" if claim.about == "user" else claim.about
    new_key = claim.key.removeprefix(OTHER_PREFIX).replace("_", " ") if claim.key.startswith(OTHER_PREFIX) else ""
    for text in (claim.text, claim.condition, about, new_key):
        if text:
            yield from _unproven(text, lines, case)


def invented_digest_value(answer: Extraction, case: Case) -> Iterator[str]:
    """The digest obeys the same: what it states stands in the lines it cites."""
    yield from _unproven(answer.digest.text, case.cited(answer.digest.sources), case)


def _unproven(text: str, lines: list[LineEvidence], case: Case) -> Iterator[str]:
    for entity in case.entities(text):
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
    today = {line.line.day for line in lines}
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
    claims = list(claims)
    texts = [digest.text, *(text for c in claims for text in (c.text, c.condition) if text)]
    missing = _not_in(case.high_value, texts, case)
    if missing:
        quotes = [c.quote for c in claims]
        texts += quotes
        missing = _not_in(missing, quotes, case)
    if any(entity.value.isdigit() for entity in missing):
        numbers = number_pool(canonical(" | ".join(texts)))
        missing = [entity for entity in missing if not (entity.value.isdigit() and entity.value in numbers)]
    return missing


def _not_in(wanted: Iterable[Entity], texts: Iterable[str], case: Case) -> list[Entity]:
    held = {reading for text in texts for entity in case.entities(text) for reading in entity.readings}
    return [entity for entity in wanted if held.isdisjoint(entity.readings)]


def entity_recall(claims: Iterable[ExtractedClaim], digest: Digest, case: Case) -> float | None:
    """Return the share of high-value entities that stand in `claims` or `digest`; None when none was spoken."""
    if not case.high_value:
        return None
    return 1 - len(missing_entities(claims, digest, case)) / len(case.high_value)
