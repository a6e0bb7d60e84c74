"""Delivery with a real outbox and a channel that does as it is told."""

from random import Random

from kenobot.core.bus import Bus
from kenobot.gateway.delivery import Delivery
from kenobot.ports.messages import MessagePart, Outbound
from kenobot.ports.signals import MESSAGE_FAILED, MESSAGE_SENT, Envelope
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination, Outbox, enqueue
from kenobot_testing.clock import START, EagerClock, ManualClock
from kenobot_testing.fake_channel import FakeChannel
from tests.samples import inbound, rows


class House:
    """A delivery with a real outbox, two fake channels, and a note of what was announced."""

    def __init__(self, database: Database, clock: ManualClock | None = None) -> None:
        self.database = database
        self.clock = clock or EagerClock()
        self.bus = Bus(self.clock)
        self.outbox = Outbox(database, self.clock)
        self.channel, self.other = FakeChannel(), FakeChannel("other")
        channels = {channel.name: channel for channel in (self.channel, self.other)}
        self.delivery = Delivery(channels, self.outbox, self.bus, self.clock, Random(1))
        self.announced: list[tuple[str, object]] = []
        for signal in (MESSAGE_SENT, MESSAGE_FAILED):
            self.bus.wake_on(signal, self._note)
        self._messages = 0
        self._texts: dict[int, str] = {}

    def _note(self, envelope: Envelope) -> None:
        self.announced.append((envelope.signal.name, envelope.payload.get("error")))

    async def commit(self, *texts: str, chat: str = "1", channel: str = "fake") -> list[Outbound]:
        """As a turn does, without telling anybody."""
        self._messages += 1
        number, to = self._messages, inbound(chat=chat, channel=channel)
        parts = [MessagePart(text) for text in texts]
        letters = await self.database.write(
            lambda c: enqueue(c, Destination(to.channel, to.chat, f"trace {number}", number), parts, START)
        )
        self._texts |= {letter.id: letter.part.text for letter in letters}
        return letters

    async def answer(self, *texts: str, chat: str = "1", channel: str = "fake") -> None:
        """Commit a reply and dispatch it."""
        self.delivery.dispatch(await self.commit(*texts, chat=chat, channel=channel))

    async def states(self) -> list[tuple[object, ...]]:
        """The text of each part as it was committed, its state and how often it was tried."""
        found = await rows(self.database, "SELECT id, state, attempts FROM outbox ORDER BY id")
        return [(self._texts[int(str(number))], state, attempts) for number, state, attempts in found]
