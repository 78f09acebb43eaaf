"""Whether words are the speaker's own: not quoted, not told as what somebody else says, wherever that is named."""

import re
from typing import Final

_SAYS: Final = (
    r"(?:says|said|saying|tells|told|telling|thinks|thought|claims|claimed|writes|wrote|writing|texts|texted|messaged"
    r"|e-?mailed|insists|insisted|believes|believed|asks|asked|mentions|mentioned|replies|replied|answers|answered"
    r"|suggests|suggested|recommends|recommended|hears|heard|posts|posted|quotes|quoted|sings|sang|announces|announced"
    r"|declares|declared|explains|explained|admits|admitted|states|stated|remarks|remarked|argues|argued|complains"
    r"|complained|shouts|shouted|yells|yelled|screams|screamed|whispers|whispered|mutters|muttered|jokes|joked|swears"
    r"|swore|reckons|reckoned|feels|felt|guesses|guessed|assumes|assumed|supposes|supposed|reported|notes|noted|adds"
    r"|added|exclaims|exclaimed|cries|cried|boasts|boasted|promises|promised|puts? it|sighs|sighed|laughs|laughed"
    r"|quoth|goes|observes|observed|comments|commented|concludes|concluded|confesses|confessed|teases|teased|begs"
    r"|begged|pleads|pleaded|quips|quipped|(?:is|was) like|(?<=they )(?:say|tell|think|claim)"
    r"|(?<=people )(?:say|tell|think|claim))"
)
_ADVERB: Final = r"(?:also|just|always|still|once|often|never|usually|keeps?|kept|recently|actually|then|has|had|would)"
_REPORTED: Final = re.compile(rf"\b(?!(?:I|we|as|you)\b)[\w'’]+\s+(?:{_ADVERB} )*{_SAYS}\b", re.I)
_SOURCE: Final = re.compile(
    r"\baccording to\b(?! (?:my|our) (?:account|records?|calendar))|\bin the words of\b|\bto quote\b|\bas quoted\b"
    rf"|\bas (?!I\b|we\b|you\b)(?:[\w'’-]+ ){{1,4}}(?:{_ADVERB} )*{_SAYS}\b"
    rf"|\b(?:that['’]s|that is|this is|is|was|are) what (?!I\b|we\b)(?:[\w'’-]+ ){{1,4}}(?:{_ADVERB} )*{_SAYS}\b",
    re.I,
)
_LABEL: Final = re.compile(r"\b(?:my (?:[\w-]+ ){0,2}[\w-]+|he|she|they)\s*:\s*$", re.I)
_WHO: Final = (
    r"(?:(?:my|his|her|our|their|the|a|an|some|your)(?: [\w'’-]+){1,4}?|he|she|they|everybody|everyone|somebody|someone"
    r"|people|(?-i:[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,2}))"
)
_AFTERWARDS: Final = re.compile(
    rf"^[^.;!?]*?(?:[,\"'“”’)–—-]|\s-|^)\s*(?:or so )?(?:(?:{_ADVERB} )*{_SAYS} (?!that\b)(?:to me )?{_WHO}\b"
    rf"|(?!I\b|we\b|and\b|but\b|so\b){_WHO} (?:{_ADVERB} )*{_SAYS}"
    r"(?: [\w'’]+){0,2}\s*(?:[.,!;]|$))",
    re.I,
)
_OWN_SAYING: Final = re.compile(r"\b(?:I|we) (?:\w+ )?$", re.I)
_MARK: Final = re.compile(r"[\"“”«»]")
_SINGLE_OPEN: Final = re.compile(r"(?<!\w)['‘](?=[\w\s,]*$)")


def count_marks(text: str) -> int:
    """Return how many double quotation marks stand in `text`."""
    return len(_MARK.findall(text))


def is_hearsay(text: str, start: int, end: int, *, is_open: bool) -> bool:
    """Whether the span from `start` to `end` of the sentence `text` is quoted, or told as another's words.

    `is_open`: a quotation that an earlier sentence of the line began has not ended.
    """
    before = text[:start]
    if (is_open + count_marks(before)) % 2 or _SINGLE_OPEN.search(before) or _SOURCE.search(text):
        return True
    return bool(_REPORTED.search(before) or _LABEL.search(before)) or _is_told_afterwards(text[end:])


def _is_told_afterwards(after: str) -> bool:
    found = _AFTERWARDS.search(after)
    return found is not None and not _OWN_SAYING.search(after[: found.start()])
