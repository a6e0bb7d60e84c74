"""The notice that an answer is on its way: shown to whoever waits, and in nobody's way."""

import asyncio

import pytest

from kenobot.agent.turn import turn_signals
from kenobot.agent.turn.turn_signals import show_typing
from kenobot.ports.errors import Unavailable
from tests.scene import Chatter


class _Typing(Chatter):
    """A channel that shows when an answer is on its way."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.shown = asyncio.Event()
        self.fails = False

    async def typing(self, chat: str, thread: str = "") -> None:
        self.shown.set()
        if self.fails:
            raise Unavailable("It is down.")


async def test_whoever_waits_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when showing it fails: the turn goes on."""
    monkeypatch.setattr(turn_signals, "_TYPING_AFTER", 0)
    channel = _Typing()
    channel.fails = True
    async with show_typing(channel, "1"):
        await asyncio.wait_for(channel.shown.wait(), 60)


async def test_what_comes_at_once_has_no_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent for it, then or later."""
    monkeypatch.setattr(turn_signals, "_TYPING_AFTER", 60)
    channel = _Typing()
    async with show_typing(channel, "1"):
        for _ in range(10):
            await asyncio.sleep(0)
    assert not channel.shown.is_set()


async def test_a_channel_without_it_is_left_alone() -> None:
    """Not every platform can."""
    async with show_typing(None, "1"):
        pass
