"""A memory with nothing in it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.cognitive.recall.house import Memory, open_memory


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with open_memory(tmp_path) as opened:
        yield opened
