"""A large edit of a memory file, as the owner of a running bot meets it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.policy import DEFAULT
from kenobot.storage.database import Database
from tests.scene import Scene

_MANY = DEFAULT.files.large_from + 50
_NOTES = "".join(f"- note{number} about thing{number}\n" for number in range(_MANY))


@pytest.mark.parametrize(
    ("words", "begun", "done"),
    [
        ("Good morning, how are you?", "I am reading a large edit", "I have read the large edit"),
        ("Buenos días, ¿qué tal estás?", "Estoy leyendo una edición grande", "Ya he leído"),
    ],
)
async def test_the_owner_is_told_of_a_large_edit_and_when_it_is_taken_in(
    tmp_path: Path, words: str, begun: str, done: str
) -> None:
    """In their language, with the file's name; meanwhile they are answered."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say(words)
        (scene.home.memory / "MEMORY.md").write_text(_NOTES)
        await scene.say(words)
        await scene.app.memory_files.sync_in()
        await scene.app.wait_drained()
        told = [text for text in scene.texts if "MEMORY.md" in text]
        assert [begun in told[0], done in told[1], len(told)] == [True, True, 2]
        assert scene.texts.count("Hm.") == 2
        assert await _known(scene) == _MANY


async def test_the_bot_is_ready_before_it_has_caught_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was edited while no bot ran is taken in in the background; a message is answered meanwhile."""
    go_on, real = asyncio.Event(), Database.write_in_steps

    async def held(database: Database, work: Any, size: int) -> Any:
        await go_on.wait()
        return await real(database, work, size)

    async def at_once(_: MemoryFiles) -> None:
        """Wait for nothing."""

    with monkeypatch.context() as patched:
        patched.setattr(MemoryFiles, "wait_caught_up", at_once)
        patched.setattr(Database, "write_in_steps", held)
        async with Scene(tmp_path, ["Hm."], files={"MEMORY.md": _NOTES}) as scene:
            await scene.put("hello")
            await scene.app.loop.wait_idle()
            await scene.app.delivery.queue.wait_idle()
            assert "Hm." in scene.texts
            assert await _known(scene) == 0
            patched.undo()
            go_on.set()
            await scene.app.wait_drained()
            assert await _known(scene) == _MANY


async def _known(scene: Scene) -> object:
    [(known,)] = await scene.rows("SELECT count(*) FROM record WHERE text LIKE 'note%'")
    return known
