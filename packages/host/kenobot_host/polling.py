"""Poll bots for updates and put these into the mail: one poller a token, because the platform lets no two ask."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Sequence
from typing import Final

from psycopg import AsyncConnection

from kenobot.channels.telegram.channel import find_chat
from kenobot.channels.telegram.client import TelegramClient
from kenobot.channels.telegram.migration import chat_move
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.updates import update_id
from kenobot.core.retry import Backoff
from kenobot.ports.clock import Clock
from kenobot.ports.errors import RemoteError
from kenobot_host import activation_rows, mail_rows
from kenobot_host.activation import BOTS, UNREACHABLE
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.hosted_telegram import Holds, Pool

_log = logging.getLogger(__name__)

_RETRY: Final = Backoff(0.5, 30.0)


def build_client(bot: mail_rows.Bot, token: str, clock: Clock) -> TelegramClient:
    """Build the client of a bot on its platform."""
    given = {"token": token} | ({"base_url": bot.base_url} if bot.base_url else {})
    return TelegramClient(TelegramSettings.model_validate(given), clock.monotonic)


def read_updates(raws: Sequence[object]) -> list[mail_rows.Update]:
    """Read what mail needs of raw updates. One without a number is dropped: it could not be confirmed."""
    found = []
    for raw in raws:
        number = update_id(raw)
        if number is None:
            _log.warning("an update without a number is dropped")
        else:
            found.append(mail_rows.Update(number, find_chat(raw), json.dumps(raw), chat_move(raw)))
    return found


async def take_in(pool: Pool, bot: str, updates: Sequence[mail_rows.Update]) -> None:
    """Put updates into the mail in one transaction. Raises what is in UNREACHABLE, and BotRests."""
    async with pool.connection() as connection:
        dropped = await mail_rows.put_mail(connection, bot, updates)
    if dropped:
        _log.warning("%d updates of bot %s are of chats that no home has", dropped, bot)


async def request_poll(connection: AsyncConnection, bot: str) -> None:
    """Queue the polls of a bot for the ingress that is free next."""
    await activation_rows.request_job(connection, BOTS, activation_rows.POLL, f"bot:{bot}", {"bot": bot})


class BotPoller:
    """Polls the bots whose jobs this ingress has."""

    def __init__(self, pool: Pool, clock: Clock, tokens: BotTokens) -> None:
        self._pool = pool
        self._clock = clock
        self._tokens = tokens

    async def poll(self, account: str, released: asyncio.Event, holds: Holds) -> None:
        """Poll a bot until it is gone, or the ingress ends. The next poller waits behind this one's lock meanwhile.

        holds: whether the bot is still this ingress's to poll; asked before each poll.
        """
        async with self._pool.connection() as connection:
            bot = await mail_rows.load_bot(connection, account)
            if bot is None or bot.rests or bot.intake != "poll":
                return
            await request_poll(connection, account)
        polling = asyncio.create_task(self._poll_on(bot, holds), name=f"poll {account}")
        asked = asyncio.create_task(released.wait())
        try:
            await asyncio.wait({polling, asked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
            polling.cancel()
            (ended,) = await asyncio.gather(polling, return_exceptions=True)
        if isinstance(ended, Exception):  # such as a token that is sealed for another key
            _log.error("bot %s takes nothing in: %s", account, ended)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_RETRY.longest):
                    await released.wait()

    async def _poll_on(self, bot: mail_rows.Bot, holds: Holds) -> None:
        client = build_client(bot, self._tokens.open(bot.account, bot.token), self._clock)
        offset: int | None = None
        failures = 0
        async with client:
            while True:
                try:
                    async with self._pool.connection() as connection:
                        if not await holds(connection):
                            _log.warning("bot %s is polled by another ingress by now", bot.account)
                            return
                        if await mail_rows.load_bot(connection, bot.account) != bot:  # gone, resting or changed
                            return
                    if not bot.username:
                        bot = await self._learn_name(bot, client)
                    raws = await client.get_updates(offset)
                    if updates := read_updates(raws):
                        await take_in(self._pool, bot.account, updates)
                        offset = max(update.number for update in updates) + 1
                    elif not raws:
                        # All is confirmed. After a quiet week Telegram goes on from a random, perhaps lower, number.
                        offset = None
                    failures = 0
                except mail_rows.BotRests:
                    return
                except (RemoteError, *UNREACHABLE) as error:
                    _log.warning("bot %s is not polled: %s", bot.account, error)
                    asked = error.retry_after if isinstance(error, RemoteError) else None
                    await self._clock.sleep(asked or _RETRY.pause(failures))
                    failures += 1

    async def _learn_name(self, bot: mail_rows.Bot, client: TelegramClient) -> mail_rows.Bot:
        me = await client.get_me()
        async with self._pool.connection() as connection:
            await mail_rows.set_username(connection, bot.account, me.username)
            found = await mail_rows.load_bot(connection, bot.account)
        return found or bot
