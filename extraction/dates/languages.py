"""How languages other than English speak of days: what is looked for. What it means, `library` says.

The words here only find an expression and tell its kind. "Morgen" is also the morning and "la mañana" too; as such
they mean no day.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Language:
    """One language; words are in lower case, lists of names separated by blanks.

    `days` are regular expressions of words that mean one day. A counted expression is one of `counted`, a number and
    one of `units`. `before` and `after` are the words around a period or weekday that say which: 1 the next, -1 the
    last, 0 this one; `coming` are those of them that with a weekday mean the first that comes. `synonyms` gives words
    of the library for some that it lacks. One of `day_words` stands in whatever `days` finds, one of `unit_words` in
    whatever has a unit or a period. Where `marks` is set, one of these words must stand in the text: a word of
    this language is also one of another ("hier").
    """

    code: str
    months: str
    weekdays: str
    days: tuple[str, ...]
    counted: tuple[str, ...]
    counts: Mapping[str, int]
    units: str
    periods: Mapping[str, str]
    before: Mapping[str, int]
    after: Mapping[str, int]
    in_month: str
    month_end: str
    day_words: str
    unit_words: str
    coming: frozenset[str] = frozenset()
    synonyms: Mapping[str, str] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()


def _inflected(stems: str) -> tuple[str, ...]:
    return tuple(stem + ending for stem in stems.split() for ending in ("e", "en", "em", "er", "es"))


def _counts(first: str, words: str) -> dict[str, int]:
    return {**dict.fromkeys(first.split(), 1), **{word: n for n, word in enumerate(words.split(), 2)}}


_NOT_MORNING: Final = "".join(
    rf"(?<!\b{word} morgen)"
    for word in (
        "guten schönen am jeden jedem diesen diesem der den dem ein einen zum heute gestern montag dienstag mittwoch "
        "donnerstag freitag samstag sonntag"
    ).split()
)
_NOT_MANANA: Final = "".join(rf"(?<!\b{word} mañana)" for word in ("la", "esta", "cada", "una", "pasado"))

GERMAN: Final = Language(
    code="de",
    months="januar jänner jan februar feber feb märz mär april apr mai juni jun juli jul august aug september sept sep "
    "oktober okt november nov dezember dez",
    weekdays="montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag",
    days=("heute", "gestern", "vorgestern", "übermorgen", "morgen" + _NOT_MORNING),
    counted=("in", "vor"),
    counts=_counts(
        "ein eine einem einer einen", "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn"
    ),
    units="tag(?:en?)?|wochen?|monat(?:en?)?|jahr(?:en?)?",
    periods={"woche": "week", "monat": "month", "jahr": "year", "wochenende": "weekend"},
    before={
        **dict.fromkeys(_inflected("nächst kommend folgend"), 1),
        **dict.fromkeys(_inflected("letzt vorig vergangen"), -1),
        **dict.fromkeys(_inflected("dies"), 0),
    },
    after={},
    in_month="im|seit|bis|ab|anfang|mitte|ende|nächsten|letzten|diesen",
    month_end="ende (?:des|dieses) monats|monatsende",
    day_words="heute gestern vorgestern übermorgen morgen",
    unit_words="tag tage tagen woche wochen wochenende monat monate monaten monats monatsende jahr jahre jahren",
    coming=frozenset(_inflected("kommend")),
    synonyms={"sonnabend": "samstag"},
)

SPANISH: Final = Language(
    code="es",
    months="enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre",
    weekdays="lunes martes miércoles jueves viernes sábado domingo",
    days=("hoy", "ayer", "anteayer", "antes de ayer", "pasado mañana", "mañana" + _NOT_MANANA),
    counted=("en", "dentro de", "hace"),
    counts=_counts("un una", "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"),
    units="días?|semanas?|mes(?:es)?|años?",
    periods={"semana": "week", "mes": "month", "año": "year", "fin de semana": "weekend"},
    before={"próximo": 1, "próxima": 1, "pasado": -1, "pasada": -1, "último": -1, "última": -1, "este": 0, "esta": 0},
    after={"próximo": 1, "próxima": 1, "que viene": 1, "siguiente": 1, "pasado": -1, "pasada": -1},
    in_month="en|desde|hasta|para",
    month_end="(?:fin|final|finales) de(?: este)? mes",
    day_words="hoy ayer anteayer mañana",
    unit_words="día días semana semanas mes meses año años",
    synonyms={"dentro de": "en", "pasado mañana": "en 2 días", "antes de ayer": "anteayer"},
)

FRENCH: Final = Language(
    code="fr",
    months="janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    weekdays="lundi mardi mercredi jeudi vendredi samedi dimanche",
    days=("aujourd['’]hui", "avant-hier", "après-demain", "(?<!avant-)hier", "(?<!après-)demain"),
    counted=("dans", "il y a"),
    counts=_counts("un une", "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"),
    units="jours?|semaines?|mois|ans?|années?",
    periods={"semaine": "week", "mois": "month", "année": "year", "an": "year", "week-end": "weekend"},
    before={"prochain": 1, "prochaine": 1, "ce": 0, "cet": 0, "cette": 0},
    after={"prochain": 1, "prochaine": 1, "dernier": -1, "dernière": -1, "passé": -1, "passée": -1},
    in_month="en|depuis|début|fin|mi",
    month_end="fin (?:du|de ce) mois",
    day_words="hui hier demain",
    unit_words="jour jours semaine semaines mois an ans année années end",
    marks=frozenset("je j c qu ai est suis nous vous les une pas le il elle mon ma mes dans y".split()),
)

LANGUAGES: Final = (GERMAN, SPANISH, FRENCH)

ENGLISH_BEFORE: Final[Mapping[str, int]] = {"next": 1, "coming": 1, "last": -1, "past": -1, "previous": -1, "this": 0}
_ENGLISH_COMING: Final = frozenset(("coming",))

BEFORE_WEEKDAY: Final[Mapping[str, int]] = {
    word: 0 if word in coming else step
    for words, coming in ((ENGLISH_BEFORE, _ENGLISH_COMING), *((one.before, one.coming) for one in LANGUAGES))
    for word, step in words.items()
}
AFTER_WEEKDAY: Final[Mapping[str, int]] = {word: step for one in LANGUAGES for word, step in one.after.items()}
