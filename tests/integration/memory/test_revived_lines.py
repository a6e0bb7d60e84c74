"""An older tree of memory's files is put back: what was forgotten since stays forgotten until its owner answers."""

import shutil
from pathlib import Path

import pytest

from tests.scene import Scene

LIVE = "SELECT text FROM record WHERE status = 'active' AND form = 'note' ORDER BY id"
KEPT = {"en": "the plant wants water", "es": "la planta quiere agua"}
WORDS = {
    "en": ("/remember the gym closes at ten", "/forget gym closes ten", "/revived", "remember", "forget",
           "are in my files again", "Remembered again", "they stay forgotten"),
    "es": ("/recuerda que el gimnasio cierra a las diez", "/olvida gimnasio cierra diez", "/revividos", "recuerda",
           "olvida", "vuelven a estar en mis archivos", "Lo vuelvo a recordar", "quedan olvidadas"),
}  # fmt: skip


async def looked(scene: Scene) -> list[str]:
    """What the owner is told after the bot has looked at all files."""
    before = len(scene.texts)
    await scene.app.memory_files.sync_in()
    await scene.app.memory_files.sync_out()
    await scene.app.background.missing_files.tick()
    await scene.app.wait_drained()
    return scene.texts[before:]


async def live(scene: Scene) -> list[str]:
    return [str(text) for (text,) in await scene.rows(LIVE)]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("replaced", [True, False])
async def test_an_older_tree_revives_nothing_unasked(
    tmp_path: Path, language: str, wanted: bool, replaced: bool
) -> None:
    """In place of the newer tree or laid over it; the owner is asked once, in their language, and one word answers."""
    remember, forget, ask, yes, no, told, back, left = WORDS[language]
    async with Scene(tmp_path, ["Hm."] * 4) as scene:
        await scene.say(remember)
        await scene.say(f"{remember.partition(' ')[0]} {KEPT[language]}")
        await looked(scene)
        shutil.copytree(scene.home.memory, tmp_path / "older")
        both = await live(scene)
        assert len(both) == 2
        await scene.say(forget)
        assert await looked(scene) == []
        assert len(await live(scene)) == 1
        await scene.clock.sleep(3 * 86_400)
        if replaced:
            for path in scene.home.memory.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(tmp_path / "older", scene.home.memory, dirs_exist_ok=True)
        [notice] = await looked(scene)
        assert told in notice and f"{ask} {yes}" in notice and f"{ask} {no}" in notice
        assert len(await live(scene)) == 1
        assert await looked(scene) == []
        files = [path.read_text("utf-8") for path in scene.home.memory.glob("*.md")]
        assert not any("gym" in text or "gimnasio" in text for text in files)
        assert both[0] in await scene.say(ask)
        assert (back if wanted else left) in await scene.say(f"{ask} {yes if wanted else no}")
        await looked(scene)
        assert sorted(await live(scene)) == sorted(both if wanted else both[1:])
        assert "gy" not in await scene.say(ask) and "gim" not in await scene.say(ask)


async def test_only_the_owner_answers(tmp_path: Path) -> None:
    """A guest's order goes to the model like any other message."""
    async with Scene(tmp_path, ["Hm."] * 3) as scene:
        await scene.say("/remember the gym closes at ten")
        await looked(scene)
        shutil.copytree(scene.home.memory, tmp_path / "older")
        await scene.say("/forget gym closes ten")
        await looked(scene)
        shutil.copytree(tmp_path / "older", scene.home.memory, dirs_exist_ok=True)
        await looked(scene)
        assert await scene.say("/revived remember", chat="7", user="7") == "Hm."
        assert await live(scene) == []
