"""BotMessenger: send messages of the bot's own accord."""

from collections.abc import Mapping

from kenobot.gateway.delivery import Delivery
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.messages import MessagePart
from kenobot.storage import outbox
from kenobot.storage.database import Database


class BotMessenger:
    """Render texts for a chat and send them by way of the outbox."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        channels: Mapping[str, Channel],
        delivery: Delivery,
    ) -> None:
        self._database = database
        self._clock = clock
        self._channels = channels
        self._delivery = delivery

    async def send(self, channel: str, chat: str, text: str) -> None:
        """Send `text`, Markdown, to a chat. Returns once it is on disk. Raises StoreError."""
        where = self._channels.get(channel)
        parts = where.render(text) if where is not None else [MessagePart(text)]
        letter, at = outbox.Destination(channel, chat), self._clock.now()
        waiting = await self._database.write(lambda connection: outbox.enqueue(connection, letter, parts, at))
        self._delivery.dispatch(waiting)
