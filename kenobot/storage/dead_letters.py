"""List, retry and drop messages that could not be answered or delivered: the SQL of `kenobot deadletter`.

A letter is a row of the inbox (`in-12`) or of the outbox (`out-7`). Everything here runs inside a transaction, perhaps
beside a running bot: a row is only changed from a state in which nobody works on it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import unpack_text
from kenobot.storage.connection import Connection

LetterState = Literal["dead", "failed", "expired", "undelivered", "deferred", "waiting"]
LetterOutcome = Literal["done", "missing", "unreadable", "busy"]

STATES: tuple[LetterState, ...] = ("dead", "failed", "expired", "undelivered", "deferred", "waiting")
ENDED: tuple[LetterState, ...] = ("dead", "failed", "expired", "undelivered")
_ON_THEIR_WAY: tuple[LetterState, ...] = ("deferred", "waiting")

_ID = lazy.regex(r"(in|out)-([1-9][0-9]{0,17})")
_AS_LETTER = (
    "SELECT 'in-' || id AS id, CASE WHEN state NOT IN ('pending', 'claimed') THEN state "
    "WHEN patience_sent THEN 'deferred' ELSE 'waiting' END AS state, "
    "channel, chat, coalesce(nullif(sender_name, ''), sender) AS person, session != '' AS readable, "
    "coalesce(done_at, received_at) AS at, attempts, "
    "reason, trace, text, 0 AS side, id AS number FROM inbox "
    "WHERE state IN ('pending', 'claimed', 'dead', 'failed', 'expired') AND joined_to IS NULL "
    "UNION ALL "
    "SELECT 'out-' || id, CASE state WHEN 'dead' THEN 'undelivered' ELSE 'waiting' END, "
    "channel, chat, '', 1, coalesce(done_at, created_at), attempts, reason, trace, text, 1, id FROM outbox "
    "WHERE state IN ('pending', 'dead')"
)


@dataclass(frozen=True, slots=True)
class DeadLetterId:
    """side: "in" for what people wrote, "out" for what the bot did. number: the row."""

    side: Literal["in", "out"]
    number: int

    @classmethod
    def parse(cls, text: str) -> "DeadLetterId":
        """Raise ValueError unless it is like in-12 or out-7."""
        match = _ID.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not the number of a letter")
        return cls("in" if match[1] == "in" else "out", int(match[2]))

    def __str__(self) -> str:
        return f"{self.side}-{self.number}"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """at: when it ended, or came when it has not. person: who wrote it; empty for what the bot wrote.

    readable: False for something that came in and could not be understood.
    """

    id: str
    state: LetterState
    channel: str
    chat: str
    person: str
    readable: bool
    at: str
    attempts: int
    reason: str
    trace: str
    text: str


def find(
    connection: Connection, states: Sequence[LetterState], since: str | None = None, limit: int = -1
) -> list[DeadLetter]:
    """Return the last `limit` letters in one of `states`, none older than `since`, oldest first."""
    marks = ", ".join("?" * len(states))
    order = "ORDER BY at DESC, side DESC, number DESC LIMIT ?"
    rows = connection.execute(
        f"SELECT * FROM ({_AS_LETTER}) WHERE state IN ({marks}) AND at >= ? {order}",
        (*states, since or "", limit),
    ).fetchall()
    return [_letter(row) for row in reversed(rows)]


def get(connection: Connection, letter: DeadLetterId) -> DeadLetter | None:
    """Return a dead letter; None when there is none of that number or all went well with it."""
    row = connection.execute(
        f"SELECT * FROM ({_AS_LETTER}) WHERE side = ? AND number = ?",
        (int(letter.side == "out"), letter.number),
    ).fetchone()
    return _letter(row) if row else None


def retry(connection: Connection, letter: DeadLetterId, at: datetime) -> LetterOutcome:
    """Queue a message to be answered once more, from the beginning, or a part to be sent once more."""
    found = get(connection, letter)
    if found is None or found.state in _ON_THEIR_WAY:
        return "busy" if found else "missing"
    if not found.readable:
        return "unreadable"
    if letter.side == "out":
        connection.execute(
            "UPDATE outbox SET state = 'pending', attempts = 0, reason = '', done_at = NULL WHERE id = ?",
            (letter.number,),
        )
        return "done"
    # What is left of the earlier end would be in the way of the next one: it has the same part numbers, and stands in
    # the conversation as something that was asked before.
    connection.execute("UPDATE outbox SET inbox_id = NULL WHERE inbox_id = ?", (letter.number,))
    connection.execute("DELETE FROM message WHERE inbox_id = ?", (letter.number,))
    connection.execute("DELETE FROM turn WHERE inbox_id = ?", (letter.number,))
    connection.execute("DELETE FROM turn_step WHERE inbox_id = ?", (letter.number,))
    connection.execute(
        "UPDATE inbox SET state = 'pending', attempts = 0, patience_sent = 0, reason = '', done_at = NULL, "
        "retried_at = ? WHERE id = ? OR joined_to = ?",
        (at.isoformat(), letter.number, letter.number),
    )
    return "done"


def drop(connection: Connection, letter: DeadLetterId, at: datetime) -> LetterOutcome:
    """Delete a dead letter. Of a message its number stays for a while, without its words, to know a repeat of it."""
    found = get(connection, letter)
    if found is None or found.state in _ON_THEIR_WAY:
        return "busy" if found else "missing"
    if letter.side == "out":
        connection.execute("DELETE FROM outbox WHERE id = ?", (letter.number,))
    else:
        connection.execute(
            "UPDATE inbox SET state = 'dropped', text = '', attachments = '[]', reason = 'dropped by the owner', "
            "done_at = ? WHERE id = ? OR joined_to = ?",
            (at.isoformat(), letter.number, letter.number),
        )
    return "done"


def _letter(row: tuple[str, LetterState, str, str, str, int, str, int, str, str, str, int, int]) -> DeadLetter:
    number, state, channel, chat, person, readable, at, attempts, reason, trace, text, *_ = row
    told = unpack_text(reason)
    return DeadLetter(number, state, channel, chat, person, bool(readable), at, attempts, told, trace, text)
