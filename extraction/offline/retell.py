"""First and second person into third: "I'll send you mine" becomes "The user will send the agent the user's"."""

import re
from typing import Final

_BASE_VERBS: Final = frozenset(
    "wake remember notice proceed confirm check look receive order return contact offer apologize recommend"
    " suggest assume hope believe accept add agree already arrive ask book bring buy call cancel change choose"
    " come commute cook deploy depend deserve do drink drive "
    "eat enjoy expect fancy feel fly forget get give go hate have host keep know lead like live look love manage"
    " mean need own owe "
    "pay plan play pick prefer promise refuse rent require run say see sell send serve share sing sit skip sleep"
    " speak spend stay "
    "still study suggest take teach tend think travel trust try understand use visit walk want watch wear wish"
    " work worry write".split()
) - {"already", "still"}
_ADVERB: Final = (
    r"(?:also|just|really|still|now|already|always|never|usually|currently|only|often|strongly"
    r"|actually|mostly|generally)"
)
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
    r"|(?P<be>(?:I['’;]m|I am|we['’;]re|we are|you['’;]re|you are))"
    r"|(?P<were>(?:we|you) were)"
    r"|(?P<has>(?:I|we|you)(?:['’;]ve| have))"
    r"|(?P<will>(?:I|we|you)['’;]ll)"
    r"|(?P<would>(?:I|we|you)['’;]d)"
    rf"|(?P<verb>(?:I|we|you)(?: {_ADVERB})? (?P<base>{'|'.join(sorted(_BASE_VERBS))}))"
    r"|(?P<possessive>my|our|your|mine|ours|yours)"
    r"|(?P<plain>(?:I(?!\.e)|we|me|us(?!-)|you|myself|ourselves|yourself))"
    r")\b",
    re.I,
)


def retell(text: str, me: str, you: str) -> str:
    """Return `text` as one third-person sentence: `me` for who speaks, `you` for who is spoken to.

    Digits and identifiers are left as they are. The sentence starts with a capital and ends with a full stop.
    """
    text = _PLEASE.sub("", _OPENING.sub("", text)).strip(" ,;:!.-")
    return sentence_case(in_third_person(text, me, you))


def in_third_person(text: str, me: str, you: str) -> str:
    """Return `text` with its pronouns of the first and second person replaced, the verbs after them made to agree."""

    def swap(match: re.Match[str]) -> str:
        who = you if match[0][0] in "yY" else me
        kind = match.lastgroup
        if match["verb"]:
            head = match[0].split(" ", 1)[1][: -len(match["base"])]
            return f"{who} {head}{third_person(match['base'].lower())}"
        endings = {
            "do_not": " does not",
            "be": " is",
            "were": " was",
            "has": " has",
            "will": " will",
            "would": " would",
        }
        if kind == "possessive":
            return f"{who}'s"
        if match[0] == "US":
            return "US"
        return who + endings.get(kind or "", "")

    return _PERSON.sub(swap, text)


def third_person(verb: str) -> str:
    """Return the present of `verb` (base form) in the third person singular."""
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def sentence_case(text: str) -> str:
    """Return `text` with a capital where it starts with a word of ours, and a full stop."""
    start = (
        text[:1].upper() + text[1:]
        if text.startswith(("the user", "the agent", "a ", "an ", "order", "someone", "somebody"))
        else text
    )
    if start[:1].islower() and start.split(" ", 1)[0].isalpha():
        start = start[0].upper() + start[1:]
    return start if start.endswith((".", "?", "!", '"', "”")) and not start.endswith("..") else f"{start.rstrip('.')}."
