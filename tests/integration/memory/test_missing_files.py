"""Files of memory that vanish all at once: nothing is forgotten in silence, the owner is told and says what it was."""

import re
import shutil
from pathlib import Path

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from tests.scene import Scene

LIVE = "SELECT count(*) FROM record WHERE status = 'active' AND form = 'note'"
PLANTS = {"en": "/remember the plant {} wants {} drops of it", "es": "/recuerda que la planta {} quiere {} gotas"}


async def settled(scene: Scene, count: int, language: str = "en") -> None:
    """A bot that remembers so many things, each with its card."""
    await scene.say(PLANTS[language].format(0, 0))
    rest = [PLANTS[language].partition(" ")[2].format(number, number * 7919) for number in range(1, count)]
    occasion = AdmitContext(scene.clock.now(), "2026-02-14", "owner")

    def learn(connection: Connection) -> None:
        for text in rest:
            admit(connection, Candidate("note", "owner", text, source="command"), occasion)

    await scene.app.database.write(learn)
    await scene.app.memory_files.sync_out()


async def looked(scene: Scene) -> list[str]:
    """What the owner is told after the bot has looked at its files and for what there is to tell."""
    before = len(scene.texts)
    await scene.app.memory_files.scan()
    await scene.app.memory_files.sync_in()
    await scene.app.background.missing_files.tick()
    await scene.app.wait_drained()
    return scene.texts[before:]


def cards(scene: Scene) -> list[Path]:
    return sorted((scene.home.memory / "facts").rglob("*.md"))


@pytest.mark.parametrize(
    ("language", "told", "order", "answer", "back"),
    [
        ("en", "12 memory files vanished at once", "/missing forget", "Forgotten: 12 memories", "/undo"),
        ("es", "Han desaparecido 12 archivos de memoria", "/perdidos olvida", "Olvidados: 12 recuerdos", "/deshacer"),
    ],
)
async def test_a_folder_that_vanished_is_told_and_forgotten_only_if_it_was_meant(
    tmp_path: Path, language: str, told: str, order: str, answer: str, back: str
) -> None:
    """It is written again; the owner hears of it once, may confirm with one word, and undo that with another."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await settled(scene, 12, language)
        before = {path: path.read_bytes() for path in cards(scene)}
        assert len(before) == 12
        shutil.rmtree(scene.home.memory / "facts")
        [notice] = await looked(scene)
        assert told in notice and order in notice
        assert await scene.rows(LIVE) == [(12,)]
        assert {path: path.read_bytes() for path in cards(scene)} == before
        assert await looked(scene) == [], "it is told once"
        shown = await scene.say(order.partition(" ")[0])
        assert "plant" in shown and order in shown
        assert (await scene.say(order)).startswith(answer)
        await looked(scene)
        assert await scene.rows(LIVE) == [(0,)]
        await scene.say(back)
        assert await scene.rows(LIVE) == [(12,)]
        assert order not in await scene.say(order.partition(" ")[0]), "the question is answered"


async def test_what_is_undone_is_forgotten_no_further(tmp_path: Path) -> None:
    """Much is forgotten in the background, so that nobody waits; an undo ends that and brings all of it back."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await settled(scene, 25)
        shutil.rmtree(scene.home.memory / "facts")
        await looked(scene)
        said = await scene.say("/missing forget")
        assert "25 memories" in said
        assert await scene.rows(LIVE) == [(25 - DEFAULT.control.max_forgotten_together,)]
        await scene.say(re.findall(r"/undo \d+", said)[0])
        await looked(scene)
        assert await scene.rows(LIVE) == [(25,)]
        assert await scene.rows("SELECT count(*) FROM hidden_turn") == [(0,)]


async def test_what_was_lost_while_no_bot_ran_is_told_at_the_next_start(tmp_path: Path) -> None:
    """The start looks at the files before anybody can be told; keeping it closes the question."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await settled(scene, 6)
    shutil.rmtree(scene.home.memory / "facts")
    async with Scene(tmp_path, ["Hm."]) as scene:
        scene.channel.number = 100
        await scene.app.background.missing_files.tick()
        await scene.app.wait_drained()
        assert "6 memory files vanished at once" in scene.texts[-1]
        assert await scene.say("/lost keep") == "Good, I keep all of it."
        assert "No memory files are missing" in await scene.say("/missing forget")
        assert await scene.rows(LIVE) == [(6,)]


async def test_a_large_file_that_is_empty_at_once_is_a_loss(tmp_path: Path) -> None:
    """A log cut to nothing is written again; a small one that its owner emptied is forgotten as before."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await settled(scene, 25)
        (log,) = scene.home.memory.glob("2*.md")
        text = log.read_text("utf-8")
        log.write_text("", "utf-8")
        assert await looked(scene) == [], "an editor may be about to write it"
        assert await scene.rows(LIVE) == [(25,)]
        await scene.clock.sleep(2)
        [notice] = await looked(scene)
        assert "25 memory files vanished at once (2026-02-14.md)" in notice
        assert log.read_text("utf-8") == text
        assert await scene.rows(LIVE) == [(25,)]


async def test_a_file_that_is_emptied_while_it_is_saved_is_none(tmp_path: Path) -> None:
    """What the editor writes a moment later counts, and nothing was forgotten or told meanwhile."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await settled(scene, 25)
        (log,) = scene.home.memory.glob("2*.md")
        text = log.read_text("utf-8")
        log.write_text("", "utf-8")
        assert await looked(scene) == []
        log.write_text(text.replace("plant 7 ", "fern 7 "), "utf-8")
        await scene.clock.sleep(2)
        assert await looked(scene) == []
        assert await scene.rows(LIVE) == [(25,)]
        assert "fern 7" in log.read_text("utf-8")


async def test_many_lines_taken_out_at_once_are_one_decision_and_told(tmp_path: Path) -> None:
    """They are forgotten, as their owner wished; if it was somebody else, one undo brings all of them back."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await settled(scene, 25)
        (log,) = scene.home.memory.glob("2*.md")
        entries = log.read_text("utf-8").split("\n## ")
        log.write_text("\n## ".join(entries[:3]) + "\n", "utf-8")
        [notice] = await looked(scene)
        assert "were deleted from my files at once" in notice
        [(left,)] = await scene.rows(LIVE)
        assert isinstance(left, int) and left <= 3
        await scene.say(re.findall(r"/undo \d+", notice)[0])
        assert await scene.rows(LIVE) == [(25,)]


async def test_some_of_very_many_cards_are_one_decision_and_told(tmp_path: Path) -> None:
    """Fewer than a fifth: a wish. It is one decision that one undo takes back."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await settled(scene, 110)
        for path in cards(scene)[:20]:
            path.unlink()
        [notice] = await looked(scene)
        assert "20 memories were deleted from my files at once" in notice
        assert await scene.rows(LIVE) == [(90,)]
        await scene.say(re.findall(r"/undo \d+", notice)[0])
        assert await scene.rows(LIVE) == [(110,)]


async def test_only_the_owner_decides_what_was_lost(tmp_path: Path) -> None:
    """A guest's order goes to the model like any other message."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await settled(scene, 6)
        shutil.rmtree(scene.home.memory / "facts")
        await looked(scene)
        assert await scene.say("/missing forget", chat="7", user="7") == "Hm."
        assert await scene.rows(LIVE) == [(6,)]
