"""The Telegram channel keeps to the contract of channels, against an emulator that nobody here wrote."""

from collections.abc import Iterator
from itertools import count

import pytest

from kenobot.ports.channel import Channel
from kenobot_testing.channel import ChannelContract
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.emulator import Emulator, running_emulator
from tests.integration.telegram.standin import TOKEN, channel_at, press, update

_NUMBERS = count(123456789)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """One server for the suite: what a test confirmed is not offered again."""
    with running_emulator(tmp_path_factory.mktemp("emulator")) as emulator:
        yield emulator


class TestTelegram(ChannelContract):
    """The suite, run on Telegram."""

    @pytest.fixture
    def channel(self, server: Emulator) -> Channel:
        """A bot of its own: what another test left unconfirmed would be offered to it."""
        self._server, self._token = server, f"{next(_NUMBERS)}:{TOKEN.partition(':')[2]}"
        return channel_at(server.base_url, EagerClock(), token=self._token)

    @pytest.fixture
    def failing(self) -> Channel:
        """A bot whose server is away."""
        return channel_at("http://127.0.0.1:9/bot", EagerClock())

    async def say(self, channel: Channel, text: str) -> None:
        """The owner writes to the bot."""
        await self._server.post("/__fixture/updates", {"token": self._token, "update": update(next(_NUMBERS), text)})

    async def press(self, channel: Channel, message: str, value: str) -> None:
        """The owner presses a button below a message of the bot's."""
        pressed = press(next(_NUMBERS), value, int(message))
        await self._server.post("/__fixture/updates", {"token": self._token, "update": pressed})
