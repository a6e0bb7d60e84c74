"""Create the tables of a cell in PostgreSQL and bring them up to date, while workers of the version before go on.

Three sources: our own migrations, the tables of homes as SQLite's schema has them, and Procrastinate's. A table of
homes only ever gains columns: a worker of the version before writes on without them, and they have their defaults.
"""

import contextlib
import time
from collections.abc import Iterable
from importlib import resources

from psycopg import Connection, errors
from psycopg.sql import SQL, Composable, Identifier, Literal

from kenobot.ports.errors import ConfigError
from kenobot_host.tables import Column, Table, describe_tables, newest_schema

ROWS = "kenobot_home"
"""The schema of PostgreSQL that has a table for each of a home's."""

_LOCK = 0x6B656E6F  # "keno": of advisory locks, one upgrade at a time
_OWN, _HOMES, _ENGINE = "kenobot-host", "homes", "procrastinate"
_LOCK_MILLISECONDS = 500  # less than the second after which PostgreSQL breaks one of two that wait for each other
_TRIES, _PAUSE_SECONDS = 60, 0.5
_AFTER = 50  # Procrastinate numbers its migrations: from this number on, for when no older worker runs
_BEGIN = """
CREATE SCHEMA IF NOT EXISTS kenobot;
CREATE SCHEMA IF NOT EXISTS kenobot_home;
CREATE TABLE IF NOT EXISTS kenobot.migration (
  source text COLLATE "C", name text COLLATE "C", at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (source, name)
);
"""


def upgrade_schema(connection: Connection, *, finish: bool = False) -> list[str]:
    """Create or upgrade all tables, in one transaction; returns the migrations that were made.

    It waits for no table longer than a moment, for what comes behind it would wait as well; it begins again instead.
    finish: no worker of the version before runs any more, and what only it needs may go.
    """
    for _ in range(_TRIES):
        with contextlib.suppress(errors.LockNotAvailable):
            return _upgrade(connection, finish)
        time.sleep(_PAUSE_SECONDS)
    return _upgrade(connection, finish)


def _upgrade(connection: Connection, finish: bool) -> list[str]:
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute(f"SET LOCAL lock_timeout = {_LOCK_MILLISECONDS}")
        connection.execute(_BEGIN)
        done = _read_done(connection)
        made = _upgrade_engine(connection, done, finish)  # first: functions of ours read its tables
        for name, script in _own_migrations():
            if (_OWN, name) not in done:
                connection.execute(script)
                made.append((_OWN, name))
        if (homes := (_HOMES, f"{newest_schema():04d}")) not in done:
            for table in describe_tables(newest_schema()):
                _make_table(connection, table)
            made.append(homes)
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO kenobot.migration (source, name) VALUES (%s, %s)", made)
    return [" ".join(each) for each in made]


def check_schema(connection: Connection) -> None:
    """Raise ConfigError unless the tables are there and as new as this KenoBot; newer ones do."""
    try:
        done = _read_done(connection)
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        raise ConfigError("host.no_schema") from None
    wanted = {(_OWN, name) for name, _ in _own_migrations()} | {(_HOMES, f"{newest_schema():04d}")}
    wanted |= {(_ENGINE, name) for name, _ in _engine_migrations() if _number(name) < _AFTER}
    if not wanted <= done:
        raise ConfigError("host.older_schema")


def list_unfinished(connection: Connection) -> list[str]:
    """List the migrations that wait until no worker of the version before runs."""
    done = _read_done(connection)
    return [name for name, _ in _engine_migrations() if (_ENGINE, name) not in done]


def _read_done(connection: Connection) -> set[tuple[str, str]]:
    rows = connection.execute("SELECT source, name FROM kenobot.migration").fetchall()
    return {(source, name) for source, name in rows}


def _own_migrations() -> list[tuple[str, str]]:
    return _list_scripts("kenobot_host", "migrations")


def _engine_migrations() -> list[tuple[str, str]]:
    return _list_scripts("procrastinate", "sql", "migrations")


def _list_scripts(package: str, *folders: str) -> list[tuple[str, str]]:
    folder = resources.files(package).joinpath(*folders)
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [(name, (folder / name).read_text("utf-8")) for name in names]


def _number(name: str) -> int:
    """Return the number of a migration of Procrastinate within its version: of 03.04.00_50_post_some_name.sql, 50."""
    return int(name.split("_")[1])


def _upgrade_engine(connection: Connection, done: set[tuple[str, str]], finish: bool) -> list[tuple[str, str]]:
    """Bring Procrastinate's tables up to date: whole where there are none, else by its migrations."""
    scripts = _engine_migrations()
    if not any(source == _ENGINE for source, _ in done):
        row = connection.execute("SELECT to_regclass('procrastinate_jobs') IS NULL").fetchone()
        assert row is not None
        if not row[0]:  # somebody's own, of a version that nothing tells
            raise ConfigError("host.foreign_engine")
        whole = resources.files("procrastinate").joinpath("sql", "schema.sql").read_text("utf-8")
        connection.execute(whole)
        return [(_ENGINE, name) for name, _ in scripts]
    made = []
    for name, script in scripts:
        if (_ENGINE, name) not in done and (finish or _number(name) < _AFTER):
            connection.execute(script)
            made.append((_ENGINE, name))
    return made


def _make_table(connection: Connection, table: Table) -> None:
    """Create a table of homes, or add the columns that it lacks. What keeps its rows right is SQLite's schema."""
    name = Identifier(ROWS, table.name)
    key = SQL(", ").join(Identifier(column) for column in ("home", *table.key))
    asked = "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
    found: dict[str, str] = dict(connection.execute(asked, (ROWS, table.name)).fetchall())
    if not found:
        columns: Iterable[Composable] = (_define(column) for column in table.columns)
        connection.execute(
            SQL("CREATE TABLE {} (home bigint NOT NULL, {}, PRIMARY KEY ({}))").format(
                name, SQL(", ").join(columns), key
            )
        )
    for column in table.columns if found else ():
        if column.name not in found:
            connection.execute(SQL("ALTER TABLE {} ADD COLUMN {}").format(name, _define(column)))
        elif found[column.name] != column.type:
            raise ConfigError("host.column_changed", table=table.name, column=column.name)


def _define(column: Column) -> Composable:
    collation = SQL(' COLLATE "C"') if column.type == "text" else SQL("")
    default = SQL("") if column.default is None else SQL(" DEFAULT {}").format(Literal(column.default))
    return SQL("{} {}{}{}").format(Identifier(column.name), SQL(column.type), collation, default)
