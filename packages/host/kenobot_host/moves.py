"""Move homes: from a folder into PostgreSQL, out again into one that `kenobot run` starts on, and from cell to cell."""

import asyncio
import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

from psycopg.errors import UniqueViolation

from kenobot.cognitive.memory import Transfers
from kenobot.core.settings.home import Home
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError, StoreError
from kenobot.ports.frozen import dataclass
from kenobot.storage.backup.snapshot import RESTORE_PREFIX, STAGING_PREFIX, take_snapshot
from kenobot.storage.connection import connect, translate_sqlite
from kenobot_host import file_rows, home_rows, move_rows
from kenobot_host.connections import TimedConnection
from kenobot_host.file_rows import StoredFile
from kenobot_host.home_files import MOVED_IN, list_carried, list_memory_files, pack_file, write_file
from kenobot_host.home_rows import HomeRow
from kenobot_host.home_store import HomeStore, make_copy, write_copy, write_version
from kenobot_host.memory_tree import write_memory_tree
from kenobot_host.sealing import Sealer
from kenobot_host.tables import describe_tables

T = TypeVar("T")

_AT_ONCE = 20  # files that are held in memory


_PATIENCE_SECONDS = 30.0  # for a worker that puts a home away
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class MovedHome:
    """A home that was moved, and how many files with it. skipped: links and names that are no text, which stayed.

    bots: that went with it. shared: of a home that left, those that stay, for they speak for others.
    """

    home: int
    files: int
    skipped: tuple[str, ...] = ()
    bots: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()


def take_in(store: HomeStore, sealer: Sealer | None, home: Home, name: str, at: datetime) -> MovedHome:
    """Take in a home in whose folder no bot runs; the folder stays as it is.

    Its memory files are kept beside it as they were: there are none in a host, and new ones when it leaves.
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
    """Write a home into a new folder and remove it here, once its worker has put it away.

    The bots that speak for it alone go with it. Broken off anywhere, the same again does it, or puts it back.
    Raises ConfigError while mail waits for it, or as `export` does; then it stays.
    """
    with store.connections.open_long() as connection:
        row = _require(store, connection, name)
        _require_not_arriving(row)
        _require_no_mail(connection, row)
        _take_from_worker(connection, [row])
        try:
            moved = export(store, sealer, name, folder)
            bots = move_rows.list_own_bots(connection, [row.home])
            shared = move_rows.list_shared_bots(connection, [row.home])
            try:
                with connection.transaction():
                    _require_no_mail(connection, row)
                    home_rows.delete_home(connection, row.home)
            except ConfigError:  # mail came in before it began to leave
                shutil.rmtree(folder)
                raise
        except BaseException:
            move_rows.settle(connection, row.home)
            raise
    return replace(moved, bots=tuple(bots), shared=tuple(each.bot for each in shared))


def _require_no_mail(connection: TimedConnection, row: HomeRow) -> None:
    """Raise ConfigError while messages to a home wait, which would go with it."""
    if count := home_rows.count_mail(connection, row.home):
        raise ConfigError("host.mail_waits", name=row.name, count=count)


def _take_from_worker(connection: TimedConnection, rows: Sequence[HomeRow]) -> None:
    """Have homes put away and kept so; from a worker that does not do so in time they are taken."""
    for row in rows:
        move_rows.begin_leaving(connection, row.home)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    for row in rows:
        while move_rows.is_held(connection, row.home):
            if time.monotonic() > deadline:
                move_rows.take_lease(connection, row.home)
            time.sleep(_PAUSE_SECONDS)


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
            asyncio.run(write_memory_tree(made, SystemClock()))
            if folder.exists():
                folder.rmdir()
            made.path.replace(folder)
    except OSError as error:
        raise StoreError("files.unwritable", path=folder, reason=error) from error
    return MovedHome(row.home, count)


def move(store: HomeStore, to: HomeStore, names: Sequence[str]) -> list[MovedHome]:
    """Move homes to another cell, with the bots that speak for them, their chats and the mail that waits.

    Broken off anywhere, it is done by the same again: a home is put away here, copied there, deleted here, and only
    then may be opened there. Raises ConfigError and StoreError.
    """
    with store.connections.open_long() as here, to.connections.open_long() as there:
        if (cell := _identify(here)) == _identify(there):
            raise ConfigError("host.same_cell")
        rows = [_require(store, here, name) for name in names if not _has_left(here, there, name)]
        bots: list[str] = []
        if rows:
            _require_movable(here, rows)
            _take_from_worker(here, rows)
            with here.transaction():
                rows = [_lock(here, row.name) for row in rows]
                with there.transaction():
                    bots = _copy_homes(cell, here, there, rows)
                for row in rows:
                    home_rows.delete_home(here, row.home)
                    move_rows.note_departure(here, row.name, _identify(there))
        moved = []
        for name in names:
            arrived = _require(to, there, name)
            if arrived.origin == cell:
                move_rows.settle(there, arrived.home)
            files = len(file_rows.list_files(there, arrived.home))
            moved.append(MovedHome(arrived.home, files, bots=tuple(bots)))
        for name in names:
            move_rows.forget_departure(here, name)
    return moved


def cancel_move(store: HomeStore, to: HomeStore, name: str) -> bool:
    """Have a home that moves away stay, with its bots; return whether what is of it there could be removed.

    Raises ConfigError where it does not move away, and StoreError.
    """
    with store.connections.open_long() as here:
        row = _require(store, here, name)
        if row.is_here:
            raise ConfigError("host.not_leaving", name=name)
        _require_not_arriving(row)
        cell = _identify(here)
        try:
            with to.connections.open_long() as there, there.transaction():
                arrived = home_rows.find_home(there, name)
                if arrived is not None and arrived.origin == cell:
                    home_rows.delete_home(there, arrived.home)
            is_removed = True
        except StoreError:
            is_removed = False
        move_rows.settle(here, row.home)
    return is_removed


def _has_left(here: TimedConnection, there: TimedConnection, name: str) -> bool:
    """Return whether a home has left for there already, where it only has to be told so."""
    return home_rows.find_home(here, name) is None and move_rows.find_departure(here, name) == _identify(there)


def _lock(here: TimedConnection, name: str) -> HomeRow:
    """Load a home that leaves; nobody else moves it, or has it stay, until the transaction ends. Raises ConfigError."""
    row = home_rows.find_home(here, name, is_locked=True)
    if row is None or row.is_here:
        raise ConfigError("host.not_leaving", name=name)
    return row


def _require_movable(here: TimedConnection, rows: Sequence[HomeRow]) -> None:
    """Raise ConfigError for a home that arrives, or whose bot speaks for others: a bot is in one cell alone."""
    for row in rows:
        _require_not_arriving(row)
    for shared in move_rows.list_shared_bots(here, [row.home for row in rows]):
        raise ConfigError("host.bot_shared", bot=shared.bot, names=" ".join(shared.others))


def _require_not_arriving(row: HomeRow) -> None:
    if row.origin is not None:
        raise ConfigError("host.is_arriving", name=row.name)


def _copy_homes(cell: str, here: TimedConnection, there: TimedConnection, rows: Sequence[HomeRow]) -> list[str]:
    """Copy homes, which are not there yet for anybody; return the bots that went with them."""
    numbers = {}
    for row in rows:
        arrived = home_rows.find_home(there, row.name)
        if arrived is not None and arrived.origin != cell:
            raise ConfigError("host.taken", name=row.name)
        if arrived is not None:  # of an attempt that was broken off
            home_rows.delete_home(there, arrived.home)
        numbers[row.home] = _copy_home(cell, here, there, row)
    bots = move_rows.list_own_bots(here, list(numbers))
    try:
        move_rows.copy_bots(here, there, bots, numbers)
    except UniqueViolation:
        raise ConfigError("host.bot_there", bots=" ".join(bots)) from None
    return bots


def _copy_home(cell: str, here: TimedConnection, there: TimedConnection, row: HomeRow) -> int:
    number = home_rows.insert_home(there, row.name, row.schema, row.sequences, row.version, origin=cell)
    assert number is not None
    for table in describe_tables(row.schema):
        home_rows.copy_in(there, number, table, home_rows.copy_out(here, row.home, table))
    for files in _batches(file_rows.load_files(here, row.home, file_rows.list_files(here, row.home))):
        file_rows.save_files(there, number, row.version, files)
    return number


def _identify(connection: TimedConnection) -> str:
    """Tell a cell from every other one: by its server's files and its database."""
    row = connection.execute(
        "SELECT concat_ws('/', system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database())) "
        "FROM pg_control_system()"
    ).fetchone()
    assert row is not None
    return str(row[0])


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
