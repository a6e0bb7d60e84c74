"""A database in memory, with the whole schema."""

import sqlite3
from collections.abc import Iterator
from functools import cache

import pytest

from kenobot.storage.connection import Connection
from kenobot.storage.migrate import migrations


@cache
def _schema() -> bytes:
    made = sqlite3.connect(":memory:")
    for _, script in migrations():
        made.executescript(script)
    return made.serialize()


def open_in_memory() -> Connection:
    """Open a new database in memory."""
    opened = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    opened.deserialize(_schema())
    opened.execute("PRAGMA foreign_keys = ON")
    return opened


@pytest.fixture
def connection() -> Iterator[Connection]:
    """A connection to a new database."""
    opened = open_in_memory()
    yield opened
    opened.close()
