"""Have a reaction to a reply count as feedback on the memories behind it; nothing is answered."""

from dataclasses import replace

from kenobot.cognitive.memory import Replies
from kenobot.gateway.access import Access
from kenobot.ports.clock import Clock
from kenobot.ports.names import label_id
from kenobot.storage import edits, outbox
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage, load_pending


async def take_reaction(database: Database, clock: Clock, access: Access, pending: PendingMessage) -> list[int]:
    """Apply a reaction, in place of an earlier one to the same reply; returns the records. Raises StoreError."""
    inbound, at = pending.inbound, clock.now()

    def work(connection: Connection) -> list[int]:
        edits.end_without_answer(connection, pending.id, at)
        answered = outbox.find_answered(connection, inbound.channel, inbound.chat, inbound.target)
        for asked in () if answered is None else load_pending(connection, "id = ?", answered):
            # A platform may not tell of the topic in which a reaction was made.
            there = replace(inbound, thread=asked.inbound.thread)
            principal = access.principal(there)
            account = "" if inbound.private else label_id(inbound.user)
            return Replies.react_by_emoji(connection, there.session, inbound.value, asked.id, principal, at, account)
        return []

    return await database.write(work)
