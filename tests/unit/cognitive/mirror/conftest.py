from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.cognitive.mirror.house import House, open_house
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse, open_card_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A home with an empty memory; its mirror has started."""
    async with open_house(tmp_path) as house:
        await house.mirror.start()
        yield house


@pytest.fixture
async def cards(tmp_path: Path) -> AsyncIterator[CardHouse]:
    """A house with cards."""
    async with open_card_house(tmp_path) as house:
        yield house
