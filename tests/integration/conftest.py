"""What the integration tests share."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.crash.nursery import Nursery


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nursery() -> AsyncIterator[Nursery]:
    """Starts KenoBot as a process of its own without importing it anew each time."""
    async with Nursery() as nursery:
        yield nursery
