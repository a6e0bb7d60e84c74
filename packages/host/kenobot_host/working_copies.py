"""Bring the working copy of a home up to what PostgreSQL has, and make the keepers of its connections.

A copy of the home's version is used as it is, with the index that was made of it; any other is made anew. Files are
written anew each time, but attachments that are there.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from psycopg import Connection

from kenobot.cognitive.memory import Transfers
from kenobot.core.settings.home import Home
from kenobot.ports.errors import ConfigError, StoreError
from kenobot.storage.connection import connect
from kenobot.storage.migrate import migrate
from kenobot.storage.outbox import SentPart, is_pending, write_sent
from kenobot_host import file_rows
from kenobot_host.connections import translate_errors
from kenobot_host.home_files import NOT_IN_COPIES, FileWatch, clear_copy, write_file
from kenobot_host.home_rows import Holder, load_home
from kenobot_host.home_store import HomeLost, HomeStore, read_schema, read_version, write_copy
from kenobot_host.keeper import PostgresKeeper
from kenobot_host.sealing import Sealer
from kenobot_host.tables import newest_schema


class WorkingCopies:
    """The working copies of a worker's homes."""

    def __init__(self, store: HomeStore, sealer: Sealer | None) -> None:
        self._store, self._sealer = store, sealer
        # bounded: the homes that are open; test_files_go_with_the_commit_that_may_speak_of_them
        self._files: dict[int, FileWatch] = {}

    def bring_up(self, held: Holder, home: Home) -> None:
        """Make the folder of a home, or bring it up to date. No connection to its database may be open.

        Raises HomeLost when the home was lost meanwhile, ConfigError and StoreError.
        """
        home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with translate_errors(), self._store.connections.borrow() as connection:
            row = load_home(connection, held.home)
        if row is None:
            raise ConfigError("host.no_home", name=held.home)
        if not row.is_here:
            raise ConfigError("host.is_moving", name=row.name)
        is_warm = _read_state(home.database) == (newest_schema(), row.version)
        clear_copy(home, database=not is_warm)
        home.prepare()
        new = home.database.with_name(f"{home.database.name}.new")  # until it is whole: one that was broken off is none
        if not is_warm:
            row = self._store.load(held.home, new)
        with self._store.connections.open_long() as connection:
            self._write_files(connection, held.home, home)
        watch = self._files[held.home] = FileWatch(home, self._sealer)
        if not is_warm:
            migrate(new, home.backups)
            self._complete(held, new, watch, row.schema)
            if new.with_name(f"{new.name}-wal").exists():  # such as on a disk that is full
                raise StoreError("host.failed", reason="the working copy could not be written to its end")
            new.replace(home.database)

    def build_keeper(self, held: Holder, tell_lost: Callable[[], object] = lambda: None) -> PostgresKeeper:
        """Build the keeper of one writing connection to a home's database."""
        return PostgresKeeper(self._store, held, self._files[held.home], tell_lost)

    def record_sent(self, held: Holder, home: Home, sent: Sequence[SentPart], at: datetime) -> None:
        """Commit that parts were sent, in a copy that is made anew where it has to be, once the database is closed.

        Raises HomeLost when the home is another worker's, ConfigError and StoreError.
        """
        try:
            self._commit_sent(held, home, sent, at)
        except HomeLost:
            self.bring_up(held, home)
            self._commit_sent(held, home, sent, at)

    def _commit_sent(self, held: Holder, home: Home, sent: Sequence[SentPart], at: datetime) -> None:
        keeper = self.build_keeper(held)
        with write_copy(home.database, keeper.watch) as connection:
            for each in sent:
                if is_pending(connection, each.part):  # that it is sent may have been committed all the same
                    write_sent(connection, each, at)
            keeper.keep(connection)

    def put_away(self, held: Holder, home: Home) -> None:
        """Commit the files that changed after the last commit, once the database is closed. Raises as a keeper."""
        keeper = self.build_keeper(held)
        del self._files[held.home]
        with write_copy(home.database) as connection:
            keeper.keep_files(connection)

    def _complete(self, held: Holder, database: Path, watch: FileWatch, schema: int) -> None:
        """Make what was left out, and commit a migration. schema: of the rows as they were loaded."""
        keeper = PostgresKeeper(self._store, held, watch)
        is_migrated = schema != newest_schema()  # then anything may have changed, and all is committed
        with write_copy(database, None if is_migrated else keeper.watch) as connection:
            Transfers.complete_copy(connection)
            keeper.keep(connection)

    def _write_files(self, connection: Connection, number: int, home: Home) -> None:
        paths = file_rows.list_files(connection, number)
        media = f"{home.media.name}/"
        wanted = {path for path in paths if path.startswith(media)}
        for path in home.media.glob("*"):
            if f"{media}{path.name}" not in wanted:
                path.unlink(missing_ok=True)
        needed = [
            path
            for path in paths
            if not path.startswith(NOT_IN_COPIES) and not (path in wanted and (home.path / path).exists())
        ]
        for file in file_rows.load_files(connection, number, needed):
            write_file(home.path, file, self._sealer)


def _read_state(database: Path) -> tuple[int, int] | None:
    """Read the schema and version of a working copy; None where there is none that can be read."""
    if not database.exists():
        return None
    try:
        with closing(connect(database, readonly=True)) as connection:
            return read_schema(connection), read_version(connection)
    except (sqlite3.Error, StoreError):
        return None


def read_version_of(database: Path) -> int | None:
    """Read the version of a home that a working copy is of; None for one that cannot be read."""
    state = _read_state(database)
    return state[1] if state is not None else None
