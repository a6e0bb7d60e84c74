"""Commit what a working copy changes to PostgreSQL first."""

import sqlite3

from kenobot.storage.capture import ChangeCapture
from kenobot_host.home_rows import Holder
from kenobot_host.home_store import HomeLost, HomeStore, read_version, write_version


class PostgresKeeper:
    """The keeper of one writing connection to a working copy, for as long as a job holds the home."""

    def __init__(self, store: HomeStore, held: Holder) -> None:
        self._store, self._held = store, held
        self._capture = ChangeCapture()
        self._lost: HomeLost | None = None

    def watch(self, connection: sqlite3.Connection) -> None:
        """Begin to note what the connection changes."""
        self._capture.watch(connection)

    def keep(self, connection: sqlite3.Connection) -> None:
        """Commit what the open transaction changed, fenced by the job. What only the copy has costs no commit.

        Raises HomeLost when the home is another worker's, from then on always, and StoreError.
        """
        if self._lost is not None:
            raise self._lost
        changes = self._capture.take(connection)
        if not changes:
            return
        try:
            version = self._store.push(self._held, read_version(connection), changes, connection)
        except HomeLost as error:
            self._lost = error
            raise
        write_version(connection, version)

    def close(self) -> None:
        """End with the connection. Nothing is left to be committed: each transaction was, or failed."""
