"""Faults of evidence: sources that do not exist or are of another slice, quotes that were not said there."""

import re
from typing import Final

from bench.fault_model.asked import Asked
from bench.fault_model.fault import Fault, in_place_of, with_claim
from bench.fault_model.record import Told

_OTHER_WORDS: Final = {
    "want": "would like", "need": "require", "i'm": "i am", "i am": "i'm", "my": "the", "please": "kindly", "the": "a",
    "a": "one", "i": "we", "you": "they", "is": "was", "have": "had", "can": "could", "like": "enjoy", "to": "for",
    "for": "about", "and": "or",
}  # fmt: skip
_CONTENT: Final = re.compile(r"[a-z]{4,}")
_FRAME: Final = frozenset("user users agent wants want asked said called likes dislikes loves mentioned".split())
"""Words in which claims of any content are put."""

_STEM_CHARS: Final = 4


def invented_source(asked: Asked) -> Fault | None:
    """A true claim that cites a line which does not exist, alone or beside its true lines."""
    claim = asked.true_claim()
    if claim is None:
        return None
    made = asked.rng.choice((len(asked.rows) + asked.rng.randint(1, 40), 0, -1))
    sources = [made] if asked.rng.random() < 0.5 else [*claim.sources, made]
    return in_place_of(asked, claim, claim.model_copy(update={"sources": sources}))


def source_of_other_slice(asked: Asked) -> Fault | None:
    """A claim that is true of another session, with its quote and its ordinals from there."""
    told = _foreign(asked, asked.outside.elsewhere)
    return with_claim(asked, told.claim()) if told else None


def fact_of_other_user(asked: Asked) -> Fault | None:
    """A claim that is true of another user, behind the words of a line from here that has none of its words."""
    told, said = _foreign(asked, asked.outside.of_others), asked.sentence(own=True)
    if told is None or said is None or _shares(told.text, said[0].text):
        return None
    row, quote = said
    return with_claim(asked, told.claim([row.n], quote))


def paraphrased_quote(asked: Asked) -> Fault | None:
    """A true claim whose quote says the same in other words."""
    claims = asked.base.claims or [one for one in (asked.saying(),) if one]
    for claim in asked.rng.sample(claims, len(claims)):
        words = claim.quote.split()
        places = [n for n, word in enumerate(words) if word.lower() in _OTHER_WORDS]
        if len(words) < 3:
            continue
        if places:
            at = asked.rng.choice(places)
            words[at] = _OTHER_WORDS[words[at].lower()]
        else:
            del words[len(words) // 2]
        quote = " ".join(words)
        if quote.lower() not in asked.all_text:
            return with_claim(asked, claim.model_copy(update={"quote": quote}))
    return None


def quote_of_other_event(asked: Asked) -> Fault | None:
    """A true claim with a quote that was said, but in another line than those it cites."""
    claim, said = asked.true_claim(), asked.sentence()
    if claim is None or said is None or said[1].lower() in asked.cited_text(claim.sources):
        return None
    return with_claim(asked, claim.model_copy(update={"quote": said[1]}))


def unrelated_evidence(asked: Asked) -> Fault | None:
    """A true claim that cites and quotes a line which has none of its words."""
    claim, said = asked.true_claim(), asked.sentence()
    if claim is None or said is None or re.search(r"\d", claim.text):
        return None
    row, quote = said
    if row.n in claim.sources or not _content(claim.text) or _shares(claim.text, row.text):
        return None
    return with_claim(asked, claim.model_copy(update={"sources": [row.n], "quote": quote}))


def invented_closes(asked: Asked) -> Fault | None:
    """A true claim that closes a line which does not exist, or a line of a record that was not shown."""
    claim = asked.true_claim()
    if claim is None:
        return None
    closes = asked.rng.choice((str(len(asked.rows) + 3), "r1", "r7", "the question"))
    return in_place_of(asked, claim, claim.model_copy(update={"closes": closes}))


def called_verified(asked: Asked) -> Fault | None:
    """What only the user said, called verified."""
    claim = asked.saying()
    if claim is None or "confirmed" in asked.all_text or "verified" in asked.all_text:
        return None
    words = asked.rng.choice(("It was verified that", "It is confirmed that", "The system has verified that"))
    return with_claim(asked, claim.model_copy(update={"text": f"{words} {claim.text[0].lower()}{claim.text[1:]}"}))


def _foreign(asked: Asked, told: list[Told]) -> Told | None:
    """Return one of `told` of which this transcript says nothing: two of its words, or a name, are not here."""
    fit = [
        one
        for one in told
        if one.quote.lower() not in asked.all_text
        and (len(_absent(one.text, asked.all_text)) >= 2 or _strange(one, asked))
    ]
    return asked.rng.choice(fit) if fit else None


def _content(text: str) -> list[str]:
    return [word for word in _CONTENT.findall(text.lower()) if word not in _FRAME]


def _absent(text: str, here: str) -> list[str]:
    """Return the words of `text` of which `here`, in small letters, has not even the beginning."""
    return [word for word in _content(text) if word[:_STEM_CHARS] not in here]


def _shares(text: str, here: str) -> bool:
    """Whether `here` has one of the words of `text`, in any form."""
    return len(_absent(text, here.lower())) < len(_content(text))


def _strange(told: Told, asked: Asked) -> bool:
    """Whether it states a name that is not here."""
    return any(name.lower() not in asked.all_text for name in re.findall(r"(?<!^)\b[A-Z][a-z]+", told.text))
