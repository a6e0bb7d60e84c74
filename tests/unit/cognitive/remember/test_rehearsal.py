"""Memories that are made up to have patterns compiled."""

from kenobot.cognitive.remember.rehearsal import rehearse
from kenobot.storage.connection import copy_schema
from kenobot.storage.database import Database
from kenobot_testing.clock import ManualClock


async def test_a_rehearsal_admits_memories_and_leaves_nothing_in_the_home(database: Database) -> None:
    """It runs where nothing can be written."""
    await database.read(lambda connection: rehearse(connection, ManualClock().now()))
    tables = ("record", "event", "link", "key_value")
    count = " + ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    assert await database.read(lambda connection: connection.execute(f"SELECT {count}").fetchone()[0]) == 0


async def test_a_copy_of_a_schema_has_all_tables_and_no_rows(database: Database) -> None:
    """Indexes and triggers come along."""
    listed = "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY 1, 2"
    made, there = await database.read(
        lambda connection: (copy_schema(connection).execute(listed).fetchall(), connection.execute(listed).fetchall())
    )
    assert made == there and len(made) > 20
