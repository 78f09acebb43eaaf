"""Word lists of English verbs, for putting a sentence into the third person and for telling whether it is one."""

from typing import Final

BASE_VERBS: Final = frozenset(
    "wake remember notice proceed confirm check look receive order return contact offer apologize recommend"
    " suggest assume hope believe accept add agree arrive ask book bring buy call cancel change choose come"
    " commute cook deploy depend deserve do drink drive eat enjoy expect fancy feel fly forget get give go guess"
    " hate have host keep know lead like live look love manage mean need own owe pay plan play pick prefer promise"
    " realize recall refuse rent report require reserve run say schedule see sell send serve share sing sit skip"
    " sleep speak spend start stay stop study take teach tell tend think travel trust try understand use visit"
    " wait walk want wear wish work worry write appreciate avoid find follow hear help hold join lose make miss"
    " move open close show talk turn wonder".split()
)
"""Forms that stand alike after "I" and after "to"."""

IRREGULAR_PASTS: Final = frozenset(
    "ate became began bought broke brought built came chose did drank drew drove fell felt flew forgot fought"
    " found froze gave got grew had heard held hid kept knew left lent lost made meant met paid ran rode rose said"
    " sang sat saw sent shot slept sold spent spoke stole stood stuck swam taught threw told thought took"
    " understood was went woke withdrew won wore wrote".split()
)

AUXILIARIES: Final = frozenset(
    "can could will would shall should may might must did had was cannot can't can’t couldn't couldn’t won't"
    " won’t wouldn't wouldn’t didn't didn’t wasn't wasn’t hadn't hadn’t shouldn't shouldn’t".split()
)
"""Those of one form for every person that an "I" may have before it becomes "the user"."""

FINITE_AUXILIARIES: Final = AUXILIARIES | frozenset(
    "is are were isn't isn’t aren't aren’t weren't weren’t has have hasn't hasn’t haven't haven’t does doesn't"
    " doesn’t do don't don’t".split()
)

ADVERBS: Final = frozenset(
    "also just really still now already always never usually currently only often strongly actually mostly"
    " generally recently honestly even probably then kindly gladly soon definitely absolutely apparently simply"
    " finally once especially personally sometimes suddenly together both".split()
)


def third_person(verb: str) -> str:
    """Return the present of `verb` (base form) in the third person singular."""
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def is_past(word: str) -> bool:
    """Whether `word` (lower case) is surely of the past tense, the same in every person."""
    return word in IRREGULAR_PASTS or (len(word) > 3 and word.endswith("ed"))


def is_finite(word: str) -> bool:
    """Whether `word` (lower case) may be the verb of a third-person subject."""
    return word in FINITE_AUXILIARIES or is_past(word) or (word in _PRESENTS)


_PRESENTS: Final = frozenset(third_person(verb) for verb in BASE_VERBS) | frozenset(
    "begins belongs contains costs departs ends expires fails hates includes lands lasts leaves means opens"
    " remains says seems sits stands starts takes weighs works".split()
)
