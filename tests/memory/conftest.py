import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from memory_cases import settings_for

from memory.store import Store


@pytest.fixture
def store():
    with Store.open(settings_for("memory")) as opened:
        yield opened
