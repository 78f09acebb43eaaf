"""First and second person into third: "I'll send you mine" becomes "The user will send the agent the user's"."""

import re
from typing import Final

from extraction.offline.grammar import is_sentence
from extraction.offline.verbs import ADVERBS, AUXILIARIES, BASE_VERBS, is_past, third_person

_ADVERB: Final = rf"(?:{'|'.join(sorted(ADVERBS))})"
_OPENING: Final = re.compile(
    r"^(?:\W*(?:\d+[.)]\s*)?(?:hi|hello|hey|ok|okay|yes|yeah|yep|no|nope|well|oh|great|thanks"
    r"|thank you(?: so much)?|sure|right|alright|all right|"
    r"excellent|perfect|awesome|wonderful|fantastic|actually|also|and|but|so|then|please|good news|great news"
    r"|unfortunately|understood|noted|got it|"
    r"i'm sorry|i am sorry|sorry|cool|fine|good|nice|of course|certainly|absolutely|anyway|by the way|ugh|omg|ah"
    r"|nah|wow|oops|please help|help|note \d+|day \d+)\b(?!')[\s,!.:;-]*)+",
    re.I,
)
_PLEASE: Final = re.compile(r"[\s,]*\b(?:please|thanks|thank you(?: and goodbye)?|goodbye)\b[\s.!]*$", re.I)
_PERSON: Final = re.compile(
    r"\b(?:"
    r"(?P<do_not>(?:I|we|you) (?:don['’;]t|do not|dont))"
    r"|(?P<have_not>(?:I|we|you) (?:haven['’]t|have not))"
    r"|(?P<be>(?:I['’;]m|im|I am|we['’;]re|we are|you['’;]re|you are))"
    r"|(?P<were>(?:we|you) were)"
    r"|(?P<has>(?:I|we|you)(?:['’;]ve| have))"
    r"|(?P<will>(?:I|we|you)['’;]ll)"
    r"|(?P<would>(?:I|we|you)['’;]d)"
    rf"|(?P<verb>(?:I|we|you)(?: {_ADVERB})? (?P<base>{'|'.join(sorted(BASE_VERBS))}))"
    r"|(?P<possessive>my|our|your|mine|ours|yours)"
    r"|(?P<plain>(?:I(?!\.[a-z])|we|me|us(?!-)|you|myself|ourselves|yourself))"
    r")\b",
    re.I,
)
_ENDINGS: Final = {
    "do_not": " does not",
    "have_not": " has not",
    "be": " is",
    "were": " was",
    "has": " has",
    "will": " will",
    "would": " would",
    "possessive": "'s",
}
_OBJECTS: Final = frozenset({"me", "us", "myself", "ourselves", "yourself"})
_KEEPS_BASE: Final = re.compile(
    r"\b(?:can|could|may|might|must|shall|should|will|would|did|didn['’]t|help|helps|helped|let|lets|make|makes|made"
    r"|see|saw|watch|have)\s+$",
    re.I,
)
"""After these the verb stays as it is: "can you book", "help you find"."""
_TURNED: Final = re.compile(r"\b(?:do|don['’]t|am|are|were|have)\s+$", re.I)
"""Before "you" or "I" these would have to change, too: "are you" is "is the agent"."""
_BEFORE_SUBJECT: Final = re.compile(
    r"\b(?:if|when|that|so|because|while|what|where|how|who|until|since|though)\s+$", re.I
)
_NEXT: Final = re.compile(r"\s+(?P<word>[\w'’]+)")


def retell(text: str, me: str, you: str) -> str | None:
    """Return `text` as one third-person sentence: `me` for who speaks, `you` for who is spoken to.

    Digits and identifiers are left as they are. The sentence starts with a capital and ends with a full stop. None when
    it is not sure to be a sentence that stands by itself.
    """
    text = _PLEASE.sub("", _OPENING.sub("", text)).strip(" ,;:!.-")
    told = in_third_person(text, me, you)
    if told is None:
        return None
    told = sentence_case(told.replace("the The ", "The "))
    return told if is_sentence(told) else None


def in_third_person(text: str, me: str, you: str) -> str | None:
    """Return `text` with its pronouns of the first and second person replaced, the verbs after them made to agree.

    None when it is not sure that they agree.
    """
    parts, end = [], 0
    for match in _PERSON.finditer(text):
        told = _swapped(match, text, me, you)
        if told is None:
            return None
        parts += [text[end : match.start()], told]
        end = match.end()
    return "".join([*parts, text[end:]])


def _swapped(match: re.Match[str], text: str, me: str, you: str) -> str | None:
    who = you if match[0][0] in "yY" else me
    before = text[: match.start()][-20:]
    kind = match.lastgroup or ""
    if match["possessive"]:
        return f"{who}'s"
    if match["plain"] and match[0].lower() in _OBJECTS:
        return match[0] if match[0] == "US" else who
    keeps_base = _KEEPS_BASE.search(before) is not None
    if _TURNED.search(before) or (keeps_base and kind in ("has", "do_not", "have_not")):
        return None
    if match["verb"]:
        head = match[0].split(" ", 1)[1][: -len(match["base"])]
        return f"{who} {head}{match['base'] if keeps_base else third_person(match['base'].lower())}"
    if match["plain"]:
        return who if _agrees(match, text, before) else None
    return who + _ENDINGS[kind]


def _agrees(match: re.Match[str], text: str, before: str) -> bool:
    """Whether what follows a bare "I", "we" or "you" is right after a noun, too."""
    following = _NEXT.match(text, match.end())
    while following and following["word"].lower() in ADVERBS:
        following = _NEXT.match(text, following.end())
    word = following["word"].lower() if following else ""
    if word in AUXILIARIES or is_past(word):
        return True
    if match[0].lower() == "you":
        return not _BEFORE_SUBJECT.search(before)  # else an object: "for you", "booked you a ride"
    return False


def sentence_case(text: str) -> str:
    """Return `text` with a capital where it starts with a word, and a full stop."""
    first = text.split(" ", 1)[0]
    start = text[0].upper() + text[1:] if text[:1].islower() and re.fullmatch(r"[a-z]+(?:['’]\w+)?", first) else text
    return start if start.endswith((".", "?", "!", '"', "”")) and not start.endswith("..") else f"{start.rstrip('.')}."
