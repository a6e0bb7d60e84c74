"""What the command line writes to the database: in one short transaction, beside a bot that may be running."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from kenobot.cli import options
from kenobot.core.settings.home import Home
from kenobot.ports.errors import ConfigError
from kenobot.storage import database, migrate


@contextmanager
def transaction(home: Home) -> Iterator[sqlite3.Connection]:
    """What the block writes is written whole or not at all. Raises NothingYet, ConfigError or StoreError."""
    options.require_database(home)
    migrate.check(home.database)
    try:
        connection = database.connect(home.database)
        try:
            _demand_current(connection)
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise database.to_store_error(error) from error


def require_current_schema(home: Home) -> None:
    """For who writes beside a bot in transactions of their own. Raises NothingYet, ConfigError or StoreError."""
    options.require_database(home)
    migrate.check(home.database)
    try:
        with closing(database.connect(home.database, readonly=True)) as connection:
            _demand_current(connection)
    except sqlite3.Error as error:
        raise database.to_store_error(error) from error


def _demand_current(connection: sqlite3.Connection) -> None:
    """The bot brings the database up to date, with a backup; this is no moment for that."""
    if connection.execute("PRAGMA user_version").fetchone()[0] < migrate.migrations()[-1][0]:
        raise ConfigError("The database is of an older KenoBot: start the bot once to bring it up to date.")
