"""Make working copies of homes from PostgreSQL, and keep those that are of the newest version already."""

import contextlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from kenobot.core.settings.home import Home
from kenobot.storage.keeper import Keeper
from kenobot_host.activation import Activation
from kenobot_host.connections import translate_errors
from kenobot_host.home_store import HomeStore, read_version
from kenobot_host.keeper import PostgresKeeper


class PostgresCopies:
    """The working copies of a worker."""

    def __init__(self, store: HomeStore) -> None:
        self._store = store

    def bring_up(self, activation: Activation, home: Home) -> None:
        """Make a home's folder equal its rows. Raises ConfigError and StoreError.

        A copy of another version goes with all its files: what these say would be read as a person's edits.
        """
        with translate_errors(), self._store.connections.borrow() as connection:
            version = self._store.require(connection, activation.home).version
        if _read_copied(home.database) == version:
            return
        shutil.rmtree(home.path, ignore_errors=True)
        home.prepare()
        self._store.load(activation.home, home.database)

    def build_keeper(self, activation: Activation) -> Keeper:
        """Build the keeper of one writing connection to a home's database."""
        return PostgresKeeper(self._store, activation)


def _read_copied(database: Path) -> int:
    """Return the version that a working copy is of; 0 where there is none that can be read."""
    if database.exists():
        with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(database)) as copy:
            return read_version(copy)
    return 0
