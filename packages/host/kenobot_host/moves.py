"""Move homes: from a folder into PostgreSQL, out again into one that `kenobot run` starts on, and from cell to cell."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

from kenobot.cognitive.memory import Transfers
from kenobot.core.settings.home import Home
from kenobot.ports.errors import ConfigError, StoreError
from kenobot.ports.frozen import dataclass
from kenobot.storage.backup.snapshot import RESTORE_PREFIX, STAGING_PREFIX, take_snapshot
from kenobot.storage.connection import connect, translate_sqlite
from kenobot_host import file_rows, home_rows
from kenobot_host.connections import TimedConnection
from kenobot_host.file_rows import StoredFile
from kenobot_host.home_files import MOVED_IN, list_carried, list_memory_files, pack_file, write_file
from kenobot_host.home_rows import HomeRow
from kenobot_host.home_store import HomeStore, make_copy, write_copy, write_version
from kenobot_host.sealing import Sealer
from kenobot_host.tables import describe_tables

T = TypeVar("T")

_AT_ONCE = 20  # files that are held in memory


@dataclass(frozen=True, slots=True)
class MovedHome:
    """A home that was moved, and how many files with it. skipped: links and names that are no text, which stayed."""

    home: int
    files: int
    skipped: tuple[str, ...] = ()


def take_in(store: HomeStore, sealer: Sealer | None, home: Home, name: str, at: datetime) -> MovedHome:
    """Take in a home in whose folder no bot runs; the folder stays as it is.

    Its memory files are kept beside it as they were, for they are made anew in a host.
    Raises AlreadyLocked, ConfigError and StoreError.
    """
    with home.lock(), home.sleep_lock(), _stage(home.path, STAGING_PREFIX) as staging:
        try:
            skipped = take_snapshot(home, staging, credentials=True)
        except OSError as error:
            raise StoreError("files.unreadable", path=home.path, reason=error) from error
        beside = f"{MOVED_IN}{at:%Y%m%dT%H%M%SZ}"
        paths = {path: path for path, _ in list_carried(staging)}
        paths |= {path: f"{beside}/{inner}" for path, inner in list_memory_files(staging).items()}
        packed = (pack_file(staging, path, sealer, as_path=to) for path, to in paths.items())
        with (
            translate_sqlite(),
            closing(connect(staging / home.database.name, readonly=True)) as source,
            store.connections.open_long() as connection,
            connection.transaction(),
        ):
            number = store.add_rows(connection, name, source)
            for files in _batches(packed):
                file_rows.save_files(connection, number, 1, files)
    return MovedHome(number, len(paths), tuple(skipped))


def export(store: HomeStore, sealer: Sealer | None, name: str, folder: Path) -> MovedHome:
    """Write a home into a new folder, as it is at this moment. Raises ConfigError and StoreError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError("host.target_in_use", path=folder)
    return _export(store, sealer, name, folder)


def take_out(store: HomeStore, sealer: Sealer | None, name: str, folder: Path) -> MovedHome:
    """Write a home into a new folder and remove it here; nobody commits to it in between.

    Raises ConfigError while mail waits for it, or as `export` does; then it stays.
    """
    with store.connections.open_long() as connection:
        row = _require(store, connection, name)
        _require_no_mail(connection, row)
        home_rows.set_here(connection, row.home, is_here=False)
        try:
            moved = export(store, sealer, name, folder)
            try:
                with connection.transaction():
                    _require_no_mail(connection, row)
                    home_rows.delete_home(connection, row.home)
            except ConfigError:  # mail came in meanwhile
                shutil.rmtree(folder)
                raise
        except BaseException:
            home_rows.set_here(connection, row.home, is_here=True)
            raise
    return moved


def _require_no_mail(connection: TimedConnection, row: HomeRow) -> None:
    """Raise ConfigError while messages to a home wait, which would go with it."""
    if count := home_rows.count_mail(connection, row.home):
        raise ConfigError("host.mail_waits", name=row.name, count=count)


def _export(store: HomeStore, sealer: Sealer | None, name: str, folder: Path) -> MovedHome:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _stage(folder.parent, RESTORE_PREFIX) as staging, store.connections.open_long() as connection:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                row = _require(store, connection, name)
                made = Home(staging / "home")
                made.prepare()
                make_copy(connection, row, made.database)
                count = 0
                for file in file_rows.load_files(connection, row.home, file_rows.list_files(connection, row.home)):
                    write_file(made.path, file, sealer)
                    count += 1
            _complete(made)
            if folder.exists():
                folder.rmdir()
            made.path.replace(folder)
    except OSError as error:
        raise StoreError("files.unwritable", path=folder, reason=error) from error
    return MovedHome(row.home, count)


def move(store: HomeStore, to: HomeStore, name: str) -> MovedHome:
    """Move a home to another cell. Broken off anywhere, it is done by the same again.

    From its first step on nobody commits to it here; it goes here once it is whole there.
    Raises ConfigError and StoreError.
    """
    with store.connections.open_long() as here, to.connections.open_long() as there:
        if _identify(here) == _identify(there):
            raise ConfigError("host.same_cell")
        row = _require(store, here, name)
        home_rows.set_here(here, row.home, is_here=False)  # waits for a commit that is under way
        row = _require(store, here, name)
        with there.transaction():
            arrived = home_rows.find_home(there, name)
            if arrived is not None and arrived.version < row.version:
                raise ConfigError("host.taken", name=name)
            number = arrived.home if arrived is not None else _copy_home(here, there, row)
        files = len(file_rows.list_files(here, row.home))
        with here.transaction():
            _require_no_mail(here, row)
            home_rows.delete_home(here, row.home)
    return MovedHome(number, files)


def _copy_home(here: TimedConnection, there: TimedConnection, row: HomeRow) -> int:
    number = home_rows.insert_home(there, row.name, row.schema, row.sequences, row.version)
    assert number is not None
    for table in describe_tables(row.schema):
        home_rows.copy_in(there, number, table, home_rows.copy_out(here, row.home, table))
    for files in _batches(file_rows.load_files(here, row.home, file_rows.list_files(here, row.home))):
        file_rows.save_files(there, number, row.version, files)
    return number


def _identify(connection: TimedConnection) -> tuple[object, ...]:
    """Tell a database from every other one."""
    row = connection.execute(
        "SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()) "
        "FROM pg_control_system()"
    ).fetchone()
    assert row is not None
    return tuple(row)


def _require(store: HomeStore, connection: TimedConnection, name: str) -> HomeRow:
    found = home_rows.find_home(connection, name)
    if found is None:
        raise ConfigError("host.no_home", name=name)
    return store.require(connection, found.home)


def _complete(home: Home) -> None:
    """Make of a working copy the database of a home on one machine."""
    with write_copy(home.database) as connection:
        Transfers.complete_copy(connection)
        write_version(connection, 0)


@contextlib.contextmanager
def _stage(folder: Path, prefix: str) -> Iterator[Path]:
    staging = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _batches(files: Iterable[StoredFile]) -> Iterator[list[StoredFile]]:
    waiting = iter(files)
    while some := list(islice(waiting, _AT_ONCE)):
        yield some
