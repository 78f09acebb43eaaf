"""What the user wants from the conversation."""

from collections.abc import Iterator
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, is_nameable
from extraction.offline.retell import in_third_person
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

_WANT: Final = (
    r"(?P<want>[^.;!?█]{4,160}?)(?=\s*(?:[.;!?█]|$)|,\s*(?:what|can|could|do|does|is|are|how|please|where|when|would|will|which|who|but|so|because)\b"
    r"|\s(?:because|since|but)\s)"
)
_FORMS: Final = (
    (
        compiled(
            rf"\b(?:I|we)(?:['’]d| would)? (?:also |really |just |only )?(?:need|want|like|love|wish|hope)(?: your help| help| some help| assistance)? (?P<to>to |with |in )?{_WANT}"
        ),
        "The user wants {to}{want}.",
    ),
    (
        compiled(
            rf"\b(?:I|we)(?:['’]m| am|['’]re| are| was|['’]ve been) (?:also |now |just |currently )?(?:looking|trying|hoping|planning|calling|here) (?P<to>to|for|about) {_WANT}"
        ),
        "The user is looking {to} {want}.",
    ),
    (
        compiled(
            rf"\b(?:can|could|would|will) you (?:please |maybe |also |possibly |kindly )*(?:help me (?:to |with |out with )?|assist me (?:with |in )?)?{_WANT}"
        ),
        "The user asked the agent to {want}.",
    ),
    (compiled(rf"\b(?:can|could|may) (?:I|we) (?:please |also |possibly |just )*{_WANT}"), "The user asked to {want}."),
    (
        compiled(
            rf"^\W*(?:(?:hi|hello|hey|ok|there|yes|so)\b\W*)*(?:please )?(?P<verb>find|show|tell|get|give|send|check|track|explain|help me|search|recommend|suggest|look up|book|schedule|cancel|set up|create|deploy|reserve|plan) {_WANT}"
        ),
        "The user asked the agent to {verb} {want}.",
    ),
)
_NO_GOAL: Final = compiled(
    r"^\W*(?:help|hear|know (?:what|why|if you)|say|do (?:it|that)|repeat|proceed|have (?:more|some more|the)|get more|be (?:sure|honest)|continue|go|thank|start at|ask you|more|please|book it|try again|you to know)\b"
)
_TAIL: Final = compiled(
    r"(?:,? (?:please|thanks|thank you|for me|asap|as soon as possible|if possible|if you can))+\s*$"
)
_TURNS: Final = 4


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield the first thing that the user asks for, near the start of the talk."""
    for sentence in talk.users_own:
        if talk.turn_of_user(sentence.line) < _TURNS and (made := _goal(sentence)):
            yield made
            return


def _goal(sentence: Sentence) -> ExtractedClaim | None:
    for regex, template in _FORMS:
        match = regex.search(sentence.text)
        if match is None:
            continue
        want = _TAIL.sub("", match["want"].strip(" ,"))
        groups = {name: (value or "").strip() for name, value in match.groupdict().items() if name != "want"}
        if "to" in groups and template.startswith("The user wants") and groups["to"]:
            groups["to"] += " "
        if _NO_GOAL.match(want) or not is_nameable(" ".join(want.split()[:3])) or len(want.split()) < 2:
            continue
        groups |= {"verb": groups["verb"].lower()} if "verb" in groups else {}
        text = template.format(want=in_third_person(want, "the user", "the agent"), **groups)
        return claim(sentence, "fact", "session.goal", text, match=match, confidence=0.75, durable=False)
    return None
