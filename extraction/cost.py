"""From tokens to US dollars."""

from schemas.outcome import Attempt
from schemas.settings import Price

_PER: int = 1_000_000


def price_attempt(
    price: Price, *, input_tokens: int, cached_tokens: int, output_tokens: int, seconds: float
) -> Attempt:
    """Return an answer of the model with what it cost.

    `input_tokens` includes `cached_tokens`, as OpenAI-compatible providers count them, so the cached ones are taken out
    and priced apart.
    """
    cached = min(cached_tokens, input_tokens)
    cost = (price.input * (input_tokens - cached) + price.cached * cached + price.output * output_tokens) / _PER
    return Attempt(input_tokens, cached, output_tokens, seconds, cost)
