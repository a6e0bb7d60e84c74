"""The conversation of each chat: messages, hidden turns and frozen prompts, and what memory reads of them.

Everything that reads the tables of the core from memory stands here. Reading the end of a chat costs the same at any
length. sessions, scopes: those that a read may see; None for every one.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple
from datetime import datetime
from functools import partial
from typing import NamedTuple

from kenobot.core.token_estimate import PICTURE_TOKENS, estimate_tokens
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust, chat_scope, import_kind
from kenobot.ports.names import SpokenLine, split_label, split_line
from kenobot.ports.provider import Role
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

_BEGUN = "begun:"  # and the session: a key of the table `key_value`
_UNVEILED = "NOT EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id)"
_AMONG = "IN (SELECT value FROM json_each(?))"
_EFFECTIVE_SCOPE = "CASE message.scope WHEN '' THEN 'chat:' || message.session ELSE message.scope END"
_LATELY = 5000  # messages from the newest on among which one is looked for by its id on the platform
_EVERY = 2**63 - 1  # no id is higher
_CHATS = (  # a step in the index for each chat, however long they are
    "WITH RECURSIVE chat (session) AS (SELECT min(session) FROM message UNION ALL "
    "SELECT (SELECT min(session) FROM message WHERE session > chat.session) FROM chat WHERE session IS NOT NULL) "
    "SELECT session FROM chat WHERE session IS NOT NULL"
)
_PREFIX_COLUMNS = (
    "session, scopes, text, day, last_event, last_record, first_message, last_message, omitted, preferences, "
    "known_preferences, later, made_event, made_record"
)


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


class MessageRow(NamedTuple):
    """One message of a conversation as memory reads it.

    inbox_id: None when it belongs to no mail of this home. trust: of the author; person_trust: of the person who wrote
    it, or whom it answers. scope: where memory may write it; "" in old homes, for the chat's own. hidden: it tells what
    is to be forgotten. sender, sender_name: as its mail says, while that is kept.
    """

    id: int
    session: str
    role: Role
    text: str
    at: str
    inbox_id: int | None
    trust: Trust
    scope: str
    person_trust: Trust
    hidden: bool
    sender: str | None
    sender_name: str | None

    @property
    def effective_scope(self) -> str:
        return self.scope or chat_scope(self.session)

    @property
    def is_imported(self) -> bool:
        """Return whether it was said elsewhere, and imported."""
        return bool(import_kind(self.session))

    @property
    def line(self) -> SpokenLine:
        """Split the text into speaker and words. A private chat names no speakers, nor does a reply."""
        if self.role == "assistant":
            return SpokenLine("", "", self.text)
        if self.is_imported:
            return split_label(self.text)
        if not self.effective_scope.startswith("chat:"):
            return SpokenLine("", "", self.text)
        return split_line(self.text)


class ReceivedMail(NamedTuple):
    """Arrival of a message and the name of its sender."""

    at: str
    sender_name: str


# `_make` without a step of the interpreter a row: a chat's last fifty are read for every turn
_stored_message = partial(tuple.__new__, StoredMessage)
_message_row = partial(tuple.__new__, MessageRow)


class SaidText(NamedTuple):
    """Text with its speaker."""

    role: Role
    text: str


def find_said(connection: Connection, session: str, platform_id: str, answered: int | None) -> SaidText | None:
    """Return what was said lately under a platform's id; None for what is not known or forgotten.

    answered: inbox row to which a message of that id belongs as a part of the answer.
    """
    row = connection.execute(
        f"SELECT role, text FROM message WHERE id > (SELECT max(id) FROM message) - ? AND session = ? AND {_UNVEILED} "
        "AND (platform_id = ? OR (role = 'assistant' AND inbox_id = ?)) ORDER BY id DESC LIMIT 1",
        (_LATELY, session, platform_id, answered),
    ).fetchone()
    return SaidText(*row) if row is not None else None


@dataclass(frozen=True, slots=True)
class PromptPrefix:
    """The frozen beginning of a session's prompt; see the table of this name.

    preferences: those that it shows; known_preferences: the same with what was noted since. later: what became known
    before the log began anew, and its summary. made_event, made_record: last_event and last_record when it was made.
    """

    session: str
    scopes: str
    text: str
    day: str
    last_event: int
    last_record: int
    first_message: int
    last_message: int
    omitted: int = 0
    preferences: str = ""
    known_preferences: str = ""
    later: str = ""
    made_event: int = 0
    made_record: int = 0

    @property
    def shown_text(self) -> str:
        """All that it shows of memory."""
        return "\n\n".join(part for part in (self.text, self.later) if part)


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


def authors(connection: Connection, inbox_ids: Iterable[int]) -> dict[int, str]:
    """Read the accounts that wrote these messages of groups, by inbox row; those that nothing tells are left out."""
    wanted = json.dumps(list(inbox_ids))
    return dict(
        connection.execute(f"SELECT inbox_id, account FROM author WHERE inbox_id {_AMONG}", (wanted,)).fetchall()
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
    return _load_shown(connection, f"session = ? AND {_UNVEILED} ORDER BY id DESC LIMIT ?", session, limit)[::-1]


def load_since(connection: Connection, session: str, first: int, limit: int) -> list[StoredMessage]:
    """Return messages from id `first` on, oldest first, at most `limit`, without hidden turns."""
    return _load_shown(
        connection, f"session = ? AND id >= ? AND {_UNVEILED} ORDER BY id LIMIT ?", session, first, limit
    )


def load_between(connection: Connection, session: str, first: int, last: int) -> list[StoredMessage]:
    """Return messages from id `first` to `last`, oldest first, without hidden turns."""
    return _load_shown(
        connection, f"session = ? AND id BETWEEN ? AND ? AND {_UNVEILED} ORDER BY id", session, first, last
    )


# ── what memory reads ────────────────────────────────────────────────────────────────────────────────────────────


def _messages(connection: Connection, where: str, *values: object) -> Iterator[MessageRow]:
    rows = connection.execute(
        "SELECT message.id, message.session, message.role, message.text, message.at, message.inbox_id, message.trust, "
        "message.scope, CASE message.role WHEN 'user' THEN message.trust ELSE coalesce((SELECT asked.trust FROM "
        "message AS asked WHERE asked.inbox_id = message.inbox_id AND asked.role = 'user'), 'owner') END, "
        "EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id), "
        "inbox.sender, inbox.sender_name "
        f"FROM message LEFT JOIN inbox ON inbox.id = message.inbox_id WHERE {where}",
        values,
    )
    return map(_message_row, rows)


def messages_by_id(
    connection: Connection, ids: Iterable[int], scopes: Collection[str] | None = None
) -> list[MessageRow]:
    """Read messages of `scopes` by id, in order; those that are gone are left out."""
    wanted = json.dumps(list(ids))
    where, values = ("1", ()) if scopes is None else (f"{_EFFECTIVE_SCOPE} {_AMONG}", (json.dumps([*scopes]),))
    return list(_messages(connection, f"message.id {_AMONG} AND {where} ORDER BY message.id", wanted, *values))


def messages_of_turns(connection: Connection, turns: Iterable[int]) -> list[MessageRow]:
    """Read the messages of the turns of inbox rows, in order."""
    wanted = json.dumps(list(turns))
    return list(_messages(connection, f"message.inbox_id {_AMONG} ORDER BY +message.id", wanted))


def has_other_talk(connection: Connection, session: str, first: int) -> bool:
    """Return whether there is a message besides those of a conversation from one on."""
    query = "SELECT EXISTS (SELECT 1 FROM message WHERE id < ? OR session != ?)"
    return bool(connection.execute(query, (first, session)).fetchone()[0])


def iterate_messages(
    connection: Connection, session: str, *, after: int = 0, before: int = _EVERY, newest_first: bool = False
) -> Iterator[MessageRow]:
    """Iterate over the messages of a conversation with ids between two; only those that are taken are read."""
    where = "message.session = ? AND message.id > ? AND message.id < ? ORDER BY message.id"
    return _messages(connection, f"{where} DESC" if newest_first else where, session, after, before)


def load_pictures(connection: Connection, session: str, messages: Collection[int]) -> dict[int, list[str]]:
    """Return the digests of the pictures of those of these messages of a conversation that show any."""
    rows = connection.execute(
        f"SELECT id, pictures FROM message WHERE session = ? AND pictures != '' AND id {_AMONG}",
        (session, json.dumps([*messages])),
    )
    return {number: pictures.split()[::2] for number, pictures in rows}


def find_picture(connection: Connection, scopes: Collection[str] | None, digest: str) -> str | None:
    """Return the type of a picture that a message shows which memory may write to `scopes`; None for no such one."""
    among, values = ("1", ()) if scopes is None else (f"scope {_AMONG}", (json.dumps([*scopes]),))
    rows = connection.execute(
        f"SELECT pictures FROM message WHERE pictures != '' AND instr(pictures, ?) AND {among} LIMIT 1",
        (f"{digest} ", *values),
    ).fetchone()
    words = rows[0].split() if rows is not None else []
    return dict(zip(words[::2], words[1::2], strict=False)).get(digest)


class ConversationRow(NamedTuple):
    """A conversation. newest: id of its newest message. messages: how many it has."""

    session: str
    newest: int
    at: str
    messages: int


def page_of_conversations(
    connection: Connection, scopes: Collection[str] | None, before: int, limit: int
) -> list[ConversationRow]:
    """Read the conversations in which memory may write to `scopes`, the latest first, whose newest id is below one."""
    if scopes is None:
        rows = connection.execute(
            "SELECT session, newest, (SELECT at FROM message WHERE id = newest), "
            "(SELECT count(*) FROM message WHERE session = found.session) FROM "
            f"(SELECT session, (SELECT max(id) FROM message WHERE session = known.session) AS newest "
            f"FROM ({_CHATS}) AS known) AS found WHERE newest < ? ORDER BY newest DESC LIMIT ?",
            (before, limit),
        )
    else:
        rows = connection.execute(
            f"SELECT session, max(id), max(at), count(*) FROM message WHERE scope {_AMONG} GROUP BY session "
            "HAVING max(id) < ? ORDER BY max(id) DESC LIMIT ?",
            (json.dumps([*scopes]), before, limit),
        )
    return list(map(ConversationRow._make, rows))


def page_of_replies(
    connection: Connection, scopes: Collection[str] | None, session: str, before: int, limit: int
) -> list[MessageRow]:
    """Read the replies to mail that are not hidden, with ids below one, the newest first. session: "" for all."""
    among, values = ("1", ()) if scopes is None else (f"{_EFFECTIVE_SCOPE} {_AMONG}", (json.dumps([*scopes]),))
    here, own = ("AND message.session = ?", (session,)) if session else ("", ())
    return list(
        _messages(
            connection,
            f"message.id < ? AND message.role = 'assistant' AND message.inbox_id IS NOT NULL AND {_UNVEILED} "
            f"AND {among} {here} ORDER BY message.id DESC LIMIT ?",
            before,
            *values,
            *own,
            limit,
        )
    )


def last_scope(connection: Connection, session: str) -> str:
    """Read the scope to which memory wrote what was said last in a conversation; "" before anything was."""
    sql = "SELECT scope FROM message WHERE session = ? AND scope != '' ORDER BY id DESC LIMIT 1"
    row = connection.execute(sql, (session,)).fetchone()
    return str(row[0]) if row else ""


def newest_messages(connection: Connection, sessions: Iterable[str]) -> dict[str, int]:
    """Read the id of the newest message of each of these conversations; 0 where there is none."""
    sql = "SELECT value, coalesce((SELECT max(id) FROM message WHERE session = value), 0) FROM json_each(?)"
    return dict(connection.execute(sql, (json.dumps([*sessions]),)).fetchall())


def messages_containing(
    connection: Connection, scope: str, session: str, pieces: Sequence[str], limit: int
) -> Iterator[MessageRow]:
    """Iterate over the turns of a scope that may hold any of `pieces`, newest first, of the newest `limit` messages.

    pieces: folded. session: where messages count that are older than scopes. A text with letters beyond ASCII always
    may.
    """
    matches = " OR ".join(["instr(lower(message.text), ?)"] * len(pieces))
    return _messages(
        connection,
        "message.id > (SELECT max(id) FROM message) - ? "
        "AND (message.scope = ? OR (message.scope = '' AND message.session = ?)) AND message.inbox_id IS NOT NULL "
        f"AND ({matches} OR message.text GLOB '*[^ -~]*') ORDER BY message.id DESC",
        limit,
        scope,
        session,
        *pieces,
    )


def iterate_containing(
    connection: Connection, pieces: Sequence[str], newest: int, limit: int
) -> Iterator[tuple[int, str]]:
    """Yield ids and texts of people's messages of any scope that may hold one of `pieces`, folded, the newest first.

    newest: among so many messages.
    """
    matches = " OR ".join(["instr(lower(text), ?)"] * len(pieces))
    yield from connection.execute(
        f"SELECT id, text FROM message WHERE id > (SELECT max(id) FROM message) - ? AND role = 'user' "
        f"AND ({matches} OR text GLOB '*[^ -~]*') ORDER BY id DESC LIMIT ?",
        (newest, *pieces, limit),
    )


def people_messages(connection: Connection, since: str, until: str, limit: int) -> Iterator[MessageRow]:
    """Iterate over people's own messages between two moments that memory may write, of the newest `limit`."""
    return _messages(
        connection,
        "message.id > (SELECT max(id) FROM message) - ? AND message.role = 'user' "
        "AND message.scope != '' AND message.trust IN ('owner', 'guest') AND message.at > ? AND message.at <= ? "
        "AND NOT EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id)",
        limit,
        since,
        until,
    )


def list_said(connection: Connection, scopes: Collection[str], begin: str, end: str, limit: int) -> list[MessageRow]:
    """Read people's own messages of `scopes` from one moment up to another, oldest first: the newest `limit`."""
    rows = _messages(
        connection,
        "message.role = 'user' AND message.at >= ? AND message.at < ? AND message.trust IN ('owner', 'guest') "
        f"AND {_EFFECTIVE_SCOPE} {_AMONG} "
        "AND NOT EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id) "
        "ORDER BY message.id DESC LIMIT ?",
        begin,
        end,
        json.dumps([*scopes]),
        limit,
    )
    return [*rows][::-1]


def messages_in_scopes(connection: Connection, scopes: Collection[str] | None) -> Iterator[MessageRow]:
    """Iterate over all messages of `scopes`, oldest first."""
    if scopes is None:
        return _messages(connection, "1 ORDER BY message.id")
    return _messages(connection, f"{_EFFECTIVE_SCOPE} {_AMONG} ORDER BY message.id", json.dumps([*scopes]))


def has_earlier_talk(connection: Connection, session: str, first: int, scopes: Collection[str]) -> bool:
    """Return whether a session has messages before `first`, or `scopes` have some lately in another session."""
    own = "SELECT 1 FROM message WHERE session = ? AND id < ? LIMIT 1"
    if connection.execute(own, (session, first)).fetchone():
        return True
    lately = newest_message_id(connection) - _LATELY
    where = f"{_EFFECTIVE_SCOPE} {_AMONG}"
    others = f"SELECT 1 FROM message WHERE id > ? AND session != ? AND {where} LIMIT 1"
    return connection.execute(others, (lately, session, json.dumps([*scopes]))).fetchone() is not None


def list_sessions(connection: Connection) -> list[str]:
    """List every conversation."""
    return [row[0] for row in connection.execute(_CHATS)]


def sessions_past(connection: Connection, cursor: str) -> list[str]:
    """Return the conversations with messages above the id that the state `cursor` + session holds."""
    rows = connection.execute(
        f"{_CHATS} AND (SELECT max(id) FROM message WHERE session = chat.session) "
        "> coalesce((SELECT CAST(value AS INTEGER) FROM key_value WHERE key = ? || chat.session), 0)",
        (cursor,),
    )
    return [row[0] for row in rows]


def last_answer_at(connection: Connection, session: str) -> str:
    """Return when the last reply of a session was given; "" before the first."""
    row = connection.execute(
        "SELECT at FROM message WHERE session = ? AND role = 'assistant' ORDER BY id DESC LIMIT 1", (session,)
    ).fetchone()
    return row[0] if row else ""


def newest_message_id(connection: Connection, session: str | None = None) -> int:
    """Return the id of the newest message of a conversation, or of all; 0 when there is none."""
    where, values = ("1", ()) if session is None else ("session = ?", (session,))
    return int(connection.execute(f"SELECT max(id) FROM message WHERE {where}", values).fetchone()[0] or 0)


def message_ids_between(connection: Connection, low: int, high: int, limit: int) -> list[int]:
    """Return the newest ids of messages above `low` up to `high`, newest first."""
    where = "id > ? AND id <= ? ORDER BY id DESC LIMIT ?"  # numbers only, of every chat
    return [row[0] for row in connection.execute(f"SELECT id FROM message WHERE {where}", (low, high, limit))]


def count_messages(connection: Connection, scopes: Collection[str] | None) -> int:
    """Count the messages that memory may write to `scopes`."""
    where, values = ("1", ()) if scopes is None else (f"scope {_AMONG}", (json.dumps([*scopes]),))
    return int(connection.execute(f"SELECT count(*) FROM message WHERE {where}", values).fetchone()[0])


def load_received_mail(connection: Connection, turns: Iterable[int]) -> dict[int, ReceivedMail]:
    """Read when the messages of inbox rows came in and from whom; rows that are gone are left out."""
    rows = connection.execute(
        f"SELECT id, received_at, sender_name FROM inbox WHERE id {_AMONG}", (json.dumps(list(turns)),)
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


# ── frozen prompts ───────────────────────────────────────────────────────────────────────────────────────────────


def load_prefix(connection: Connection, session: str) -> PromptPrefix | None:
    """Return the session's prompt prefix, if it has one."""
    row = connection.execute(f"SELECT {_PREFIX_COLUMNS} FROM prompt_prefix WHERE session = ?", (session,)).fetchone()
    return PromptPrefix(*row) if row else None


def begin_anew(connection: Connection, session: str) -> None:
    """End what prompts show of a session's conversation here: its next message is the first one shown."""
    write_state(connection, _BEGUN + session, str(newest_message_id(connection, session)))
    connection.execute("DELETE FROM prompt_prefix WHERE session = ?", (session,))


def is_only_author(connection: Connection, session: str, account: str) -> bool:
    """Return whether, since the conversation of a group began, all that people wrote is certainly this account's."""
    others = connection.execute(
        "SELECT 1 FROM message LEFT JOIN author ON author.inbox_id = message.inbox_id WHERE message.session = ? "
        "AND message.id > ? AND message.role = 'user' AND coalesce(author.account, '') != ? LIMIT 1",
        (session, find_beginning(connection, session), account),
    )
    return others.fetchone() is None


def find_beginning(connection: Connection, session: str) -> int:
    """Return the message of a session after which its conversation began; 0 for one that never began anew."""
    return int(read_state(connection, _BEGUN + session) or 0)


def save_prefix(connection: Connection, frame: PromptPrefix, before: PromptPrefix | None) -> None:
    """Store a session's prompt prefix where it differs from what was stored `before`, inside a transaction."""
    if frame is before:
        return
    if before is not None and frame.text is before.text and frame.last_message == before.last_message:
        connection.execute(
            "UPDATE prompt_prefix SET last_event = ?, last_record = ?, known_preferences = ? WHERE session = ?",
            (frame.last_event, frame.last_record, frame.known_preferences, frame.session),
        )
        return
    connection.execute(
        f"INSERT OR REPLACE INTO prompt_prefix ({_PREFIX_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        astuple(frame),
    )
