"""What was promised: by the agent or its company, and by the user."""

from collections.abc import Iterator
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, retold
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

_AGENT: Final = compiled(
    r"\b(?:I['’]ll|I will|we['’]ll|we will|(?:someone|somebody|a (?:member|colleague|technician|driver|specialist"
    r"|representative)[\w ]{0,40}|our [\w ]{2,30}|the [\w ]{2,20}team) will|"
    r"you(?:['’]ll| will) (?:receive|get|hear|be (?:refunded|charged|contacted|notified|called)))\b(?P<rest>.*)"
)
_AT_ONCE: Final = compiled(
    r"^\W*(?:now |just |gladly |then |also )*(?:check|look|see|be (?:happy|glad|able|here|with)|help|need|assume"
    r"|try|do my best|take a look|find|search|let me|wait|remember|keep|ask|go ahead|"
    r"get (?:that|it|you there|right)|have to|require|want|proceed|start|note|make sure|start|do that|do it"
    r"|give you|tell you|show)\b|\bnow\b"
)
_PERFORMANCE: Final = compiled(
    r"\b(?:refund|send|contact|call|e-?mail|notify|update|ship|deliver|credit|replace|repair|fix|follow up"
    r"|get back|reach out|investigate|escalate|transfer|cancel|issue|reimburse|let you know|"
    r"have a look|knock|arrive|come|receive|hear|be (?:refunded|contacted|notified|called|charged)|pick|book"
    r"|schedule|order|add|process|forward|provide|open|reply|respond|waive|extend|bring|finali[sz]e|confirm"
    r"|deploy|renew|return)\w*\b"
)
_EMPTY: Final = compiled(
    r"^\W*(?:(?:just|only|also|definitely|be sure to|make sure to)\b\W*)*\w+"
    r" (?:up |off |out |you )?(?:that|it|this|them|those|these|one)\b(?! [a-z]+ (?:is|are|was))"
)
"""A performance of something that only its conversation names."""
_IF: Final = compiled(r"\b(?P<condition>(?:if|unless|as long as|once) [^.,;!?]+)")
_USER: Final = compiled(
    r"\b(?:I['’]ll|I will|we['’]ll|we will|I promise to|I(?:['’]m| am) going to)(?: also| just| definitely"
    r"| be sure to| make sure to| then)* "
    r"(?P<verb>send|pay|call|e-?mail|mail|forward|upload|provide|return|submit|transfer|share|sign|fill"
    r"|let you know|get back|report back|bring (?:it|them|my|the)|post|deliver|drop|follow up|confirm|update you"
    r"|write|finish|review|renew)\b"
)


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield promises of things to come. What is done within the talk itself ("I'll check") is none."""
    for sentence in talk.all:
        if sentence.line.speaker or sentence.is_question:
            continue
        made = _of_agent(sentence) if sentence.line.is_agent else _of_user(sentence)
        if made:
            yield made


def _of_agent(sentence: Sentence) -> ExtractedClaim | None:
    match = _AGENT.search(sentence.text)
    if (
        match is None
        or _EMPTY.search(match["rest"])
        or not sentence.asserts(match)
        or _AT_ONCE.search(match["rest"])
        or not _PERFORMANCE.search(match[0])
    ):
        return None
    text = retold(sentence, match)
    return claim(
        sentence, "commitment", "commitment.agent", text, match=match, confidence=0.85, condition=_condition(text)
    )


def _of_user(sentence: Sentence) -> ExtractedClaim | None:
    match = _USER.search(sentence.text)
    if match is None or not sentence.asserts(match) or _EMPTY.search(sentence.text[match.start("verb") :]):
        return None
    text = retold(sentence, match)
    return claim(
        sentence, "commitment", "commitment.user", text, match=match, confidence=0.85, condition=_condition(text)
    )


def _condition(text: str | None) -> str | None:
    found = _IF.search(text or "")
    return found["condition"] if found else None
