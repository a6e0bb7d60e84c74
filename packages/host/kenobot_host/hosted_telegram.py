"""Serve a home's chats on Telegram in a host: updates come from the mail, and only the holder of the home sends."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.updates import BotUser
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Unavailable
from kenobot.ports.messages import Outbound
from kenobot_host import mail_rows
from kenobot_host.activation import UNREACHABLE

_log = logging.getLogger(__name__)

_MOST: Final = 100  # updates at a time, as Telegram hands over
_WAIT_SECONDS: Final = 25.0
_SILENT_SECONDS: Final = 7 * 86_400.0  # nothing stalls while no mail comes: each look at the table has its own end
_MESSAGES_A_SECOND: Final = 30.0  # of a bot, as Telegram allows

Pool = AsyncConnectionPool[AsyncConnection]
Holds = Callable[[AsyncConnection], Awaitable[bool]]
"""Asks whether a job's row still names its worker."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to send for a home. holds: whether the home is still this worker's, for longer than sending takes."""

    pool: Pool
    bot: str
    holds: Holds

    async def await_turn(self) -> None:
        """Return when the next message of the bot may go out. Raises Unavailable where the home has passed on.

        The row is asked each time: a process that was stopped for a minute does not know that it was.
        """
        try:
            async with self.pool.connection() as connection:
                pause = await mail_rows.take_pace(connection, self.bot, 1 / _MESSAGES_A_SECOND)
            if pause:
                await asyncio.sleep(pause)
            async with self.pool.connection() as connection:
                if await self.holds(connection):
                    return
        except UNREACHABLE as error:
            raise Unavailable("host.unreachable", reason=error) from None
        raise Unavailable("host.taken_over")


class MailSource:
    """A home's mail in the place of Telegram's polls: an update is deleted once the channel says that it is stored.

    rung: set when there may be more.
    """

    def __init__(self, pool: Pool, bot: mail_rows.Bot, home: int, rung: asyncio.Event) -> None:
        self._pool = pool
        self._bot = bot
        self._home = home
        self._rung = rung
        # bounded: 100 updates; test_mail_is_handed_over_in_the_order_of_the_platform
        self._given: list[int] = []
        self.server_time: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether everything that was handed over is stored."""
        return not self._given

    async def get_me(self) -> BotUser:
        """Return the bot's account, which the intake has asked Telegram for."""
        return BotUser(int(self._bot.account), self._bot.username)

    async def get_updates(self, offset: int | None) -> Sequence[object]:
        """Delete what is stored of the updates handed over before, and hand over the oldest that are left.

        None where one of these has a number below the offset, as late ones and those after a quiet week have: the
        channel then forgets its offset, which would else say of this one that it is stored.
        """
        try:
            await self._delete_stored(offset)
            while True:
                self._rung.clear()
                mail = await self._load()
                if mail and offset is not None and mail[0][0] < offset:
                    return ()
                if mail:
                    self._given = [number for number, _ in mail]
                    return [json.loads(raw) for _, raw in mail]
                await self._rung.wait()
        except (TimeoutError, *UNREACHABLE) as error:
            raise Unavailable("host.unreachable", reason=error) from None

    async def _delete_stored(self, offset: int | None) -> None:
        stored = [number for number in self._given if offset is not None and number < offset]
        if stored:
            async with asyncio.timeout(_WAIT_SECONDS), self._pool.connection() as connection:
                await mail_rows.delete_mail(connection, self._bot.account, stored)
            self._given = [number for number in self._given if number not in stored]

    async def _load(self) -> list[tuple[int, str]]:
        async with asyncio.timeout(_WAIT_SECONDS), self._pool.connection() as connection:
            return await mail_rows.load_mail(connection, self._bot.account, self._home, _MOST)


class HostedTelegram(TelegramChannel):
    """The channel of a home in a host."""

    def __init__(self, settings: TelegramSettings, clock: Clock, source: MailSource, lease: Lease) -> None:
        super().__init__(settings, clock, source)
        self.stall_seconds = _SILENT_SECONDS
        self._lease = lease

    async def send(self, outbound: Outbound) -> str:
        """Send one part when it is the bot's turn. Raises Unavailable where the home is another worker's by now."""
        await self._lease.await_turn()
        return await super().send(outbound)
