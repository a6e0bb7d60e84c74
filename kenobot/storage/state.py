"""Small things kept under a name: the table `key_value`."""

from kenobot.storage.connection import Connection


def read_state(connection: Connection, key: str) -> str | None:
    """A small thing remembered under a name, such as how far some work has come."""
    row = connection.execute("SELECT value FROM key_value WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def write_state(connection: Connection, key: str, value: str) -> None:
    connection.execute(
        "INSERT INTO key_value (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )
