"""The people and animals around the user: who they are called, where they live, what they must not eat; allergies."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import NAME, THING, Pattern, apply, claim, compiled, is_nameable
from extraction.offline.talk import Talk
from schemas.extraction import ClaimKind, ExtractedClaim

_KIN: Final = (
    r"(?:(?:step|grand|great-grand|half-)?(?:mother|father|son|daughter|sister|brother|child|parents)|mom|mum|dad"
    r"|wife|husband|spouse|partner|fianc[eé]e?|"
    r"girlfriend|boyfriend|kid|baby|twins?|niece|nephew|aunt|uncle|cousin|grandma|grandpa|(?:mother|father|sister"
    r"|brother|son|daughter)-in-law)"
)
_OTHERS: Final = (
    r"(?:friend|colleague|coworker|co-worker|boss|manager|neighbou?r|roommate|flatmate|landlord"
    r"|doctor|lawyer|assistant|teammate)"
)
_AGED: Final = r"(?:(?:little|young|older|younger|teenage|grown-up|adult|big) )?"
_CHILD: Final = r"(?:son|daughter|child|kid|brother|sister|niece|nephew|grandchild|grandson|granddaughter|twin)"
_PET: Final = (
    r"(?:dog|cat|puppy|kitten|hamster|rabbit|horse|parrot|goldfish|turtle|tortoise|guinea pig|bird|snake|lizard|pony)"
)
_NUMBER: Final = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2})"
_WHO: Final = (
    rf"\bmy (?P<age>(?:older|younger|little|big|elder|best|late|ex-|new) ?)?(?P<kin>{_KIN}|{_OTHERS}"
    rf"|{_PET})(?:,? (?-i:(?P<name>{NAME}))(?!['’]s\b),?)?"
)
_FOOD: Final = (
    r"(?P<thing>(?:[\w-]+(?:,? (?:and|or) |, | )){0,4}?[\w-]+)(?=\s*(?:[.,;!?()]|$)|\s(?:and|so|but"
    r"|because|which|since|please|too|also|as well|by the way)\b)"
)
_ABOUT_OTHERS: Final[tuple[tuple[ClaimKind, str, re.Pattern[str], str], ...]] = (
    (
        "fact",
        "health.allergy",
        compiled(rf"{_WHO} (?:is|are|['’]s) (?:also |very |severely |badly |deathly |highly )*allergic to {_FOOD}"),
        "{subject} is allergic to {thing}.",
    ),
    (
        "fact",
        "health.allergy",
        compiled(rf"{_WHO} has an? (?:severe |bad |serious )?(?P<thing>[\w-]+(?: [\w-]+)?) allergy\b"),
        "{subject} has a {thing} allergy.",
    ),
    (
        "preference",
        "diet",
        compiled(
            rf"{_WHO} is (?:now |also |a |strictly )*(?P<thing>vegetarian|vegan|pescatarian|kosher|coeliac|celiac"
            r"|gluten[- ]free|lactose[- ]intolerant)\b"
        ),
        "{subject} is {thing}.",
    ),
    (
        "preference",
        "diet",
        compiled(rf"{_WHO} (?:does not|doesn['’]t|never) eats? (?P<thing>{THING})"),
        "{subject} does not eat {thing}.",
    ),
    (
        "preference",
        "likes",
        compiled(
            rf"{_WHO} (?:really |also |just |absolutely )*(?:loves|likes|adores|enjoys|prefers) (?P<thing>{THING})"
        ),
        "{subject} likes {thing}.",
    ),
    (
        "preference",
        "dislikes",
        compiled(
            rf"{_WHO} (?:really |also |just |absolutely )*(?:hates|dislikes|can['’]t stand|(?:doesn['’]t"
            rf"|does not) like) (?P<thing>{THING})"
        ),
        "{subject} dislikes {thing}.",
    ),
    (
        "fact",
        "location.home",
        compiled(rf"{_WHO} (?:now |currently |also )?lives in (?-i:(?P<place>{NAME}))"),
        "{subject} lives in {place}.",
    ),
    (
        "fact",
        "location.home",
        compiled(rf"{_WHO} (?:has |have |just )*moved to (?-i:(?P<place>{NAME}))"),
        "{subject} lives in {place}.",
    ),
    (
        "fact",
        "work.employer",
        compiled(rf"{_WHO} works (?:for|at) (?-i:(?P<place>{NAME}))"),
        "{subject} works for {place}.",
    ),
    (
        "fact",
        "work.role",
        compiled(rf"{_WHO} (?:works as|is) (?P<thing>an? [\w-]+(?:er|or|ist|ian|nurse|chef|teacher))\b"),
        "{subject} is {thing}.",
    ),
)
_CALLED: Final = (
    compiled(
        rf"\bmy (?P<kin>{_KIN}|{_OTHERS}|{_PET})(?:['’]s name is| is called| is named|,? (?:who is )?called"
        rf"|,? named| called) (?-i:(?P<name>{NAME}))"
    ),
    compiled(
        rf"\bmy (?P<kin>{_KIN}|{_OTHERS}|{_PET}),? (?-i:(?P<name>[A-ZÀ-Þ][a-zà-ÿ'’-]+(?:"
        rf" [A-ZÀ-Þ][a-zà-ÿ'’-]+)?))(?!['’]s\b)\b"
    ),
)
_ONE: Final = frozenset({"a", "an", "one", "1"})
_HAS_PET: Final = compiled(
    r"\bI(?:['’]ve| have)?(?: also| just)? (?:have|own|got|adopted"
    rf"|keep)\b(?:[^.;!?]{{0,40}}? and)? (?P<count>{_NUMBER}) (?P<what>(?:[\w-]+ ){{0,2}}?{_PET}s?)\b"
    rf"(?:,? (?:named|called|whose name is) (?-i:(?P<name>{NAME})))?(?!\s+[a-z]+ing\b)"
)
PATTERNS: Final = (
    Pattern(
        "fact",
        "health.allergy",
        compiled(rf"\bI(?:['’]m| am)(?: also| very| severely| badly| deathly| highly)* allergic to {_FOOD}"),
        "{who} is allergic to {thing}.",
        0.95,
    ),
    Pattern(
        "fact",
        "health.allergy",
        compiled(r"\bI(?:['’]ve| have)(?: got)? an? (?:severe |bad |serious )?(?P<thing>[\w-]+(?: [\w-]+)?) allergy\b"),
        "{who} has a {thing} allergy.",
        0.95,
    ),
    Pattern(
        "fact",
        "family",
        compiled(
            rf"\bI(?:['’]ve| have)(?: got)? (?:(?P<count>an?|one|1) (?P<what>{_AGED}{_CHILD})"
            rf"|(?P<counts>(?!1\b){_NUMBER})"
            rf" (?P<whats>{_AGED}(?:{_CHILD}s|(?:grand)?children)))\b(?! (?:named|called))"
        ),
        "{who} has {count}{counts} {what}{whats}.",
        0.85,
    ),
    Pattern(
        "fact",
        "family",
        compiled(
            r"\bI(?:['’]ve| have)(?: got)? an? (?P<what>son|daughter|brother|sister|niece|nephew|wife|husband"
            rf"|partner|child) (?:named|called) (?-i:(?P<name>{NAME}))"
        ),
        "{who} has a {what} called {name}.",
    ),
    Pattern(
        "fact",
        "possession",
        compiled(
            r"\bI own (?P<thing>an? (?:[\w-]+ ){0,3}?[\w-]+)(?=\s*(?:[.,;!?()]|$)|\s(?:and|but|so|that"
            r"|which|with)\b)"
        ),
        "{who} owns {thing}.",
        0.8,
    ),
)
_RELATED: Final = (
    Pattern(
        "fact",
        "family",
        compiled(rf"\bI(?:['’]m| am) (?:her|his|their) (?P<kin>{_KIN})\b"),
        "{who} is the user's {kin}.",
        0.8,
    ),
)
"""What somebody else in the room says of their tie to the user."""
_POSSESSIVE: Final = re.compile(r"['’]s$")
_PRONOUNISH: Final = frozenset(
    "the i and but is was will so because please can could would then this that the in on at for a an".split()
)

_ASKS_WHO: Final = compiled(r"\b(?:are|is|was) (?:you|he|she|this|that|it)\W*$")
_SUPPOSED: Final = compiled(r"\b(?:if|not|isn't|wish|pretend|imagine|said|says)\b")


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield what the user tells of others, and everyone's allergies. It is about the other, never about the user."""
    for sentence in talk.user_side:
        yield from apply(PATTERNS, sentence)
        if sentence.line.speaker:
            yield from apply(_RELATED, sentence)
        else:
            yield from _of_others(sentence)
            yield from _called(sentence)
            yield from _pets(sentence)


def _of_others(sentence: Sentence) -> Iterator[ExtractedClaim]:
    seen: set[str] = set()
    for kind, key, regex, template in _ABOUT_OTHERS:
        match = regex.search(sentence.text)
        if match is None or key in seen or not sentence.asserts(match):
            continue
        groups = match.groupdict(default="")
        if "thing" in groups and key != "work.role" and not is_nameable(groups["thing"]):
            continue
        name, kin = _POSSESSIVE.sub("", groups["name"].strip(" ,")), groups["kin"].lower()
        subject = f"The user's {groups['age'].lower()}{kin}" + (f" {name}" if name else "")
        text = template.format(subject=subject, **{k: v.strip() for k, v in groups.items()})
        change = "moved" in match[0]
        if made := claim(sentence, kind, key, text, match=match, about=name or kin, confidence=0.9, change=change):
            seen.add(key)
            yield made


def _called(sentence: Sentence) -> Iterator[ExtractedClaim]:
    for regex in _CALLED:
        for match in regex.finditer(sentence.text):
            name = _POSSESSIVE.sub("", match["name"].strip())
            if name.split(" ", 1)[0].lower() in _PRONOUNISH or _is_doubtful(sentence, match):
                continue
            kin = match["kin"].lower()
            key = "possession" if re.fullmatch(_PET, kin) else "family" if re.fullmatch(_KIN, kin) else "other.person"
            if made := claim(
                sentence, "fact", key, f"The user's {kin} is called {name}.", match=match, confidence=0.85
            ):
                yield made
                return


def _is_doubtful(sentence: Sentence, match: re.Match[str]) -> bool:
    """Whether the name is only supposed or asked for. One that is mentioned within a question still names."""
    before = sentence.text[: match.start()]
    if sentence.is_question and _ASKS_WHO.search(before):
        return True
    return bool(_SUPPOSED.search(before)) or before.count('"') % 2 == 1


def _pets(sentence: Sentence) -> Iterator[ExtractedClaim]:
    match = _HAS_PET.search(sentence.text)
    if match and sentence.asserts(match):
        called = f" called {match['name']}" if match["name"] else ""
        if (match["count"].lower() in _ONE) == match["what"].endswith("s"):
            return  # "two dog" is garbled
        text = f"The user has {match['count'].lower()} {match['what']}{called}."
        if made := claim(sentence, "fact", "possession", text, match=match, confidence=0.9):
            yield made
