"""Milliseconds since the epoch as people read them: ISO 8601, UTC."""

from datetime import UTC, datetime

_LAST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that a calendar of four digits has; later times are shown as it."""


def iso_time(ms: int) -> str:
    """Return e.g. `2024-05-01T10:30:00.250Z`; times before 1970 or after 9999 are shown as the nearest that is not."""
    moment = datetime.fromtimestamp(min(max(ms, 0), _LAST_MS) // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{min(max(ms, 0), _LAST_MS) % 1000:03d}Z"


def iso_day(ms: int) -> str:
    """Return e.g. `2024-05-01`."""
    return iso_time(ms)[:10]
