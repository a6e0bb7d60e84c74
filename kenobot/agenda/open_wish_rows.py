"""Tell whether anybody has a standing wish."""

from kenobot.storage.connection import Connection


def has_wishes(connection: Connection) -> bool:
    """Return whether any wish is not over."""
    return connection.execute("SELECT 1 FROM wish WHERE state = 'active' LIMIT 1").fetchone() is not None
