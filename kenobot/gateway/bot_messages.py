"""Messages of the bot's own accord: rendered for their channel, sent by way of the outbox or around it, and limited."""

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from kenobot.gateway.delivery import Delivery
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.messages import MessagePart, Outbound
from kenobot.storage import outbox
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination

HOUR = 3600.0
_SEND_SECONDS = 30.0


def render(channels: Mapping[str, Channel], channel: str, text: str) -> Sequence[MessagePart]:
    """Cut Markdown into the parts of a channel; plain where the channel is not there."""
    return channels[channel].render(text) if channel in channels else [MessagePart(text)]


@dataclass(frozen=True, slots=True)
class BotMessenger:
    """Send Markdown to chats."""

    database: Database
    clock: Clock
    channels: Mapping[str, Channel]
    delivery: Delivery

    def enqueue(self, connection: Connection, to: Destination, text: str) -> list[Outbound]:
        """Put a text into the outbox, inside a transaction; `dispatch` it after the commit."""
        return outbox.enqueue(connection, to, render(self.channels, to.channel, text), self.clock.now())

    def dispatch(self, parts: Sequence[Outbound]) -> None:
        """Send what was just committed."""
        self.delivery.dispatch(parts)

    async def send(self, channel: str, chat: str, text: str) -> None:
        """Send a text by way of the outbox. Returns once it is on disk. Raises StoreError."""
        to = Destination(channel, chat)
        self.dispatch(await self.database.write(lambda connection: self.enqueue(connection, to, text)))

    async def send_directly(self, channel: str, chat: str, text: str) -> None:
        """Send a text around the outbox, for when that cannot be written. Raises what the channel raises."""
        async with asyncio.timeout(_SEND_SECONDS):
            for part in render(self.channels, channel, text):
                await self.channels[channel].send(Outbound(0, channel, chat, part, ""))


class HourlyOnce:
    """The subjects of the last hour, in this run: at most `most`."""

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._most = most
        # bounded: 20 subjects, 200 chats and 500 strangers an hour; test_notices_of_an_hour_are_limited
        self._seen: OrderedDict[Hashable, float] = OrderedDict()

    def is_news(self, subject: Hashable) -> bool:
        """Return whether the subject is new within the hour, and there is room; then it counts as seen."""
        now = self._clock.monotonic()
        while self._seen and now - next(iter(self._seen.values())) >= HOUR:
            self._seen.popitem(last=False)
        if subject in self._seen or len(self._seen) >= self._most:
            return False
        self._seen[subject] = now
        return True

    def forget(self, subject: Hashable) -> None:
        """Make a subject news again."""
        self._seen.pop(subject, None)
