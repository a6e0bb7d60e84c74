"""Backups made while a bot talks: each, put into another home, is a bot that goes on from some moment of that talk."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from kenobot.core.settings.home import Home
from kenobot.storage.backup.backups import BackupPlan, make_backup
from kenobot.storage.backup.restore import restore
from tests.scene import Scene

_AT = datetime(2026, 3, 30, 9, tzinfo=UTC)
_TURNS = 16
_STATE = """
SELECT (SELECT count(DISTINCT text) FROM record WHERE status = 'active' AND text LIKE 'The code of box%'),
       (SELECT count(*) FROM message WHERE role = 'user'),
       (SELECT count(*) FROM event WHERE actor = 'owner')
"""


async def _talk(scene: Scene) -> None:
    for number in range(_TURNS):
        await scene.say(f"Note {number}")


async def _back_up(home: Home, folder: Path, talk: "asyncio.Task[None]") -> list[Path]:
    archives = []
    while not talk.done():
        plan = BackupPlan(folder, keep=100)
        finished = await asyncio.to_thread(make_backup, home, plan, _AT, lambda done, whole: None)
        archives.append(finished.archive)
    return archives


async def _codes(folder: Path, archive: Path) -> int:
    """Restore a backup and start a bot there; returns how many codes it knows."""
    await asyncio.to_thread(restore, Home(folder / "home"), archive, None, _AT)
    async with Scene(folder, ["Hello."]) as again:
        codes, turns, edits = await again.app.database.read(lambda connection: connection.execute(_STATE).fetchone())
    assert edits == 0
    assert codes == turns
    return int(codes)


async def test_every_backup_of_a_bot_that_talks_is_a_whole_bot(tmp_path: Path) -> None:
    """Memory, its files and the conversation agree: the next start finds no edit of the owner's, and loses nothing."""
    replies = [f"Noted {n}.<memory>The code of box {n} is {n * 7 + 1000}.</memory>" for n in range(_TURNS)]
    async with Scene(tmp_path / "first", replies) as scene:
        talk = asyncio.create_task(_talk(scene))
        archives = await _back_up(scene.home, tmp_path / "backups", talk)
        await talk
    assert len(archives) > 1
    known = [await _codes(tmp_path / f"again-{n}", archive) for n, archive in enumerate((archives[0], archives[-1]))]
    assert known[0] <= known[1]
    assert known[1] > 0
