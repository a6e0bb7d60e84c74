"""What takes the room of a home."""

import random
import shutil
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
import pytest_asyncio

from kenobot.core.settings.home import Home
from kenobot.storage.connection import connect
from kenobot.storage.room import RoomPart, room_by_part
from tests.scene import Scene

_ANSWER = 4000  # characters
_COUNT = 40
_SYLLABLES = "ba cam de fun go lim nor pes ra sil tu ven".split()
_WORDS = ["".join(each) for each in product(_SYLLABLES, repeat=3)]


def _answers(count: int) -> list[str]:
    rng = random.Random(5)
    return [" ".join(rng.choices(_WORDS, k=_ANSWER))[:_ANSWER] for _ in range(count)]


async def _talk(folder: Path, count: int) -> Home:
    async with Scene(folder, _answers(count)) as scene:
        for number in range(count):
            await scene.say(f"{number}!")  # nothing said before is quoted beside it
        await scene.app.indexer.index_all()
    return scene.home


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a home with forty answers of 4 kB, closed."""
    return (await _talk(tmp_path_factory.mktemp("talked"), _COUNT)).path


@pytest.fixture
def home(talked: Path, tmp_path: Path) -> Home:
    """A copy of it for each test."""
    return Home(shutil.copytree(talked, tmp_path / "home"))


def _room(home: Home, *, dbstat: bool = True) -> dict[RoomPart, int]:
    def rule(action: int, table: str | None, *_: object) -> int:
        return sqlite3.SQLITE_DENY if table == "dbstat" else sqlite3.SQLITE_OK

    with closing(connect(home.database, readonly=True)) as connection:
        if not dbstat:
            connection.set_authorizer(rule)
        return room_by_part(home, connection)


@pytest.mark.parametrize("dbstat", [True, False])
async def test_the_parts_are_all_of_the_home(home: Home, *, dbstat: bool) -> None:
    """Every byte on disk counts once, also where SQLite cannot tell the size of a table."""
    (home.backups / "kenobot-before-0009.db").write_bytes(b"b" * 1000)
    (home.memory / "MEMORY.md").write_bytes(b"m" * 2000)
    (home.path / "console_history").write_bytes(b"h" * 3000)
    for number, folder in enumerate((home.media, home.cache / "models", home.path / "replaced-2026"), 4):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "one").write_bytes(b"o" * number * 1000)
    before = _room(home, dbstat=dbstat)
    assert sum(before.values()) == sum(path.stat().st_size for path in home.path.rglob("*") if path.is_file())
    assert (before["backups"], before["other"] >= 3000, before["files"] >= 2000) == (1000, True, True)
    assert (before["media"], before["cache"] >= 5000, before["replaced_by_restore"]) == (4000, True, 6000)


@pytest.mark.parametrize("dbstat", [True, False])
async def test_a_conversation_is_told_from_memory_mail_and_index(home: Home, *, dbstat: bool) -> None:
    """Answers take their own room in the conversation, and hardly any elsewhere."""
    room = _room(home, dbstat=dbstat)
    text = _COUNT * _ANSWER
    assert text < room["conversation"] < 2 * text
    assert room["inbox_and_outbox"] < text
    assert room["signals"] > 0
    assert room["search_index"] > 0


async def test_dropped_rows_are_told_as_free_space(home: Home) -> None:
    """Until new ones take it."""
    before = _room(home)["free_space"]
    with closing(connect(home.database)) as connection:
        connection.execute("DELETE FROM message")
    assert _room(home)["free_space"] - before > _COUNT * _ANSWER / 2


async def test_a_home_without_a_search_index_is_measured(home: Home) -> None:
    """A damaged one counts by its size."""
    for path in home.path.glob("index.db*"):
        path.unlink()
    assert _room(home)["search_index"] == 0
    home.index.write_bytes(b"no database" * 1000)
    assert _room(home)["search_index"] == 11_000


async def test_an_answer_takes_less_than_three_times_its_text(tmp_path: Path) -> None:
    """Conversation, mail, signals and the words of the search index together; what is free is for the next ones."""
    sizes = {}
    for count in (20, 60):
        home = await _talk(tmp_path / str(count), count)
        room = _room(home)
        sizes[count] = sum(room.values()) - room["free_space"]
    assert sizes[60] - sizes[20] < 3 * 40 * _ANSWER
