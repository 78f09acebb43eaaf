"""Who the user is: name, home, whereabouts, employer, role, time zone."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import CAPITAL, NAME, PLACE_NAME, THING, Pattern, apply, claim, compiled
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

_NOT_NAMES: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november "
    "december german french english american british italian spanish dutch indian chinese japanese canadian"
    " mexican polish swedish irish "
    "australian russian portuguese brazilian korean turkish greek danish finnish norwegian european asian"
    " african catholic muslim jewish "
    "christian hindu buddhist vegan vegetarian pescatarian sorry fine good great ok okay not now here back ready"
    " sure happy glad looking "
    "trying going having in at on from the an so very just still also yes no none nope unavailable correct right"
    " same mine i it me done "
    "hi hello hey thanks thank you please what why who when where how any anything everything nothing something"
    " never already all that "
    "this these those is are was what's whatever skip unknown confirmed asap urgent my your our walking driving"
    " public transit uber lyft "
    " god jeez geez gosh crap damn wow nevermind oops ugh hmm umm yup yep yeah nah thing for as hold hang like"
    " again lol omg"
    " help dude man listen look whatever seriously really again anyway first second one two"
    " im ive ill iam hi there id actually wait let can could would well i'm i've i'll don't doctor dr mr mrs ms"
    " maybe and or but if do does"
    " have need want help cancel "
    "hotel room inn ticks available because unfortunately interested calling travelling traveling new".split()
)
_JOBS: Final = (
    r"(?:engineer|developer|programmer|designer|architect|doctor|nurse|surgeon|teacher|professor|lawyer|attorney"
    r"|accountant|manager|director|"
    r"consultant|analyst|scientist|researcher|student|writer|journalist|editor|photographer|musician|artist|actor"
    r"|actress|chef|cook|baker|driver|"
    r"pilot|electrician|plumber|carpenter|mechanic|farmer|gardener|nutritionist|therapist|psychologist|dentist"
    r"|pharmacist|veterinarian|vet|"
    r"administrator|admin|officer|founder|ceo|cto|cfo|freelancer|contractor|salesperson|recruiter|translator"
    r"|librarian|paramedic|firefighter|"
    r"soldier|receptionist|secretary|assistant|waiter|waitress|barista|technician|economist|physicist|chemist"
    r"|biologist|mathematician|"
    r"tutor|coach|trainer|producer|marketer|sre|dba|product owner|data engineer|retiree|pensioner)"
)
_PLACE: Final = (
    rf"(?-i:(?P<place>{PLACE_NAME}(?:, (?:[A-Z]{{2}}\b|[A-Z]\w+(?=\s*(?:[.!?;]|$))))?)"
    rf"|(?P<lower>[a-z]{{3,}}(?: [a-z]{{3,}})?)"
    r"(?=\s*(?:[.,!?;]|$|\s(?:now|and|but)\b)))"
)
_NOT_PLACES: Final = frozenset(
    "the a an my your his her our their this that those these one here there where back tears somewhere another"
    " new different fear peace "
    "person order general bed trouble love case need touch town house home apartment flat place city country"
    " area next same today now "
    "tomorrow room bigger smaller downtown abroad".split()
)
_ZONE: Final = (
    r"(?P<zone>(?:(?:US )?(?:pacific|eastern|central|mountain|atlantic|indian|japan|british|greenwich"
    r"|central european|eastern european)"
    r"(?: (?:standard|daylight|summer|mean))? time|(?-i:UTC|GMT|CET|CEST|EET|EST|EDT|CST|CDT|MST|MDT|PST|PDT|IST"
    r"|JST|BST|AEST|WET)\b"
    r"(?:\s?[+-]\s?\d{1,2}(?::\d\d)?)?|(?-i:[A-Z]\w+/[A-Z]\w+)))"
)
_PERSON: Final = (
    rf"(?!(?:I|Im|Ive|Ill|Id|My|The)\b){CAPITAL}(?:\s(?!(?:I|Im|Ive|Ill|Id|My|The"
    rf"|And)\b)(?:{CAPITAL}|de|van|von|da|del|al|bin)){{0,3}}"
)
_NAME_ENDS: Final = (
    r"(?=\s*(?:[.,!?;:()…<-]|$)|\s(?:and|but|from|here|speaking|calling|with|again|so|or|btw|by|please|thanks|not"
    r"|because|if"
    r"|though|instead|now|I|i|I['’]\w+|i['’]\w+|Im|im|my|we|what|can|could|is)\b)"
)
"""A name that runs on otherwise ("Chewieand the ships bartender") is garbled."""
_NAMED: Final = (
    compiled(
        r"\b(?:my (?:full |first |real |nick)?name(?:['’]s| is)(?: now| actually)?|(?:you can |please "
        r"|just |so |and )call me|^\W*call me|I go by|"
        rf"I prefer to be called|I['’]m called|I am called)\s+(?-i:(?P<name>{_PERSON})){_NAME_ENDS}"
    ),
    re.compile(
        r"\b(?:[Mm]y name(?:['’]s| is)|MY NAME IS)\s+(?P<name>[a-z]+(?: [a-z]+)?)(?=\s*(?:[.,!?;]|$)|\s(?:and|i|i'm)\b)"
    ),
)
_OPENERS: Final = (
    r"^\W*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|there|yes|yeah|yep|yup|ya|sure|of course"
    r"|certainly|sorry|oh|ok"
    r"|okay|and|thanks|well|uh|um)\b\W*)*"
)
_PRESENTED: Final = compiled(
    rf"{_OPENERS}(?:I['’]m|I am|this is)\s+(?-i:(?P<name>{_PERSON}))"
    r"(?=\s*(?:[.,!;]|$)|\s(?:and|from|here|speaking|calling|with|again)\b)"
)
_BACK: Final = compiled(
    rf"{_OPENERS}it['’]s\s+(?-i:(?P<name>{_PERSON}))\s(?:again|here|speaking|calling)\b"
    rf"|^\W*(?:hi|hello|hey)\b\W*(?:there\W+)?it['’]s\s+(?-i:(?P<greeter>{_PERSON}))(?=\s*(?:[.,!;]|$)|\sand\b)"
)
"""Who greets with "it's" gives a name; without a greeting it may be anything that was asked for."""
_BARE_NAME: Final = compiled(
    rf"(?>{_OPENERS})(?:(?:the|my) (?:full |first |last )?name is |it['’]?s |it is |i['’]?m |i am |this is )?"
    r"(?P<name>[a-zÀ-ÿ][\w'’-]+(?: [a-zÀ-ÿ][\w'’-]*(?:\.(?=\s))?){0,2})(?:,? please)?(?=\s*(?:[.!,;]|$))"
)
_ASKS_NAME: Final = compiled(
    r"\byour (?:full |first |last )?name\b(?!\s*(?:,(?! please)| and| of|\w* ?hotel))|\bwho am I (?:speaking"
    r"|talking) (?:to|with)\b"
)
_MEANT: Final = compiled(
    r"[\s.,…–—-]*(?:(?:no|oh|wait|sorry|or|well)\b[\s.,…–—-]*)*(?:actually|I mean|I meant|make that|rather)\b[\s,]*"
    rf"(?:(?:it['’]s|I['’]m|it is|I am)\s+)?(?-i:(?P<name>{_PERSON}))?"
)
"""A name is corrected as it is said: "Angie....actually Angela"."""
_RANKS: Final = frozenset(
    "sir madam captain chief first second officer engineer acting commander lieutenant sergeant major colonel general"
    " admiral private cadet ensign".split()
)
_NO_PERSON: Final = compiled(
    r"\b(?:venue|hotel|inn|apartments?|restaurant|airport|hospital|university|bar|cafe|street|avenue|center"
    r"|centre|bank)\b"
)
_RENAMES: Final = compiled(r"\bname is (?:now|actually)\b|\bactually\b|\bcall me\b|\bprefer to be called\b")
_TURNS: Final = 3
"""In so many of the user's first turns "I'm ..." may be an introduction."""
PATTERNS: Final = (
    Pattern(
        "fact",
        "other.origin",
        compiled(rf"\bI(?:['’]m| am) (?:originally )?from (?-i:(?P<place>{PLACE_NAME}))"),
        "{who} is from {place}.",
        0.8,
    ),
    Pattern(
        "fact",
        "other.habit",
        compiled(
            r"\bI (?P<often>(?:always |usually |mostly |normally |typically |only )?)"
            rf"(?P<verb>drink|speak|play|wear|drive|cycle) (?P<thing>(?!an? |to |too ){THING})"
        ),
        "{who} {often} {verb}s {thing}.",
        0.75,
    ),
    Pattern(
        "fact",
        "other.tool",
        compiled(
            r"\bI (?:mostly |mainly |usually )?(?:work|code|program|write code|develop) in "
            r"(?-i:(?P<tool>Python|Java|JavaScript|TypeScript|Go|Rust|Scala|Kotlin|Swift|Ruby|PHP|SQL|C\+\+|C#)(?!\w))"
        ),
        "{who} works in {tool}.",
        0.8,
    ),
    Pattern(
        "fact",
        "work.employer",
        compiled(
            rf"\bI(?:['’]m| am)?(?: currently| now)? work(?:ing)? (?:for|at) (?:the )?(?-i:(?P<org>{PLACE_NAME}))"
        ),
        "{who} works for {org}.",
    ),
    Pattern(
        "fact",
        "work.employer",
        compiled(
            rf"\bI(?:['’]ve| have)?(?: just| recently)? (?:joined|started (?:working )?at) (?-i:(?P<org>{PLACE_NAME}))"
        ),
        "{who} works for {org}.",
        change=True,
    ),
    Pattern(
        "fact",
        "work.role",
        compiled(
            r"\b(?:I(?:['’]m| am)?(?: currently| now)? work(?:ing)?(?: [\w ]{1,30})? as|my (?:job|role"
            r"|profession|title|occupation) is)"
            r" (?P<article>an? |the )?(?P<thing>(?:[\w-]+ ){0,4}?[\w-]+)(?=\s*(?:[.,;!?()]|$)|\s(?:and|but|to|at"
            r"|for|in|with|so|of)\b)"
        ),
        "{who} works as {article} {thing}.",
        0.85,
    ),
    Pattern(
        "fact",
        "work.role",
        compiled(
            r"\bI(?:['’]m| am)(?: now| currently| also)? (?P<article>an?) (?!(?:terrible|bad|horrible|good|great"
            rf"|fast|slow|broke|poor|big|lousy|nervous|careful|safe)\b)(?P<role>(?:[\w-]+ ){{0,3}}{_JOBS})\b(?!"
            r" (?:of|in training|wannabe))"
        ),
        "{who} is {article} {role}.",
    ),
    Pattern(
        "fact",
        "work.timezone",
        compiled(rf"\bmy (?:preferred |local |usual |current )?time ?zone is(?: in)?(?: the)? {_ZONE}"),
        "{who}'s time zone is {zone}.",
    ),
    Pattern(
        "fact",
        "work.timezone",
        compiled(
            rf"\bI(?:['’]m| am)?(?: now| usually)?(?: work(?:ing)?| live| based)? (?:in|on|from)(?: the)? {_ZONE}"
        ),
        "{who} works in the time zone {zone}.",
    ),
    Pattern(
        "fact",
        "location.current",
        compiled(
            r"\bI(?:['’]m| am)(?: currently| now| here)? (?P<where>(?:visiting|(?:staying |travell?ing )?(?:in|at|on)) "
            rf"(?:(?:the )?(?-i:(?>{PLACE_NAME}))|the (?!right|wrong|same|other)[\w ]{{3,25}}?)(?:,? (?:in )?room"
            rf" \d+)?)"
            r",?\s(?:right now|at the moment|now|currently|at present)\b"
        ),
        "{who} is {where} at the moment.",
        0.8,
        durable=False,
    ),
    Pattern(
        "fact",
        "location.current",
        compiled(
            r"\bI(?:['’]m| am)(?: currently| now| here)? (?P<where>(?:staying (?:at|in)|visiting|at) (?:the )?"
            rf"(?-i:(?>{PLACE_NAME}))(?:,? (?:in )?room \d+\b)?)"
            r"(?!,?\s(?:right now|at the moment|now|currently|at present)\b|\s(?:and|&) [a-z]+\s*(?:[.,!?;]|$))"
        ),
        "{who} is {where} at the moment.",
        0.8,
        durable=False,
    ),
)
_HOME: Final = (
    (
        compiled(
            r"\b(?:I|we)(?:['’]m| am|['’]re| are)?(?: currently| now| still| both| actually)? (?:live|living"
            rf"|reside|residing|based)(?: now| currently)? in (?:not in .{{1,30}} but in )?{_PLACE}"
        ),
        False,
    ),
    (
        compiled(
            r"\b(?:I|we)(?:['’]ve| have)?(?: just| recently| finally)? (?:moved|relocated)(?: (?:back"
            rf"|house))?(?: from {NAME})? to {_PLACE}"
        ),
        True,
    ),
    (compiled(rf"\bmy (?:home|home ?town|home city|city) is {_PLACE}"), False),
)


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield what users, and others who speak on their side, say of themselves."""
    for sentence in talk.user_side:
        yield from apply(PATTERNS, sentence)
        yield from _homes(sentence)
        if sentence.line.is_user:
            yield from _names(talk, sentence)


def _homes(sentence: Sentence) -> Iterator[ExtractedClaim]:
    line = sentence.line
    for regex, is_move in _HOME:
        match = regex.search(sentence.text)
        if match is None or not sentence.asserts(match):
            continue
        if match["lower"] and set(match["lower"].split()) & _NOT_PLACES:
            continue
        place = match["place"] or match["lower"].title()
        who, about = ("The user", "user") if line.is_user else (line.speaker, line.speaker)
        change = is_move or bool(re.search(r"\bnow\b|\bno longer\b|\bactually\b|\bnot in\b", sentence.text, re.I))
        made = claim(
            sentence,
            "fact",
            "location.home",
            f"{who} lives in {place}.",
            match=match,
            about=about,
            confidence=0.9,
            change=change,
        )
        if made:
            yield made
            return


def _names(talk: Talk, sentence: Sentence) -> Iterator[ExtractedClaim]:
    text, line = sentence.text, sentence.line
    patterns = (*_NAMED, _PRESENTED, _BACK) if talk.turn_of_user(line) < _TURNS else _NAMED
    earlier: tuple[int, ...] = ()
    match = next((m for p in patterns if (m := p.search(text)) and sentence.asserts(m)), None)
    if match is None and (question := talk.question_before(line)) and _ASKS_NAME.search(question.text):
        match, earlier = _BARE_NAME.match(text), (question.line.n,)
        if match and not _is_bare_answer(sentence, match):
            match = None
    if match is None:
        return
    given = "greeter" if match.groupdict().get("greeter") else "name"
    meant = _MEANT.match(text, match.end(given))
    if not (name := _clean_name((meant["name"] if meant else match[given]) or "")):
        return
    change = not meant and bool(_RENAMES.search(text))
    made = claim(
        sentence,
        "fact",
        "name",
        f"The user is called {name}.",
        match=match,
        confidence=0.9,
        change=change,
        earlier=earlier,
    )
    if made:
        yield made


def _is_bare_answer(sentence: Sentence, match: re.Match[str]) -> bool:
    """Whether a name is all that was answered; or begins the answer, and is written as names are."""
    line = sentence.line.text.strip()
    if sentence.is_question or not line.startswith(sentence.text):
        return False
    rest = line[match.end() :].lstrip()
    return not rest.strip(".!") or (match["name"][0].isupper() and rest[:1] in ".,;")


def _clean_name(raw: str) -> str:
    """Return the name without what was only said beside it; nothing when no name of a person is left."""
    words = raw.rstrip(".").split()
    while words and words[0].lower() in _RANKS:
        words = words[1:]
    stop = next((index for index, word in enumerate(words) if word.lower().strip(".,") in _NOT_NAMES), len(words))
    words = words[:stop]
    if _NO_PERSON.search(" ".join(words)):
        return ""
    return " ".join(
        word if word[0].isupper() or index and len(word) < 4 else word.capitalize() for index, word in enumerate(words)
    )
