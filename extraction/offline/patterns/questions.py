"""Questions of the user that stayed open, and answers that close questions of the record."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.dates import find_dates
from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import claim, compiled, retold
from extraction.offline.reading import Note
from extraction.offline.talk import Talk
from extraction.secrecy import MASK
from schemas.extraction import ExtractedClaim

_ASKS: Final = compiled(
    r"(?:^\W*(?:(?:and|so|but|or|ok|okay|also|hi|hello|well|oh|then|actually|thanks|thank you|perfect|great)\b\W*)*"
    r"|[,;:-]\s*(?:so |and |but )?)"
    r"(?:who|whom|whose|what|where|when|why|which|how|is|are|was|were|do|does|did|has|have|will|any)(?:['’]s|['’]re)?\b"
)
_REQUEST: Final = compiled(
    r"\bdo I (?:like|love|prefer|live|work|eat|drink|hate|have)\b|\b(?:know|remember) about me\b|"
    r"^\W*you\b|\bI guess\b|\b(?:can|could|would|will|won['’]t|can['’]t|couldn['’]t) (?:you|anyone|anybody"
    r"|someone|somebody)\b|\bare you (?:one|some|able|my|the|an?)\b|\b(?:can|could|may) (?:I|we|it|you)\b|\bhow about\b"
    r"|\bwhat about\b|\bhow are you\b|\bdo you (?:like|think|have any idea|ever|want|love|prefer|enjoy|feel)\b|"
    r"\bhave you (?:ever|been)\b|\bdon['’]t you\b|\b(?:isn['’]t|aren['’]t|won['’]t|right|huh|ok|okay|you know"
    r"|what do you think)\W*\?|\bare you (?:there|a (?:bot|robot|human)|real|serious|kidding|sure)\b|"
    r"\bguess what\b|\bwho (?:knows|cares)\b|\bwhy (?:do|does|did|is|are|would) (?:I|you|everything|this|it)\b"
    r"|\bwhat(?:['’]s| is) next\b|\bis (?:there )?anything else\b|\byou know (?:what|how)\b"
)
_NO_ANSWER: Final = compiled(
    r"\b(?:I|we)(?:['’]m| am|['’]re| are)? (?:really |currently |unfortunately )*(?:don['’]t|do not|can['’]t"
    r"|cannot|could not|couldn['’]t|unable|not able|not sure|afraid) ?(?:to )?(?:know|have (?:access|that|the|any"
    r"|information)|find|say|tell|get|see|answer|determine|"
    r"look|access|provide|confirm|I)?\b|\bI(?:['’]ll| will) (?:find out|check|ask|look into|get back)\b"
    r"|\bnot (?:yet )?(?:known|clear|available yet)\b|\bno information\b|\bunable to (?:get|find|tell|check"
    r"|access|determine|provide|look)\b"
)
_CHAT: Final = compiled(r"\b(?:don['’]t quite understand|only able to help|authenticate)\b")
_WORD: Final = re.compile(r"[^\W_][\w-]*")
_COMMON: Final = frozenset(
    "a an the is are was were be been do does did has have had can could will would shall should may might i you"
    " he she it we they my your his her its our their me us them "
    "who whom whose what where when why which how of to in on at for from by with about and or but if so as than"
    " that this these those there here not no yes user agent asked "
    "asks please know tell get any some many much more".split()
)
_ENDINGS: Final = ("ing", "ed", "es", "s")
_WHEN: Final = compiled(r"\bwhen\b|\bwhat (?:time|day|date)\b")
_TIME: Final = compiled(
    r"\b(?:\d{1,2}(?::\d\d)? ?(?:am|pm)|\d{1,2}:\d\d|noon|midnight|today|tonight|tomorrow|morning|afternoon|evening"
    r"|soon|(?:minutes?|hours?|days?|weeks?|months?))\b"
)
_SHARE: Final = 0.6


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield the user's questions that got no answer, or one that says it has none."""
    for index, sentence in enumerate(talk.all):
        if sentence.line.is_user and sentence.is_question and _is_of_worth(sentence) and _is_open(talk, index):
            text = f'The user asked: "{sentence.text}"'
            if made := claim(sentence, "open_question", "question", text, confidence=0.75):
                yield made


def _is_of_worth(sentence: Sentence) -> bool:
    text = sentence.text
    if MASK in text or len(text.split()) < 3 or not _ASKS.search(text) or _REQUEST.search(text):
        return False
    return len(_stems(text)) > 1 or not re.search(r"\b(?:that|this)\b", text, re.I)


def _is_open(talk: Talk, index: int) -> bool:
    asked = talk.all[index].line.n
    reply = [s for s in talk.all[index + 1 :] if s.line.is_agent and s.line.n > asked]
    if not reply:
        return True
    first = reply[0].line.n
    said = [s for s in reply if s.line.n == first]
    if any(_CHAT.search(s.text) for s in said):
        return False
    has_none = any(_NO_ANSWER.search(s.text) and not s.is_question for s in said)
    return has_none and not any(
        _overlap(talk.all[index].text, s.text) >= _SHARE for s in reply if not _NO_ANSWER.search(s.text)
    )


def close(claims: list[ExtractedClaim], talk: Talk) -> list[ExtractedClaim]:
    """Return `claims`, marked where they answer an open question of the record, with answers that none held added."""
    for note in talk.reading.notes:
        if note.kind != "open_question":
            continue
        told = (i for i, one in enumerate(claims) if _may_answer(one) and _answers(note, one.text, one.quote))
        if (index := next(told, None)) is not None:
            closing = claims[index].model_copy(update={"closes": note.label})
            claims = [*claims[:index], closing, *claims[index + 1 :]]
        elif answer := _answer_in(talk, note):
            claims = [*claims, answer.model_copy(update={"closes": note.label})]
    return claims


def _may_answer(one: ExtractedClaim) -> bool:
    """A wish or a question answers nothing, and a claim settles one question."""
    return one.closes is None and one.key != "session.goal" and one.kind != "open_question"


def _answer_in(talk: Talk, note: Note) -> ExtractedClaim | None:
    for sentence in talk.all:
        is_told = not sentence.line.speaker and not sentence.is_question
        if is_told and _answers(note, sentence.text, sentence.text):
            return claim(sentence, "fact", "other.answer", retold(sentence), confidence=0.75)
    return None


def _answers(note: Note, text: str, quote: str) -> bool:
    """Whether `text` tells enough of what `note` asks; a question for a time wants one."""
    if quote.rstrip('"').endswith("?") or _NO_ANSWER.search(quote):
        return False
    if _WHEN.search(note.text) and not (find_dates(text) or _TIME.search(text)):
        return False
    return _overlap(note.text, text) >= _SHARE


def _overlap(question: str, answer: str) -> float:
    """Return the share of the question's telling words that stand in the answer; 0 when there are fewer than two."""
    asked, told = _stems(question), _stems(answer)
    return len(asked & told) / len(asked) if len(asked) >= 2 else 0.0


def _stems(text: str) -> set[str]:
    found = set()
    for word in _WORD.findall(text.lower().replace("’", "'")):
        if word not in _COMMON:
            ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 3), "")
            found.add(word[: len(word) - len(ending)].rstrip("e"))
    return found
