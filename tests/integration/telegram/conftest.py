"""The stand-in, and the channel that talks to it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.emulator import Emulator, running_emulator
from tests.integration.telegram.group_standin import GroupTelegram
from tests.integration.telegram.standin import FakeTelegram, channel_at


@asynccontextmanager
async def _served(fake: FakeTelegram) -> AsyncIterator[None]:
    app = web.Application()
    app.router.add_post("/bot{token}/{method}", fake.handle)
    app.router.add_get("/file/bot{token}/{path}", fake.hand_over)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/bot"
    yield
    await runner.cleanup()


@pytest.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    fake = FakeTelegram()
    async with _served(fake):
        yield fake


@pytest.fixture
async def groups(clock: EagerClock) -> AsyncIterator[GroupTelegram]:
    fake = GroupTelegram(clock.monotonic)
    async with _served(fake):
        yield fake


@pytest.fixture
def clock() -> EagerClock:
    return EagerClock()


@pytest.fixture
def channel(telegram: FakeTelegram, clock: EagerClock) -> TelegramChannel:
    return channel_at(telegram.base_url, clock)


@pytest.fixture
def emulator(tmp_path: Path) -> Iterator[Emulator]:
    with running_emulator(tmp_path) as emulator:
        yield emulator
