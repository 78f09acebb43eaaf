"""What the user wants from the conversation."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.grammar import is_sentence
from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, is_whole
from extraction.offline.retell import in_third_person
from extraction.offline.talk import Talk
from extraction.offline.verbs import BASE_VERBS
from schemas.extraction import ExtractedClaim

_WANT: Final = (
    r"(?P<want>(?:[^.;!?█]|\.(?=\d)|(?<=Dr)\.){4,160}?)(?=\s*(?:(?<!Dr)\.(?!\d)|[;!?█]|$)"
    r"|,\s*(?:what|can|could|do|does|is|are|how|please|where|when|would|will|which|who|but(?! not\b)|so|because|i|im"
    r"|i['’]\w+|my|it"
    r"|we|he|she|they|this|that|there|thanks|thank|perhaps|maybe|lol|right|and (?:i|we|my|it|can|could|please))\b"
    r"|\s(?:because|since|but(?! not\b)|although|though)\s|\splease\s(?!(?:on|at|in|for|from|to|with|by|under)\b)"
    r"|(?<!\d)(?<!st)(?<!nd)(?<!rd)(?<!th)\s+[-–—]+\s+(?!\d)|-{2,}"
    r"|\s(?:can|could|would|will) (?:you|i|we)\b|,?\s(?:my|the) name is\b"
    r"|\sand (?:i|we) (?:want|need|would|am|have|will)\b|\sand (?:i|we)['’])"
)
_FORMS: Final = (
    (
        rf"\b(?:I|we)(?:['’]d| would)? (?:also |really |just )?(?:need|want|like) (?:your |some |any |a little )?"
        rf"(?P<help>help|assistance) (?P<link>with |in |to )?{_WANT}",
        "The user wants {help} {link} {want}.",
    ),
    (
        rf"\b(?:I|we)(?:(?:['’]d| would)(?: also| really| just| only)* (?:like|love)|(?: also| really| just|"
        rf" only)* (?:need|want)) "
        rf"(?P<link>to )?{_WANT}",
        "The user wants {link} {want}.",
    ),
    (
        rf"\b(?:I|we)(?: also| really| just| only)* (?:like|love|wish|hope) (?P<link>to) (?=[a-z]+ (?:an?|the|my"
        rf"|some|to|for|from|with"
        rf"|on|\d|(?-i:[A-Z]))|RSVP|rsvp){_WANT}",
        "The user wants {link} {want}.",
    ),
    (
        rf"\b(?:I|we)(?P<be>['’]m| am|['’]re| are| was|['’]ve been) (?:also |now |just |currently )?"
        rf"(?P<verb>looking|trying|hoping|planning|calling|here) (?P<link>to|for|about) {_WANT}",
        "The user {be} {verb} {link} {want}.",
    ),
    (
        rf"\b(?:can|could|would|will) you (?:please |maybe |also |possibly |kindly )*(?:help|assist) (?:me|us)"
        rf" (?:out )?"
        rf"(?:with|in|by) {_WANT}",
        "The user asked the agent for help with {want}.",
    ),
    (
        rf"\b(?:can|could|would|will) you (?:please |maybe |also |possibly |kindly )*(?:help|assist) (?:me|us) (?:to )?"
        rf"(?=(?:go|get (?:to|from|in|out|home|back|a ?round)|travel|reach|understand|decide|learn|remember"
        rf"|figure|choose)\b){_WANT}",
        "The user asked the agent to help the user {want}.",
    ),
    (
        rf"\b(?:can|could|would|will) you (?:please |maybe |also |possibly |kindly )*"
        rf"(?:(?:help|assist) (?:me|us) (?:to )?)?(?!with\b){_WANT}",
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
    r"^\W*(?:help\b|just\b|(?:get|take|bring|put) (?:me|us) (?:there|here)\b|hear\b|know (?:what|why|if you)"
    r"|say\b|do\b|repeat\b|confirm\W*$|tell me in\b|proceed\b|have (?:more|some more|the)|get more|"
    r"be (?:sure|honest)|continue\b|go\W*$|thank\b|start at|ask you|more\b|please\b|book it|try again|you to know|"
    r"(?:tell|help|show) (?:me|us)\W*$|some help|that\b|it\b|one\b|this\b)|^(?:\W*[\w'’]+){0,2} (?:it|that|them"
    r"|those|these)\b"
)
_TAIL: Final = compiled(
    r"(?:,? (?:please|thanks|thank you|for me|asap|as soon as possible|if possible|if (?:you|i|we) (?:can|could"
    r"|may)|(?-i:[b-hj-z])))+\s*$"
)
_SUPPOSED: Final = re.compile(r"\b(?:if|don't|do not|didn't|never|no longer|when)\b[^.,;]*$", re.I)
_UNCLEAR: Final = compiled(
    r"\b(?:it|that|this|them|those|these|there|some|more|him|her|so|else|something|anything|somewhere)$|\bto see"
    r" (?:him|her|them)\b"
    r"|\b(?-i:ones?)\b(?=\s*(?:$|in|on|or|for|from|with|near|at|that|instead))|^(?:check|view|access|see|know)"
    r" me\b|\bcould like\b"
)
"""What only its conversation makes clear, or no English."""
_BARE_VERBS: Final = BASE_VERBS - frozenset(
    "help work change order ride call drive cook walk visit look plan rent report return offer love wish hope hate play"
    " travel sleep support keep study start stop mean promise contact share cancel".split()
)
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
        want = _TAIL.sub("", match["want"].strip(" ,")).replace(" please ", " ")
        if len(want) < _MIN_CHARS or _NO_GOAL.match(want) or _UNCLEAR.search(want) or not is_whole(want):
            continue
        groups = {name: (value or "").strip().lower() for name, value in match.groupdict().items()}
        if "link" in groups and not groups["link"] and want.split()[0].lower() in _BARE_VERBS:
            continue  # "I need play a game"
        wanted = in_third_person(want, "the user", "the agent")
        if wanted is None or not sentence.is_own(match):
            continue
        groups |= {"want": wanted, "be": "was" if groups.get("be") == "was" else "is"}
        text = " ".join(template.format(**groups).split())
        if not is_sentence(text):
            continue
        return claim(sentence, "fact", "session.goal", text, match=match, confidence=0.75, durable=False)
    return None
