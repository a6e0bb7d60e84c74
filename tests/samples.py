"""Messages and small helpers that many tests need."""

from datetime import datetime

from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import START


def inbound(
    text: str = "hello",
    number: int | str = 1,
    *,
    channel: str = "fake",
    chat: str = "1",
    user: str = "1",
    sent_at: datetime = START,
    private: bool = True,
    forwarded: bool = False,
) -> Inbound:
    """A message as a channel would hand it in; `number` is its external id."""
    return Inbound(
        channel=channel,
        external_id=str(number),
        chat=chat,
        user=user,
        text=text,
        sent_at=sent_at,
        user_name=f"user {user}",
        private=private,
        forwarded=forwarded,
    )


async def rows(database: Database, sql: str, *values: object) -> list[tuple[object, ...]]:
    """What a query finds."""

    def work(connection: Connection) -> list[tuple[object, ...]]:
        return connection.execute(sql, values).fetchall()

    return await database.read(work)


async def scalar(database: Database, sql: str, *values: object) -> object:
    """The first column of the first row that a query finds."""
    return (await rows(database, sql, *values))[0][0]


def plan(connection: Connection, sql: str, *values: object) -> str:
    """How SQLite means to answer a query."""
    return "\n".join(str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values))
