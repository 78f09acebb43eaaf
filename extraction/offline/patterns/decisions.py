"""What was settled: choices that the user makes, orders they give, offers they accept."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.language import Sentence
from extraction.offline.patterns.shape import THING, Pattern, apply, claim, compiled, is_specific
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

_START: Final = (
    r"^\W*(?:(?:ok|okay|yes|yeah|great|sure|alright|perfect|well|then|so|actually|good|fine|no|thanks"
    r"|hi|hello|great|please|and|just|then|also|oh|hmm+|never ?mind|instead|wait|sorry|i['’]m sorry|i am sorry"
    r"|you know what)\b\W*)*"
)
_REST: Final = r"(?P<thing>[^.;!?()█]+)"
PATTERNS: Final = (
    Pattern(
        "decision",
        "decision",
        compiled(
            r"\b(?:let['’]?s|I['’]ll|I will|we['’]ll|I(?:['’]d| would) (?:like|want) to) (?:go|stick"
            rf"|stay) with (?P<thing>{THING})"
        ),
        "{who} chose {thing}.",
    ),
    Pattern(
        "decision",
        "decision",
        compiled(
            r"\b(?:I['’]ll|I will|we['’]ll) (?:take|choose|pick) (?P<thing>(?!a look|care|note|part|to\b|my\b"
            rf"|some time|[\w ]*\b(?:walks?|nap|break|shower|rest|bath)\b|more\b){THING})"
        ),
        "{who} chose {thing}.",
        0.85,
    ),
    Pattern(
        "decision",
        "decision",
        compiled(
            r"\b(?:I|we)(?:['’]ve| have) (?:decided|chosen|settled|opted|agreed) (?P<how>on|for|to|not to"
            rf"|against)? ?(?P<thing>{THING})"
        ),
        "{who} decided {how} {thing}.",
        0.9,
    ),
    Pattern(
        "decision",
        "decision",
        compiled(rf"\b(?:I|we) (?:decided|chose|opted|settled) (?P<how>on|for|to|not to|against) (?P<thing>{THING})"),
        "{who} decided {how} {thing}.",
        0.85,
    ),
    Pattern(
        "decision",
        "decision",
        compiled(
            r"\blet['’]?s (?P<verb>deploy|use|book|order|migrate|ship|schedule|switch to|cancel)"
            r" (?P<thing>(?!(?:me|us|please|for"
            rf"|on|it|in)\b){THING})"
        ),
        "{who} decided to {verb} {thing}.",
        0.85,
    ),
    Pattern(
        "decision",
        "decision",
        compiled(
            rf"\blet['’]?s (?:do|make it) (?P<thing>(?!(?:for|on|at|by|in|a few|a couple|just|like|to(?:day"
            rf"|morrow|night))\b){THING})"
        ),
        "{who} chose {thing}.",
        0.75,
        durable=False,
    ),
    Pattern(
        "decision",
        "decision",
        compiled(
            rf"{_START}(?:go ahead and |you can |could you please )?(?P<verb>book|reserve|order|buy|cancel|confirm"
            rf"|schedule|finalize|finalise) (?P<for_user>(?:me|us) )?{_REST}\W*$"
        ),
        "{who} told the agent to {verb} {thing}.",
        0.85,
    ),
    Pattern(
        "decision",
        "decision",
        compiled(
            rf"{_START}(?:make (?:it|that)|(?:change|switch|move|make) (?:it|that|them|(?:the|my)(?:"
            rf" (?!to\b)[\w-]+){{1,3}})"
            rf" to(?: be on)?) (?P<thing>(?-i:(?:(?:the|a|an) )?(?=[\dA-Z])){THING})"
        ),
        "{who} changed the request to {thing}.",
        0.75,
        durable=False,
        change=True,
    ),
)
_VAGUE: Final = re.compile(
    r"(?:\b(?:chose|to|decided|book|order|cancel|reserve|do|for|buy|schedule)|\bjust) (?:\d+|one|two|three|four"
    r"|five|away|please"
    r"|[A-Z]+Y|the cloud|wrong .*)(?: then| please| instead| more)*\.$|\bquestions?\b|\btrivia\b"
)
"""Numbers of nothing, games: of no meaning outside the conversation."""
_TOLD_TO: Final = re.compile(r"(?<=the agent to )[A-Z](?=[a-z])")
_YES: Final = compiled(
    r"^\W*(?:yes|yeah|yep|yup|sure|ok(?:ay)?|absolutely|definitely|certainly|of course|sounds (?:good|great"
    r"|perfect)|perfect|great|that works|please do|go ahead|go for it|book it|do it|correct)\b"
    r"(?!.*\b(?:but|not|n['’]t|no|instead|wait|change|different|only|if|unless|as long as|actually|can you|could"
    r" you)\b)"
)
_OFFER: Final = compiled(
    r"^(?:(?:ok|okay|great|alright|so|now|would|shall|should|can|may|do)\W+)*(?:(?:I|we|you like me to"
    r"|you want me to|like me to|want me to)\b).{0,40}\b(?:book|reserve|order|confirm|cancel|schedule|refund"
    r"|finali[sz]e|"
    r"buy|purchase|send|change|submit|place|renew|upgrade|open|close|deploy|go ahead)\b.*\?"
)
_MAX_OFFER: Final = 220


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield the user's decisions. An offer that the user accepts is quoted as it was made."""
    for sentence in talk.users_own:
        said = (one for one in apply(PATTERNS, sentence) if not _VAGUE.search(one.text))
        made = next(said, None) or _accepted(talk, sentence)
        if made:
            yield made.model_copy(update={"text": _TOLD_TO.sub(lambda told: told[0].lower(), made.text)})


def _accepted(talk: Talk, sentence: Sentence) -> ExtractedClaim | None:
    question = talk.question_before(sentence.line)
    if (
        question is None
        or sentence.is_question
        or not sentence.line.text.strip().startswith(sentence.text)
        or not _YES.match(sentence.line.text)
    ):
        return None
    if not _OFFER.search(question.text) and not re.search(r"\bcan I (?:book|confirm|reserve)\b", question.text, re.I):
        return None
    offer = question.line.text.strip()
    offer = offer if len(offer) <= _MAX_OFFER else question.text
    if not is_specific(offer):
        return None  # "Should I reserve it?": a yes to who knows what
    text = f'The user said yes to the agent\'s offer: "{offer}"'
    return claim(sentence, "decision", "decision", text, confidence=0.8, durable=False, earlier=(question.line.n,))
