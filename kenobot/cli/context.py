"""The context of a running command: its arguments, home, settings and clock, and access to the database."""

import argparse
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cli import options
from kenobot.cognitive.memory import AdmitContext, SideIndex
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, load_settings
from kenobot.language.calendar import local_day
from kenobot.ports.clock import Clock, SystemClock
from kenobot.ports.errors import ConfigError, StoreCorrupt, StoreError
from kenobot.ports.plugin import PluginContext
from kenobot.storage.connection import connect, to_store_error
from kenobot.storage.migrate import check, migrate, migrations
from kenobot.storage.scopes import ALL_SCOPES, Scopes
from kenobot.storage.transactions import write_in_steps, write_once

_BATCH = 2000  # events and messages that are indexed at a time
_LONGEST_TRANSACTION = 0.01  # seconds of long work, for which a bot that is running waits
_REST = 2.0  # times what a transaction took, before the next one


class CommandContext:
    """Input and output of a command.

    args: as they were parsed.
    """

    def __init__(self, args: argparse.Namespace, clock: Clock | None = None) -> None:
        self.args = args
        self.clock = clock or SystemClock()

    @cached_property
    def home(self) -> Home:
        return Home.find(os.environ, self.args.home)

    @cached_property
    def loaded(self) -> ResolvedSettings:
        """Raise ConfigError."""
        return load_settings(self.home, os.environ)

    def reload(self) -> None:
        """Read the settings again when they are needed next."""
        vars(self).pop("loaded", None)

    @property
    def plugin_context(self) -> PluginContext:
        return PluginContext(self.home.path, self.clock, self.loaded.settings.bot.name)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.loaded.settings.bot.timezone)

    @property
    def now(self) -> datetime:
        return self.clock.now()

    @property
    def scopes(self) -> Scopes:
        """--scope; without it the owner sees all of the home."""
        scope = getattr(self.args, "scope", None)
        return ALL_SCOPES if scope is None else (scope,)

    @property
    def owner(self) -> AdmitContext:
        """The owner's decisions, now."""
        return AdmitContext(self.now, local_day(self.now, self.zone), "owner")

    def local_time(self, moment: datetime | str) -> str:
        """Return a stored moment as people read it: in the owner's time zone, to the minute."""
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return f"{at.astimezone(self.zone):%Y-%m-%d %H:%M}"

    def moment(self, since: timedelta | datetime | None) -> datetime | None:
        """Return the moment of --since or --as-of."""
        return self.now - since if isinstance(since, timedelta) else since

    @property
    def since(self) -> str | None:
        """--since, comparable with stored times as text, whether these end in `Z` or in `+00:00`."""
        moment = self.moment(self.args.since)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") if moment else None

    # ── the database, beside a bot that may be running ───────────────────────────────────────────────────────────────

    @contextmanager
    def read(self, *, rows: bool = False) -> Iterator[sqlite3.Connection]:
        """Open a read-only connection with one snapshot. rows: its rows go by name.

        Raises NothingFound, ConfigError, StoreCorrupt or StoreError.
        """
        self.require_database()
        path = self.home.database
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
                connection.row_factory = sqlite3.Row if rows else None
                connection.execute("BEGIN")
                try:
                    yield connection
                except sqlite3.OperationalError:
                    _require_current(connection)  # an older database may lack what is asked for
                    raise
        except sqlite3.OperationalError as error:
            raise StoreError("files.unreadable", path=path, reason=error) from error
        except (
            sqlite3.DatabaseError,
            UnicodeDecodeError,
        ) as error:  # the latter: of a damaged schema
            raise StoreCorrupt(
                "database.damaged_put_back", path=path, reason=error, backups=self.home.backups
            ) from error

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Run one short transaction, written whole or not at all. Raises NothingFound, ConfigError or StoreError."""
        self._check_database()
        with write_once(self.home.database) as connection:
            _require_current(connection)
            yield connection

    @contextmanager
    def write_in_steps(self) -> Iterator[tuple[sqlite3.Connection, Callable[[], None]]]:
        """Open short transactions, one after the other; call the function where one may end and others may write.

        What was written stays when a later one fails. Raises NothingFound, ConfigError or StoreError.
        """
        self._check_database()
        with write_in_steps(self.home.database, _LONGEST_TRANSACTION, _REST) as (connection, end_transaction):
            _require_current(connection)
            yield connection, end_transaction

    def copy_database(self, target: Path) -> None:
        """Copy the database in one snapshot; a bot that writes meanwhile does not wait.

        Raises NothingFound, ConfigError, StoreCorrupt or StoreError.
        """
        with self._reader() as connection:
            connection.execute("VACUUM INTO ?", (str(target),))

    def require_current_schema(self) -> None:
        """Check the schema for commands with own transactions. Raises NothingFound, ConfigError or StoreError."""
        with self._reader() as connection:
            _require_current(connection)

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        self._check_database()
        try:
            with closing(connect(self.home.database, readonly=True)) as connection:
                yield connection
        except sqlite3.Error as error:
            raise to_store_error(error) from error

    def _check_database(self) -> None:
        self.require_database()
        check(self.home.database)

    @contextmanager
    def index(self) -> Iterator[tuple[SideIndex, sqlite3.Connection]]:
        """Open the index and bring it up to date, as a running bot does; with a connection as of `read`."""
        with self.read() as connection, closing(SideIndex(self.home.index)) as index:
            index.catch_up(connection)
            while index.index_backlog(connection, _BATCH):
                pass
            yield index, connection

    def make_home(self) -> bool:
        """Make folders, identity and database where there are none, for a command that brings memories.

        Returns whether there were none. Raises ConfigError or StoreError.
        """
        if not self._is_empty:
            return False
        self.home.prepare()
        self.home.seed_identity()
        migrate(self.home.database, self.home.backups)
        return True

    def require_database(self) -> None:
        """Raise NothingFound, and ConfigError in a home that is half restored, or is no folder."""
        self.home.check_restored()
        if self.home.path.exists() and not self.home.path.is_dir():
            reason = "not a directory"
            raise ConfigError("home.unusable", path=self.home.path, reason=reason)
        if self._is_empty:
            raise options.NoDatabase("home.empty", path=self.home.path)

    @property
    def _is_empty(self) -> bool:
        database = self.home.database
        return not database.exists() or not database.stat().st_size


def _require_current(connection: sqlite3.Connection) -> None:
    """Require a current database: the bot brings it up to date, with a backup; this is no moment for that."""
    if connection.execute("PRAGMA user_version").fetchone()[0] < migrations()[-1][0]:
        raise ConfigError("database.older_schema")
