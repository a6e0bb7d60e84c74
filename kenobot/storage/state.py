"""Small things kept under a name: the table `key_value`."""

import json
from collections.abc import Mapping
from typing import TypeVar

from kenobot.storage.connection import Connection

T = TypeVar("T")

_PUT = "INSERT INTO key_value (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


def read_state(connection: Connection, key: str) -> str | None:
    """Return a small thing remembered under a name, such as how far some work has come."""
    row = connection.execute("SELECT value FROM key_value WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def write_state(connection: Connection, key: str, value: str) -> None:
    connection.execute(_PUT, (key, value))


def drop_state(connection: Connection, key: str) -> None:
    """Forget a small thing."""
    connection.execute("DELETE FROM key_value WHERE key = ?", (key,))


def replace_state(connection: Connection, key: str, before: str | None, value: str) -> bool:
    """Put a small thing in the place of another; False when that is not there, None: when there is any."""
    if before is None:
        done = connection.execute(
            "INSERT INTO key_value (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING", (key, value)
        )
    else:
        done = connection.execute("UPDATE key_value SET value = ? WHERE key = ? AND value = ?", (value, key, before))
    return done.rowcount == 1


def write_states(connection: Connection, values: Mapping[str, str]) -> None:
    """Put several small things under their names."""
    connection.executemany(_PUT, [*values.items()])


def read_json(connection: Connection, key: str, default: T) -> T:
    """Read a JSON value; `default` when there is none, or one that is damaged or of another type."""
    try:
        value = json.loads(read_state(connection, key) or "null")
    except ValueError:
        return default
    return value if isinstance(value, type(default)) else default


def write_json(connection: Connection, key: str, value: object) -> None:
    write_state(connection, key, json.dumps(value))
