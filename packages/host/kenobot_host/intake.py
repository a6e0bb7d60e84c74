"""Share a process's connections to PostgreSQL with its engine."""

from procrastinate import App, PsycopgConnector
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool


def pool_of(engine: App) -> AsyncConnectionPool[AsyncConnection]:
    """Return the pool of connections that a process shares with its engine."""
    connector = engine.connector
    assert isinstance(connector, PsycopgConnector)
    return connector.pool
