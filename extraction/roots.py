"""The words of a text that carry its meaning, by their roots: what a claim has in common with what was said.

A root is the first letters of a word, which its endings leave alone ("moved" and "moves"), in any language that
writes words so; scripts without spaces give pairs of characters. It is coarse on purpose: a claim that shares no root
with its evidence is about something else, and one that shares some may still be.
"""

import re
from collections.abc import Iterator
from typing import Final

from extraction.folding import NO_SPACES_FROM, normalise

_ROOT_CHARS: Final = 4
_WORD: Final = re.compile(r"[^\W_]+")

_SAY_NOTHING: Final = frozenset(
    """
    a about after again agent agents all also am an and another any are as asked asks assistant at back be
    because been before being but by can could customer did dislikes do does doing done down each else first for
    from gave get gets getting give given gives go goes going got had has hate hates have having he her here
    hers him his how i if in into is it its just keep know known let like liked likes love loved loves made make
    makes many may me mentioned mentions might mine more most much must my need needs new no not now of off on
    once one only or other our out over own person please prefer preferred prefers put re said same say says see
    she should so some something still such take takes tell tells than that the their them then there these they
    thing things this those through time to told too under until up us use used user users uses very want wanted
    wants was way we well went were what when where which while who whom whose why will wish wished wishes with
    would yes you your
    aber alle als am an auch auf aus bei das dass dem den der des die dies du ein eine einem einen einer er es
    fragt für habe haben hat ich ihm ihn ihr im in ist kann kein keine man mehr mein mit möchte nach nicht noch
    nur nutzer nutzerin oder sagt schon sehr sein sich sie sind so um und uns unser vom von vor war was wenn wer
    wie will wir wird wo wurde zu zum zur über
    """.split()
)
"""Words of English and German that stand in any claim: they tie it to no evidence."""


def roots(text: str) -> frozenset[str]:
    """Return the roots of the words in `text`, those that say nothing left out."""
    return frozenset(_roots(normalise(text)))


def _roots(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if word[0] >= NO_SPACES_FROM:
            yield from (word[n : n + 2] for n in range(max(1, len(word) - 1)))
        elif word not in _SAY_NOTHING and (len(word) > 1 or word.isdigit()):
            yield word[:_ROOT_CHARS]
