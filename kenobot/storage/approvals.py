"""Store questions that a person has to answer before something is done; at most one is open in a session."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.messages import Inbound
from kenobot.storage import outbox
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

ApprovalState = Literal["approved", "denied", "replaced"]

TOOL_CALL = "tool"
"""The kind of a question whether a tool call may run."""

_COLUMNS = "session, account, kind, payload, expires, id"
_KEEP_DAYS = 7


@dataclass(frozen=True, slots=True)
class Approval:
    """A question put to `account`, open until `expires`. kind: of what is to be done. payload: what it takes."""

    session: str
    account: str
    kind: str
    payload: Mapping[str, Json]
    expires: datetime
    id: int = 0


def open_approval(connection: Connection, approval: Approval) -> int:
    """Store a question in place of the one that is open in its session; return its id."""
    connection.execute(
        "UPDATE approval SET state = 'replaced' WHERE session = ? AND state = 'open'", (approval.session,)
    )
    return _insert(connection, approval, "open")


def add_beside(connection: Connection, approval: Approval) -> int:
    """Store a question that leaves the one open in its session as it is, as no yes answers it; return its id."""
    return _insert(connection, approval, "replaced")


def _insert(connection: Connection, approval: Approval, state: str) -> int:
    cursor = connection.execute(
        "INSERT INTO approval (session, account, kind, payload, expires, state) VALUES (?, ?, ?, ?, ?, ?)",
        (
            approval.session,
            approval.account,
            approval.kind,
            json.dumps(approval.payload, ensure_ascii=False),
            approval.expires.isoformat(),
            state,
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def find_beside(connection: Connection, session: str, kind: str, at: datetime) -> Approval | None:
    """Return the newest question of a kind that stands beside the open one of a session, if it is not answered."""
    row = connection.execute(
        "SELECT id FROM approval WHERE session = ? AND kind = ? AND state = 'replaced' AND expires > ? "
        "ORDER BY id DESC LIMIT 1",
        (session, kind, at.isoformat()),
    ).fetchone()
    return get_approval(connection, row[0]) if row is not None else None


def find_approval(connection: Connection, session: str, at: datetime) -> Approval | None:
    """Return the question that is open in a session at this time, if one is."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM approval WHERE session = ? AND state = 'open'", (session,)
    ).fetchone()
    approval = _read(row)
    return approval if approval is not None and approval.expires > at else None


def list_open(connection: Connection, at: datetime) -> list[Approval]:
    """Return the questions that wait for an answer at this time, the newest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM approval WHERE state = 'open' AND expires > ? ORDER BY id DESC", (at.isoformat(),)
    )
    return [found for row in rows if (found := _read(row)) is not None]


def find_quoted(connection: Connection, inbound: Inbound, at: datetime) -> Approval | None:
    """Return the question that stands in the message of the bot's that `inbound` answers; None where there is none.

    Its payload tells by `asked` the inbox row in whose answer it stands. Another may have taken its place since.
    """
    answered = outbox.find_answered(connection, inbound.channel, inbound.chat, inbound.reply_to)
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM approval WHERE session = ? AND state IN ('open', 'replaced') "
        "AND expires > ? AND json_extract(payload, '$.asked') = ? ORDER BY id DESC LIMIT 1",
        (inbound.session, at.isoformat(), answered),
    ).fetchone()
    return _read(row)


def count_answers(connection: Connection, kind: str, most: int, at: datetime) -> tuple[int, int]:
    """Count the latest questions of a kind that got a yes, and those that got a no or no answer in time.

    most: questions that are looked at.
    """
    rows = connection.execute(
        "SELECT state FROM approval WHERE kind = ? AND (state IN ('approved', 'denied') OR expires <= ?) "
        "ORDER BY id DESC LIMIT ?",
        (kind, at.isoformat(), most),
    ).fetchall()
    yes = sum(state == "approved" for (state,) in rows)
    return yes, len(rows) - yes


def open_sessions(connection: Connection, kind: str) -> list[str]:
    """Return the sessions in which a question of this kind is open, be it expired."""
    rows = connection.execute("SELECT session FROM approval WHERE state = 'open' AND kind = ?", (kind,))
    return [session for (session,) in rows]


class OpenSessions:
    """The sessions in which a question of a kind may be open, so that a message elsewhere asks no database.

    The database is read once; the part of the bot that opens such questions notes each.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._sessions: set[str] = set()  # bounded: chats in which such a question was asked; process
        self._is_read = False

    async def may_hold(self, database: Database, session: str) -> bool:
        """Return whether such a question may be open in a session. Raises StoreError."""
        if not self._is_read:
            self._sessions.update(await database.read(lambda connection: open_sessions(connection, self._kind)))
            self._is_read = True
        return session in self._sessions

    def may_know(self, session: str) -> bool:
        """Return whether such a question may be open in a session, by what is known without the database."""
        return session in self._sessions or not self._is_read

    def note(self, session: str) -> None:
        """Note that a question is asked in a session."""
        self._sessions.add(session)

    def drop(self, session: str) -> None:
        """Note that no question is open in a session."""
        self._sessions.discard(session)


def get_approval(connection: Connection, number: int) -> Approval | None:
    """Return a question that nobody answered yet, by its id; also one that another has taken the place of."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM approval WHERE id = ? AND state IN ('open', 'replaced')", (number,)
    ).fetchone()
    return _read(row)


def _read(row: tuple[str, str, str, str, str, int] | None) -> Approval | None:
    """Read a row of _COLUMNS; None for none."""
    if row is None:
        return None
    session, account, kind, payload, expires, number = row
    return Approval(session, account, kind, json.loads(payload), datetime.fromisoformat(expires), number)


def close_approval(connection: Connection, approval: int, state: ApprovalState, answer: str = "") -> bool:
    """Close a question; False when it was answered before, so that nothing is done twice.

    answer: the platform's id of the message that answers it, for `find_answered`.
    """
    cursor = connection.execute(
        "UPDATE approval SET state = ? WHERE id = ? AND state IN ('open', 'replaced')", (state, approval)
    )
    if cursor.rowcount and answer:
        connection.execute(
            "UPDATE approval SET payload = json_set(payload, '$.answer', ?) WHERE id = ?", (answer, approval)
        )
    return cursor.rowcount == 1


def withdraw_calls(connection: Connection, session: str, at: datetime, since: int = 0, account: str = "") -> bool:
    """Close the questions of a session whether tool calls may run; return whether any was open.

    since: the inbox row from whose answer on. account: put to this one alone; "" for all. Those of tasks stay: a task
    goes on until it is cancelled.
    """
    cursor = connection.execute(
        "UPDATE approval SET state = 'denied' WHERE session = ? AND kind = ? AND state IN ('open', 'replaced') "
        "AND expires > ? AND json_extract(payload, '$.asked') >= ? AND ? IN ('', account) "
        "AND json_extract(payload, '$.task') IS NULL",
        (session, TOOL_CALL, at.isoformat(), since, account),
    )
    return cursor.rowcount > 0


def find_answered(connection: Connection, session: str, account: str, kind: str, answer: str) -> Approval | None:
    """Return the question that a message of this account answered; None for any other message."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM approval WHERE session = ? AND account = ? AND kind = ? "
        "AND state = 'approved' AND json_extract(payload, '$.answer') = ? ORDER BY id DESC LIMIT 1",
        (session, account, kind, answer),
    ).fetchone()
    return _read(row)


async def prune(database: Database, now: datetime) -> None:
    """Drop questions that expired a week ago."""
    await database.prune("approval", "expires < ?", (now - timedelta(days=_KEEP_DAYS)).isoformat())
