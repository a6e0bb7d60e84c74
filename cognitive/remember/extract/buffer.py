"""Rows of turns waiting for extraction, behind one cursor a session.

The cursor moves only in the transaction that writes the result, so that each turn is either extracted or waiting.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from kenobot.cognitive.policy.remember import ExtractPolicy
from kenobot.cognitive.remember.extract.signals import SignalLevel, signal_level
from kenobot.cognitive.store.redaction import ERASED_TEXT
from kenobot.core.pattern_set import PatternSet
from kenobot.ports.identity import Trust, chat_scope
from kenobot.ports.names import sanitize_name
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

ExtractionDecision = Literal["keep_buffering", "extract_now", "extract_batch"]
MessageRow = tuple[int, str, str, str, int | None, Trust, str, str | None, str | None, int]

_SPEAKER = re.compile(r"([^\n:]{1,60}): ")
_WAITING = "extracted:"  # a key of `state` begins so, the session follows
_SESSIONS = (
    "WITH RECURSIVE chat (session) AS (SELECT min(session) FROM message UNION ALL "
    "SELECT (SELECT min(session) FROM message WHERE session > chat.session) FROM chat WHERE session IS NOT NULL) "
    "SELECT session FROM chat WHERE session IS NOT NULL AND (SELECT max(id) FROM message WHERE session = chat.session) "
    "> coalesce((SELECT CAST(value AS INTEGER) FROM key_value WHERE key = ? || chat.session), 0)"
)
_ROWS = (
    "SELECT message.id, message.role, message.text, message.at, message.inbox_id, message.trust, message.scope, "
    "inbox.sender, inbox.sender_name, "
    "EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id) "
    "FROM message LEFT JOIN inbox ON inbox.id = message.inbox_id "
    "WHERE message.session = ? AND message.id > ? ORDER BY message.id LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A message of a person and the bot's answer.

    last_message: its newest message row, for the cursor. inbox_id: None for an imported turn. scope: of its memories.
    speaker: name in a group. hidden: forgotten or erased, so not to be extracted.
    """

    last_message: int
    inbox_id: int | None
    text: str
    answer: str
    at: datetime
    trust: Trust
    scope: str
    speaker: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class PendingTurns:
    """Waiting turns of a session: their number, the time of the oldest, and the highest signal level."""

    count: int
    oldest: datetime
    level: SignalLevel


def decide_extraction(waiting: PendingTurns, now: datetime, policy: ExtractPolicy) -> ExtractionDecision:
    """Whether to read what waits, and why."""
    if waiting.count == 0:
        return "keep_buffering"
    if policy.immediate and waiting.level == "high":
        return "extract_now"
    late = now - waiting.oldest >= timedelta(minutes=policy.every_minutes)
    return "extract_batch" if late or waiting.count >= policy.every_turns else "keep_buffering"


def measure_pending(
    turns: Sequence[ConversationTurn], policy: ExtractPolicy, patterns: PatternSet
) -> PendingTurns | None:
    """What `turns` come to; None without any. Those not to be read need no hurry."""
    if not turns:
        return None
    levels = {signal_level(turn.text, policy, patterns) for turn in turns if not turn.hidden}
    ranked: tuple[SignalLevel, ...] = ("high", "medium", "low")
    return PendingTurns(len(turns), turns[0].at, next((level for level in ranked if level in levels), "none"))


def sessions_with_pending(connection: Connection) -> list[str]:
    """The sessions in which something waits; costs a few index look-ups a session, however long they are."""
    return [row[0] for row in connection.execute(_SESSIONS, (_WAITING,))]


def cursor(connection: Connection, session: str) -> int:
    """The newest message row of a session that has been read; 0 when none has."""
    return int(read_state(connection, _WAITING + session) or 0)


def advance_cursor(connection: Connection, session: str, before: int, last: int) -> bool:
    """Put the cursor of a session to `last`, inside a transaction; False when it no longer stands at `before`."""
    if cursor(connection, session) != before:
        return False
    write_state(connection, _WAITING + session, str(last))
    return True


def pending_turns(connection: Connection, session: str, limit: int) -> list[ConversationTurn]:
    """The next turns of a session that wait, oldest first, at most `limit`."""
    rows = connection.execute(_ROWS, (session, cursor(connection, session), 2 * limit + 1)).fetchall()
    return group_turns(rows, session)[:limit]


def newest_pending_turns(connection: Connection, session: str, limit: int) -> list[ConversationTurn]:
    """Of the turns of a session that wait the newest, oldest first, at most `limit`."""
    sql = _ROWS.replace("ORDER BY message.id", "ORDER BY message.id DESC")
    rows = connection.execute(sql, (session, cursor(connection, session), 2 * limit + 1)).fetchall()
    return group_turns(reversed(rows), session)[-limit:]


def group_turns(rows: Iterable[MessageRow], session: str) -> list[ConversationTurn]:
    """Messages of a session as turns: each has its number, role, text, time, inbox row, trust, scope, the sender's id
    and name, and whether it is veiled.
    """
    turns: list[ConversationTurn] = []
    for row in rows:
        number, role, text, at, inbox, trust, scope, sender, name, veiled = row
        if role == "assistant":
            if turns and turns[-1].inbox_id == inbox:
                turns[-1] = replace(turns[-1], last_message=number, answer=text)
            else:
                turns.append(_of_nobody(number, inbox, text, at, session))
            continue
        speaker, said = (
            _spoken(text, sanitize_name(name or "") or sender or "") if scope.startswith("chat:") else ("", text)
        )
        turns.append(
            ConversationTurn(
                last_message=number,
                inbox_id=inbox,
                text=said,
                answer="",
                at=datetime.fromisoformat(at),
                trust=trust,
                scope=scope or chat_scope(session),
                speaker=speaker,
                hidden=bool(veiled) or said.strip() in ("", ERASED_TEXT),
            )
        )
    return turns


def _spoken(text: str, name: str) -> tuple[str, str]:
    """Who speaks in a line of a group's conversation, and what they say. `name`: "" when only the line can tell."""
    found = _SPEAKER.match(text)
    name = name or (found[1] if found else "")
    return name, text.removeprefix(f"{name}: ").replace("\n  ", "\n") if name else text


def _of_nobody(number: int, inbox: int | None, text: str, at: str, session: str) -> ConversationTurn:
    """Something the bot said by itself: nobody told it anything."""
    return ConversationTurn(
        number, inbox, "", text, datetime.fromisoformat(at), "model", chat_scope(session), hidden=True
    )
