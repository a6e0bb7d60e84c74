"""The channel `http` keeps to the contract of channels, called over a real connection."""

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from kenobot.ports.channel import Channel
from kenobot_http import server
from kenobot_http.channel import HttpChannel
from kenobot_testing.channel import ChannelContract
from kenobot_testing.clock import ManualClock
from tests.integration.http.served import address, channel_of, signed


class TestHttp(ChannelContract):
    """The suite, run on the webhook."""

    @pytest.fixture
    def channel(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Channel]:
        """A channel whose callers send again what was not stored, and that does not wait long for what it cuts off."""
        monkeypatch.setattr(server, "FINISH_SECONDS", 0.0)
        self._clock = ManualClock()
        self._waiting: list[str] = []
        self._caller: asyncio.Task[None] | None = None
        yield channel_of(self._clock)
        if self._caller is not None:
            self._caller.cancel()

    async def say(self, channel: Channel, text: str) -> None:
        """A program has something to say: it calls until that is stored, one message after the other."""
        assert isinstance(channel, HttpChannel)
        self._waiting.append(text)
        if self._caller is None:
            self._caller = asyncio.create_task(self._call(channel))

    async def _call(self, channel: HttpChannel) -> None:
        while self._waiting:
            try:
                async with httpx.AsyncClient(base_url=await address(channel), timeout=60, trust_env=False) as client:
                    answer = await client.post("/webhook", **signed(self._clock, {"message": self._waiting[0]}))
            except httpx.HTTPError:
                await asyncio.sleep(0)
                continue
            if answer.status_code == 202:
                self._waiting.pop(0)
