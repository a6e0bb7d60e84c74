"""What the command line writes to the database: in one short transaction, beside a bot that may be running."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from kenobot import db, schema
from kenobot.cli import asking
from kenobot.errors import ConfigError
from kenobot.home import Home


@contextmanager
def transaction(home: Home) -> Iterator[sqlite3.Connection]:
    """What the block writes is written whole or not at all. Raises NothingYet, ConfigError or StoreError."""
    asking.demand_database(home)
    schema.check(home.database)
    try:
        connection = db.connect(home.database)
        try:
            _demand_current(connection)
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise db.translate(error) from error


def demand_current(home: Home) -> None:
    """For who writes beside a bot in transactions of their own. Raises NothingYet, ConfigError or StoreError."""
    asking.demand_database(home)
    schema.check(home.database)
    try:
        with closing(db.connect(home.database, readonly=True)) as connection:
            _demand_current(connection)
    except sqlite3.Error as error:
        raise db.translate(error) from error


def _demand_current(connection: sqlite3.Connection) -> None:
    """The bot brings the database up to date, with a backup; this is no moment for that."""
    if connection.execute("PRAGMA user_version").fetchone()[0] < schema.migrations()[-1][0]:
        raise ConfigError("The database is of an older KenoBot: start the bot once to bring it up to date.")
