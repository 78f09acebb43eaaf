"""What does not work for the user."""

from collections.abc import Iterator
from typing import Final

from extraction.entities import find_entities
from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, points_back, retold
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

_BROKEN: Final = compiled(
    r"\b(?:my|our|the) (?:[\w'’-]+ ){0,3}?[\w'’-]+ (?:(?:is|are|was|seems?)(?: still| now| completely)? (?:broken"
    r"|leaking|stuck|missing|not working|out of order|crashing|frozen|too slow|dead)\b"
    r"|(?:isn['’]t|is not|aren['’]t|doesn['’]t|does not|don['’]t|won['’]t|will not)(?: even)? (?:work|working"
    r"|start|starting|turn on|connect|load|loading|open|charge|charging|boot|respond|responding)\b"
    r"|(?:keeps|keep) (?:crashing|failing|freezing|dropping|disconnecting|restarting)\b|(?:stopped"
    r"|has stopped) working\b)"
)
_CANNOT: Final = compiled(
    r"\bI (?:can['’]t|cannot|can not|am unable to|am not able to|still can['’]t) (?:log ?in|log into|sign in"
    r"|sign into|access|connect|open|reach|get into|reset|download|upload|install|print|pay with|unlock)\b"
)
_LOST: Final = compiled(
    r"\bI(?:['’]ve| have)?(?: just| also| recently)? (?:lost|misplaced) my (?:[\w-]+ ){0,2}(?:card|wallet|phone"
    r"|keys?|passport|luggage|bag|ticket|password|laptop|key card)\b"
)
_ROBBED: Final = compiled(
    r"\b(?:someone|somebody)(?:['’]s| has| have)? (?:\w+ )?(?:stole|stolen|took|taken|transferr?ed|withdrew"
    r"|withdrawn|been (?:stealing|taking|using)|used|hacked)\b"
)
_SUSPICIOUS: Final = compiled(
    r"\b(?:there(?:['’]s| is| has been| have been| was)|I(?:['’]ve| have)? (?:noticed|seen|see)) (?:some "
    r"|a lot of |been )?suspicious (?:behaviou?r|activity|charges?|transactions?)\b"
)
_ALL: Final = (_BROKEN, _CANNOT, _LOST, _ROBBED, _SUSPICIOUS)


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield troubles that the user reports. One that names an order or ticket is kept with that."""
    for sentence in talk.users_own:
        if made := _trouble(sentence):
            yield made


def _trouble(sentence: Sentence) -> ExtractedClaim | None:
    for regex in _ALL:
        match = regex.search(sentence.text)
        if match and sentence.asserts(match) and not _has_identifier(sentence):
            text = retold(sentence) or retold(sentence, match)
            if text and points_back(text):
                return None
            return claim(sentence, "fact", "problem", text, match=match, confidence=0.8)
    return None


def _has_identifier(sentence: Sentence) -> bool:
    return any(one.kind == "identifier" for one in find_entities(sentence.text))
