"""A claim's dates against the day where the user was: midnight, a year's backfill, ranges."""

from datetime import UTC, datetime

import pytest

from extraction.evidence import Case
from extraction.rules.values import invented_value, invented_when
from extraction.transcript import build_transcript
from schemas.events import Event
from schemas.extraction import ExtractedClaim
from schemas.scope import Scope
from schemas.slice import Slice, SliceReason
from schemas.vocabulary import Vocabulary


def problems(said, at, when=None, text="The user has an appointment.", timezone=""):
    ts_ms = int(datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() * 1000)
    event = Event("e1", "user", ts_ms, said, timezone=timezone)
    shown = build_transcript(Slice(Scope("a", "u"), "s", SliceReason.IDLE, 0, (event,)), nonce="n")
    case = Case(shown, Vocabulary(), (), ())
    claim = ExtractedClaim.model_validate(
        {
            "kind": "fact", "key": "other.appointment", "text": text, "quote": said, "sources": [1], "when": when,
            "confidence": 0.9, "about": "user",
        }
    )  # fmt: skip
    return [*invented_when(claim, case), *invented_value(claim, case)]


@pytest.mark.parametrize("said", ["Der Termin ist morgen", "The appointment is tomorrow"])
def test_tomorrow_said_at_half_past_midnight_is_reckoned_where_the_user_was(said):
    at = "2026-05-01T22:30"  # 00:30 on the 2nd in Berlin
    assert problems(said, at, "2026-05-03", timezone="Europe/Berlin") == []
    assert len(problems(said, at, "2026-05-02", timezone="Europe/Berlin")) == 1
    assert problems(said, at, "2026-05-02") == []
    assert problems(said, at, text="The appointment is on 3 May 2026.", timezone="Europe/Berlin") == []
    assert len(problems(said, at, text="The appointment is on 2 May 2026.", timezone="Europe/Berlin")) == 1


def test_half_past_eleven_in_the_evening_in_new_york_is_not_yet_the_next_day():
    assert problems("See you tomorrow", "2026-05-02T03:30", "2026-05-02", timezone="America/New_York") == []
    assert problems("See you tomorrow", "2026-05-02T03:30", "2026-05-03", timezone="America/New_York")


@pytest.mark.parametrize("month", range(1, 13))
def test_a_year_that_is_ingested_today_is_dated_as_it_was_then(month):
    at = f"2019-{month:02d}-15T12:00"
    assert problems("Ich war gestern beim Arzt", at, f"2019-{month:02d}-14") == []
    assert problems("I saw the doctor two days ago", at, f"2019-{month:02d}-13") == []
    assert problems("Ich war heute beim Arzt", at, f"{datetime.now(UTC).date()}")


@pytest.mark.parametrize(
    ("said", "when", "holds"),
    [
        ("nächste Woche", "2026-03-16/2026-03-22", True),
        ("nächste Woche", "2026-03-16/2026-03-20", True),
        ("nächste Woche", "2026-03-23/2026-03-29", False),
        ("bis Freitag", "2026-03-14/2026-03-20", True),
        ("bis Freitag", "2026-03-14/2026-03-21", False),
        ("vom 3.4.2026 bis zum 7.4.2026", "2026-04-03/2026-04-07", True),
        ("vom 3.4.2026 bis zum 7.4.2026", "2026-04-03/2026-04-08", False),
        ("nächsten Freitag", "2026-03-20", True),
        ("nächsten Freitag", "2026-03-13", False),
        ("Guten Morgen", "2026-03-15", False),
    ],
)
def test_days_and_ranges(said, when, holds):
    assert (problems(said, "2026-03-14T12:00", when) == []) is holds
