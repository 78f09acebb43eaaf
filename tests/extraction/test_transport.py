"""How long to wait, and for whom."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from extraction.cost import price_attempt
from extraction.transport import bounded, retry_after_s
from schemas.settings import ModelSettings, Price


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "3 s"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after-ms": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_retry_after_http_date():
    at = datetime.now(UTC) + timedelta(seconds=30)
    assert 25 < retry_after_s({"retry-after": format_datetime(at, usegmt=True)}) <= 30


def test_price_attempt_prices_cached_tokens_apart():
    price = Price(input=0.40, cached=0.10, output=1.60)
    attempt = price_attempt(price, input_tokens=10_000, cached_tokens=8_000, output_tokens=500, seconds=1.5)
    assert attempt.cost_usd == pytest.approx((2_000 * 0.40 + 8_000 * 0.10 + 500 * 1.60) / 1e6)
    assert attempt.seconds == 1.5


def test_price_attempt_never_counts_more_cached_than_there_were():
    attempt = price_attempt(Price(input=1, cached=1), input_tokens=10, cached_tokens=99, output_tokens=0, seconds=0)
    assert (attempt.cached_tokens, attempt.cost_usd) == (10, pytest.approx(1e-5))


def test_words_of_the_request_are_taken_out_of_what_the_provider_says():
    """An error that quotes the prompt would put what a user said into a log."""
    said = "Transcript 1: [1] user: my niece is allergic to walnuts [2] bot: noted"
    words = 'HTTP 500: cannot serve {"content": "[1] user: my niece is allergic to walnuts"} today'
    assert bounded(words, ModelSettings(), said) == 'HTTP 500: cannot serve {"content": "[...]"} today'
    assert bounded(words, ModelSettings()) == words
