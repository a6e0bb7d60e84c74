"""Make the tables of intake and activation."""

from importlib import resources

from procrastinate import App, PsycopgConnector
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool


def pool_of(engine: App) -> AsyncConnectionPool[AsyncConnection]:
    """Return the pool of connections that a process shares with its engine."""
    connector = engine.connector
    assert isinstance(connector, PsycopgConnector)
    return connector.pool


async def create_tables(engine: App) -> None:
    """Make Procrastinate's tables and those of intake in a new database."""
    await engine.schema_manager.apply_schema_async()
    text = resources.files("kenobot_host").joinpath("intake.sql").read_text("utf-8")
    async with pool_of(engine).connection() as connection:
        await connection.execute(text.encode())
