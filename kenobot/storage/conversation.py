"""The conversation of each chat: its turns, its pictures, and the turns that are hidden.

Reading the end of a chat costs the same at any length. `message_rows` reads messages across chats.
"""

import json
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import partial
from typing import NamedTuple

from kenobot.core.token_estimate import PICTURE_TOKENS, estimate_tokens
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.provider import Role
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import AMONG, LATELY, UNVEILED


class StoredMessage(NamedTuple):
    """One message of a conversation. `context` is what the prompt carried beside a person's words, and later ones do.

    trust: whose words they are. pictures: each as "digest mime", divided by blanks. asked_at: when a model was first
    shown it; "" where only `at` is known. recalled: what that prompt alone showed of others' words.
    """

    id: int
    role: Role
    text: str
    context: str
    at: str
    trust: Trust
    pictures: str = ""
    asked_at: str = ""
    recalled: str = ""

    @property
    def text_tokens(self) -> int:
        tokens = estimate_tokens(self.text)
        return tokens + PICTURE_TOKENS * (len(self.pictures.split()) // 2) if self.pictures else tokens

    @property
    def context_tokens(self) -> int:
        return estimate_tokens(self.context)


class ReceivedMail(NamedTuple):
    """Arrival of a message and the name of its sender."""

    at: str
    sender_name: str


# `_make` without a step of the interpreter a row: a chat's last fifty are read for every turn
_stored_message = partial(tuple.__new__, StoredMessage)


class SaidText(NamedTuple):
    """Text with its speaker."""

    role: Role
    text: str


def find_said(connection: Connection, session: str, platform_id: str, answered: int | None) -> SaidText | None:
    """Return what was said lately under a platform's id; None for what is not known or forgotten.

    answered: inbox row to which a message of that id belongs as a part of the answer.
    """
    row = connection.execute(
        f"SELECT role, text FROM message WHERE id > (SELECT max(id) FROM message) - ? AND session = ? AND {UNVEILED} "
        "AND (platform_id = ? OR (role = 'assistant' AND inbox_id = ?)) ORDER BY id DESC LIMIT 1",
        (LATELY, session, platform_id, answered),
    ).fetchone()
    return SaidText(*row) if row is not None else None


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """Words of a person and the reply; "" for no answer.

    inbox_id: of the message. trust: of the person. scope: where memory may write what was said. context: what the
    prompt carried beside the person's words, and later ones do. platform_id: see `kenobot.ports.messages.Inbound`.
    author: account of the person, in a group; "" in private. pictures, asked_at, recalled: see `StoredMessage`.
    reply_trust: "tool" for a reply that may tell what a tool brought from outside.
    """

    session: str
    inbox_id: int
    at: datetime
    text: str
    reply: str
    trust: Trust
    scope: str = ""
    context: str = ""
    platform_id: str = ""
    author: str = ""
    pictures: str = ""
    reply_trust: Trust = "model"
    asked_at: datetime | None = None
    recalled: str = ""


def append_turn(connection: Connection, turn: FinishedTurn) -> None:
    """Add a turn to its conversation, inside a transaction; either side of the same inbox row only once."""
    asked = turn.asked_at.isoformat() if turn.asked_at is not None else ""
    sides: list[tuple[Role, *tuple[str, ...]]] = [
        ("user", turn.text, turn.context, turn.trust, turn.platform_id, turn.pictures, asked, turn.recalled)
    ]
    if turn.reply:
        sides.append(("assistant", turn.reply, "", turn.reply_trust, "", "", "", ""))
    columns = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    at = turn.at.isoformat()
    connection.execute(
        "INSERT INTO message (session, at, inbox_id, scope, role, text, context, trust, platform_id, pictures, "
        f"asked_at, recalled) VALUES {', '.join([columns] * len(sides))} ON CONFLICT DO NOTHING",
        [value for side in sides for value in (turn.session, at, turn.inbox_id, turn.scope, *side)],
    )
    if turn.author:
        note_author(connection, turn.inbox_id, turn.author)


def drop_pictures(connection: Connection, session: str) -> None:
    """Show no picture of a conversation any more, inside a transaction: a model refused one of them."""
    connection.execute("UPDATE message SET pictures = '' WHERE session = ? AND pictures != ''", (session,))


def note_author(connection: Connection, inbox_id: int, account: str) -> None:
    """Note who wrote what may be remembered of a group, inside a transaction."""
    connection.execute(
        "INSERT INTO author (inbox_id, account) VALUES (?, ?) ON CONFLICT DO NOTHING", (inbox_id, account)
    )


def find_last_scopes(connection: Connection, sessions: Iterable[str]) -> dict[str, str]:
    """Query in whose scope people wrote last in each of some sessions."""
    found = dict[str, str]()
    for session in sessions:
        row = connection.execute(
            "SELECT scope FROM message WHERE session = ? AND role = 'user' ORDER BY id DESC LIMIT 1", (session,)
        ).fetchone()
        if row is not None:
            found[session] = row[0]
    return found


def authors(connection: Connection, inbox_ids: Iterable[int]) -> dict[int, str]:
    """Read the accounts that wrote these messages of groups, by inbox row; those that nothing tells are left out."""
    wanted = json.dumps(list(inbox_ids))
    return dict(
        connection.execute(f"SELECT inbox_id, account FROM author WHERE inbox_id {AMONG}", (wanted,)).fetchall()
    )


def import_message(
    connection: Connection,
    session: str,
    role: Role,
    text: str,
    at: str,
    inbox_id: int | None,
    trust: Trust,
    scope: str,
) -> int:
    """Import a message unless its side of the inbox row is taken; returns its id, 0 when nothing was written."""
    cursor = connection.execute(
        "INSERT INTO message (session, role, text, at, inbox_id, trust, scope) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (session, role, text, at, inbox_id, trust, scope),
    )
    return int(cursor.lastrowid or 0) if cursor.rowcount else 0


def import_history(
    connection: Connection, session: str, said: Iterable[tuple[Role, str, datetime]], trust: Trust, scope: str
) -> int:
    """Begin a conversation with what was said elsewhere before, oldest first; the id of its newest message.

    None of it belongs to mail of this home. trust: of the person. scope: where memory may write what was said. 0, and
    nothing happens, when the conversation has begun already.
    """
    if connection.execute("SELECT 1 FROM message WHERE session = ? LIMIT 1", (session,)).fetchone():
        return 0
    newest = 0
    for role, text, at in said:
        whose: Trust = trust if role == "user" else "model"
        newest = import_message(connection, session, role, text, at.isoformat(), None, whose, scope)
    return newest


def _load_shown(connection: Connection, where: str, *values: str | int) -> list[StoredMessage]:
    rows = connection.execute(
        f"SELECT id, role, text, context, at, trust, pictures, asked_at, recalled FROM message WHERE {where}", values
    )
    return list(map(_stored_message, rows))


def load_latest(connection: Connection, session: str, limit: int) -> list[StoredMessage]:
    """Return the last `limit` messages, oldest first, without turns that told what somebody wants forgotten."""
    return _load_shown(connection, f"session = ? AND {UNVEILED} ORDER BY id DESC LIMIT ?", session, limit)[::-1]


def load_since(connection: Connection, session: str, first: int, limit: int) -> list[StoredMessage]:
    """Return messages from id `first` on, oldest first, at most `limit`, without hidden turns."""
    return _load_shown(connection, f"session = ? AND id >= ? AND {UNVEILED} ORDER BY id LIMIT ?", session, first, limit)


def load_between(connection: Connection, session: str, first: int, last: int) -> list[StoredMessage]:
    """Return messages from id `first` to `last`, oldest first, without hidden turns."""
    return _load_shown(
        connection, f"session = ? AND id BETWEEN ? AND ? AND {UNVEILED} ORDER BY id", session, first, last
    )


# ── what memory reads ────────────────────────────────────────────────────────────────────────────────────────────


def has_other_talk(connection: Connection, session: str, first: int) -> bool:
    """Return whether there is a message besides those of a conversation from one on."""
    query = "SELECT EXISTS (SELECT 1 FROM message WHERE id < ? OR session != ?)"
    return bool(connection.execute(query, (first, session)).fetchone()[0])


def load_pictures(connection: Connection, session: str, messages: Collection[int]) -> dict[int, list[str]]:
    """Return the digests of the pictures of those of these messages of a conversation that show any."""
    rows = connection.execute(
        f"SELECT id, pictures FROM message WHERE session = ? AND pictures != '' AND id {AMONG}",
        (session, json.dumps([*messages])),
    )
    return {number: pictures.split()[::2] for number, pictures in rows}


def find_picture(connection: Connection, scopes: Collection[str] | None, digest: str) -> str | None:
    """Return the type of a picture that a message shows which memory may write to `scopes`; None for no such one."""
    among, values = ("1", ()) if scopes is None else (f"scope {AMONG}", (json.dumps([*scopes]),))
    rows = connection.execute(
        f"SELECT pictures FROM message WHERE pictures != '' AND instr(pictures, ?) AND {among} LIMIT 1",
        (f"{digest} ", *values),
    ).fetchone()
    words = rows[0].split() if rows is not None else []
    return dict(zip(words[::2], words[1::2], strict=False)).get(digest)


def last_scope(connection: Connection, session: str) -> str:
    """Read the scope to which memory wrote what was said last in a conversation; "" before anything was."""
    sql = "SELECT scope FROM message WHERE session = ? AND scope != '' ORDER BY id DESC LIMIT 1"
    row = connection.execute(sql, (session,)).fetchone()
    return str(row[0]) if row else ""


def last_answer_at(connection: Connection, session: str) -> str:
    """Return when the last reply of a session was given; "" before the first."""
    row = connection.execute(
        "SELECT at FROM message WHERE session = ? AND role = 'assistant' ORDER BY id DESC LIMIT 1", (session,)
    ).fetchone()
    return row[0] if row else ""


def load_received_mail(connection: Connection, turns: Iterable[int]) -> dict[int, ReceivedMail]:
    """Read when the messages of inbox rows came in and from whom; rows that are gone are left out."""
    rows = connection.execute(
        f"SELECT id, received_at, sender_name FROM inbox WHERE id {AMONG}", (json.dumps(list(turns)),)
    )
    return {row[0]: ReceivedMail(row[1], row[2]) for row in rows}


def last_answered_session(connection: Connection) -> str | None:
    """Return the conversation in which something was answered last; for whoever may see all of them."""
    row = connection.execute("SELECT session FROM turn ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0]) if row else None


def count_replies(connection: Connection, since: str) -> int:
    """Return how many messages were answered since a moment."""
    row = connection.execute("SELECT count(*) FROM turn WHERE replied_at >= ?", (since,)).fetchone()
    return int(row[0])


def reply_grades(connection: Connection, since: str, limit: int) -> list[str]:
    """Return the grades, as JSON, of the newest replies since a moment that have one."""
    rows = connection.execute(
        "SELECT grade FROM turn WHERE replied_at >= ? AND grade != '' ORDER BY id DESC LIMIT ?",
        (since, limit),
    )
    return [row[0] for row in rows]


# ── what memory writes ───────────────────────────────────────────────────────────────────────────────────────────


def find_message(connection: Connection, session: str, role: Role, at: str, text: str) -> int | None:
    """Find the inbox row of a message that is known, 0 when it has none; None when it is not known."""
    row = connection.execute(
        "SELECT inbox_id FROM message WHERE session = ? AND role = ? AND at = ? AND text = ? LIMIT 1",
        (session, role, at, text),
    ).fetchone()
    return int(row[0] or 0) if row else None


def hide_turns(connection: Connection, turns: Iterable[int], record: int) -> list[int]:
    """Hide turns because of a record; returns those that this record did not hide yet."""
    return [
        turn
        for turn in dict.fromkeys(turns)
        if connection.execute(
            "INSERT INTO hidden_turn (inbox_id, record_id) VALUES (?, ?) ON CONFLICT DO NOTHING", (turn, record)
        ).rowcount
    ]


def unhide_turns(connection: Connection, record: int) -> list[int]:
    """Show again what was hidden because of this record alone; returns the turns that it hid."""
    rows = connection.execute("DELETE FROM hidden_turn WHERE record_id = ? RETURNING inbox_id", (record,)).fetchall()
    return sorted(row[0] for row in rows)


def list_hidden_turns(connection: Connection) -> list[tuple[int, int]]:
    """Return all hidden turns: the inbox row of each and the record because of which."""
    return connection.execute("SELECT inbox_id, record_id FROM hidden_turn ORDER BY record_id, inbox_id").fetchall()
