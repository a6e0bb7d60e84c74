"""Says something of the bot's own accord, in a chat, by way of the outbox."""

from collections.abc import Callable, Mapping, Sequence

from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.messages import MessagePart, Outbound
from kenobot.storage import outbox
from kenobot.storage.database import Database


class BotMessenger:
    """dispatch: takes what was just committed on its way."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        channels: Mapping[str, Channel],
        dispatch: Callable[[Sequence[Outbound]], None],
    ) -> None:
        self._database = database
        self._clock = clock
        self._channels = channels
        self._hand_over = dispatch

    async def send(self, channel: str, chat: str, text: str) -> None:
        """Send `text`, Markdown, to a chat. Returns once it is on disk. Raises StoreError."""
        where = self._channels.get(channel)
        parts = where.render(text) if where is not None else [MessagePart(text)]
        letter, at = outbox.Destination(channel, chat), self._clock.now()
        waiting = await self._database.write(lambda connection: outbox.enqueue(connection, letter, parts, at))
        self._hand_over(waiting)
