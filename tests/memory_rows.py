"""A memory in the machine's own memory, and records put into it as they are, past every rule."""

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from functools import cache
from itertools import count
from zoneinfo import ZoneInfo

from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.store import events, records
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.migrate import migrations
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START

_KEYS = count(1)


@contextlib.contextmanager
def open_memory() -> Iterator[Connection]:
    """An empty memory that is gone afterwards."""
    connection = new_memory()
    try:
        yield connection
    finally:
        connection.close()


def new_memory() -> Connection:
    """An empty memory, for the caller to close."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(_schema())
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


@cache
def _schema() -> bytes:
    """A migrated database without rows: the scripts run once a worker, as they take longer than most tests."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for _, script in migrations():
            connection.executescript(script)
        return connection.serialize()


def put_record(
    connection: Connection,
    text: str = "something",
    *,
    at: datetime = START,
    columns: Mapping[str, str | float] | None = None,
    **more: str | float | None,
) -> Record:
    """A record that a model inferred at `at`, unless the columns say otherwise; with its 'created' event."""
    now = stamp(at)
    held: dict[str, str | float | None] = {
        "form": "note",
        "scope": "owner",
        "text": text,
        "source": "extraction",
        "trust": "model",
        "confidence": 0.6,
        "importance": 0.5,
        "stability": 1.0,
        "valid_from": now,
        "created": now,
        "updated": now,
        "last_seen": now,
        "day": now[:10],
        "key": f"key-{next(_KEYS)}",
        "changed_event": 0,
        **(columns or {}),
        **more,
    }
    session = str(held.pop("session", ""))
    names, marks = ", ".join(held), ", ".join("?" * len(held))
    cursor = connection.execute(f"INSERT INTO record ({names}) VALUES ({marks})", tuple(held.values()))
    assert cursor.lastrowid is not None
    events.add_event(connection, at, "test", "created", session=session, record=cursor.lastrowid)
    return get(connection, cursor.lastrowid)


def get(connection: Connection, record: int) -> Record:
    """A record as it is now."""
    found = records.get(connection, record, ALL_SCOPES)
    assert found is not None
    return found


def full_load_query(scopes: tuple[str, ...], chat: str, day: str, tokens: int) -> MemoryQuery:
    """A full load of these scopes in the prompt of a chat, on a day in Madrid."""
    zone = ZoneInfo("Europe/Madrid")
    noon = datetime.combine(date.fromisoformat(day), time(12), zone)
    return MemoryQuery("", scopes, noon, zone, chat.removeprefix("chat:"), prefix_tokens=tokens)
