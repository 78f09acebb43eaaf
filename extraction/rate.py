"""How fast calls may start: `model.requests_per_minute` and `model.tokens_per_minute`, evenly through the minute.

Each is a bucket that leaks at the rate and holds one call: providers enforce a rate per minute in windows of a second
or ten, so what a deeper bucket let out at once they would refuse. A process that was idle has saved nothing up.
"""

from schemas.settings import ModelSettings

_MINUTE_S = 60.0


class Rates:
    """When the next call may start. Times are seconds of any one clock; nothing here waits."""

    def __init__(self, model: ModelSettings) -> None:
        """Take the two settings; 0 is no limit."""
        self._request_s = _MINUTE_S / model.requests_per_minute if model.requests_per_minute else 0.0
        self._token_s = _MINUTE_S / model.tokens_per_minute if model.tokens_per_minute else 0.0
        self.counts_tokens = bool(self._token_s)
        self.limits = bool(self._request_s or self._token_s)
        self._requests_free_at = self._tokens_free_at = 0.0

    def forgo(self, now: float) -> None:
        """Give back the places of those who wait: the circuit has opened, and they will not call at their time."""
        self._requests_free_at = min(self._requests_free_at, now + self._request_s)
        self._tokens_free_at = min(self._tokens_free_at, now)

    def reserve(self, now: float, tokens: float) -> float:
        """Take the next place for a call of `tokens` and return the seconds until it may start.

        A call larger than a minute's tokens starts in its turn like any other, and the next waits the longer.
        """
        start = max(now, self._requests_free_at, self._tokens_free_at)
        self._requests_free_at = start + self._request_s
        self._tokens_free_at = start + tokens * self._token_s
        return start - now

    def correct(self, reserved: float, used: float) -> None:
        """Take note that a call used `used` tokens, as the provider counted them, where `reserved` were taken."""
        self._tokens_free_at += (used - reserved) * self._token_s
