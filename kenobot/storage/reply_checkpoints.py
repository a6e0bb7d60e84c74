"""Replies that were paid for. The row comes before the reply's effects, so that a restart does not pay again."""

from datetime import datetime, timedelta

from kenobot.ports.provider import Reply, Usage
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_KEEP_DAYS = 30


def checkpoint(connection: Connection, message: int, session: str, trace: str, reply: Reply, at: datetime) -> None:
    """Keep a whole reply, before anything is done with it."""
    usage = reply.usage
    connection.execute(
        "INSERT INTO turn (inbox_id, session, trace, state, reply, stop_reason, model, input_tokens, output_tokens, "
        "cache_read_tokens, cache_write_tokens, replied_at) VALUES (?, ?, ?, 'replied', ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (
            message,
            session,
            trace,
            reply.text,
            reply.stop_reason,
            reply.model,
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            at.isoformat(),
        ),
    )


def saved_reply(connection: Connection, message: int) -> Reply | None:
    """The reply to a message that was paid for before a restart, if there is one."""
    row = connection.execute(
        "SELECT reply, stop_reason, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens "
        "FROM turn WHERE inbox_id = ?",
        (message,),
    ).fetchone()
    return Reply(row[0], row[1], row[2], Usage(*row[3:])) if row else None


def mark_committed(connection: Connection, message: int, at: datetime, grade: str) -> None:
    """The reply has had its effects."""
    connection.execute(
        "UPDATE turn SET state = 'committed', committed_at = ?, grade = ? WHERE inbox_id = ?",
        (at.isoformat(), grade, message),
    )


async def prune(database: Database, now: datetime) -> None:
    """Drop replies of a month ago: nobody can ask for them again once their message has left the inbox."""
    await database.prune(
        "turn",
        "replied_at < ? AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.id = turn.inbox_id)",
        (now - timedelta(days=_KEEP_DAYS)).isoformat(),
    )
