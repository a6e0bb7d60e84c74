"""A home of one's own for each test, and the command line as a function."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot.core.settings.home import Home
from kenobot.storage.migrate import migrate
from kenobot.testing.clock import ManualClock

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
def database(home: Home) -> Iterator[sqlite3.Connection]:
    """A database with the shipped schema, in WAL mode and held open as the running bot holds it."""
    home.prepare()
    connection = sqlite3.connect(home.database, isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    migrations = resources.files("kenobot.storage").joinpath("migrations")
    for migration in sorted(migrations.iterdir(), key=lambda path: path.name):
        connection.executescript(migration.read_text("utf-8"))
        connection.execute(f"pragma user_version = {int(migration.name[:4])}")
    yield connection
    connection.close()


@pytest.fixture
def by_words(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is found by words: what a model adds is tested where there is one."""
    monkeypatch.setenv("KENOBOT_MEMORY__EMBEDDER", "none")


@pytest.fixture
def made(home: Home) -> Home:
    """A home with an empty memory."""
    home.prepare()
    migrate(home.database, home.backups)
    return home
