"""Commit what a working copy changes to PostgreSQL first."""

import sqlite3
from collections.abc import Callable

from kenobot.storage.capture import ChangeCapture, Changes
from kenobot_host.home_files import FileWatch
from kenobot_host.home_rows import Holder
from kenobot_host.home_store import HomeLost, HomeStore, read_version, write_version


class PostgresKeeper:
    """The keeper of one writing connection to a working copy, for as long as a job holds the home.

    files: of the copy; those that changed are committed with the rows that may speak of them.
    tell_lost: called when the copy takes no commits any more.
    """

    def __init__(
        self,
        store: HomeStore,
        held: Holder,
        files: FileWatch | None = None,
        tell_lost: Callable[[], object] = lambda: None,
    ) -> None:
        self._store, self._held, self._files, self._tell_lost = store, held, files, tell_lost
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
        if changes := self._capture.take(connection):
            self._push(connection, changes)

    def keep_files(self, connection: sqlite3.Connection) -> None:
        """Commit the files that changed since the last commit, if any. Raises as `keep` does."""
        if self._files is not None and self._files.find_changed().files:
            self._push(connection, Changes())

    def close(self) -> None:
        """End with the connection. Nothing is left to be committed: each transaction was, or failed."""

    def _push(self, connection: sqlite3.Connection, changes: Changes) -> None:
        files = self._files.find_changed() if self._files is not None else None
        try:
            version = self._store.push(
                *(self._held, read_version(connection), changes, connection), files.files if files is not None else ()
            )
        except HomeLost as error:
            self._lost = error
            self._tell_lost()
            raise
        write_version(connection, version)
        if self._files is not None and files is not None:
            self._files.confirm(files)
