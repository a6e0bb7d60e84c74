"""Show replies in groups while they are written: by a message of the outbox, edited until the answer replaces it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from kenobot.gateway.delivery import Delivery
from kenobot.ports.channel import Channel, ShowsPreviews
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Unavailable
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Outbound
from kenobot.storage import claims, outbox
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.outbox import Outbox

_START_SECONDS = 0.5  # a reply that is all there by then comes as one message


@dataclass(frozen=True, slots=True)
class Previews:
    """Opens the previews of turns."""

    database: Database
    clock: Clock
    delivery: Delivery
    outbox: Outbox

    def open(self, pending: PendingMessage, attempt: int, channel: Channel) -> "MessagePreview":
        """Open the preview of a reply, which an earlier attempt may have begun."""
        return MessagePreview(self, pending, attempt, channel)


class MessagePreview:
    """A message of the outbox with the beginning of a reply: sent once, also across a crash, and edited from then on.

    Edits are best effort and stored nowhere. Nothing takes the message away: what the turn ends with replaces it.
    """

    start_seconds = _START_SECONDS

    def __init__(self, previews: Previews, pending: PendingMessage, attempt: int, channel: Channel) -> None:
        self._s = previews
        self._pending = pending
        self._attempt = attempt
        self._channel = channel
        self._row = 0
        self._message = ""

    async def show(self, text: str) -> None:
        """Show `text`; "" takes nothing away. Raises RemoteError and StoreError."""
        if not text:
            return
        inbound = self._pending.inbound
        if not self._row:
            # Stored, it has to be dispatched too, also when the turn ends meanwhile.
            begins = await asyncio.shield(asyncio.create_task(self._begin(text), name="preview"))
            await self._s.delivery.queue.wait_free((inbound.channel, inbound.chat))
            self._message = await self._s.outbox.find_platform_id(self._row)
            if begins and self._message:
                return
        if not self._message:
            raise Unavailable("talk.preview_unsent")
        assert isinstance(self._channel, ShowsPreviews)
        await self._channel.preview(inbound.chat, self._message, text, inbound.thread)

    def replace_with(self, answer: Sequence[Outbound]) -> Sequence[Outbound]:
        """Return the answer as it is: its first part names the stored preview."""
        return answer

    async def _begin(self, text: str) -> bool:
        """Store and dispatch the message; False where an earlier attempt did."""
        first = [replace(part, has_previews=False) for part in self._channel.render(text)[:1]]
        to = self._pending.inbound

        def write(connection: Connection) -> tuple[int, list[Outbound]]:
            if not claims.is_claimed(connection, self._pending.id, self._attempt):
                return 0, []
            if row := outbox.preview_of(connection, self._pending.id):
                return row, []
            letter = outbox.Destination(
                to.channel,
                to.chat,
                self._pending.trace,
                self._pending.id,
                outbox.PREVIEW_PART,
                reply_to=to.answer_to,
                thread=to.thread,
            )
            begun = outbox.enqueue(connection, letter, first, self._s.clock.now())
            return begun[0].id, begun

        self._row, begun = await self._s.database.write(write)
        self._s.delivery.dispatch(begun)
        return bool(begun)
