"""Mail that came in, on disk before anybody is told. One row a message, found again by (channel, external id).

pending → claimed → answered | failed | dead, or dropped at the door. A claim counts an attempt, and the attempt's
number fences: only the latest claim of a row may finish it.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from kenobot.clock import Clock
from kenobot.db import Connection, Database, storable
from kenobot.errors import Fenced
from kenobot.ports import Inbound

End = Literal["answered", "failed", "dead", "dropped"]

_KEEP_DAYS = 7
_DEAD_KEPT = 1000
_RAW_KEPT = 20_000
_COLUMNS = "id, channel, external_id, chat, sender, sender_name, private, forwarded, text, sent_at, trace, attempts"


@dataclass(frozen=True, slots=True)
class Pending:
    """A stored message that waits for its turn, or has begun one `attempts` times.

    claimed: the latest attempt is the reader's own and has not begun yet. fresh: it came in just now, so there can be
    no reply to it from an earlier run.
    """

    id: int
    inbound: Inbound
    trace: str
    attempts: int = 0
    claimed: bool = False
    fresh: bool = False

    @property
    def session(self) -> str:
        return self.inbound.session


class Inbox:
    """The letterbox."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def accept(self, inbound: Inbound, trace: str, *, dropped: str = "", claimed: bool = False) -> Pending | None:
        """Store a message; None when it had been stored before. Returns once it is on disk.

        dropped: why it is not to be answered; it is then stored as done, so that it is never looked at again.
        claimed: its turn begins at once, so that storing it and claiming it are one write.
        """
        now = self._clock.now()
        inbound = replace(inbound, text=storable(inbound.text), user_name=storable(inbound.user_name))
        state = "dropped" if dropped else "claimed" if claimed else "pending"

        def work(connection: Connection) -> Pending | None:
            cursor = connection.execute(
                "INSERT INTO inbox (channel, external_id, chat, session, sender, sender_name, private, forwarded, "
                "text, sent_at, received_at, trace, state, attempts, reason, done_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (
                    inbound.channel,
                    inbound.external_id,
                    inbound.chat,
                    inbound.session,
                    inbound.user,
                    inbound.user_name,
                    inbound.private,
                    inbound.forwarded,
                    inbound.text,
                    inbound.sent_at.isoformat(),
                    now.isoformat(),
                    trace,
                    state,
                    int(claimed),
                    dropped,
                    now.isoformat() if dropped else None,
                ),
            )
            if cursor.rowcount == 0 or cursor.lastrowid is None:
                return None
            return Pending(cursor.lastrowid, inbound, trace, int(claimed), claimed, fresh=True)

        return await self._database.write(work)

    async def set_aside(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        """Keep something unreadable in the dead-letter box."""
        now = self._clock.now().isoformat()
        await self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO inbox (channel, external_id, chat, session, sender, text, sent_at, received_at, trace, "
                "state, reason, done_at) VALUES (?, ?, '', '', '', ?, ?, ?, '', 'dead', ?, ?) ON CONFLICT DO NOTHING",
                (channel, external_id, storable(raw[:_RAW_KEPT]), now, now, storable(reason), now),
            )
        )

    async def claim(self, message: int) -> int:
        """Begin an attempt at a message; returns its number, from 1. Raises Fenced when the message is done."""

        def work(connection: Connection) -> int:
            row = connection.execute(
                "UPDATE inbox SET state = 'claimed', attempts = attempts + 1 "
                "WHERE id = ? AND state IN ('pending', 'claimed') RETURNING attempts",
                (message,),
            ).fetchone()
            if row is None:
                raise Fenced(f"Message {message} is done already.")
            return int(row[0])

        return await self._database.write(work)

    async def release(self, message: int, attempt: int) -> None:
        """Give a claim back unused, because the process is stopping: the attempt does not count."""
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE inbox SET state = 'pending', attempts = attempts - 1 "
                "WHERE id = ? AND state = 'claimed' AND attempts = ?",
                (message, attempt),
            )
        )

    async def waiting(self, session: str, after: int, limit: int) -> list[Pending]:
        """The next messages of a session that are not done, oldest first, with ids above `after`."""
        return await self._database.read(
            lambda connection: [
                _pending(row)
                for row in connection.execute(
                    f"SELECT {_COLUMNS} FROM inbox WHERE session = ? AND id > ? AND state IN ('pending', 'claimed') "
                    "ORDER BY id LIMIT ?",
                    (session, after, limit),
                )
            ]
        )

    async def open_sessions(self) -> dict[str, int]:
        """Sessions with messages that are not done, and how many: what a start has to recover."""
        return await self._database.read(
            lambda connection: dict(
                connection.execute(
                    "SELECT session, count(*) FROM inbox WHERE state IN ('pending', 'claimed') "
                    "GROUP BY session ORDER BY min(id)"
                ).fetchall()
            )
        )

    async def prune(self) -> None:
        """Drop what is done and old; ids are kept long enough to recognise a repeat."""
        horizon = (self._clock.now() - timedelta(days=_KEEP_DAYS)).isoformat()

        def work(connection: Connection) -> None:
            connection.execute("DELETE FROM inbox WHERE done_at < ? AND state != 'dead'", (horizon,))
            connection.execute(
                "DELETE FROM inbox WHERE state = 'dead' AND id NOT IN "
                "(SELECT id FROM inbox WHERE state = 'dead' ORDER BY id DESC LIMIT ?)",
                (_DEAD_KEPT,),
            )

        await self._database.write(work)


def finish(connection: Connection, message: int, attempt: int, end: End, at: datetime, reason: str = "") -> None:
    """Mark a message done, inside a transaction. Raises Fenced when `attempt` is not its latest claim."""
    cursor = connection.execute(
        "UPDATE inbox SET state = ?, reason = ?, done_at = ? WHERE id = ? AND attempts = ? AND state = 'claimed'",
        (end, reason, at.isoformat(), message, attempt),
    )
    if cursor.rowcount != 1:
        raise Fenced(f"Attempt {attempt} at message {message} has been overtaken.")


def _pending(row: tuple[int, str, str, str, str, str, int, int, str, str, str, int]) -> Pending:
    number, channel, external, chat, sender, name, private, forwarded, text, sent_at, trace, attempts = row
    inbound = Inbound(
        channel=channel,
        external_id=external,
        chat=chat,
        user=sender,
        user_name=name,
        private=bool(private),
        forwarded=bool(forwarded),
        text=text,
        sent_at=datetime.fromisoformat(sent_at),
    )
    return Pending(number, inbound, trace, attempts)
