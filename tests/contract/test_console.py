"""The console keeps to the contract of channels, on a pipe."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.channels.console import Console, ConsoleSettings
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import PluginContext
from kenobot_testing.channel import ChannelContract
from kenobot_testing.clock import EagerClock


class TestConsole(ChannelContract):
    """The suite, run on a pipe that stays open."""

    keeps_unstored = False

    @pytest.fixture
    def channel(self, tmp_path: Path) -> Iterator[Channel]:
        """A console that reads what `say` writes."""
        reads, self._writes = os.pipe()
        yield Console(ConsoleSettings(), PluginContext(tmp_path, EagerClock(), "Keno"), reads)
        os.close(self._writes)
        for thread in threading.enumerate():  # one left behind would read from the next test's pipe of the same number
            if thread.name == "console":
                thread.join(10)
        os.close(reads)

    async def say(self, channel: Channel, text: str) -> None:
        """A line comes in."""
        os.write(self._writes, f"{text}\n".encode())
