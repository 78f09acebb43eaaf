"""How to reach the user, and the numbers that the user is known by: e-mail, phone, account."""

from collections.abc import Iterator
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, is_change
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

EMAIL: Final = compiled(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ID: Final = r"#?(?P<id>(?=[\w-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)(?![\w-])"
_MY_EMAIL: Final = compiled(
    r"\bmy (?:new |work |private |personal |home )?e-?mail(?: address)?(?: is| to|:| has changed to"
    rf"| is now)* (?P<value>{EMAIL.pattern})|"
    r"\b(?:e-?mail(?:ed)?|reach|contact|write to|write|send (?:it|them"
    rf"|everything)) (?:me )?(?:only )?(?:by e-?mail )?(?:at|to) (?P<value2>{EMAIL.pattern})|"
    rf"\be-?mail at (?P<value3>{EMAIL.pattern})"
)
_MY_PHONE: Final = compiled(
    r"\b(?:my (?:new |work |mobile |cell |home |phone |telephone )*(?:number|phone|mobile|cell)(?: number)?(?: is"
    r"| to|:)?(?: now)?|(?:call|text|phone|ring|reach) me (?:on|at))"
    r" (?P<value>\+?\(?\d[\d ()./-]{5,18}\d)\b"
)
_MY_ACCOUNT: Final = compiled(
    r"\b(?:my |the )?(?P<what>(?:account|acct?|customer|member(?:ship)?|client|policy|loyalty|frequent[- ]flyer"
    rf"|iban)(?: (?:number|no|id|#))?)\.?(?: is|:| =|,| number is)* {_ID}"
)
_MIN_ID_CHARS: Final = 5
"""A shorter number that is given as that of an account is as likely a PIN."""
_BARE_ID: Final = compiled(
    r"^\W*(?:(?:yes|sure|ok|okay|oh|sorry|it['’]?s|it is|that['’]s|my|the|account|acct|number|is|here"
    rf"|id)\b\W*)*{_ID}\W*$"
)
_ASKS_ACCOUNT: Final = compiled(
    r"\byour (?P<what>(?:account|customer|member(?:ship)?|policy|client|loyalty) (?:number|id))\b"
)
_BARE_PHONE: Final = compiled(
    r"^\W*(?:(?:yes|sure|ok|it['’]?s|it is|my|the|number|is)\b\W*)*(?P<value>\+?\(?\d[\d ()./-]{5,18}\d)\W*$"
)
_ASKS_PHONE: Final = compiled(r"\byour (?:phone|mobile|cell|telephone|contact)(?: number)?\b")
_ASKS_EMAIL: Final = compiled(r"\byour e-?mail\b")


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield addresses and numbers that the user gives as their own, asked or not."""
    for sentence in talk.users_own:
        if sentence.is_question:
            continue
        found = _emails(talk, sentence), _phones(talk, sentence), _accounts(talk, sentence)
        yield from (made for made in found if made)


def _emails(talk: Talk, sentence: Sentence) -> ExtractedClaim | None:
    match = _MY_EMAIL.search(sentence.text)
    if match and sentence.asserts(match):
        value = match["value"] or match["value2"] or match["value3"]
        return claim(
            sentence,
            "fact",
            "contact.email",
            f"The user's e-mail address is {value}.",
            match=match,
            confidence=0.9,
            change=is_change(sentence, match),
        )
    question = talk.question_before(sentence.line)
    bare = EMAIL.search(sentence.text)
    if bare and question and _ASKS_EMAIL.search(question.text):
        text = f"The user's e-mail address is {bare[0]}."
        return claim(sentence, "fact", "contact.email", text, match=bare, confidence=0.9, earlier=(question.line.n,))
    return None


def _phones(talk: Talk, sentence: Sentence) -> ExtractedClaim | None:
    match = _MY_PHONE.search(sentence.text)
    earlier: tuple[int, ...] = ()
    if match is None and (question := talk.question_before(sentence.line)) and _ASKS_PHONE.search(question.text):
        match, earlier = _BARE_PHONE.match(sentence.text), (question.line.n,)
    if match is None or not sentence.asserts(match):
        return None
    text = f"The user's phone number is {match['value'].strip()}."
    return claim(
        sentence,
        "fact",
        "contact.phone",
        text,
        match=match,
        confidence=0.9,
        earlier=earlier,
        change=is_change(sentence, match),
    )


def _accounts(talk: Talk, sentence: Sentence) -> ExtractedClaim | None:
    match = _MY_ACCOUNT.search(sentence.text)
    earlier: tuple[int, ...] = ()
    what = "account number"
    if match:
        what = (
            "account number" if match["what"].lower().startswith("ac") else f"{match['what'].lower().split()[0]} number"
        )
    elif (question := talk.question_before(sentence.line)) and (asked := _ASKS_ACCOUNT.search(question.text)):
        match, earlier, what = _BARE_ID.match(sentence.text), (question.line.n,), asked["what"].lower()
    if match is None or not sentence.asserts(match) or len(match["id"]) < _MIN_ID_CHARS:
        return None
    return claim(
        sentence,
        "fact",
        "account.id",
        f"The user's {what} is {match['id']}.",
        match=match,
        confidence=0.9,
        earlier=earlier,
    )
