"""A home of each earlier schema opens: it is migrated, answers, recalls, and its doctor finds nothing."""

import json
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot.core.settings.home import Home
from kenobot.ports.clock import SystemClock
from kenobot.storage import migrate
from kenobot.storage.connection import connect
from kenobot_testing.clock import EagerClock
from tests.earlier.__main__ import HOMES, LATER, TALK, WAITING
from tests.scene import Scene

pytestmark = pytest.mark.long

_BEFORE_RELEASES = 21  # schemas that came one by one
EARLIER = [int(path.name[:4]) for path in sorted(HOMES.glob("*.tar.xz"))]
ASKED = {
    "Where do I live?": "Valencia",
    "Who is my dentist?": "Ruiz",
    "¿A qué soy alérgica?": "nueces",
    "Where is the spare key?": "blue pot",
}

Cli = Callable[..., tuple[int, str]]


@pytest.fixture(params=EARLIER, ids="schema-{:04d}".format)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """A home as the code of its time left it, killed while a message waited."""
    with tarfile.open(HOMES / f"{request.param:04d}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    opened = Home(tmp_path / "home")
    with closing(sqlite3.connect(opened.database)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (request.param,)
    opened.path.chmod(0o700)
    return opened


@pytest.fixture
def cli(home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("KENOBOT_HOME", str(home.path))
    monkeypatch.setenv("KENOBOT_MEMORY__EMBEDDER", "none")

    clock = SystemClock(_soon_after(home))

    def call(*words: str) -> tuple[int, str]:
        code = main(words, clock)
        said = capsys.readouterr()
        return code, said.out + said.err

    return call


def test_there_is_a_home_of_each_schema() -> None:
    """A release makes one of its own when its schema is left: `python -m tests.earlier NUMBER`."""
    assert EARLIER[:_BEFORE_RELEASES] == list(range(1, _BEFORE_RELEASES + 1))


def test_it_answers_from_what_was_said_and_its_doctor_finds_nothing(home: Home, cli: Cli) -> None:
    """The message that waited is answered once, and remembered; what was said before is found again."""
    code, said = cli("chat", "-m", "Hello again.")
    assert code == 0, said
    for question, answer in ASKED.items():
        code, said = cli("chat", "-m", question)
        assert code == 0, said
        assert answer in said, (question, said)
    with closing(connect(home.database, readonly=True)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (migrate.migrations()[-1][0],)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        states = connection.execute("SELECT state FROM inbox WHERE text = ?", (WAITING,)).fetchall()
        assert states == [("answered",)]
        told = [row[0] for row in connection.execute("SELECT text FROM message WHERE role = 'user' ORDER BY id")]
    assert told[: len(TALK) + len(LATER) + 1] == [*TALK, *LATER, WAITING]
    assert "7:40" in cli("chat", "-m", "When does the train to Madrid leave?")[1]
    _, said = cli("doctor", "--offline", "--json")
    found = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    own = {"backups", "rights", "running"}  # of this machine, and of a home without a bot or a backup
    assert [row for row in found if row["severity"] != "ok" and row["check"] not in own] == []
    assert {"database", "index", "files", "messages"} <= {row["check"] for row in found if row["severity"] == "ok"}


def _soon_after(home: Home) -> datetime:
    """Return a moment an hour after a home was killed, whatever the machine's clock shows."""
    with closing(sqlite3.connect(home.database)) as connection:
        killed: str = connection.execute("SELECT max(received_at) FROM inbox").fetchone()[0]
    return datetime.fromisoformat(killed) + timedelta(hours=1)


async def test_its_files_and_its_database_agree(home: Home, tmp_path: Path) -> None:
    """A start with all of its work takes nothing in the Markdown for an edit, and the files say what is remembered."""
    async with Scene(tmp_path, ["Understood."], clock=EagerClock(_soon_after(home))) as scene:
        assert scene.home == home
        scene.channel.number = 100_000
        assert await scene.say("Do you remember me?") == "Understood."
        edits = await scene.rows("SELECT count(*) FROM event WHERE actor = 'owner' AND type = 'edited'")
        assert edits == [(0,)]
        texts = await scene.rows(
            "SELECT text FROM record WHERE status = 'active' AND form = 'note' AND scope = 'owner'"
        )
        written = "\n".join(path.read_text("utf-8") for path in home.memory.rglob("*.md"))
        assert len(texts) >= len(ASKED)
        assert all(str(text) in written for (text,) in texts)


def test_a_home_of_a_newer_version_is_refused_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing in it is changed: not even the log beside the database."""
    with tarfile.open(HOMES / f"{EARLIER[-1]:04d}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    home = Home(tmp_path / "home")
    home.path.chmod(0o700)
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute(f"PRAGMA user_version = {migrate.migrations()[-1][0] + 1}")
    before = home.database.read_bytes()
    monkeypatch.setenv("KENOBOT_HOME", str(home.path))
    for words in (("chat", "-m", "Hello"), ("run",), ("memory", "remember", "More"), ("doctor", "--offline")):
        code = main(words)
        said = capsys.readouterr()
        assert code != 0, words
        assert "Traceback" not in said.out + said.err
    assert main(("chat", "-m", "Hello")) == 78
    assert "was written by a newer KenoBot" in capsys.readouterr().err
    assert home.database.read_bytes() == before
