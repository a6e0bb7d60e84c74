"""Store messages that came in, before they are acknowledged: one row a message, unique by (channel, external id).

A row of kind "task" is the work of a task in the background, which no chat waits for.

pending → claimed → answered | failed | expired | dead, or dropped on arrival. A claim counts an attempt, and the
attempt's number fences: only the latest claim of a row may finish it. A claim that comes to nothing through no fault of
the message, because the process stops or the model is out of reach, is given back and does not count.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from kenobot.ports.clock import Clock
from kenobot.ports.errors import Fenced
from kenobot.ports.messages import Inbound, Outbound
from kenobot.ports.sentences import change_values, pack_text
from kenobot.storage import attachments as attachment_rows
from kenobot.storage.connection import Connection, make_storable
from kenobot.storage.conversation import find_said
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import (
    COLUMNS,
    STOPPED,
    FinalState,
    PendingMessage,
    join_message,
    load_pending,
    read_row,
)
from kenobot.storage.message_identity import BY_ID, escape_surrogates, find_free_id, has_come, message_digest
from kenobot.storage.outbox import find_answered
from kenobot.storage.turn_steps import drop_steps

_Value = str | int | None

_KEEP_DAYS = 7
_DEAD_KEPT = 1000
_DROPPED_KEPT = 10_000
_RAW_KEPT = 20_000
_NAME_KEPT = 128
_QUOTED_KEPT = 1000
_MOST_FRAGMENTS = 20
# "+": else SQLite reads all that was ever kept, to have it in order
OPEN_SHORT = "state IN ('pending', 'claimed') AND kind != 'task' AND length(text) <= ? ORDER BY +id"
_EDITED = "edited by its sender"
_ASIDE = "state IN ('dead', 'dropped')"  # as the index has it


class Inbox:
    """The letterbox."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        # bounded: 10,000 numbers; test_a_flood_of_dropped_messages_keeps_its_newest
        self._dropped: deque[int] = deque(maxlen=_DROPPED_KEPT)
        # bounded: 1,000 numbers; test_a_flood_of_unreadable_updates_keeps_its_newest
        self._aside: deque[int] = deque(maxlen=_DEAD_KEPT)

    def store(
        self, inbound: Inbound, trace: str, *, drop_reason: str = "", claimed: bool = False, digest: str = ""
    ) -> asyncio.Future[PendingMessage | None]:
        """Store a message: what there is once it is on disk, None when it had been stored before.

        digest: of the message as its channel brought it. When another message has its id already, it is stored under an
        id of its own; one that may repeat is not stored when there is one like it. drop_reason: why it is not to be
        answered; it is then stored as done and without its words, so that a repeat of it is recognised. claimed: its
        turn begins at once, so that storing it and claiming it are one write. Its ids must have a UTF-8: see
        `has_bad_ids`.
        """
        text, name = make_storable(inbound.text), _name(inbound.user_name)
        if (text, name) != (inbound.text, inbound.user_name):
            inbound = replace(inbound, text=text, user_name=name)
        now = self._clock.now().isoformat()
        more: dict[str, _Value] = {
            "trace": trace,
            "state": "dropped" if drop_reason else "claimed" if claimed else "pending",
            "attempts": int(claimed),
            "digest": digest,
        }

        def work(connection: Connection) -> PendingMessage | None:
            if inbound.may_repeat and digest and has_come(connection, inbound, digest):
                return None
            stored = _with_quotation(connection, inbound)
            row = _columns(stored, now, drop_reason) | more
            number = _insert(connection, row)
            if number is None:
                free = find_free_id(connection, inbound, digest)
                if free == inbound.external_id:
                    return None
                stored, number = replace(stored, external_id=free), _insert(connection, row | {"external_id": free})
            if number is not None and inbound.attachments and not drop_reason:
                attachment_rows.add_rows(connection, number, inbound.attachments)
            return None if number is None else PendingMessage(number, stored, trace, int(claimed), claimed, fresh=True)

        storing = self._database.submit(work)
        if drop_reason:
            storing.add_done_callback(self._count_dropped)
        return storing

    def _count_dropped(self, storing: asyncio.Future[PendingMessage | None]) -> None:
        if not storing.cancelled() and storing.exception() is None and (dropped := storing.result()) is not None:
            self._make_room(self._dropped, dropped.id)

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        """Keep something unreadable in the dead-letter box."""
        now = self._clock.now().isoformat()
        row = {
            "channel": escape_surrogates(channel),
            "external_id": escape_surrogates(external_id),
            "chat": "",
            "session": "",
            "sender": "",
            "text": make_storable(raw[:_RAW_KEPT]),
            "sent_at": now,
            "received_at": now,
            "trace": "",
            "state": "dead",
            "reason": pack_text(change_values(reason, make_storable)),
            "done_at": now,
        }
        message = await self._database.write(lambda connection: _insert(connection, row))
        if message is not None:
            self._make_room(self._aside, message)

    def _make_room(self, kept: "deque[int]", message: int) -> None:
        """Count `message` among the `kept`, and drop the oldest when that is one too many.

        Somebody may send far more in an hour than housekeeping should find then.
        """
        if len(kept) == kept.maxlen:
            oldest = kept[0]
            self._database.write_nowait(
                lambda connection: connection.execute(
                    "DELETE FROM inbox WHERE id = ? AND state IN ('dead', 'dropped')", (oldest,)
                )
            )
        kept.append(message)

    async def claim(self, message: int) -> int:
        """Begin an attempt at a message; returns its number, from 1. Raises Fenced when the message is done."""

        def work(connection: Connection) -> int:
            row = connection.execute(
                "UPDATE inbox SET state = 'claimed', attempts = attempts + 1 "
                "WHERE id = ? AND state IN ('pending', 'claimed') RETURNING attempts",
                (message,),
            ).fetchone()
            if row is None:
                raise Fenced("database.done_already", message=message)
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

    async def end_stopped(
        self, message: int, tell: Callable[[Connection], list[Outbound]] = lambda _: []
    ) -> list[Outbound]:
        """End a message that its sender takes back, unless it is done; its steps go with it.

        tell: puts into the outbox, in the same transaction, what the chat is told of it. Returns that, to be sent.
        """
        return await self._end_early(message, "dropped", STOPPED, tell)

    async def end_edited(self, message: int) -> None:
        """End a message in place of which an edit of it is answered, unless it is done; its steps go with it."""
        await self._end_early(message, "dropped", _EDITED, lambda _: [])

    async def _end_early(
        self, message: int, end: FinalState, reason: str, tell: Callable[[Connection], list[Outbound]]
    ) -> list[Outbound]:
        now = self._clock.now().isoformat()

        def work(connection: Connection) -> list[Outbound]:
            ended = connection.execute(
                "UPDATE inbox SET state = ?, reason = ?, done_at = ? "
                "WHERE (id = ? OR joined_to = ?) AND state IN ('pending', 'claimed')",
                (end, pack_text(reason), now, message, message),
            )
            if not ended.rowcount:
                return []
            drop_steps(connection, message)
            return tell(connection)

        return await self._database.write(work)

    async def join(self, head: PendingMessage, goes_on: Callable[[Inbound, Inbound], bool]) -> PendingMessage:
        """Join a message with those right behind it, each of which goes on the one before; all end with it.

        One for which an answer is paid has the fragments that it had then.
        """

        def work(connection: Connection) -> list[PendingMessage]:
            where = "session = ? AND id > ? AND state IN ('pending', 'claimed') AND kind != 'task' ORDER BY id LIMIT ?"
            rows = connection.execute(
                f"SELECT joined_to, {COLUMNS} FROM inbox WHERE {where}", (head.session, head.id, _MOST_FRAGMENTS)
            ).fetchall()
            is_fixed = connection.execute("SELECT 1 FROM turn_step WHERE inbox_id = ?", (head.id,)).fetchone()
            joined, last = list[PendingMessage](), head.inbound
            for joined_to, *row in rows:
                pending = read_row(tuple(row))
                if joined_to != head.id and (is_fixed or not goes_on(last, pending.inbound)):
                    break
                joined.append(pending)
                last = pending.inbound
            ids = [(head.id, each.id) for each in joined]
            connection.executemany("UPDATE inbox SET joined_to = ? WHERE id = ?", ids)
            return joined

        joined = await self._database.write(work)
        return join_message((head, *joined)) if joined else head

    async def is_known(self, inbound: Inbound) -> bool:
        """Return whether this message is stored already."""
        channel, external_id = escape_surrogates(inbound.channel), escape_surrogates(inbound.external_id)
        known, digest = replace(inbound, channel=channel, external_id=external_id), message_digest(inbound)

        def read(connection: Connection) -> bool:
            row = (channel, find_free_id(connection, known, digest))
            return connection.execute(f"SELECT 1 {BY_ID}", row).fetchone() is not None

        return await self._database.read(read)

    async def load_pending_after(self, session: str, after: int, limit: int) -> list[PendingMessage]:
        """Return the next messages of a session that are not done, oldest first, with ids above `after`."""
        return await self._database.read(
            lambda connection: [
                read_row(row)
                for row in connection.execute(
                    f"SELECT {COLUMNS} FROM inbox WHERE session = ? AND id > ? AND state IN ('pending', 'claimed') "
                    "AND kind != 'task' ORDER BY id LIMIT ?",
                    (session, after, limit),
                )
            ]
        )

    async def open_sessions(self) -> dict[str, int]:
        """Return sessions with messages that are not done, and how many: what a start has to recover."""
        return await self._database.read(
            lambda connection: dict(
                connection.execute(
                    "SELECT session, count(*) FROM inbox WHERE state IN ('pending', 'claimed') AND kind != 'task' "
                    "GROUP BY session ORDER BY min(id)"
                ).fetchall()
            )
        )

    async def open_short(self, longest: int) -> list[PendingMessage]:
        """Return the messages that are not done and have at most so many characters, oldest first."""
        return await self._database.read(lambda connection: load_pending(connection, OPEN_SHORT, longest))

    async def prune(self) -> None:
        """Drop what is done and old; ids are kept long enough to recognise a repeat."""
        horizon = (self._clock.now() - timedelta(days=_KEEP_DAYS)).isoformat()

        await self._database.prune("inbox", "done_at < ? AND state != 'dead'", horizon)
        limits: tuple[tuple[FinalState, int], ...] = (("dead", _DEAD_KEPT), ("dropped", _DROPPED_KEPT))
        for state, kept in limits:
            newest = await self._database.read(partial(_oldest_kept, state, kept))
            await self._database.prune("inbox", f"{_ASIDE} AND state = ? AND id < ?", state, newest)


def _columns(inbound: Inbound, now: str, drop_reason: str) -> dict[str, _Value]:
    """Return the columns that hold a message as it came in at `now`; of one that is dropped, without its words."""
    return {
        "channel": inbound.channel,
        "external_id": inbound.external_id,
        "chat": inbound.chat,
        "session": inbound.session,
        "sender": inbound.user,
        "sender_name": inbound.user_name,
        "private": inbound.private,
        "forwarded": inbound.forwarded,
        "text": "" if drop_reason else inbound.text,
        "sent_at": inbound.sent_at.isoformat(),
        "received_at": now,
        "reason": pack_text(drop_reason),
        "done_at": now if drop_reason else None,
        "kind": inbound.kind,
        "reply_to": inbound.reply_to,
        "target": inbound.target,
        "value": inbound.value or attachment_rows.item_names(inbound.attachments),
        "thread": inbound.thread,
        "attachments": "[]" if drop_reason else json.dumps(attachment_rows.to_fields(inbound.attachments)),
        "platform_id": inbound.platform_id,
        "quoted": "" if drop_reason else make_storable(inbound.quoted),
        "quoted_author": "" if drop_reason else _name(inbound.quoted_author),
    }


def _with_quotation(connection: Connection, inbound: Inbound) -> Inbound:
    """Put in what a private message answers, where its platform tells only the id of that.

    In a group people answer the bot to speak to it, so its words count only where the platform brings them.
    """
    if not inbound.private or not inbound.reply_to or inbound.quoted or inbound.kind == "reaction":
        return inbound
    answered = find_answered(connection, inbound.channel, inbound.chat, inbound.reply_to)
    said = find_said(connection, inbound.session, inbound.reply_to, answered)
    if said is None:
        return inbound
    author = "" if said.role == "assistant" else inbound.user_name or "Somebody"
    return replace(inbound, quoted=said.text[:_QUOTED_KEPT], quoted_author=author)


def _insert(connection: Connection, row: Mapping[str, _Value]) -> int | None:
    """Insert a row and return its id; None when the channel has a message of that id."""
    cursor = connection.execute(
        f"INSERT INTO inbox ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) ON CONFLICT DO NOTHING",
        tuple(row.values()),
    )
    return cursor.lastrowid if cursor.rowcount else None


def _name(text: str) -> str:
    """Return a person's name on one line and of a sane length: prompts put it before their words in a group."""
    return " ".join(make_storable(text[:_NAME_KEPT]).split())


def _oldest_kept(state: FinalState, kept: int, connection: Connection) -> int:
    """Return the id of the oldest of the newest `kept` rows in a state; 0 when there are not so many."""
    row = connection.execute(
        f"SELECT id FROM inbox WHERE {_ASIDE} AND state = ? ORDER BY id DESC LIMIT 1 OFFSET ?", (state, kept - 1)
    ).fetchone()
    return int(row[0]) if row else 0


def add_task_message(connection: Connection, inbound: Inbound, origin: int, trace: str, at: datetime) -> int | None:
    """Store the work of a task, inside the transaction that begins it; None where its message began one before.

    Chats do not take it up. Its attachments have been read: their words stand in its own.
    """
    row = _columns(inbound, at.isoformat(), "") | {"trace": trace, "state": "pending", "attempts": 0, "digest": ""}
    number = _insert(connection, row)
    if number is not None and inbound.attachments:
        attachment_rows.copy_rows(connection, origin, number)
    return number
