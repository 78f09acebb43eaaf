"""Where the user's systems run."""

from collections.abc import Iterator
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, is_change
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

REGION: Final = (
    r"(?P<region>(?:eu|us|ap|sa|ca|me|af|il|asia|europe|northamerica|southamerica|australia|us-gov"
    r"|cn)-(?:north|south|east|west|central|northeast|southeast|northwest|southwest)(?:-?\d[a-z]?)?)\b"
)
_SERVICE: Final = r"(?P<service>(?:[\w-]+[-_]\w+|[A-Za-z]\w*))"
_OURS: Final = compiled(
    rf"\b(?:we|I|our (?:[\w-]+ ){{0,3}}[\w-]+|my (?:[\w-]+ ){{0,3}}[\w-]+) (?:now |currently |always |only |also )*"
    r"(?:deploy|run|host|are hosted|is hosted|runs|lives?|sits?|are running|is running|is|are|moved|have moved"
    rf"|migrated|switched)(?: everything| it all| all)?(?: now)? (?:to|in|on|from \S+ to) (?:the )?(?:\w+ )?{REGION}"
)
_REGION_IS: Final = compiled(rf"\b(?:our|my) (?:[\w-]+ ){{0,2}}region is (?:now )?{REGION}")
_DEPLOYED: Final = compiled(rf"\b(?:deployed|migrated|moved) {_SERVICE} to {REGION}")
_RUNS: Final = compiled(
    rf"\b(?P<service>[\w-]+[-_]\w+) (?:runs|is running|is deployed|is hosted|now runs) (?:in|on|to) {REGION}"
)


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield where things run: as the user says of their own, as the agent says it has deployed."""
    for sentence in talk.all:
        if sentence.line.speaker:
            continue
        if sentence.line.is_user:
            yield from _own(sentence)
        done = _DEPLOYED.search(sentence.text) or _RUNS.search(sentence.text)
        if done and sentence.asserts(done) and not _OURS.search(sentence.text):
            text = f"{done['service']} runs in {done['region']}."
            change = bool(_DEPLOYED.search(sentence.text))
            made = claim(
                sentence,
                "fact",
                "deployment.region",
                text,
                match=done,
                about=done["service"],
                confidence=0.85,
                change=change,
            )
            if made:
                yield made


def _own(sentence: Sentence) -> Iterator[ExtractedClaim]:
    for regex in (_OURS, _REGION_IS):
        for match in regex.finditer(sentence.text):
            if not sentence.asserts(match):
                continue
            text = f"The user's system runs in {match['region']}."
            change = is_change(sentence, match) or "migrated" in match[0] or "moved" in match[0]
            if made := claim(sentence, "fact", "deployment.region", text, match=match, confidence=0.9, change=change):
                yield made
