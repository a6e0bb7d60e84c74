"""Store messages that came in, before they are acknowledged: one row a message, unique by (channel, external id).

A row of kind "task" is the work of a task in the background, which no chat waits for.

pending → claimed → answered | failed | expired | dead, or dropped on arrival. A claim counts an attempt, and the
attempt's number fences: only the latest claim of a row may finish it. A claim that comes to nothing through no fault of
the message, because the process stops or the model is out of reach, is given back and does not count.
"""

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal

from kenobot.ports.clock import Clock
from kenobot.ports.errors import Fenced
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound, Outbound
from kenobot.ports.sentences import change_values, pack_text
from kenobot.storage import attachments as attachment_rows
from kenobot.storage.claims import make_fence
from kenobot.storage.connection import Connection, make_storable
from kenobot.storage.conversation import find_said
from kenobot.storage.database import Database
from kenobot.storage.outbox import find_answered
from kenobot.storage.turn_steps import drop_steps

_Value = str | int | None
FinalState = Literal["answered", "failed", "expired", "dead", "dropped"]

_KEEP_DAYS = 7
_DEAD_KEPT = 1000
_DROPPED_KEPT = 10_000
_RAW_KEPT = 20_000
_NAME_KEPT = 128
_QUOTED_KEPT = 1000
_MOST_FRAGMENTS = 20
_LATELY = 1000  # messages among which one is looked for that is brought again
_SAME_TIME = timedelta(minutes=2)  # by two clocks
# "+": else SQLite reads all that was ever kept, to have it in order
OPEN_SHORT = "state IN ('pending', 'claimed') AND kind != 'task' AND length(text) <= ? ORDER BY +id"
_STOPPED = "stopped by its sender"
_EDITED = "edited by its sender"
_BY_ID = "FROM inbox WHERE channel = ? AND external_id = ?"
_IDENTITY = "chat, thread, sender, platform_id, kind, target, sent_at"  # as `_identify` has it
_ASIDE = "state IN ('dead', 'dropped')"  # as the index has it
_COLUMNS = (
    "id, channel, external_id, chat, sender, sender_name, private, forwarded, text, sent_at, trace, attempts, "
    "retried_at, kind, reply_to, target, value, thread, attachments, platform_id, quoted, quoted_author"
)


@dataclass(frozen=True, slots=True)
class PendingMessage:
    """A stored message that waits for its turn, or has begun one `attempts` times.

    claimed: the latest attempt is the reader's own and has not begun yet. fresh: it came in just now, so there can be
    no reply to it from an earlier run. deferrals: how often it was put back because no model could be reached.
    retried_at: when the owner had it tried once more. fragments: the messages that it is made of, itself the first; ()
    for one that stands alone. Its `inbound` joins them.
    """

    id: int
    inbound: Inbound
    trace: str
    attempts: int = 0
    claimed: bool = False
    fresh: bool = False
    deferrals: int = 0
    retried_at: datetime | None = None
    fragments: tuple["PendingMessage", ...] = ()

    @property
    def session(self) -> str:
        return self.inbound.session

    @property
    def waiting_since(self) -> datetime:
        """From when it counts how long the message has waited: its sending, or the owner's wish to try it once more."""
        return self.retried_at or self.inbound.sent_at


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
            if inbound.may_repeat and digest and _has_come(connection, inbound, digest):
                return None
            stored = _with_quotation(connection, inbound)
            row = _columns(stored, now, drop_reason) | more
            number = _insert(connection, row)
            if number is None:
                free = _free_id(connection, inbound, digest)
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
            "channel": _escape_surrogates(channel),
            "external_id": _escape_surrogates(external_id),
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
        return await self._end_early(message, "dropped", _STOPPED, tell)

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
                f"SELECT joined_to, {_COLUMNS} FROM inbox WHERE {where}", (head.session, head.id, _MOST_FRAGMENTS)
            ).fetchall()
            is_fixed = connection.execute("SELECT 1 FROM turn_step WHERE inbox_id = ?", (head.id,)).fetchone()
            joined, last = list[PendingMessage](), head.inbound
            for joined_to, *row in rows:
                pending = _pending(tuple(row))
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
        channel, external_id = _escape_surrogates(inbound.channel), _escape_surrogates(inbound.external_id)
        known, digest = replace(inbound, channel=channel, external_id=external_id), message_digest(inbound)

        def read(connection: Connection) -> bool:
            row = (channel, _free_id(connection, known, digest))
            return connection.execute(f"SELECT 1 {_BY_ID}", row).fetchone() is not None

        return await self._database.read(read)

    async def load_pending_after(self, session: str, after: int, limit: int) -> list[PendingMessage]:
        """Return the next messages of a session that are not done, oldest first, with ids above `after`."""
        return await self._database.read(
            lambda connection: [
                _pending(row)
                for row in connection.execute(
                    f"SELECT {_COLUMNS} FROM inbox WHERE session = ? AND id > ? AND state IN ('pending', 'claimed') "
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


def load_pending(connection: Connection, where: str, *values: str | int) -> list[PendingMessage]:
    """Read messages, in whatever state. where: a condition on their rows, and their order."""
    return [_pending(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM inbox WHERE {where}", values)]


def read_text(connection: Connection, message: int) -> str:
    """Read the words of a message, with those of its other fragments; "" for one that is gone."""
    fragments = load_pending(connection, "id = ? OR joined_to = ? ORDER BY id", message, message)
    return join_message(tuple(fragments)).inbound.text if fragments else ""


def join_message(fragments: tuple[PendingMessage, ...]) -> PendingMessage:
    """Return messages of a person as one: the first, with the words and attachments of all."""
    inbounds = [each.inbound for each in fragments]
    words = "\n".join(each.text for each in inbounds if each.text.strip())
    attachments = tuple(attachment for each in inbounds for attachment in each.attachments)
    whole = replace(inbounds[0], text=words, attachments=attachments)
    return replace(fragments[0], inbound=whole, fragments=fragments)


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


def message_digest(inbound: Inbound) -> str:
    """Digest what is the same whenever a platform brings a message again, and differs from every other message."""
    parts = (inbound.chat, inbound.thread, inbound.user, inbound.platform_id, inbound.kind, inbound.target)
    content = json.dumps([*parts, inbound.value, inbound.text])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _has_come(connection: Connection, inbound: Inbound, digest: str) -> bool:
    """Return whether a message came lately that differs by its id alone, at about the same time."""
    first, last = inbound.sent_at - _SAME_TIME, inbound.sent_at + _SAME_TIME
    row = connection.execute(
        "SELECT 1 FROM inbox WHERE id > (SELECT max(id) FROM inbox) - ? AND channel = ? AND session = ? AND digest = ? "
        "AND sent_at BETWEEN ? AND ?",
        (_LATELY, inbound.channel, inbound.session, digest, first.isoformat(), last.isoformat()),
    ).fetchone()
    return row is not None


def _free_id(connection: Connection, inbound: Inbound, digest: str) -> str:
    """Return the id to store a message under: with its digest when the plain one is another message's."""
    row = (inbound.channel, inbound.external_id)
    known = connection.execute(f"SELECT digest, {_IDENTITY} {_BY_ID}", row).fetchone()
    is_free = known is None or not known[0] or not digest or digest == known[0] or known[1:] == _identify(inbound)
    return inbound.external_id if is_free else f"{inbound.external_id}~{digest}"


def _identify(inbound: Inbound) -> tuple[str, ...] | None:
    """Return by what a message is known whose words another version of the bot reads otherwise; None for nothing."""
    if not inbound.platform_id:
        return None
    where = (inbound.chat, inbound.thread, inbound.user, inbound.platform_id)
    return (*where, inbound.kind, inbound.target, inbound.sent_at.isoformat())


def has_bad_ids(inbound: Inbound) -> bool:
    """Return whether an id holds a NUL or half a surrogate pair: no database holds it, and mended it would be another.

    So do what stands in a button or a reaction, and the names that say where it belongs.
    """
    ids = (inbound.channel, inbound.external_id, inbound.chat, inbound.user, inbound.thread, inbound.platform_id)
    text = "".join((*ids, inbound.reply_to, inbound.target, inbound.value))
    return text != make_storable(text)


def _escape_surrogates(text: str) -> str:
    """Escape NULs and what has no UTF-8 in `text`, so that no two texts become one."""
    text = text.replace("\0", "\\x00") if "\0" in text else text
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _name(text: str) -> str:
    """Return a person's name on one line and of a sane length: prompts put it before their words in a group."""
    return " ".join(make_storable(text[:_NAME_KEPT]).split())


def _oldest_kept(state: FinalState, kept: int, connection: Connection) -> int:
    """Return the id of the oldest of the newest `kept` rows in a state; 0 when there are not so many."""
    row = connection.execute(
        f"SELECT id FROM inbox WHERE {_ASIDE} AND state = ? ORDER BY id DESC LIMIT 1 OFFSET ?", (state, kept - 1)
    ).fetchone()
    return int(row[0]) if row else 0


def newest_private(connection: Connection, limit: int) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield channel, chat, sender, beginning of the text, and time of the last private messages, newest first."""
    yield from connection.execute(
        "SELECT channel, chat, sender, substr(text, 1, 400), received_at FROM inbox "
        "WHERE private = 1 AND forwarded = 0 AND session != '' AND state != 'dropped' "
        "AND kind IN ('message', 'edit') ORDER BY id DESC LIMIT ?",
        (limit,),
    )


def was_stopped(connection: Connection, session: str, message: int, sender: str = "") -> bool:
    """Return whether the message before this one in its session was stopped. sender: whose count; "" for all."""
    row = connection.execute(
        "SELECT reason FROM inbox WHERE session = ? AND id < ? AND ? IN ('', sender) AND kind != 'task' "
        "ORDER BY id DESC LIMIT 1",
        (session, message, sender),
    ).fetchone()
    return row is not None and row[0] == _STOPPED


def add_task_message(connection: Connection, inbound: Inbound, origin: int, trace: str, at: datetime) -> int | None:
    """Store the work of a task, inside the transaction that begins it; None where its message began one before.

    Chats do not take it up. Its attachments have been read: their words stand in its own.
    """
    row = _columns(inbound, at.isoformat(), "") | {"trace": trace, "state": "pending", "attempts": 0, "digest": ""}
    number = _insert(connection, row)
    if number is not None and inbound.attachments:
        attachment_rows.copy_rows(connection, origin, number)
    return number


def newest_id(connection: Connection) -> int:
    """Return the id of the message that came last; 0 where none did."""
    found: int = connection.execute("SELECT coalesce(max(id), 0) FROM inbox").fetchone()[0]
    return found


def finish(
    connection: Connection,
    message: int,
    attempt: int,
    end: FinalState,
    at: datetime,
    reason: str = "",
    *,
    is_whole: bool = False,
) -> datetime:
    """Mark a message and its fragments done, inside a transaction; return when it came in.

    is_whole: it is known to have no other fragments. Raises Fenced when `attempt` is not its latest claim.
    """
    received = connection.execute(
        "UPDATE inbox SET state = ?, reason = ?, done_at = ? WHERE id = ? AND attempts = ? AND state = 'claimed' "
        "RETURNING received_at",
        (end, pack_text(reason), at.isoformat(), message, attempt),
    ).fetchall()
    if not received:
        raise make_fence(connection, message, attempt)
    if not is_whole:
        connection.execute(
            "UPDATE inbox SET state = ?, reason = ?, done_at = ? "
            "WHERE joined_to = ? AND state IN ('pending', 'claimed')",
            (end, pack_text(reason), at.isoformat(), message),
        )
    return datetime.fromisoformat(received[0][0])


def defer(connection: Connection, message: int, attempt: int) -> bool:
    """Give a claim back, inside a transaction, because no model can be reached; the attempt does not count.

    Returns whether the person has still to be asked for patience. Raises Fenced when `attempt` was overtaken.
    """
    mine = (message, attempt)
    row = connection.execute(
        "SELECT patience_sent FROM inbox WHERE id = ? AND attempts = ? AND state = 'claimed'", mine
    ).fetchone()
    if row is None:
        raise make_fence(connection, message, attempt)
    connection.execute(
        "UPDATE inbox SET state = 'pending', attempts = attempts - 1, patience_sent = 1 WHERE id = ? AND attempts = ?",
        mine,
    )
    return not row[0]


def _pending(row: tuple[Any, ...]) -> PendingMessage:
    number, channel, external, chat, sender, name, private, forwarded, text, sent_at, trace, attempts = row[:12]
    retried, kind, reply_to, target, value, thread, attachments, platform_id, quoted, author = row[12:]
    brings_words = kind in ("message", "edit", "task")
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
        kind=kind,
        reply_to=reply_to,
        target=target,
        value="" if brings_words else value,
        thread=thread,
        attachments=attachment_rows.read_attachments(attachments, value if brings_words else ""),
        platform_id=platform_id,
        quoted=quoted,
        quoted_author=author,
    )
    return PendingMessage(
        number, inbound, trace, attempts, retried_at=datetime.fromisoformat(retried) if retried else None
    )
