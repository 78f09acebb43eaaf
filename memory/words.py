"""The `words` vector: Snowball stems, identifiers whole, CJK as bigrams; no model, always there.

Term frequency saturates here as in BM25; the inverse document frequency is Qdrant's own modifier.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from zlib import crc32

import snowballstemmer
from qdrant_client.models import SparseVector

K1 = 1.2
"""BM25's saturation of term frequency; the usual value."""
B = 0.75
"""BM25's share of length normalisation; the usual value."""
AVERAGE_TERMS = 24
"""Length of a usual claim with its quote, in terms; a running mean would make vectors depend on order."""
MAX_TERMS = 512
"""Terms of one text that are indexed; a claim is a sentence, so more is a fault of the input."""

_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0dff\u0e00-\u109f\u1780-\u17d3"
"""Vowel signs and accents, which `\\w` leaves out though they are inside words."""
_LETTER = rf"(?:[^\W_]|[{_MARKS}])"
_CHUNK = re.compile(rf"{_LETTER}+(?:[-_./@:+#&'’]{_LETTER}+)*")
_PART = re.compile(rf"{_LETTER}+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff]+"
)
"""Scripts written without spaces (Han, kana, Hangul, Thai, Lao, Burmese, Khmer): cut into bigrams."""

_STEMMERS = {
    "LATIN": "english",
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "ARMENIAN": "armenian",
    "TAMIL": "tamil",
}
_STOP = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in is it its me "
    "my of on or our s she so t than that the their them then there these they this those to us was we were what when "
    "where which who whom whose why will with would you your user".split()
)
"""English function words and "user", in which nearly every claim begins: a match on them says nothing.

Negations are not among them."""


@lru_cache(maxsize=16)
def _stemmer(language: str) -> "snowballstemmer.stemmer":
    return snowballstemmer.stemmer(language)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    script = unicodedata.name(word[0], "").partition(" ")[0]
    language = _STEMMERS.get(script)
    return str(_stemmer(language).stemWord(word)) if language else word


def _part_terms(part: str) -> Iterator[str]:
    """Yield the terms of one run of letters and digits: stems, and bigrams where no spaces part the words."""
    end = 0
    for run in _UNSPACED.finditer(part):
        yield from _plain(part[end : run.start()])
        chars = run.group()
        yield from (chars[i : i + 2] for i in range(max(len(chars) - 1, 1)))
        end = run.end()
    yield from _plain(part[end:])


def _plain(word: str) -> Iterator[str]:
    if word and word not in _STOP:
        yield word if any(char.isdigit() for char in word) else _stem(word)


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order, with repetitions, at most `MAX_TERMS`.

    Text is NFKC-normalised and case-folded. A chunk with a digit or an `@` inside, such as A-1001 or a@b.org, stands
    whole and in its parts; any other chunk only in its parts.
    """
    found: list[str] = []
    for chunk in _CHUNK.finditer(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())):
        whole = chunk.group()
        parts = _PART.findall(whole)
        if len(parts) > 1 and ("@" in whole or any(char.isdigit() for char in whole)):
            found.append(whole)
        for part in parts:
            found.extend(_part_terms(part))
        if len(found) >= MAX_TERMS:
            break
    return found[:MAX_TERMS]


def _index(term: str) -> int:
    return crc32(term.encode())


def passage_vector(text: str) -> SparseVector:
    """Return the vector of a stored text: index is the CRC-32 of a term, value its saturated frequency."""
    counts = Counter(_index(term) for term in terms(text))
    norm = K1 * (1 - B + B * sum(counts.values()) / AVERAGE_TERMS)
    indices = sorted(counts)
    return SparseVector(indices=indices, values=[n * (K1 + 1) / (n + norm) for n in (counts[i] for i in indices)])


def query_vector(text: str) -> SparseVector:
    """Return the vector of a query: each distinct term counts once."""
    indices = sorted({_index(term) for term in terms(text)})
    return SparseVector(indices=indices, values=[1.0] * len(indices))
