"""Time zones by their IANA names, and the day that it is in one."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

STATE_NAMES: Final = ("timezone", "user:timezone")
"""Under what a session's state holds the user's time zone, the session's own name first."""

_NO_PLACES: Final = frozenset({"localtime", "Factory"})
"""Names that a system has beside the places: the machine's own zone, and the one of a machine that has none."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_ORDINAL: Final = _EPOCH.toordinal()
_DAY_MS: Final = 86_400_000


@cache
def _names() -> frozenset[str]:
    """Looking them up on disk takes 40 milliseconds, so it is done once and not before somebody states a zone."""
    return frozenset(available_timezones()) - _NO_PLACES


def is_timezone(name: Any) -> bool:
    """Return whether `name` is the IANA name of a time zone, such as Europe/Berlin or UTC."""
    return isinstance(name, str) and name in _names()


def first_timezone(*stated: Any) -> str:
    """Return the first of `stated` that is a time zone; empty when none is: a wrong name says as little as none."""
    for name in stated:
        if name and is_timezone(name):
            return str(name)
    return ""


def state_timezone(state: Any) -> str:
    """Return the time zone that a session's state, or a change of it, names; empty when it names none."""
    return first_timezone(*map(state.get, STATE_NAMES)) if isinstance(state, Mapping) else ""


def day_of(ts_ms: int, timezone: str = "UTC") -> date:
    """Return the day of a time in milliseconds in a known time zone; outside the calendar its first or last day."""
    if timezone != "UTC":
        try:
            return (_EPOCH + timedelta(milliseconds=ts_ms)).astimezone(ZoneInfo(timezone)).date()
        except OverflowError:  # the first and the last day in UTC, below, are as near as can be
            pass
    ordinal = _EPOCH_ORDINAL + ts_ms // _DAY_MS
    return date.fromordinal(min(max(ordinal, 1), date.max.toordinal()))
