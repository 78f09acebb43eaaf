"""Fixtures that every part's tests use."""

import os
from pathlib import Path

import pytest
from infra.apache_kafka import apache_kafka, own_apache_kafka
from infra.embedded_kafka import embedded_kafka

__all__ = ["apache_kafka", "embedded_kafka", "own_apache_kafka", "shared"]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the real data: STRANDLINE_SHARED, or `shared` beside the project; skips when it is not there."""
    folder = Path(os.environ.get("STRANDLINE_SHARED") or Path(__file__).parents[2] / "shared")
    if not (folder / "data").is_dir():
        pytest.skip("the shared data is not here; name its folder with STRANDLINE_SHARED")
    return folder
