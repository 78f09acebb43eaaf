"""Whether a retold text is surely one English sentence: a subject that stands by itself, its verb, one main clause.

It errs to no: what is not surely grammatical is left out rather than remembered.
"""

import re
from typing import Final

from extraction.offline.verbs import ADVERBS, BASE_VERBS, FINITE_AUXILIARIES, is_finite, is_past

_WORD: Final = re.compile(r"[\w$€£#@'’.+-]*[\w$€£%]")
_POINTING: Final = frozenset("it they he she this that these those them its it's it’s they're there're".split())
_THERE: Final = re.compile(r"There(?:['’]s| is| are| was| were| has been| have been| will be)\b", re.I)
_PLURALS: Final = r"(?:transfers|charges|transactions|withdrawals|payments|problems|issues|errors|purchases|debits)"
_DISAGREES: Final = re.compile(
    rf"^There(?:['’]s| is| was| has)(?: been)? (?!an? |one |some |no )(?:[\w$€.-]+ ){{0,3}}?{_PLURALS}\b"
    r"|^There (?:are|were|have)(?: been)? (?:an?|one) (?!few|lot|bunch|number|couple)"
    rf"|\ban? (?!(?:few|couple|lot|bunch|number|series|total)\b)(?:[\w$.-]+ ){{0,2}}{_PLURALS}\b"
    r"|\bto (?!need|feed|speed|proceed|succeed|exceed|bleed|breed|seed|shed|wed|heed|embed|bed|red|fed)[a-z]+ed\b"
    r"|\b(?:at|on|with|for|to|of|from|in|by|and|or|the|a|an)\.$"
    r"|\b(?:I|i|im|Im|ive|my|mines|u|ur)\b(?!\.)|\b(\w+) \1\b(?<!had had)(?<!that that)"
    r"|\bthe agent's (?:bank |debit |credit )?(?:account|card|money|wallet|pin|order|ride|flight|balance|friend"
    r"|boss|party|mother|father|family|room)\b"
    r"|\bthe user (?:have|are|am|do|don['’]t|haven['’]t|were)\b",
)
_SPLICED: Final = re.compile(
    r",\s+some(?:one|body) "
    r"|,\s+(?:there|it|they|he|she|this|that)(?:['’]s|['’]re| (?:is|are|was|were|has|have|had|will))\b"
    r"|\s[-–—]+\s(?:the|but|and|can|it|he|she|they|that|this|there)\b",
    re.I,
)
_LED_IN: Final = re.compile(r"\b(?:before|after|when|while|if|once|until) [^,]+$")
"""What ends in a subordinate clause leads on to the clause after the comma."""
_GARBLED: Final = re.compile(
    r"\b(?:has|have|had) (?:took|stole|went|saw|did|gave|wrote|spoke|chose|broke|withdrew|came|drew)\b"
    r"|\bsome(?:one|body) (?:withdraw|steal|take|transfer|use|charge|make|do|have|get)\b"
    r"|\b(?:and|but) (?:need|want|have|am|hope|think)\b",
    re.I,
)
_MAIN: Final = re.compile(r"\bthe (?:user|agent)(?P<owner>['’]s)?(?=\s+(?P<next>[\w'’]+))")
_CONNECTORS: Final = frozenset(
    "and but or so because that which who whom whose when where while if since as before after until till than what how"
    " why though although like whether once unless whenever wherever then cause - – —".split()
)
_SUBORDINATE: Final = re.compile(
    r"(?:If|When|Before|After|While|Since|As|Because|Although|Though|Once|Until|Every time)\b"
)
_MAX_SUBJECT_WORDS: Final = 9
_STARTS_ORDER: Final = frozenset(
    "the a an me us my your it that this these those to for on in at with and up out him her them some any".split()
)


def is_sentence(text: str) -> bool:
    """Whether `text` is one sentence with a subject and a verb that agree, as far as can be told."""
    if _DISAGREES.search(text) or _GARBLED.search(text) or not _has_subject_and_verb(text):
        return False
    if _SUBORDINATE.match(text):
        return True
    spliced = any(not _LED_IN.search(text[: found.start()]) for found in _SPLICED.finditer(text))
    return not spliced and not any(_runs_on(found, text) for found in _MAIN.finditer(text))


def _has_subject_and_verb(text: str) -> bool:
    if _THERE.match(text):
        return True
    head = re.split(r"[,;:!?()]|\s[-–—]+\s", text, maxsplit=1)[0]
    if _SUBORDINATE.match(text):
        head = text.partition(",")[2].strip() or text
    words = [word.lower() for word in _WORD.findall(head)[: _MAX_SUBJECT_WORDS + 1]]
    if len(words) < 2 or words[0] in _POINTING or words[0] in FINITE_AUXILIARIES:
        return False
    if words[0] in BASE_VERBS and words[1] in _STARTS_ORDER:
        return False
    if words[0] == "the" and words[1] in ("user", "agent"):
        rest = [word for word in words[2:] if word not in ADVERBS]
        return bool(rest) and is_finite(rest[0])
    for index, word in enumerate(words[1:], 1):
        is_verb = is_finite(word) and not (word.endswith("ed") and index == len(words) - 1)
        if is_verb and words[index - 1] not in ("not", "to", "been"):
            return index > 1 or words[0] not in ("the", "a", "an", "and", "or", "but", "of")
    return False


def _runs_on(found: re.Match[str], text: str) -> bool:
    """Whether "the user ..." begins a second main clause that nothing joins to the first."""
    words = text[: found.start()].lower().split()
    if not words:
        return False
    before, following = words[-1], found["next"].lower()
    if found["owner"]:
        return following == "name" and before.strip(",") not in _CONNECTORS
    if not is_finite(following) and following not in ADVERBS:
        return False  # an object: "gave the user directions"
    if before.endswith(",") or before in ("user", "agent", "me", "it"):
        return True
    if before in _CONNECTORS or before in ADVERBS:
        return False
    return not is_past(following)  # "the ride the user booked" is a relative clause
