"""A home of one's own for each test, and the command line as a function."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot.core.settings.home import Home
from kenobot_testing.clock import ManualClock

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home that does not exist yet, in an environment without settings."""
    for name in list(os.environ):
        if name.startswith(("KENOBOT_", "TELEGRAM_", "ANTHROPIC_")) or name == "CREDENTIALS_DIRECTORY":
            monkeypatch.delenv(name)
    monkeypatch.setenv("KENOBOT_HOME", str(tmp_path / "home"))
    before = os.umask(0o022)
    yield Home(tmp_path / "home")
    os.umask(before)


@pytest.fixture
def cli(home: Home, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command at 14:30 on 14 February 2026; returns exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments, ManualClock())
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def database(made: Home) -> Iterator[sqlite3.Connection]:
    """A database with the shipped schema, in WAL mode and held open as the running bot holds it."""
    connection = sqlite3.connect(made.database, isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    yield connection
    connection.close()


@pytest.fixture
def by_words(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is found by words: what a model adds is tested where there is one."""
    monkeypatch.setenv("KENOBOT_MEMORY__EMBEDDER", "none")


@pytest.fixture
def made(home: Home, empty_database: bytes) -> Home:
    """A home with an empty memory."""
    home.prepare()
    home.database.write_bytes(empty_database)
    home.database.chmod(0o600)
    return home
