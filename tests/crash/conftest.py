"""The lab that all short forms share."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.crash.world import Lab, lab

SEED = 20260214


@pytest_asyncio.fixture(name="lab", scope="session", loop_scope="session")
async def _lab() -> AsyncIterator[Lab]:
    async with lab(SEED) as place:
        yield place
