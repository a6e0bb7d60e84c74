"""Store the steps of turns under way, and what finished turns cost.

A step is written before its effects are had: a reply that was paid for, a tool about to be called, what it returned.
After a restart the turn goes on from its last step. Steps go when their turn ends.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from kenobot.ports.provider import Reply, ToolCall, ToolResult, Usage
from kenobot.storage.claims import require_claim
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

TurnStep = Reply | ToolCall | ToolResult
_StepKind = Literal["reply", "call", "result"]

_KEEP_DAYS = 30
_COSTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_KINDS: Mapping[type[TurnStep], _StepKind] = {Reply: "reply", ToolCall: "call", ToolResult: "result"}


def append_step(
    connection: Connection, message: int, number: int, step: TurnStep, at: datetime, *, attempt: int | None = None
) -> None:
    """Store step `number`, from 0, of the turn of an inbox row. The first of a number counts.

    attempt: whose step it is, where the turn is under way; raises Fenced when it no longer holds its claim.
    """
    # In its own letters, by which a purge looks for what it erases.
    payload = json.dumps(asdict(step), ensure_ascii=False)
    stored = connection.execute(
        "INSERT INTO turn_step (inbox_id, number, kind, payload, at) SELECT ?, ?, ?, ?, ? WHERE ? IS NULL OR EXISTS "
        "(SELECT 1 FROM inbox WHERE id = ? AND attempts = ? AND state = 'claimed') ON CONFLICT DO NOTHING",
        (message, number, _KINDS[type(step)], payload, at.isoformat(), attempt, message, attempt),
    )
    if not stored.rowcount and attempt is not None:
        require_claim(connection, message, attempt)


def load_steps(connection: Connection, message: int) -> dict[int, TurnStep]:
    """Return the steps of a turn by number, in their order; numbers may be left out."""
    rows = connection.execute(
        "SELECT number, kind, payload FROM turn_step WHERE inbox_id = ? ORDER BY number", (message,)
    )
    return {number: _load(kind, json.loads(payload)) for number, kind, payload in rows}


Phase = Literal["reading", "recall", "prompt", "first word", "model", "tools", "pauses", "postprocessors", "storing"]
"""What the time of a turn goes into, beside waiting before and delivery behind; "first word" is a part of "model"."""


class TurnTimes(NamedTuple):
    """By which channel and when a message came in, when its turn began, and what its time went into, in milliseconds.

    retries: attempts and calls without a result.
    """

    channel: str
    received: datetime
    began: datetime
    millis: Mapping[Phase, int]
    retries: int

    @property
    def phases(self) -> dict[str, int]:
        """Return the milliseconds of each phase, and those that the message waited before."""
        phases = {"waiting": max(0, round(1000 * (self.began - self.received).total_seconds()))}
        phases.update({str(name): millis for name, millis in self.millis.items()})
        return phases


class FreshReply(NamedTuple):
    """A reply without a step, its number among the steps of its turn, and its time."""

    number: int
    reply: Reply
    at: datetime


def finish_turn(  # noqa: PLR0913 - most are columns
    connection: Connection,
    message: int,
    session: str,
    trace: str,
    at: datetime,
    grade: str,
    fresh: FreshReply | None = None,
    times: TurnTimes | None = None,
    *,
    has_steps: bool = True,
) -> None:
    """Replace the steps of a committed turn by one row of what its replies cost and took, inside its transaction.

    fresh: its last reply, where that has no step. has_steps: there may be some.
    """
    rows = _reply_rows(connection, message) if has_steps else []
    replies = {number: (_reply(json.loads(payload)), replied) for number, payload, replied in rows}
    if fresh is not None:
        replies.setdefault(fresh.number, (fresh.reply, fresh.at.isoformat()))
    last, replied_at = replies[max(replies)]
    costs = [sum(getattr(reply.usage, name) for reply, _ in replies.values()) for name in _COSTS]
    connection.execute(
        f"INSERT INTO turn (inbox_id, session, trace, stop_reason, model, {', '.join(_COSTS)}, replied_at, "
        "committed_at, grade, channel, received_at, phases, retries) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(message, session, trace, last.stop_reason, last.model, *costs, replied_at, at.isoformat(), grade),
            *_list_columns(times),
        ),
    )
    if rows:
        drop_steps(connection, message)


def _list_columns(times: TurnTimes | None) -> tuple[str, str, str, int]:
    """Return the columns of a turn's times; nothing of one that nobody waited for."""
    if times is None:
        return "", "", "{}", 0
    return times.channel, times.received.isoformat(), json.dumps(times.phases), times.retries


def _reply_rows(connection: Connection, message: int) -> list[tuple[int, str, str]]:
    """Return number, payload and moment of the replies among the steps of a turn."""
    return connection.execute(
        "SELECT number, payload, at FROM turn_step WHERE inbox_id = ? AND kind = 'reply' ORDER BY number", (message,)
    ).fetchall()


def drop_steps(connection: Connection, message: int) -> None:
    """Drop the steps of a turn that ended, inside its transaction."""
    connection.execute("DELETE FROM turn_step WHERE inbox_id = ?", (message,))


async def prune(database: Database, now: datetime) -> None:
    """Drop what turns of a month ago cost, once their messages have left the inbox."""
    await database.prune(
        "turn",
        "replied_at < ? AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.id = turn.inbox_id)",
        (now - timedelta(days=_KEEP_DAYS)).isoformat(),
    )


def _load(kind: _StepKind, payload: dict[str, Any]) -> TurnStep:
    match kind:
        case "reply":
            return _reply(payload)
        case "call":
            return ToolCall(**payload)
        case "result":
            return ToolResult(**payload)


def _reply(payload: dict[str, Any]) -> Reply:
    calls = tuple(ToolCall(**call) for call in payload.pop("calls"))
    return Reply(**{**payload, "usage": Usage(**payload["usage"])}, calls=calls)
