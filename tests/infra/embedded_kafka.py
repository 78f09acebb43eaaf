"""The embedded broker for quick tests; skipped, with the reason, where it is not installed."""

from collections.abc import Iterator

import pytest

from operators.embedded_broker import EmbeddedBroker, EmbeddedBrokerError


@pytest.fixture(scope="session")
def embedded_kafka() -> Iterator[str]:
    """Give the host:port of an embedded broker that lives for the whole session."""
    broker = EmbeddedBroker()
    try:
        broker.__enter__()
    except EmbeddedBrokerError as error:
        pytest.skip(f"no embedded broker: {error}")
    try:
        yield broker.bootstrap
    finally:
        broker.__exit__(None, None, None)
