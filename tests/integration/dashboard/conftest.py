"""A bot that serves its dashboard."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot_testing.clock import ManualClock
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.http.bot import ServedBot, served_bot


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[ServedBot]:
    """A bot that says the same whatever it is asked."""
    async with served_bot(tmp_path, ScriptedProvider(["Noted."], repeat_last=True)) as served:
        yield served


@pytest.fixture
async def clocked_bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[ServedBot]:
    """A bot whose time stands still."""
    async with served_bot(tmp_path, ScriptedProvider(["Noted."], repeat_last=True), clock=clock) as served:
        yield served
