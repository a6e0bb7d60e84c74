"""The console keeps to the contract of channels, on a pipe."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.channels.console import Console, ConsoleSettings
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import PluginContext
from kenobot.testing.channel import ChannelContract
from kenobot.testing.clock import EagerClock


class TestConsole(ChannelContract):
    """The suite, run on a pipe that stays open."""

    @pytest.fixture
    def channel(self, tmp_path: Path) -> Iterator[Channel]:
        """A console that reads what `say` writes."""
        reads, self._writes = os.pipe()
        yield Console(ConsoleSettings(), PluginContext(tmp_path, EagerClock(), "Keno"), reads)
        os.close(self._writes)
        os.close(reads)

    async def say(self, channel: Channel, text: str) -> None:
        """A line comes in."""
        os.write(self._writes, f"{text}\n".encode())
