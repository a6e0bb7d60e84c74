"""Read and write a home's rows in PostgreSQL: its tables as SQLite has them, each led by the number of the home.

Columns are always named: a statement that was prepared before another worker added one goes on with those it knows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier, Placeholder
from psycopg.types.json import Jsonb

from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.storage.capture import SqlValue
from kenobot_host import move_rows
from kenobot_host.activation_rows import lock_of, timer_of
from kenobot_host.schema_rows import ROWS
from kenobot_host.tables import Row, Table

_TYPES = {"bigint": "int8", "text": "text", "double precision": "float8", "bytea": "bytea"}
_ARRAYS = {"bigint": "int8[]", "text": "text[]", "double precision": "float8[]", "bytea": "bytea[]"}


class Holder(Protocol):
    """The job that holds a home, by the columns of its row which together say so."""

    @property
    def home(self) -> int: ...
    @property
    def job(self) -> int: ...
    @property
    def worker(self) -> int: ...
    @property
    def attempts(self) -> int: ...


@dataclass(frozen=True, slots=True)
class HomeRow:
    """A home. schema: migrations that its rows have had. version: of its last commit.

    is_here: it is not on its way. origin: the cell from which it is arriving; None for one that is here, or leaves.
    """

    home: int
    name: str
    schema: int
    version: int
    sequences: Mapping[str, int]
    is_here: bool
    origin: str | None


_HOME = "SELECT home, name, schema, version, sequences, is_here, origin FROM kenobot.home WHERE "


def find_home(connection: Connection, name: str, *, is_locked: bool = False) -> HomeRow | None:
    """Find a home by its name. is_locked: nobody else changes it until the transaction ends."""
    row = connection.execute(_HOME + "name = %s" + (" FOR UPDATE" if is_locked else ""), (name,)).fetchone()
    return None if row is None else HomeRow(*row)


def load_home(connection: Connection, home: int) -> HomeRow | None:
    """Load the row of a home."""
    row = connection.execute(_HOME + "home = %s", (home,)).fetchone()
    return None if row is None else HomeRow(*row)


def insert_home(
    connection: Connection,
    name: str,
    schema: int,
    sequences: Mapping[str, int],
    version: int = 1,
    *,
    origin: str | None = None,
) -> int | None:
    """Add a home without rows, unfinished: it is opened once a bot speaks for it, and finds its reminders.

    origin: from where it arrives; then it is not here yet. Returns its number, None when its name is taken.
    """
    row = connection.execute(
        "INSERT INTO kenobot.home (name, schema, version, sequences, is_here, origin) "
        "VALUES (%s, %s, %s, %s, %s::text IS NULL, %s) ON CONFLICT (name) DO NOTHING RETURNING home",
        (name, schema, version, Jsonb(dict(sequences)), origin, origin),
    ).fetchone()
    if row is None:
        return None
    connection.execute("INSERT INTO kenobot.activity (home, is_unfinished) VALUES (%s, true)", row)
    return int(row[0])


def count_mail(connection: Connection, home: int) -> int:
    """Count the messages to a home that its bot has not stored yet; none come in until the transaction ends."""
    connection.execute("SELECT 1 FROM kenobot.home WHERE home = %s FOR UPDATE", (home,))
    row = connection.execute("SELECT count(*) FROM kenobot.mail WHERE home = %s", (home,)).fetchone()
    assert row is not None
    return int(row[0])


@dataclass(frozen=True, slots=True)
class HomeState:
    """A home as `kenobot host status` shows it. changed: its last commit. worker: who holds it, None for nobody.

    is_arriving: of one that is not here, whether it comes from another cell.
    """

    name: str
    home: int
    version: int
    schema: int
    changed: datetime
    is_here: bool
    is_arriving: bool
    worker: int | None
    file_bytes: int


def describe_homes(connection: Connection, name: str | None) -> list[HomeState]:
    """Describe all homes by name, or one."""
    rows = connection.execute(
        "SELECT name, home, version, schema, changed, is_here, origin IS NOT NULL, "
        "(SELECT worker_id FROM procrastinate_jobs AS job "
        "WHERE job.status = 'doing' AND job.task_name = 'activate' AND job.args->>'home' = home.home::text LIMIT 1), "
        "(SELECT coalesce(sum(length(content)), 0) FROM kenobot.file WHERE file.home = home.home)::bigint "
        "FROM kenobot.home AS home WHERE %(name)s::text IS NULL OR name = %(name)s ORDER BY name",
        {"name": name},
    ).fetchall()
    return [HomeState(*row) for row in rows]


def delete_home(connection: Connection, home: int) -> None:
    """Delete a home with all its rows, and the bots that speak for no other. Its holder commits nothing any more."""
    connection.execute("SELECT 1 FROM kenobot.home WHERE home = %s FOR UPDATE", (home,))  # waits for a commit
    delete_rows(connection, home)
    connection.execute("DELETE FROM kenobot.bot WHERE bot = ANY(%s)", (move_rows.list_own_bots(connection, [home]),))
    connection.execute("DELETE FROM kenobot.home WHERE home = %s", (home,))
    connection.execute(
        "SELECT procrastinate_cancel_job_v1(id, false, true) FROM procrastinate_jobs "
        "WHERE queueing_lock = ANY(%s) AND status = 'todo'",
        ([lock_of(home), timer_of(home)],),
    )


def delete_rows(connection: Connection, home: int) -> None:
    """Delete the rows of a home from every table, also those of other versions."""
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", (ROWS,)).fetchall()
    for (name,) in rows:
        connection.execute(SQL("DELETE FROM {} WHERE home = %s").format(Identifier(ROWS, name)), (home,))


# ── whole tables ─────────────────────────────────────────────────────────────────────────────────────────────────


def copy_in(connection: Connection, home: int, table: Table, rows: Iterable[Row]) -> int:
    """Add rows of a home; returns how many. Raises StoreError for a value that a column does not take."""
    count = 0
    columns = _list(("home", *table.names))
    with (
        connection.cursor() as cursor,
        cursor.copy(SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(_name(table), columns)) as copy,
    ):
        copy.set_types(["int8", *(_TYPES[column.type] for column in table.columns)])
        for row in rows:
            _check(table, row)
            copy.write_row((home, *row))
            count += 1
    return count


def copy_out(connection: Connection, home: int, table: Table) -> Iterator[Row]:
    """Iterate over the rows of a home in the order of their key."""
    statement = SQL("COPY (SELECT {} FROM {} WHERE home = %s ORDER BY {}) TO STDOUT (FORMAT BINARY)").format(
        _list(table.names), _name(table), _list(table.key)
    )
    with connection.cursor() as cursor, cursor.copy(statement, (home,)) as copy:
        copy.set_types([_TYPES[column.type] for column in table.columns])
        yield from copy.rows()


# ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────


def begin_push(connection: Connection, held: Holder, version: int, sequences: Mapping[str, int]) -> None:
    """Send the fence, which locks the row of the job and moves the home's version on by one."""
    connection.execute(
        "SELECT kenobot.begin_push(%s, %s, %s, %s, %s, %s)",
        (held.home, version, Jsonb(dict(sequences)), held.job, held.worker, held.attempts),
    )


def settle_push(connection: Connection, held: Holder, version: int) -> int:
    """Find out whether a commit upon `version` happened, and see to it that it never does otherwise.

    Returns the version of the home now: one more than before when it happened, two more when not.
    """
    row = connection.execute(
        "SELECT kenobot.settle_push(%s, %s, %s, %s, %s)", (held.home, version, held.job, held.worker, held.attempts)
    ).fetchone()
    assert row is not None
    return int(row[0])


def set_schema(connection: Connection, home: int, schema: int) -> None:
    """Note how many migrations the rows of a home have had."""
    connection.execute("UPDATE kenobot.home SET schema = %s WHERE home = %s", (schema, home))


def upsert(connection: Connection, home: int, table: Table, rows: Sequence[Row]) -> None:
    """Put rows into the places of those with the same keys. Raises StoreError for a value that a column refuses."""
    for row in rows:
        _check(table, row)
    others = [name for name in table.names if name not in table.key]
    settled: Composable = SQL("DO NOTHING")
    if others:
        changes = SQL(", ").join(SQL("{0} = excluded.{0}").format(Identifier(name)) for name in others)
        settled = SQL("DO UPDATE SET {}").format(changes)
    arrays = SQL(", ").join(SQL("%s::{}").format(SQL(_ARRAYS[column.type])) for column in table.columns)
    names = _list(table.names)
    statement = SQL(
        "INSERT INTO {} (home, {}) SELECT %s, {} FROM unnest({}) AS given ({}) ON CONFLICT (home, {}) {}"
    ).format(_name(table), names, names, arrays, names, _list(table.key), settled)
    connection.execute(statement, (home, *map(list, zip(*rows, strict=True))))


def delete(connection: Connection, home: int, table: Table, keys: Sequence[tuple[SqlValue, ...]]) -> None:
    """Delete the rows of a home with these keys."""
    types = {column.name: column.type for column in table.columns}
    arrays = SQL(", ").join(SQL("%s::{}").format(SQL(_ARRAYS[types[name]])) for name in table.key)
    matches = SQL(" AND ").join(SQL("held.{0} = given.{0}").format(Identifier(name)) for name in table.key)
    statement = SQL("DELETE FROM {} AS held USING unnest({}) AS given ({}) WHERE held.home = {} AND {}").format(
        _name(table), arrays, _list(table.key), Placeholder(), matches
    )
    connection.execute(statement, (*map(list, zip(*keys, strict=True)), home))


def _check(table: Table, row: Row) -> None:
    for column, value in zip(table.columns, row, strict=True):
        if not column.takes(value):
            raise StoreError("host.odd_value", table=table.name, column=column.name)


def _name(table: Table) -> Identifier:
    return Identifier(ROWS, table.name)


def _list(names: Iterable[str]) -> Composable:
    return SQL(", ").join(map(Identifier, names))
