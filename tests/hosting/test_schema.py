"""The tables of a cell: made from SQLite's, beside Procrastinate's, and upgraded while older workers go on."""

import sqlite3
from importlib import resources

import psycopg
import pytest

from kenobot.ports.errors import ConfigError
from kenobot.storage import migrate
from kenobot.storage.capture import LOCAL_TABLES
from kenobot_host import tables
from kenobot_host.schema_rows import check_schema, list_unfinished, upgrade_schema
from kenobot_host.tables import describe_tables, newest_schema


def test_each_table_of_a_home_has_its_like(database_url: str) -> None:
    """With the same columns behind `home`, which leads the primary key, and texts compared byte by byte."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        upgrade_schema(connection)
        rows = connection.execute(
            "SELECT table_name, column_name, data_type, collation_name FROM information_schema.columns "
            "WHERE table_schema = 'kenobot_home' ORDER BY table_name, ordinal_position"
        ).fetchall()
        keys = connection.execute(
            "SELECT table_name, column_name FROM information_schema.key_column_usage "
            "WHERE table_schema = 'kenobot_home' ORDER BY table_name, ordinal_position"
        ).fetchall()
    wanted = describe_tables(newest_schema())
    assert [(table, column, kind) for table, column, kind, _ in rows] == [
        each
        for table in wanted
        for each in [(table.name, "home", "bigint"), *((table.name, c.name, c.type) for c in table.columns)]
    ]
    assert {collation for *_, kind, collation in rows if kind == "text"} == {"C"}
    assert keys == [(table.name, column) for table in wanted for column in ("home", *table.key)]


def test_what_is_made_anew_stays_in_the_copy() -> None:
    """The tables that are left out are there, and all others are kept."""
    connection = sqlite3.connect(":memory:")
    tables.build_schema(connection, newest_schema())
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert found - {"sqlite_sequence"} == LOCAL_TABLES | {table.name for table in describe_tables(newest_schema())}


def test_an_upgrade_happens_once(database_url: str) -> None:
    """A second one finds nothing to do; without a first one, a worker is told what to do."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        with pytest.raises(ConfigError, match="kenobot host upgrade"):
            check_schema(connection)
        assert "kenobot-host 0001_homes.sql" in upgrade_schema(connection)
        check_schema(connection)
        assert upgrade_schema(connection) == []


def test_a_new_column_has_its_default_in_older_rows(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a worker that does not know it writes on."""
    add = "INSERT INTO kenobot_home.author (home, inbox_id, account) VALUES (1, %s, 'x')"
    with psycopg.connect(database_url, autocommit=True) as connection:
        upgrade_schema(connection)
        connection.execute(add, (1,))
        newer = [*migrate.migrations(), (9999, "ALTER TABLE author ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';")]
        monkeypatch.setattr(tables, "migrations", lambda: newer)
        with pytest.raises(ConfigError, match="kenobot host upgrade"):
            check_schema(connection)
        assert upgrade_schema(connection) == ["homes 9999"]
        connection.execute(add, (2,))
        found = connection.execute("SELECT inbox_id, mood FROM kenobot_home.author ORDER BY inbox_id").fetchall()
    assert found == [(1, "calm"), (2, "calm")]


def test_the_engine_is_upgraded_in_two_steps(database_url: str) -> None:
    """What its older workers need goes only when they are said to be gone."""
    folder = resources.files("procrastinate").joinpath("sql", "migrations")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    before = [name for name in names if name < "03.04"]
    with psycopg.connect(database_url, autocommit=True) as connection:
        for name in before:
            connection.execute((folder / name).read_text())
        connection.execute("CREATE SCHEMA kenobot")
        connection.execute("CREATE TABLE kenobot.migration (source text, name text, at timestamptz DEFAULT now())")
        for name in before:
            connection.execute("INSERT INTO kenobot.migration VALUES ('procrastinate', %s)", (name,))
        upgrade_schema(connection)
        check_schema(connection)
        left = list_unfinished(connection)
        assert left == ["03.04.00_50_post_add_retry_failed_job_procedure.sql"]
        assert upgrade_schema(connection, finish=True) == [f"procrastinate {left[0]}"]
        assert list_unfinished(connection) == []


def test_tables_of_another_procrastinate_are_left_alone(database_url: str) -> None:
    """Nobody knows which version made them."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE procrastinate_jobs (id bigint)")
        with pytest.raises(ConfigError, match="another program"):
            upgrade_schema(connection)
