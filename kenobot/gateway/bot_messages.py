"""Messages of the bot's own accord: rendered for their channel, sent by way of the outbox or around it."""

import asyncio
from collections.abc import Mapping, Sequence

from kenobot.gateway.delivery import Delivery
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.messages import MessagePart, Outbound
from kenobot.storage import outbox
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination

_SEND_SECONDS = 30.0


def render(channels: Mapping[str, Channel], channel: str, text: str) -> Sequence[MessagePart]:
    """Cut Markdown into the parts of a channel; plain where the channel is not there."""
    return channels[channel].render(text) if channel in channels else [MessagePart(text)]


class BotMessenger:
    """Send Markdown to chats."""

    def __init__(self, database: Database, clock: Clock, channels: Mapping[str, Channel], delivery: Delivery) -> None:
        self._database = database
        self._clock = clock
        self.channels = channels
        self._delivery = delivery

    def enqueue(self, connection: Connection, to: Destination, text: str) -> list[Outbound]:
        """Put a text into the outbox, inside a transaction; `dispatch` it after the commit."""
        return outbox.enqueue(connection, to, render(self.channels, to.channel, text), self._clock.now())

    def dispatch(self, parts: Sequence[Outbound]) -> None:
        """Send what was just committed."""
        self._delivery.dispatch(parts)

    async def send(self, channel: str, chat: str, text: str) -> None:
        """Send a text by way of the outbox. Returns once it is on disk. Raises StoreError."""
        to = Destination(channel, chat)
        self.dispatch(await self._database.write(lambda connection: self.enqueue(connection, to, text)))

    async def send_directly(self, channel: str, chat: str, text: str) -> None:
        """Send a text around the outbox, for when that cannot be written. Raises what the channel raises."""
        async with asyncio.timeout(_SEND_SECONDS):
            for part in render(self.channels, channel, text):
                await self.channels[channel].send(Outbound(0, channel, chat, part, ""))
