"""Which names are time zones, and the day that it is in one."""

from datetime import date

import pytest

from schemas.load_settings import load
from schemas.setting_faults import SettingsError
from schemas.timezones import day_of, first_timezone, is_timezone, state_timezone

NEW_YEAR = 1_767_225_600_000  # 2026-01-01T00:00Z


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia"])
def test_names_of_places_are_time_zones(name):
    assert is_timezone(name)


@pytest.mark.parametrize(
    "name", ["", "localtime", "Factory", "Europe", "../etc/passwd", "Berlin", "+01:00", None, 7, []]
)
def test_anything_else_is_none(name):
    assert not is_timezone(name)
    assert first_timezone(name, "UTC") == "UTC"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"timezone": "UTC", "user:timezone": "Asia/Tokyo"}, "UTC"),
        ({"timezone": "?", "user:timezone": "Asia/Tokyo"}, "Asia/Tokyo"),
        ({}, ""),
        (None, ""),
        ([], ""),
    ],
)
def test_state_timezone(state, expected):
    assert state_timezone(state) == expected


@pytest.mark.parametrize(
    ("ts_ms", "timezone", "expected"),
    [
        (0, "UTC", date(1970, 1, 1)),
        (-1, "UTC", date(1969, 12, 31)),
        (10**18, "UTC", date.max),
        (-(10**18), "Asia/Tokyo", date.min),
        (10**18, "Asia/Tokyo", date.max),
        (253_402_300_799_000, "Asia/Tokyo", date.max),
        (NEW_YEAR - 1, "UTC", date(2025, 12, 31)),
        (NEW_YEAR - 1, "Europe/Berlin", date(2026, 1, 1)),
        (NEW_YEAR + 4 * 3_600_000, "America/New_York", date(2025, 12, 31)),
        (NEW_YEAR + 5 * 3_600_000, "America/New_York", date(2026, 1, 1)),
    ],
)
def test_day_of(ts_ms, timezone, expected):
    assert day_of(ts_ms, timezone) == expected


def test_a_setting_that_is_no_time_zone_is_refused_by_its_name(monkeypatch):
    monkeypatch.setenv("STRANDLINE_EXTRACTION__TIMEZONE", "Mars/Olympus")
    with pytest.raises(SettingsError, match=r"extraction\.timezone is 'Mars/Olympus' .* as Europe/Berlin"):
        load(None, {})
