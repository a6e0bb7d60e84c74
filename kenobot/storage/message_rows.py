"""Messages of all chats, as memory reads them: by id, by turn, by words, by day, a page at a time.

sessions, scopes: those that a read may see; None for every one.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from kenobot.ports.identity import Trust, chat_scope, import_kind
from kenobot.ports.names import SpokenLine, split_label, split_line
from kenobot.ports.provider import Role
from kenobot.storage.connection import Connection

UNVEILED = "NOT EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id)"
AMONG = "IN (SELECT value FROM json_each(?))"
EFFECTIVE_SCOPE = "CASE message.scope WHEN '' THEN 'chat:' || message.session ELSE message.scope END"
LATELY = 5000  # messages from the newest on among which one is looked for by its id on the platform
_EVERY = 2**63 - 1  # no id is higher
_CHATS = (  # a step in the index for each chat, however long they are
    "WITH RECURSIVE chat (session) AS (SELECT min(session) FROM message UNION ALL "
    "SELECT (SELECT min(session) FROM message WHERE session > chat.session) FROM chat WHERE session IS NOT NULL) "
    "SELECT session FROM chat WHERE session IS NOT NULL"
)


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


_message_row = partial(tuple.__new__, MessageRow)


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
    where, values = ("1", ()) if scopes is None else (f"{EFFECTIVE_SCOPE} {AMONG}", (json.dumps([*scopes]),))
    return list(_messages(connection, f"message.id {AMONG} AND {where} ORDER BY message.id", wanted, *values))


def messages_of_turns(connection: Connection, turns: Iterable[int]) -> list[MessageRow]:
    """Read the messages of the turns of inbox rows, in order."""
    wanted = json.dumps(list(turns))
    return list(_messages(connection, f"message.inbox_id {AMONG} ORDER BY +message.id", wanted))


def iterate_messages(
    connection: Connection, session: str, *, after: int = 0, before: int = _EVERY, newest_first: bool = False
) -> Iterator[MessageRow]:
    """Iterate over the messages of a conversation with ids between two; only those that are taken are read."""
    where = "message.session = ? AND message.id > ? AND message.id < ? ORDER BY message.id"
    return _messages(connection, f"{where} DESC" if newest_first else where, session, after, before)


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
            f"SELECT session, max(id), max(at), count(*) FROM message WHERE scope {AMONG} GROUP BY session "
            "HAVING max(id) < ? ORDER BY max(id) DESC LIMIT ?",
            (json.dumps([*scopes]), before, limit),
        )
    return list(map(ConversationRow._make, rows))


def page_of_replies(
    connection: Connection, scopes: Collection[str] | None, session: str, before: int, limit: int
) -> list[MessageRow]:
    """Read the replies to mail that are not hidden, with ids below one, the newest first. session: "" for all."""
    among, values = ("1", ()) if scopes is None else (f"{EFFECTIVE_SCOPE} {AMONG}", (json.dumps([*scopes]),))
    here, own = ("AND message.session = ?", (session,)) if session else ("", ())
    return list(
        _messages(
            connection,
            f"message.id < ? AND message.role = 'assistant' AND message.inbox_id IS NOT NULL AND {UNVEILED} "
            f"AND {among} {here} ORDER BY message.id DESC LIMIT ?",
            before,
            *values,
            *own,
            limit,
        )
    )


def newest_messages(connection: Connection, sessions: Iterable[str]) -> dict[str, int]:
    """Read the id of the newest message of each of these conversations; 0 where there is none."""
    sql = "SELECT value, coalesce((SELECT max(id) FROM message WHERE session = value), 0) FROM json_each(?)"
    return dict(connection.execute(sql, (json.dumps([*sessions]),)).fetchall())


def newest_message_id(connection: Connection, session: str | None = None) -> int:
    """Return the id of the newest message of a conversation, or of all; 0 when there is none."""
    where, values = ("1", ()) if session is None else ("session = ?", (session,))
    return int(connection.execute(f"SELECT max(id) FROM message WHERE {where}", values).fetchone()[0] or 0)


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
        f"AND {EFFECTIVE_SCOPE} {AMONG} "
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
    return _messages(connection, f"{EFFECTIVE_SCOPE} {AMONG} ORDER BY message.id", json.dumps([*scopes]))


def has_earlier_talk(connection: Connection, session: str, first: int, scopes: Collection[str]) -> bool:
    """Return whether a session has messages before `first`, or `scopes` have some lately in another session."""
    own = "SELECT 1 FROM message WHERE session = ? AND id < ? LIMIT 1"
    if connection.execute(own, (session, first)).fetchone():
        return True
    lately = newest_message_id(connection) - LATELY
    where = f"{EFFECTIVE_SCOPE} {AMONG}"
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


def message_ids_between(connection: Connection, low: int, high: int, limit: int) -> list[int]:
    """Return the newest ids of messages above `low` up to `high`, newest first."""
    where = "id > ? AND id <= ? ORDER BY id DESC LIMIT ?"  # numbers only, of every chat
    return [row[0] for row in connection.execute(f"SELECT id FROM message WHERE {where}", (low, high, limit))]


def count_messages(connection: Connection, scopes: Collection[str] | None) -> int:
    """Count the messages that memory may write to `scopes`."""
    where, values = ("1", ()) if scopes is None else (f"scope {AMONG}", (json.dumps([*scopes]),))
    return int(connection.execute(f"SELECT count(*) FROM message WHERE {where}", values).fetchone()[0])
