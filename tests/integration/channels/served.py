"""Serves the stand-in of a platform's HTTP interface on a loopback port of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    """Yield the address at which `app` is served. Raises TimeoutError when it does not end within five seconds."""
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        async with asyncio.timeout(60):
            await runner.cleanup()
