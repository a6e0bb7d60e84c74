"""A bot whose people write in fragments, on a clock that a test moves."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from kenobot.ports.channel import Capabilities
from kenobot_testing.clock import ManualClock
from tests.scene import Chatter, Scene


class Hasty(Chatter):
    """A channel whose people write in fragments."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.capabilities = Capabilities(fragment_seconds=1.5)
        self.typed = 0

    async def typing(self, chat: str, thread: str = "") -> None:
        self.typed += 1


class HastyScene(Scene):
    """A scene on a clock that stands still until the test moves it."""

    def __init__(self, folder: Path, replies: Sequence[object] = ("ok",), **more: object) -> None:
        self.time = ManualClock()
        super().__init__(folder, replies, clock=self.time, **more)  # type: ignore[arg-type]
        self.channel = Hasty()

    async def until(self, happy: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not happy():
                await asyncio.sleep(0.005)

    async def waits(self, seconds: float) -> None:
        """Return once a turn waits about that long for more of its message, which it may do before the last of it."""
        await self.until(lambda: any(abs(left - seconds) < 0.03 for left in self.time.pending_sleeps))

    async def answered(self, count: int) -> list[str]:
        """Let moments pass until there are so many answers."""
        async with asyncio.timeout(60):
            while len(self.texts) < count:
                short = [left for left in self.time.pending_sleeps if left <= 1.5]
                self.time.advance(min(short, default=0))
                await asyncio.sleep(0.005)
        return self.texts

    def prompts(self) -> list[str]:
        return [request.rpartition("[")[0] for request in self.requests]
