"""Orders, bookings, tickets, amounts and dates: what was said of them, kept with their identifiers."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.entities import find_entities
from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, is_specific, points_back, retold
from extraction.offline.talk import Talk
from extraction.secrecy import MASK
from schemas.extraction import ExtractedClaim

_NOUN: Final = (
    r"(?:orders?|bookings?|tickets?|cases?|invoices?|flights?|reservations?|rides?|trips?|refunds?"
    r"|shipments?|parcels?|packages?|confirmation|reference|issue|contract|appointment)"
)
_NAMED_ID: Final = compiled(
    rf"\b(?P<noun>{_NOUN})(?: (?:with|has|under|for))?(?: the)?(?: (?:flight|booking|ride|order))? ?(?:number"
    r"|no\.?|id|code|#)?(?: is| of|:| =)? ?#?"
    r"(?P<id>(?=[\w-]*\d)(?:\d{3,}|[A-Za-z]{1,8}-?\d[\w-]*))(?![\w-]|[.:]\d|\s?(?:am|pm)\b)"
)
_ASKS_ID: Final = compiled(rf"\b(?:your|the) (?P<noun>{_NOUN}) (?:id|number|code|reference)\b")
_BARE_ID: Final = compiled(
    r"^\W*(?:(?:yes|sure|ok|okay|oh|sorry|it['’]?s|it is|that['’]s|my|the|is|id|number"
    r"|here it is)\b\W*)*#?(?P<id>(?=[\w-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)\W*$"
)
_SETTLED: Final = compiled(
    r"\b(?:your|the|his|her|their) (?P<what>(?:[\w'’.&-]+ ){0,8}?[\w'’.&-]+),? (?:is|are|has been|have been|was"
    r"|were)(?: now| all| successfully| successfuly| already| done and)* "
    r"(?P<state>booked|reserved|confirmed|scheduled|cancell?ed|submitted|updated|placed|shipped|refunded"
    r"|delivered|rescheduled|completed|unlocked|processed|changed|activated)\b"
)
_DONE: Final = compiled(
    r"^\W*(?:(?:ok|okay|great|alright|right|perfect|done|sure|excellent|good news|thanks)\b\W*)*I(?:['’]ve"
    r"| have)(?: now| just| successfully| also| already)* "
    r"(?:booked|reserved|cancell?ed|scheduled|updated|changed|refunded|sent|shipped|placed|submitted|rescheduled"
    r"|issued|added|opened|created|filed|activated|completed|emailed|e-mailed)\b"
)
_PAST_START: Final = re.compile(
    r"^(?:Deployed|Booked|Reserved|Cancelled|Canceled|Refunded|Sent|Shipped|Created|Opened|Updated|Changed|Added"
    r"|Scheduled|Issued|Closed|Noted|Filed)\b"
)
_BOOKING: Final = compiled(rf"\b(?:{_NOUN}|table|party|event|meeting|viewing|visit|delivery|subscription|rental)\b")
_POINTED_AT: Final = compiled(r"\b(?:this|that|these|those|it|them|one)\b")
_TAKEN: Final = compiled(
    r"\b(?:the|that|this) (?:[\w'’]+ )*(?:venue|restaurant|hotel|inn|place|time|slot|doctor|date|day|club|bar)\b.{0,20}"
    r"\b(?:booked|reserved|scheduled)\b|\balready (?:booked|reserved|scheduled)\b"
)
"""Booked by others: a refusal, no confirmation."""
_NOT_DONE: Final = compiled(
    r"\b(?:not|n['’]t|unable|cannot|failed|unsuccessful|unfortunately|sorry|if|once|when|would|could|before|after"
    r"|until|let me know)\b"
)
_PAID: Final = compiled(
    r"\b(?:paid|pay|payment|costs?|charged?|owe[sd]?|price|priced|fees?|refund\w*|took|stole|stolen|withdrew"
    r"|withdrawn|transferr?ed|transfers|subtotal|total|invoiced?|bill(?:ed)?|budget|balance|quote[ds]?|deposit"
    r"|salary|rent)\b"
)
_DATE: Final = (
    r"(?:\d{4}-\d\d-\d\d|(?:(?:next|this) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow"
    r"|(?:the )?\d{1,2}(?:st|nd|rd|th)|"
    r"\d{1,2} (?:january|february|march|april|may|june|july|august|september|october|november|december)|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}(?:st|nd"
    r"|rd|th)?|\d{1,2}(?::\d\d)? ?(?:am|pm))"
)
_DATED: Final = compiled(
    rf"\b(?:my|our|the|her|his|their|(?:Dr\. )?\w+['’]s) (?:[\w'’-]+ ){{0,3}}?(?:appointment|meeting|party|flight"
    r"|interview|birthday|anniversary|wedding|exam|deadline|viewing|"
    r"reservation|delivery|trip|surgery|launch|release|invoice|contract|lease|subscription|conference|graduation"
    r"|check-in|checkout)s?(?: [\w-]+)? "
    r"(?:is|are|starts?|takes place|will be|expires?|ends?|arrives?|leaves?|departs?|is due|is set"
    rf"|is scheduled)(?: on| at| for| by| due| in| from)* {_DATE}"
)
_SUBJECTLESS: Final = re.compile(
    r"^\W*(?:Day \d+: |Note \d+: )?(?:please )?(?:deploy|check|cancel|book|find|look|track|see|show|refund|change"
    r"|update|it|regarding|about|for|with|re)\b",
    re.I,
)

_ONLY_SPOKEN: Final = re.compile(r"The (?:user|agent) (?:spoke of|asked about) ")
_DOUBT: Final = compiled(r"\b(?:assum\w+|cannot confirm|if|would|could|might|maybe|probably|guess|deal)\b|\"")


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield what is known of orders and bookings, by user and agent.

    That an id was spoken of is worth a claim only when no other claim holds it.
    """
    found = list(_all(talk))
    told = " ".join(made.text for made in found if not _ONLY_SPOKEN.match(made.text))
    for made in found:
        if not _ONLY_SPOKEN.match(made.text) or any(one.raw not in told for one in find_entities(made.text)):
            yield made


def _all(talk: Talk) -> Iterator[ExtractedClaim]:
    for sentence in talk.all:
        if sentence.line.speaker:
            continue
        yield from _with_identifier(talk, sentence)
        if sentence.line.is_agent:
            yield from _settled(sentence)
        yield from _amounts(sentence)
        yield from _dates(sentence)


def _with_identifier(talk: Talk, sentence: Sentence) -> Iterator[ExtractedClaim]:
    named = {m["id"]: m["noun"].lower() for m in _NAMED_ID.finditer(sentence.text)}
    codes = (
        one.raw for one in find_entities(sentence.text) if one.kind == "identifier" and _is_code(one.raw, sentence)
    )
    found = list(dict.fromkeys([*codes, *named]))
    earlier: tuple[int, ...] = ()
    if not found and sentence.line.is_user and (question := talk.question_before(sentence.line)):
        asked, bare = _ASKS_ID.search(question.text), _BARE_ID.match(sentence.text)
        if asked and bare and MASK not in bare["id"]:
            found, named, earlier = [bare["id"]], {bare["id"]: asked["noun"].lower()}, (question.line.n,)
    if not found:
        return
    text = None if earlier else _statement(sentence)
    if not text:
        listed = ", ".join(f"{named[i].rstrip('s')} {i}" if i in named else i for i in found)
        verb = "asked about" if sentence.is_question else "gave" if earlier else "spoke of"
        text = f"{'The agent' if sentence.line.is_agent else 'The user'} {verb} {listed}."
    if made := claim(
        sentence,
        "fact",
        "order.id",
        text,
        confidence=0.8,
        earlier=earlier,
    ):
        yield made


def _is_code(raw: str, sentence: Sentence) -> bool:
    """Whether an identifier may be that of an order: written as a code, or where an order is spoken of."""
    is_code = re.search(r"[A-Z-]", raw) and not re.search(r"[a-z]{3}", raw)
    return not raw.isdigit() and bool(is_code or _BOOKING.search(sentence.text))


def _statement(sentence: Sentence) -> str | None:
    """Return what the sentence states, retold; None when it states nothing that stands by itself."""
    start = re.match(r"\S+", sentence.text)
    if sentence.is_question or MASK in sentence.text or len(sentence.text.split()) < 4 or not start:
        return None
    if sentence.line.is_agent and _PAST_START.match(sentence.text):
        return f"The agent {sentence.text[0].lower()}{sentence.text[1:].rstrip('.')}."
    return None if _SUBJECTLESS.match(sentence.text) or not sentence.is_own(start) else retold(sentence)


def _settled(sentence: Sentence) -> Iterator[ExtractedClaim]:
    """What the agent says is done. It is kept with the orders only when it says which order or booking that is."""
    match = _DONE.search(sentence.text) or _SETTLED.search(sentence.text)
    if match is None or sentence.is_question or _NOT_DONE.search(sentence.text) or _TAKEN.search(sentence.text):
        return
    text = retold(sentence)
    if text is None or (_POINTED_AT.search(text) and not is_specific(text)):
        return
    is_named = _BOOKING.search(text) is not None and is_specific(text)
    key = "order.id" if is_named else "other.confirmed"
    if made := claim(sentence, "fact", key, text, match=match, confidence=0.85, durable=is_named):
        yield made


def _amounts(sentence: Sentence) -> Iterator[ExtractedClaim]:
    match = _PAID.search(sentence.text)
    if (
        match is None
        or not any(one.kind == "amount" for one in find_entities(sentence.text))
        or not sentence.asserts(match)
        or _DOUBT.search(sentence.text)
    ):
        return
    text = retold(sentence)
    if text is None or points_back(text):
        return
    if made := claim(sentence, "fact", "payment.amount", text, match=match, confidence=0.8):
        yield made


def _dates(sentence: Sentence) -> Iterator[ExtractedClaim]:
    match = _DATED.search(sentence.text)
    if match and sentence.asserts(match) and MASK not in sentence.text:
        if made := claim(sentence, "fact", "schedule.date", retold(sentence, match), match=match, confidence=0.8):
            yield made
