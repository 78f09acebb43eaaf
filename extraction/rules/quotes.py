"""Rules about quotes: a quote was said, says something, and does not say the contrary of its claim."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from extraction.evidence import Case
from extraction.folding import spans_words
from schemas.extraction import ExtractedClaim

MAX_QUOTE_CHARS: Final = 1000
"""A quote proves one claim; more is a transcript copied."""

_WORD: Final = re.compile(r"\w+(?:'\w+)*")
_EMPTY_WORDS: Final = frozenset(
    "a an the i you he she it we they me my your his her its our their this that these those and or but so if of to in"
    " on at for with from by as is am are was were be been um uh well oh hi hello hey"
    " der die das ein eine und oder ich du er sie es wir ist sind".split()
)
_ANSWERS: Final = frozenset(
    "yes yeah yep yup sure ok okay right correct exactly no nope nah not fine good great perfect please thanks do does"
    " did don't has have had will would won't can could may ja nein genau bitte".split()
)


def quote_not_verbatim(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """The quote is a verbatim span of one cited event, of whole words; see `normalise` for what does not count."""
    quote = case.normalised(claim.quote)
    if not any(map(str.isalnum, quote)):
        yield "has an empty quote; copy the words of one cited line that prove it"
    elif len(claim.quote) > MAX_QUOTE_CHARS:
        yield f"its quote has {len(claim.quote)} characters; copy only the words that prove it"
    elif not any(quoted_in(quote, line.pieces) for line in case.cited(claim.sources)):
        yield (
            f"the quote {shown(claim.quote)} does not stand word for word in one of the cited lines "
            f"{sorted(set(claim.sources))}; copy a contiguous span of one line, without its label"
        )


def quote_proves_nothing(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """The quote has a word that says something. "Yes" says something only together with the line that asked."""
    if len(claim.quote) > _SHORT_CHARS:
        return
    words = set(_WORD.findall(case.normalised(claim.quote)))
    if words <= _EMPTY_WORDS and words:
        yield f"the quote {shown(claim.quote)} proves nothing; copy the words that prove the claim"
    elif words <= _EMPTY_WORDS | _ANSWERS and words and len(case.cited(claim.sources)) < 2:
        yield f"the quote {shown(claim.quote)} is an answer; cite the line that asked as well, or quote words that tell"


_SHORT_CHARS: Final = 40


def quoted_in(quote: str, pieces: Iterable[str]) -> bool:
    """Return whether the normalised `quote` lies in one of the normalised `pieces`, cutting no word at either end."""
    return any(where_quoted(quote, piece) >= 0 for piece in pieces)


def where_quoted(quote: str, piece: str) -> int:
    """Return where the normalised `quote` begins in the normalised `piece` as whole words, or -1."""
    start = piece.find(quote)
    while start >= 0 and not spans_words(piece, start, start + len(quote)):
        start = piece.find(quote, start + 1)
    return start


_NOT: Final = (
    r"(?:not|never|cannot|no longer|don't|doesn't|didn't|can't|won't|wouldn't|isn't|aren't|haven't|hasn't|dont|doesnt"
    r"|cant)"
)
_NEGATIVE: Final = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|nor|neither|hardly|without|cannot|instead|rather|unless|only|but|dislikes?|hates?"
    r"|avoids?|except|stopped|stop|quit|dont|doesnt|cant)\b|n't\b"
)
_VERBS: Final = {
    form: verb
    for verb, forms in (
        ("like", "like likes liked enjoy enjoys enjoyed love loves loved"),
        ("want", "want wants"),
        ("need", "need needs"),
        ("eat", "eat eats"),
        ("drink", "drink drinks"),
        ("prefer", "prefer prefers"),
        ("own", "own owns"),
        ("live", "live lives"),
        ("smoke", "smoke smokes"),
        ("use", "use uses"),
    )
    for form in forms.split()
}
_ONE_CLAUSE_WORDS: Final = 8
"""A longer quote may say one thing and deny another with the same verb."""
_VERB: Final = re.compile(rf"(?P<not>\b{_NOT} (?:\w+ )?)?\b(?P<verb>{'|'.join(_VERBS)})\b")


def negation_mismatch(claim: ExtractedClaim, case: Case) -> Iterator[str]:
    """A claim does not deny what its quote affirms, nor affirm what its quote denies, as far as one verb can tell.

    Asked only where both have the same verb of a few, all its uses in one are negated, and in the other neither it nor
    anything else is: where there is room for doubt the claim stands.
    """
    text = case.normalised(claim.text)
    if _VERBS.keys().isdisjoint(text.split()):
        return
    quote = _with_words_before(case.normalised(claim.quote), claim, case)
    if len(quote.split()) > _ONE_CLAUSE_WORDS:
        return
    in_quote, in_text = _polarity(quote), _polarity(text)
    for verb, denied in in_text.items():
        other = in_quote.get(verb)
        if other is None or len(denied) > 1 or len(other) > 1 or denied == other:
            continue
        if not _NEGATIVE.search(text if True in other else quote):
            yield f'the quote {shown(claim.quote)} says the contrary of "{verb}" in the text; say what the quote says'


def _with_words_before(quote: str, claim: ExtractedClaim, case: Case) -> str:
    """Return the quote with the two words before it: cut short, "don't like tea" becomes "like tea"."""
    for line in case.cited(claim.sources):
        for piece in line.pieces:
            if (start := where_quoted(quote, piece)) > 0:
                before = re.split(r"[.!?;,]", piece[:start])[-1].split()[-2:]
                return " ".join((*before, quote))
    return quote


def _polarity(text: str) -> dict[str, set[bool]]:
    found: dict[str, set[bool]] = {}
    for match in _VERB.finditer(text):
        found.setdefault(_VERBS[match["verb"]], set()).add(match["not"] is not None)
    return found


def shown(text: str) -> str:
    """Return `text` in quotes, short enough for a list of problems."""
    return f'"{text[:120]}{"..." if len(text) > 120 else ""}"'
