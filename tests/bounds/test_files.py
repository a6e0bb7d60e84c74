"""What is on disk stays small, but for what people mean to keep."""

import asyncio
import json
from pathlib import Path

from kenobot.channels.console import trim_history
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from tests.scene import Scene

_HOME = {"kenobot.db", "kenobot.db-wal", "kenobot.db-shm", "backups", "credentials", "memory"}


async def test_the_write_ahead_log_stays_small_under_readers(tmp_path: Path) -> None:
    """Thirty megabytes written while others read leave a log of a few, and a huge transaction's is cut back."""
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    log = tmp_path / "kenobot.db-wal"

    def put(connection: Connection, key: str, size: int) -> None:
        connection.execute("INSERT OR REPLACE INTO key_value VALUES (?, zeroblob(?))", (key, size))

    largest = 0
    for batch in range(30):
        writes = [database.write(lambda c, key=f"{batch}-{n}": put(c, key, 10_000)) for n in range(100)]  # type: ignore[misc]
        reads = [database.read(lambda c: c.execute("SELECT count(*) FROM key_value").fetchone()) for _ in range(5)]
        await asyncio.gather(*writes, *reads)
        largest = max(largest, log.stat().st_size)
    assert largest < 8_000_000

    await database.write(lambda c: put(c, "huge", 80_000_000))
    for number in range(3):
        await database.write(lambda c, key=f"after {number}": put(c, key, 1))  # type: ignore[misc]
    assert log.stat().st_size <= 4 * 1024 * 1024
    await database.close()
    assert not log.exists()


async def test_a_home_holds_nothing_else_that_grows(tmp_path: Path) -> None:
    """After a day's talk there are the database, the memory files and what was there before; no log, no archive."""
    async with Scene(tmp_path, ["Noted. <memory>Ana likes tea</memory>"]) as scene:
        for number in range(5):
            await scene.say(f"message {number}")
        assert {path.name for path in scene.home.path.iterdir()} == _HOME
        memory = {str(path.relative_to(scene.home.memory)) for path in scene.home.memory.rglob("*") if path.is_file()}
        shared = {name for name in memory if not name.startswith(("identity/", "facts/", "boxes/"))}
        assert shared == {"2026-02-14.md"}
        assert len(memory) - len(shared) <= 2 + 4, "a card of the fact and one of its box"
        assert list(scene.home.backups.iterdir()) == []


def test_the_history_of_the_console_is_shortened(tmp_path: Path) -> None:
    """Of a long one the later half stays, from the beginning of an entry; a short one is left alone."""
    history = tmp_path / "console_history"
    entries = [
        f"\n# 2026-02-14 14:30:{number % 60:02}.000000\n+{json.dumps('ñ' * 90)} {number}\n" for number in range(9000)
    ]
    history.write_text("".join(entries[:100]), "utf-8")
    trim_history(history)
    assert history.read_text("utf-8") == "".join(entries[:100])
    history.write_text("".join(entries), "utf-8")
    trim_history(history)
    assert 400_000 < history.stat().st_size <= 500_000
    kept = history.read_text("utf-8")
    assert kept.startswith("\n# ") and "".join(entries).endswith(kept)
