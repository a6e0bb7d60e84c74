"""The stand-in, and the channel that talks to it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.emulator import Emulator, running_emulator
from tests.integration.telegram.group_standin import GroupTelegram
from tests.integration.telegram.standin import FakeTelegram, channel_at, serve


@pytest.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    fake = FakeTelegram()
    async with serve(fake):
        yield fake


@pytest.fixture
async def groups(clock: EagerClock) -> AsyncIterator[GroupTelegram]:
    fake = GroupTelegram(clock.monotonic)
    async with serve(fake):
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
