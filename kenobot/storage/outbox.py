"""Store parts of replies on their way out: one row a part, in order within a chat, until the platform took it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Attachment, Button, MessagePart, Outbound, TextEntity
from kenobot.ports.sentences import pack_text
from kenobot.storage.attachments import to_fields
from kenobot.storage.connection import Connection, make_storable
from kenobot.storage.database import Database

_KEEP_DAYS = 7
_LATELY = 5000  # parts from the newest on among which one is looked for by its id on the platform
_BLANK = MessagePart("…")  # where an answer that is given anew has become shorter
# A secret part waits in a way that an older KenoBot, which would show it to a group, never finds due.
_SECRET_WAITS = datetime.max.replace(tzinfo=UTC).isoformat()
_IS_DUE = f"state = 'pending' AND (not_before <= ? OR not_before = '{_SECRET_WAITS}')"
PREVIEW_PART = -3  # of an answer: its beginning, shown while the rest is written


@dataclass(frozen=True, slots=True)
class Destination:
    """Address of parts, and their reason: the answer to inbox row `inbox_id`, or of the bot's own accord when that is
    None.

    first_part: the number of the first part; an answer's parts count from 0, a plea for patience is part -1, the word
    that it takes longer part -2, and a preview part -3. previewed: part 0 replaces a preview, if there is one.
    reply_to, replaces, thread, reader, secret: see `kenobot.ports.messages.Outbound`. The first part alone
    replaces a message, or is a reply to one. renews: inbox row whose answer these parts replace one by one.
    not_before: when they may go out, where that is not at once. changes: the part, sent before, whose message the first
    part takes the place of.
    """

    channel: str
    chat: str
    trace: str = ""
    inbox_id: int | None = None
    first_part: int = 0
    reply_to: str = ""
    replaces: str = ""
    thread: str = ""
    renews: int | None = None
    previewed: bool = False
    not_before: datetime | None = None
    reader: str = ""
    secret: bool = False
    changes: int = 0


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A part that counted as sent and did not arrive. is_given_up: it is not tried again."""

    part: int
    chat: str
    trace: str
    is_given_up: bool


@dataclass(frozen=True, slots=True)
class SentPart:
    """A part that the platform took. platform_id: its message there. keeps_text: its copy stays as long as the row."""

    part: int
    platform_id: str
    keeps_text: bool = False


def enqueue(connection: Connection, letter: Destination, parts: Sequence[MessagePart], at: datetime) -> list[Outbound]:
    """Put parts into the outbox, inside a transaction. Each number is unique per answered message.

    Returned are those to send now; what waits for its time is sent by a sweep.
    """
    waiting = []
    has_preview = letter.previewed and letter.renews is None and letter.inbox_id is not None
    shown = preview_of(connection, letter.inbox_id) if has_preview else letter.changes
    places = [shown] if letter.renews is None else _parts_of(connection, letter.renews)
    parts = [*parts, *[_BLANK] * (len(places) - len(parts) if letter.renews is not None else 0)]
    for number, part in enumerate(parts, letter.first_part):
        at_place = number - letter.first_part
        preview = places[at_place] if at_place < len(places) and not part.attachments else 0
        if at_place and (letter.replaces or letter.reply_to):
            letter = replace(letter, replaces="", reply_to="")
        cursor = connection.execute(
            "INSERT INTO outbox (inbox_id, part, channel, chat, text, spans, payload, trace, created_at, not_before) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                letter.inbox_id,
                number,
                letter.channel,
                letter.chat,
                part.text,
                _dump(part.entities),
                _payload(letter, part, preview),
                letter.trace,
                at.isoformat(),
                _not_before(letter),
            ),
        )
        assert cursor.lastrowid is not None
        to = (letter.reply_to, letter.replaces, letter.thread)
        sent = Outbound(cursor.lastrowid, letter.channel, letter.chat, part, letter.trace, *to, preview=preview)
        waiting.append(replace(sent, reader=letter.reader, secret=letter.secret) if letter.reader else sent)
    return waiting if letter.not_before is None or letter.not_before <= at else []


def find_answered(connection: Connection, channel: str, chat: str, platform_id: str) -> int | None:
    """Return the inbox row that a sent message answers; None for one that is old, or that answers nobody."""
    row = connection.execute(
        "SELECT inbox_id FROM outbox WHERE id > (SELECT max(id) FROM outbox) - ? "
        "AND channel = ? AND chat = ? AND platform_id = ? AND part >= 0 ORDER BY id DESC LIMIT 1",
        (_LATELY, channel, chat, platform_id),
    ).fetchone()
    return row[0] if row else None


def _parts_of(connection: Connection, inbox_id: int) -> list[int]:
    """Return the rows of the parts of an answer, in order; of one that was broken off, of its preview."""
    rows = connection.execute(
        "SELECT part, id FROM outbox WHERE inbox_id = ? AND (part >= 0 OR part = ?) AND state != 'dead' ORDER BY part",
        (inbox_id, PREVIEW_PART),
    ).fetchall()
    return [row for part, row in rows if part >= 0 or len(rows) == 1]


def write_sent(connection: Connection, sent: SentPart, at: datetime) -> None:
    """Note that the platform took a part, inside a transaction.

    The conversation keeps the reply's text and the id of its first part: the outbox drops its copy at once, unless
    `keeps_text`, and the row after a week.
    """
    now = at.isoformat()
    copy = "" if sent.keeps_text else ", text = '', spans = '[]', payload = '{}'"
    (answered, number) = connection.execute(
        "UPDATE outbox SET state = 'sent', platform_id = ?, done_at = ?, attempts = attempts + 1"
        f"{copy} WHERE id = ? RETURNING inbox_id, part",
        (sent.platform_id, now, sent.part),
    ).fetchone() or (None, 0)
    if answered is not None and number == 0:
        connection.execute(
            "UPDATE message SET platform_id = ? WHERE inbox_id = ? AND role = 'assistant'",
            (sent.platform_id, answered),
        )
        connection.execute("UPDATE turn SET sent_at = ? WHERE inbox_id = ?", (now, answered))


def is_pending(connection: Connection, part: int) -> bool:
    """Return whether a part is still to be sent, as far as is written."""
    row = connection.execute("SELECT 1 FROM outbox WHERE id = ? AND state = 'pending'", (part,)).fetchone()
    return row is not None


def is_enqueued(connection: Connection, letter: Destination) -> bool:
    """Return whether the first part of an answer was put into the outbox before."""
    row = (letter.inbox_id, letter.first_part)
    return connection.execute("SELECT 1 FROM outbox WHERE inbox_id = ? AND part = ?", row).fetchone() is not None


def preview_of(connection: Connection, answered: int | None) -> int:
    """Return the row of the preview of an answer; 0 where there is none."""
    found = "SELECT id FROM outbox WHERE inbox_id = ? AND part = ?"
    row = connection.execute(found, (answered, PREVIEW_PART)).fetchone()
    return int(row[0]) if row is not None else 0


class Outbox:
    """Parts that still have to be sent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def open_chats(self, channel: str) -> list[str]:
        """Return chats of a channel with parts that still have to go out now."""
        now = self._clock.now().isoformat()
        return await self._database.read(
            lambda connection: [
                row[0]
                for row in connection.execute(
                    f"SELECT DISTINCT chat FROM outbox WHERE channel = ? AND {_IS_DUE}",
                    (channel, now),
                )
            ]
        )

    async def load_pending_after(
        self, channel: str, chat: str, after: int = 0, limit: int = 20
    ) -> list[tuple[Outbound, int]]:
        """Return the next parts of a chat with ids above `after`, in order, each with how often it was tried."""
        now = self._clock.now().isoformat()
        return await self._database.read(
            lambda connection: [
                (_outbound(channel, chat, *row[:5]), row[5])
                for row in connection.execute(
                    "SELECT id, text, spans, payload, trace, attempts FROM outbox "
                    f"WHERE channel = ? AND chat = ? AND id > ? AND {_IS_DUE} ORDER BY id LIMIT ?",
                    (channel, chat, after, now, limit),
                )
            ]
        )

    async def find_platform_id(self, part: int) -> str:
        """Return the platform's id of a part; "" where it has not been sent."""

        def read(connection: Connection) -> str:
            row = connection.execute("SELECT platform_id FROM outbox WHERE id = ?", (part,)).fetchone()
            return (row[0] or "") if row is not None else ""

        return await self._database.read(read)

    async def mark_sent(self, sent: SentPart) -> None:
        """Note that the platform took a part; returns once that is on disk, so that a restart does not repeat it."""
        now = self._clock.now()
        await self._database.write_soon(lambda connection: write_sent(connection, sent, now))

    async def record_failure(self, part: int, reason: str) -> None:
        """Record a failed try; the part will be tried again."""
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE outbox SET attempts = attempts + 1, reason = ? WHERE id = ?", (pack_text(reason), part)
            )
        )

    async def give_up(self, part: int, reason: str) -> None:
        """Mark a part as undeliverable."""
        now = self._clock.now().isoformat()
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE outbox SET state = 'dead', reason = ?, done_at = ?, attempts = attempts + 1 WHERE id = ?",
                (pack_text(reason), now, part),
            )
        )

    async def take_back(
        self, channel: str, platform_id: str, reason: str, retry_at: Callable[[int], datetime | None]
    ) -> TakenBack | None:
        """Undo that a part counts as sent, of several the newest, as of a message and its edits; None where there is
        none of that id. retry_at: after so many tries; None for never, as for a part that was erased.
        """
        now = self._clock.now().isoformat()

        def write(connection: Connection) -> TakenBack | None:
            row = connection.execute(
                "SELECT id, chat, trace, attempts, text != '' OR payload != '{}' FROM outbox "
                "WHERE id > (SELECT max(id) FROM outbox) - ? AND channel = ? AND platform_id = ? AND state = 'sent' "
                "ORDER BY id DESC LIMIT 1",
                (_LATELY, channel, platform_id),
            ).fetchone()
            if row is None:
                return None
            number, chat, trace, attempts, is_kept = row
            again = retry_at(attempts) if is_kept else None
            connection.execute(
                "UPDATE outbox SET state = ?, reason = ?, done_at = ?, not_before = ? WHERE id = ?",
                ("dead", pack_text(reason), now, "", number)
                if again is None
                else ("pending", pack_text(reason), None, again.isoformat(), number),
            )
            return TakenBack(number, chat, trace, is_given_up=again is None)

        return await self._database.write(write)

    async def prune(self) -> None:
        """Drop what was delivered or given up long ago."""
        horizon = (self._clock.now() - timedelta(days=_KEEP_DAYS)).isoformat()
        await self._database.prune("outbox", "done_at < ?", horizon)


def _not_before(letter: Destination) -> str:
    if letter.secret:
        return _SECRET_WAITS
    return letter.not_before.isoformat() if letter.not_before is not None else ""


def _payload(letter: Destination, part: MessagePart, preview: int) -> str:
    """Serialise what a part carries beside its formatted text, as JSON; only what is there."""
    payload: dict[str, object] = {
        "attachments": to_fields(part.attachments),
        "buttons": [[[button.label, button.value] for button in row] for row in part.buttons],
        "reply_to": letter.reply_to,
        "replaces": letter.replaces,
        "thread": letter.thread,
        "preview": preview,
        "reader": letter.reader,
        "secret": letter.secret,
        "no_previews": not part.has_previews,
    }
    held = {name: value for name, value in payload.items() if value}
    # In its own letters, by which a purge looks for what it erases.
    return make_storable(json.dumps(held, ensure_ascii=False)) if held else "{}"


def _outbound(channel: str, chat: str, number: int, text: str, spans: str, payload: str, trace: str) -> Outbound:
    more: dict[str, Any] = json.loads(payload)
    attachments = tuple(Attachment(**each) for each in more.get("attachments", ()))
    buttons = tuple(tuple(Button(*each) for each in row) for row in more.get("buttons", ()))
    part = MessagePart(text, _load(spans), attachments, buttons, has_previews=not more.get("no_previews", False))
    to = (more.get("reply_to", ""), more.get("replaces", ""), more.get("thread", ""))
    alone = {"reader": more.get("reader", ""), "secret": more.get("secret", False)}
    return Outbound(number, channel, chat, part, trace, *to, preview=more.get("preview", 0), **alone)


def _dump(spans: Sequence[TextEntity]) -> str:
    if not spans:
        return "[]"
    return json.dumps([[span.kind, span.offset, span.length, span.detail] for span in spans])


def _load(text: str) -> tuple[TextEntity, ...]:
    if text == "[]":
        return ()
    rows: list[list[Any]] = json.loads(text)
    return tuple(TextEntity(kind, offset, length, detail) for kind, offset, length, detail in rows)
