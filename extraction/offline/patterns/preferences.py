"""What the user likes, dislikes, eats, and how they want to be answered and reached."""

from collections.abc import Iterator
from typing import Final

from extraction.offline.patterns.shape import THING, Pattern, apply, compiled
from extraction.offline.talk import Talk
from schemas.extraction import ExtractedClaim

_EVER: Final = (
    r"(?:(?:really|actually|also|strongly|absolutely|always|generally|usually|just|truly|much|do|still"
    r"|now|personally|so|simply|particularly) )*"
)
_LANGUAGES: Final = (
    r"(?P<language>English|German|French|Spanish|Italian|Portuguese|Dutch|Polish|Russian|Ukrainian|Turkish|Arabic"
    r"|Hebrew|Hindi|Bengali|Chinese|"
    r"Mandarin|Cantonese|Japanese|Korean|Vietnamese|Thai|Swedish|Norwegian|Danish|Finnish|Greek|Czech|Slovak"
    r"|Hungarian|Romanian|Bulgarian|"
    r"Croatian|Serbian|Catalan|Welsh|Irish|Indonesian|Malay|Tamil|Urdu|Persian|Farsi|Swahili|Esperanto)"
)
_DIETS: Final = (
    r"(?P<diet>vegetarian|vegan|pescatarian|halal|kosher|gluten[- ]free|dairy[- ]free|keto"
    r"|lactose[- ]intolerant|coeliac|celiac)"
)
_CHANNELS: Final = (
    r"(?P<channel>e-?mails?|phone|telephone|text(?: message)?s?|sms|whatsapp|slack|chat|post"
    r"|letter|mail|signal|telegram)"
)
_STYLE: Final = (
    r"(?P<thing>(?:[\w-]+,? (?:and )?){0,4}?(?:answers?|replies|reply|responses?|explanations?|summaries"
    r"|bullet points?|bullets|code examples?|"
    r"examples?|step-by-step [\w ]*instructions|plain (?:language|text|english)|metric units|the metric system"
    r"|metric system|formal tone|informal tone|emojis?|jargon))"
)
_NOT_LIKED: Final = (
    r"(?!to (?:be called|go by)\b|(?:the |a |an )?(?:answer|repl(?:y|ies)|e-?mail|phone|text)s?\b|not\b|if\b)"
)
_PASTIMES: Final = (
    r"(?:dance|knit|cook|bake|read|swim|hike|run|jog|walk|sing|paint|draw|garden|ski|surf|fish|hunt|camp|climb"
    r"|cycle|travel|sleep"
    r"|laugh|win|party|write|study|learn|meditate|exercise|shop|relax|listen|collect|experiment|explore|try all"
    r"|show up|believe|sit"
    r"|stay up|get up|eat|drink|watch)\b"
)
_NOT_ASKED: Final = (
    rf"(?!to (?!{_PASTIMES}))(?![^.,;!?]*\b(?:now|today|tonight|tomorrow|asap|please)\b(?! and then))"
    r"(?!(?:an?|some|the|my|your|one|two|\d+|directions|help|information|info)\b[^.,;!?]*\b(?:table|room|ride"
    r"|flight|reservation"
    r"|appointment|tickets?|meeting|viewing|taxi|cab|directions|refund|booking|receipt|copy|help|list|quote"
    r"|seats?)\b(?! seats?\b))"
)
"""A polite request ("I like to book a flight", "I like a table") is no standing preference; a pastime is."""
_NOT_NOW: Final = (
    r"(?!.*\b(?:on|at|for) (?:the )?(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|the (?:\d+\w*|cost|price"
    r"|one|first"
    r"|second|last|other)\b"
    r"|to (?:book|reserve|go with|be (?:called|contacted|reached)|cancel|take|use|schedule|leave|depart|get|have"
    r"|see|make)\b)"
)
"""A choice within this conversation ("I prefer the flight on the 29th") is no standing preference, either."""

PATTERNS: Final = (
    Pattern(
        "preference",
        "language",
        compiled(
            r"\b(?:please |only |to |and |, )?(?:answer|reply|respond|write|speak|talk|communicate|continue"
            r"|message|correspond)(?: (?:to|with) (?:me|us)|me)?"
            rf"(?: only| always)?(?: in)? {_LANGUAGES}\b(?! food| cuisine)"
        ),
        "{who} wants to be answered in {language}.",
    ),
    Pattern(
        "preference",
        "language",
        compiled(
            rf"\bI {_EVER}(?:prefer|want)(?: to (?:be answered|speak|write|read|talk|chat))?(?: answers"
            rf"| replies)?(?: in)? {_LANGUAGES}\b(?! food| cuisine| restaurants?)"
        ),
        "{who} wants to be answered in {language}.",
    ),
    Pattern(
        "preference",
        "language",
        compiled(rf"\bmy (?:preferred|favou?rite) language is {_LANGUAGES}\b"),
        "{who} wants to be answered in {language}.",
    ),
    Pattern(
        "preference",
        "answer.style",
        compiled(rf"\bI {_EVER}(?:prefer|like|love|want|appreciate) {_STYLE}"),
        "{who} prefers {thing}.",
    ),
    Pattern(
        "preference",
        "answer.style",
        compiled(rf"\bI (?:don['’]t|do not) (?:like|want|need) {_STYLE}"),
        "{who} does not want {thing}.",
    ),
    Pattern(
        "preference",
        "answer.style",
        compiled(
            r"\b(?:keep|make) (?:it|them|your (?:answers|replies|responses)|answers|replies|responses"
            r"|things) (?P<style>short|brief|concise|simple|formal|informal|detailed|to the point)\b"
            r"(?! (?:notice|time))"
        ),
        "{who} wants answers to be {style}.",
        0.85,
    ),
    Pattern(
        "preference",
        "answer.style",
        compiled(r"^\W*(?:please )?be (?:more )?(?P<style>brief|concise|formal|informal|detailed|specific)\b"),
        "{who} wants answers to be {style}.",
        0.8,
    ),
    Pattern(
        "preference",
        "answer.style",
        compiled(
            r"\b(?:please )?(?:no|avoid|don['’]t use|do not use|stop using|without) (?P<style>emojis?|jargon"
            r"|bullet points?|idioms|markdown|tables|abbreviations)\b"
        ),
        "{who} wants answers without {style}.",
        0.85,
    ),
    Pattern(
        "preference",
        "contact.channel",
        compiled(
            r"(?:\bonly (?:by|via|through|over) |\b(?:contact|reach|message|write to|write|notify|inform"
            r"|update) (?:me|us) (?:only |back )?(?:by|via|through|over|on) "
            rf"|\bI {_EVER}prefer (?:to be (?:contacted|reached) (?:by|via) |contact (?:by|via) "
            rf"|being (?:contacted|reached) (?:by|via) )?){_CHANNELS}\b"
        ),
        "{who} wants to be contacted by {channel}.",
    ),
    Pattern(
        "preference",
        "contact.channel",
        compiled(
            r"\b(?:only|just|please|always) (?P<channel>e-?mail|text|message) me(?: only)?\b(?!\s+(?:the|a|when"
            r"|my|your|that|once|it|this|those|these|all)\b)"
        ),
        "{who} wants to be contacted by {channel}.",
        0.85,
    ),
    Pattern(
        "preference",
        "contact.channel",
        compiled(
            r"\b(?:don['’]t|do not|never|please stop) (?P<channel>call|phone|text|e-?mail|call"
            r"|ring)(?:ing)? me\b(?! (?:by|a|sir|that|names))"
        ),
        "{who} does not want to be contacted by {channel}.",
        0.85,
    ),
    Pattern(
        "preference",
        "diet",
        compiled(
            r"\b(?:I(?:['’]m| am)|I(?:['’]ve| have) (?:become|turned|gone|been))(?: now| also| actually"
            rf"| currently| strictly| just| on)?(?: an?)?(?: strict| lifelong)? {_DIETS}\b(?! (?:for|at|in|on|until))"
        ),
        "{who} is {diet}.",
    ),
    Pattern(
        "preference",
        "diet",
        compiled(rf"\bI(?:['’]m| am) (?P<neg>no longer|not) (?:an? )?{_DIETS}\b"),
        "{who} is {neg} {diet}.",
    ),
    Pattern(
        "preference",
        "diet",
        compiled(rf"\bI(?:['’]m| am)? (?:on|follow|keep|eat) an? {_DIETS} diet\b"),
        "{who} eats a {diet} diet.",
    ),
    Pattern("preference", "diet", compiled(rf"\bI only eat (?P<thing>{THING})"), "{who} only eats {thing}."),
    Pattern(
        "preference",
        "diet",
        compiled(
            r"\bI (?:don['’]t|do not|never|can['’]t|cannot) (?:eat|drink) (?P<thing>(?!much|late|early|to |too "
            rf"|out|in |at |alone|well|there|then){THING})"
        ),
        "{who} does not eat or drink {thing}.",
    ),
    Pattern(
        "preference",
        "favorite",
        compiled(
            rf"\bmy (?:all-time |absolute |personal )?(?P<thing>favou?rite(?! (?:if|even|so|when|because|and|but"
            rf"|of)\b)(?: [\w'’-]+){{1,4}}?)"
            rf" (?P<verb>is|are) (?P<value>(?!that\b|this\b|it\b|not\b|there\b|gone\b|closed\b|what\b){THING})"
        ),
        "{who}'s {thing} {verb} {value}.",
    ),
    Pattern(
        "preference",
        "favorite",
        compiled(
            r"(?:^|[,;:]\s)\W*(?:(?:and|but|yes|oh|well|also|great|ok|okay)\b\W*)*"
            r"(?-i:(?P<value>(?!And\b|But\b|It\b|They\b|That\b|This\b|Those\b|These\b)[A-Z]\w+(?:(?: and)?"
            r" [A-Z]\w+){0,4}))"
            r" (?P<verb>is|are) my (?:all-time |absolute |personal )?favou?rite(?P<many>s?)"
            r"(?P<what>(?: (?!if\b|even\b|so\b|when\b|because\b|and\b|but\b|of\b)[\w'’-]+){0,4}?)(?=\s*(?:[.,;!?]"
            r"|$|\s(?:and|so|because)\b))"
        ),
        "{value} {verb} {inside}'s favourite{many}{what}.",
    ),
    Pattern(
        "preference",
        "likes",
        compiled(
            r"\bI(?:['’]m| am) (?:a )?(?:really |very |so |quite )*(?:big |huge |great )?(?:fan of|fond of"
            rf"|keen on|crazy about|into|in love with) (?P<thing>{THING})"
        ),
        "{who} likes {thing}.",
        0.85,
    ),
    Pattern(
        "preference",
        "likes",
        compiled(rf"\bI {_EVER}prefer {_NOT_LIKED}{_NOT_NOW}(?P<thing>{THING}(?: (?:to|over|than) {THING})?)"),
        "{who} prefers {thing}.",
    ),
    Pattern(
        "preference",
        "likes",
        compiled(
            rf"\bI {_EVER}(?:like|love|enjoy|adore) {_NOT_LIKED}{_NOT_ASKED}(?P<thing>{THING}(?: (?:more|better)"
            rf" than {THING})?)"
        ),
        "{who} likes {thing}.",
    ),
    Pattern(
        "preference",
        "dislikes",
        compiled(rf"\bI {_EVER}hate to (?P<thing>(?!be\b|say\b|ask\b|bother\b|tell\b|see\b|do\b|admit\b){THING})"),
        "{who} hates to {thing}.",
    ),
    Pattern(
        "preference",
        "dislikes",
        compiled(
            rf"\bI {_EVER}(?:hate|dislike|detest|loathe|can['’]?t stand|cannot stand|despise)"
            rf" (?P<thing>(?!to\b){THING})"
        ),
        "{who} dislikes {thing}.",
    ),
    Pattern(
        "preference",
        "dislikes",
        compiled(rf"\bI {_EVER}(?:don['’]?t|do not) {_EVER}like to (?P<thing>(?!be\b){THING})"),
        "{who} does not like to {thing}.",
    ),
    Pattern(
        "preference",
        "dislikes",
        compiled(rf"\bI {_EVER}(?:don['’]?t|do not) {_EVER}(?:like|enjoy|care for) (?P<thing>(?!to\b){THING})"),
        "{who} dislikes {thing}.",
    ),
    Pattern(
        "preference",
        "dislikes",
        compiled(
            rf"\bI(?:['’]m| am) not (?:a )?(?:big |huge |really )*(?:fan of|fond of|keen on|into) (?P<thing>{THING})"
        ),
        "{who} dislikes {thing}.",
    ),
)
_EXCLUSIVE: Final = frozenset({"language", "answer.style", "contact.channel", "favorite"})


def find(talk: Talk) -> Iterator[ExtractedClaim]:
    """Yield the preferences that the user states. What others say is nobody's preference here."""
    for sentence in talk.users_own:
        taken: set[str] = set()
        for made in apply(PATTERNS, sentence):
            if made.key in taken or (taken & _EXCLUSIVE and made.key == "likes"):
                continue
            taken.add(made.key)
            yield made
