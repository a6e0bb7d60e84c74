"""A whole KenoBot in this process that really talks to Telegram: to a server on loopback."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.gateway.channel_supervisor import keep_running
from kenobot.ports.clock import Clock
from kenobot.ports.provider import Provider
from tests.constants import with_constants
from tests.scene import Scene
from tests.security.telegram_server import TOKEN, TelegramServer


class _Passing:
    """A clock on which a little time passes with every look: one that stands still makes a platform seem silent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._looks = 0

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        self._looks += 1
        return self._clock.monotonic() + self._looks / 1e6

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


class TelegramScene(Scene):
    """A scene whose channel is the real one. `owners` may talk to it; `server.deliver` is how they do.

    poll_seconds: how long a poll waits; a fraction of a second is less than anybody may set, and for tests of its end.
    """

    def __init__(
        self,
        folder: Path,
        server: TelegramServer,
        *,
        provider: Provider,
        owners: Sequence[str] = ("1",),
        request_seconds: float = 10,
        poll_seconds: float = 1,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(folder, provider=provider, owners=owners, clock=clock)
        self.server = server
        settings = with_constants(
            TelegramSettings,
            token=TOKEN,
            base_url=server.base_url,
            owners=list(owners),
            request_seconds=request_seconds,
            fragment_seconds=0,
        )
        self.telegram = TelegramChannel(
            settings.model_copy(update={"poll_seconds": poll_seconds}), _Passing(self.clock)
        )
        self.channel = self.telegram  # type: ignore[assignment]
        self._intake: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.listen()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.deaf()
        await super().__aexit__(*error)

    def listen(self) -> None:
        """Run the channel as the house does."""
        self._intake = asyncio.create_task(keep_running(self.telegram, self.app.loop, self.app.bus, self.clock))

    async def deaf(self) -> None:
        """Stop the channel, and nothing else."""
        if self._intake is not None:
            self._intake.cancel()
            await asyncio.gather(self._intake, return_exceptions=True)

    async def hear(self, *updates: object) -> None:
        """Have the bot fetch these updates, and wait until everything they set off is over."""
        await self.server.deliver(*updates)
        await self.app.wait_drained()
