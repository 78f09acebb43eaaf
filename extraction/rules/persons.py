"""Rules about persons: whom a claim concerns, and that nobody else's traits become the user's."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.entities import stands_in
from extraction.evidence import Case, LineEvidence
from extraction.folding import normalise
from extraction.rules.quotes import shown, where_quoted
from schemas.events import USER_AUTHOR
from schemas.extraction import ExtractedClaim

_PERSON: Final = (
    r"(?:(?:grand)?(?:mother|father|mom|mum|dad|son|daughter|parents?|child|children|kids?)|(?:step|half)?-?(?:brother"
    r"|sister)s?|wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|niece|nephew|aunt|uncle|cousin|baby|toddler"
    r"|family|twins?|boss|manager|colleagues?|coworkers?|co-workers?|friends?|roommates?|flatmates?|neighbou?rs?|flatmate"
    r"|assistant|teacher|doctor|client|customer|team|(?:mother|father|brother|sister|son|daughter)-in-law"
    r"|frau|mann|mutter|vater|tochter|sohn|schwester|bruder|nichte|neffe|tante|onkel|chef|chefin|freundin|freund|kind"
    r"|kinder|eltern|oma|opa|kollegin|kollege|partnerin)"
)
_SUBJECT: Final = re.compile(
    rf"\b(?:my|our|meine?r?|unsere?r?) (?:\w+ )?{_PERSON}(?: \w+)?? "
    r"(?:also |really |just |always |only |never |absolutely |auch |sehr )?"
    r"(?:is|was|are|were|has|had|have|hates?|loves?|likes?|prefers?|lives?|works?|wants?|needs?|can't|cannot"
    r"|doesn't|does not"
    r"|don't|do not|isn't|eats?|drinks?|owns?|speaks?|plays?|suffers?|dislikes?|uses?|ist|hat|mag|liebt|hasst"
    r"|isst|trinkt"
    r"|wohnt|lebt|arbeitet|sind|haben)\b"
)
_POSSESSIVE: Final = re.compile(r"\b(?:my|our|mein|unser)")
_NAMED: Final = re.compile(rf"\b{_PERSON}\b")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|me|myself|we|us|i'\w+|we'\w+|ich|mir|mich|wir|uns)\b")
_ASIDE: Final = re.compile(
    r"\b(?:i (?:think|believe|know|guess|mean|said|heard|hear|told you|should say|must say|forgot to say)|ich glaube)\b"
)
"""First person that says nothing of the speaker."""
_LEAD: Final = re.compile(
    r"(?:\W|\b(?:and|but|so|well|also|because|since|as|that|hi|hello|yes|no|oh|actually|sorry|please|und|aber|ja|nein)\b)*"
)
"""What may stand in a quote before whom it tells of, and tells nothing itself."""
_OWN: Final = re.compile(r"\b(?:i|my|i'\w+|ich|meine?)\b")
_OF_THE_USER: Final = re.compile(
    r"^(?:the user|user|der (?:be)?nutzer|die (?:be)?nutzerin|der user)(?!')(?: \w+ly)? "
    r"(?!(?:says?|said|mention(?:s|ed)|asks?|asked|spoke|gave|wrote|reports?|told|tells|knows?)\b)\w"
)
_SENTENCE_END: Final = re.compile(r"[.!?;](?: |$)")


def about_not_in_source(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """`about` is the user or stands in a cited line, its speaker's name included."""
    about = case.normalised(claim.about)
    if about == "user":
        return
    for line in case.cited(claim.sources):
        event = line.line.event
        words = (*line.pieces, normalise(event.speaker), normalise(event.author))
        if about and any(stands_in(about, text) or (not about.isascii() and about in text) for text in words):
            return
    yield f'about {shown(claim.about)} does not stand in a cited line; use "user" or a word of the line'


def said_of_another(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """What is said of a relative or a colleague, or by another speaker of themselves, is not told of the user.

    "My niece is allergic to walnuts" makes no "The user is allergic to walnuts", however short the quote is cut.
    """
    if case.normalised(claim.about) != "user":
        return
    text = case.normalised(claim.text)
    if not _OF_THE_USER.match(text) or _NAMED.search(text):
        return
    quote = case.normalised(claim.quote)
    if not quote:
        return
    whose = [found for line in case.cited(claim.sources) for found in _subjects(line, quote)]
    if whose and all(whose):
        yield (
            f"the quote {shown(claim.quote)} says it of {shown(whose[0])}, not of the user; "
            "say of whom in `about` and in the text, or leave it out"
        )


def _subjects(line: LineEvidence, quote: str) -> Iterator[str]:
    """Yield, for each piece of `line` that holds `quote`, whom else than the user it is said of, or nothing."""
    event = line.line.event
    for piece in line.pieces:
        start = where_quoted(quote, piece)
        if start < 0:
            continue
        begin = max((end.end() for end in _SENTENCE_END.finditer(piece, 0, start)), default=0)
        clause = piece[begin : start + len(quote)]
        if event.author == USER_AUTHOR and event.speaker:
            yield event.speaker if _OWN.search(clause) else ""
        elif (
            event.author == USER_AUTHOR and _POSSESSIVE.search(clause) and (subjects := list(_SUBJECT.finditer(clause)))
        ):
            subject = subjects[-1]
            lead = _ASIDE.sub("", clause[start - begin : subject.start()])
            is_theirs = _LEAD.fullmatch(lead) and not _FIRST_PERSON.search(clause, subject.end())
            yield subject[0] if is_theirs else ""
        else:
            yield ""
