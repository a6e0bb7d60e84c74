"""`kenobot host doctor`: it finds what nobody works on, and says what to do."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from kenobot.core.settings.home import Home
from kenobot.storage.migrate import migrate
from kenobot_host.cell_address import VARIABLE
from kenobot_host.home_store import write_version
from kenobot_host.sealing import KEY_FILE
from tests.hosting.cell import Cell
from tests.hosting.homes import Run

_HELD = "INSERT INTO procrastinate_workers DEFAULT VALUES"


def _find(run: Run, *options: object) -> list[tuple[str, str]]:
    """The checks that found something, each with how grave it is."""
    rows = [json.loads(line) for line in run("host", "doctor", "--json", *options)[1].splitlines()]
    return [(row["check"], row["severity"]) for row in rows if row["severity"] != "ok"]


@pytest.fixture
def database(run: Run, tmp_path: Path) -> "psycopg.Connection[tuple[object, ...]]":
    """The database of a cell with a home, a bot, and a worker that lives; all its jobs are done."""
    home, token = Home(tmp_path / "one"), tmp_path / "token"
    home.prepare()
    migrate(home.database, home.backups)
    (home.credentials / "telegram_token").write_text("secret")
    token.write_text(f"123456789:{'A' * 35}")
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert run("host", "bot", "set", "ana", "--token-file", token)[0] == 0
    connection = psycopg.connect(os.environ[VARIABLE], autocommit=True)
    connection.execute(_HELD)
    connection.execute("DELETE FROM procrastinate_jobs")
    connection.execute("UPDATE kenobot.activity SET is_unfinished = false")
    return connection


_MAIL = """
INSERT INTO kenobot.mail (bot, update_id, home, chat, raw, came)
SELECT '123456789', 1, home, '1', '{}', now() - interval '10 min' FROM kenobot.home
"""
_DUE = "UPDATE kenobot.activity SET due = now() + interval '1 day'"
_JOB = """
WITH job AS (
  INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args, scheduled_at)
  VALUES ('%s', 'activate', 'home:1', 'home:1', '{"home": 1}', now() - interval '10 min') RETURNING id
) SELECT * FROM job
"""
_ABANDONED = """
INSERT INTO procrastinate_jobs (queue_name, task_name, lock, status) VALUES ('homes', 'activate', 'home:1', 'doing')
"""


@pytest.mark.parametrize(
    ("trouble", "found"),
    [
        ((), []),
        (("DELETE FROM procrastinate_workers",), [("workers", "error")]),
        ((_ABANDONED,), [("workers", "error")]),
        ((_MAIL,), [("mail", "error"), ("forgotten", "error")]),
        ((_JOB % "homes",), [("jobs", "error")]),
        ((_JOB % "homes 9000",), [("jobs", "error")]),
        ((_DUE,), [("forgotten", "error")]),
        (("UPDATE kenobot.activity SET is_unfinished = true",), [("forgotten", "error")]),
        (("UPDATE kenobot.home SET is_here = false",), [("moves", "warning")]),
        (("INSERT INTO kenobot.departure (name, cell) VALUES ('eva', 'x')",), [("moves", "warning")]),
        (("DELETE FROM kenobot.bot", _DUE), [("bots", "error")]),
        (("UPDATE kenobot.bot SET home = NULL",), [("bots", "warning")]),
        (("UPDATE kenobot.home SET schema = 9000",), [("tables", "warning")]),
        (("UPDATE kenobot.home SET schema = 20",), [("tables", "note")]),
        (("DELETE FROM kenobot.migration WHERE source = 'homes'",), [("tables", "error")]),
    ],
)
def test_each_trouble_is_found(
    run: Run,
    database: "psycopg.Connection[tuple[object, ...]]",
    tmp_path: Path,
    trouble: tuple[str, ...],
    found: list[tuple[str, str]],
) -> None:
    """A host that is well has none; any other exit code tells how bad it is."""
    for statement in trouble:
        database.execute(statement)
    assert _find(run, "--folder", tmp_path / "none") == found
    code, out, _ = run("host", "doctor", "--folder", tmp_path / "none")
    worst = max((["note", "warning", "error"].index(each) for _, each in found), default=0)
    assert code == (0, 3, 1)[worst]
    assert len(out.splitlines()) >= 1 + len(found)
    database.close()


def test_a_home_that_nothing_opens_is_opened(run: Run, database: "psycopg.Connection[tuple[object, ...]]") -> None:
    """By --fix alone."""
    database.execute(_DUE)
    assert run("host", "doctor")[0] == 1
    assert database.execute("SELECT 1 FROM procrastinate_jobs").fetchall() == []
    code, out, _ = run("host", "doctor", "--fix")
    assert (code, "+ The home ana is opened." in out) == (0, True)
    assert database.execute("SELECT queueing_lock, status FROM procrastinate_jobs").fetchall() == [("home:1", "todo")]
    database.close()


def test_a_key_that_opens_nothing_is_found(
    run: Run, database: "psycopg.Connection[tuple[object, ...]]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that is missing; the home and the bot are named."""
    assert run("host", "key", tmp_path / "other")[0] == 0
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "other"))
    assert "sealed: ana, 123456789" in run("host", "doctor")[1]
    monkeypatch.delenv(KEY_FILE)
    assert "KENOBOT_HOST_KEY_FILE" in run("host", "doctor")[1]
    database.close()


def test_a_copy_that_is_not_what_postgres_has_is_found(run: Run, cell: Cell, tmp_path: Path) -> None:
    """One that is equal or older is well; one that differs, or has what PostgreSQL has not, is not."""
    database = tmp_path / "new.db"
    migrate(database, tmp_path / "backups")
    home = cell.store.add("ana", database)
    cell.execute("DELETE FROM kenobot.activity")
    cell.execute(_HELD)
    copy = tmp_path / "copies" / str(home) / "kenobot.db"
    copy.parent.mkdir(parents=True)
    cell.store.load(home, copy)
    (copy.parent.parent / "77").mkdir()
    cell.store.load(home, copy.parent.parent / "77" / "kenobot.db")  # of a home that is gone

    def find() -> list[tuple[str, str]]:
        return _find(run, "--folder", tmp_path / "copies")

    assert find() == []
    cell.execute("INSERT INTO kenobot_home.author (home, inbox_id, account) VALUES (%s, 1, 'x')", home)
    assert find() == [("copies", "error")]
    assert "ana differs from PostgreSQL in author" in run("host", "doctor", "--folder", tmp_path / "copies")[1]
    cell.execute("UPDATE kenobot.home SET version = version + 1")
    assert find() == []
    with closing(sqlite3.connect(copy)) as connection:
        write_version(connection, 9)
    assert find() == [("copies", "error")]
    assert "commits were lost" in run("host", "doctor", "--folder", tmp_path / "copies")[1]
