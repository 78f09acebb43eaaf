"""What the user wants from the conversation."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, is_whole
from extraction.offline.retell import in_third_person
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

_WANT: Final = (
    r"(?P<want>(?:[^.;!?█]|\.(?=\d)|(?<=Dr)\.){4,160}?)(?=\s*(?:(?<!Dr)\.(?!\d)|[;!?█]|$)"
    r"|,\s*(?:what|can|could|do|does|is|are|how|please|where|when|would|will|which|who|but|so|because|i|i'm|thanks)\b"
    r"|\s(?:because|since|but)\s)"
)
_FORMS: Final = (
    (
        rf"\b(?:I|we)(?:['’]d| would)? (?:also |really |just )?(?:need|want|like) (?:your |some |any |a little )?"
        rf"(?P<help>help|assistance) (?P<link>with |in |to )?{_WANT}",
        "The user wants {help} {link} {want}.",
    ),
    (
        rf"\b(?:I|we)(?:['’]d| would)? (?:also |really |just |only )?(?:need|want|like|love|wish|hope) "
        rf"(?P<link>to )?{_WANT}",
        "The user wants {link} {want}.",
    ),
    (
        rf"\b(?:I|we)(?:['’]m| am|['’]re| are| was|['’]ve been) (?:also |now |just |currently )?"
        rf"(?P<verb>looking|trying|hoping|planning|calling|here) (?P<link>to|for|about) {_WANT}",
        "The user is {verb} {link} {want}.",
    ),
    (
        rf"\b(?:can|could|would|will) you (?:please |maybe |also |possibly |kindly )*"
        rf"(?:help me (?:to |with |out with )?|assist me (?:with |in )?)?{_WANT}",
        "The user asked the agent to {want}.",
    ),
    (
        rf"\b(?:can|could|may) (?:I|we) (?:please |also |possibly |just )*{_WANT}",
        "The user asked to {want}.",
    ),
    (
        r"^\W*(?:(?:hi|hello|hey|ok|there|yes|so)\b\W*)*(?:please )?(?P<verb>find|show|tell|get|give|send|check|track|"
        rf"explain|search|recommend|suggest|look up|book|schedule|cancel|set up|create|deploy|reserve|plan) {_WANT}",
        "The user asked the agent to {verb} {want}.",
    ),
)
_COMPILED: Final = tuple((compiled(regex), template) for regex, template in _FORMS)
_NO_GOAL: Final = compiled(
    r"^\W*(?:help\b|hear\b|know (?:what|why|if you)|say\b|do\b|repeat\b|proceed\b|have (?:more|some more|the)|get more|"
    r"be (?:sure|honest)|continue\b|go\W*$|thank\b|start at|ask you|more\b|please\b|book it|try again|you to know|"
    r"(?:tell|help|show) (?:me|us)\W*$|some help|that\b|it\b|one\b|this\b)|^(?:\W*[\w'’]+){0,2} (?:it|that|them"
    r"|those|these)\b"
)
_TAIL: Final = compiled(
    r"(?:,? (?:please|thanks|thank you|for me|asap|as soon as possible|if possible|if you can))+\s*$"
)
_SUPPOSED: Final = re.compile(r"\b(?:if|don't|do not|didn't|never|no longer|when)\b[^.,;]*$", re.I)
_TURNS: Final = 4
_MIN_CHARS: Final = 6


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield the first thing that the user asks for, near the start of the talk."""
    for sentence in talk.users_own:
        if talk.turn_of_user(sentence.line) < _TURNS and (made := _goal(sentence)):
            yield made
            return


def _goal(sentence: Sentence) -> ExtractedClaim | None:
    for regex, template in _COMPILED:
        match = regex.search(sentence.text)
        if match is None or _SUPPOSED.search(sentence.text[: match.start()]):
            continue
        want = _TAIL.sub("", match["want"].strip(" ,"))
        if len(want) < _MIN_CHARS or _NO_GOAL.match(want) or not is_whole(want):
            continue
        groups = {name: (value or "").strip().lower() for name, value in match.groupdict().items()}
        told = template.format(**groups | {"want": in_third_person(want, "the user", "the agent")})
        text = " ".join(told.split())
        return claim(sentence, "fact", "session.goal", text, match=match, confidence=0.75, durable=False)
    return None
