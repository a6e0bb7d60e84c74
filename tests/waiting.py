"""Waiting for what happens in tasks beside a test."""

import asyncio
from collections.abc import Callable


async def until(happy: Callable[[], bool]) -> None:
    """Return once `happy` is true. Raises TimeoutError after a minute."""
    async with asyncio.timeout(60):
        while not happy():
            await asyncio.sleep(0)
