"""What is told in confidence stays marked, and nobody else gets it: not a guest, a group, a summary or an export."""

import json
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot_testing.clock import ManualClock
from tests.scene import Scene

GROUP = "-100123"
SECRET = "Between you and me, I am leaving the hospital in May"
MARK = "told in confidence"


async def test_a_guest_a_group_and_another_persons_chat_never_see_it(tmp_path: Path) -> None:
    """The owner's confidence is in no prompt but those of the owner's own private chats, where it is marked as one."""
    async with Scene(tmp_path, ["Hm."], extraction=True) as scene:
        await scene.say(SECRET)
        await _extract(scene)
        await scene.say("What about the hospital?", chat="2")
        await scene.say("What about the hospital?", chat=GROUP, user="2", private=False)
        await scene.say("What about the hospital?", chat=GROUP, user="1", private=False)
        assert not [prompt for prompt in scene.requests[1:] if "leaving" in prompt]
        await scene.say("What about the hospital?", chat="77", user="1")
        assert "leaving the hospital" in scene.requests[-1]
        assert MARK in scene.requests[-1]


async def test_a_memory_tag_and_a_command_keep_the_mark(tmp_path: Path) -> None:
    """However a confidence gets in, and whatever puts it right later, it is tagged as one."""
    replies = ["Sure. <memory>The owner is leaving the hospital in May</memory>", "Hm."]
    async with Scene(tmp_path, replies) as scene:
        await scene.say(SECRET)
        await scene.say("/remember don't tell anyone: the ring is in the drawer")
        rows = await scene.rows("SELECT tags FROM record WHERE form = 'note' ORDER BY id")
        assert [json.loads(str(tags)) for (tags,) in rows] == [["confided"], ["confided"]]


async def test_what_takes_the_place_of_a_confidence_is_one(tmp_path: Path) -> None:
    """A correction that says nothing of confidence inherits it from what it corrects."""
    async with Scene(tmp_path, ["Hm."], extraction=True) as scene:
        await scene.say("Between you and me, I earn 4,000 a month")
        await _extract(scene)
        await scene.say("I earn 4,400 a month now")
        await _extract(scene)
        rows = await scene.rows("SELECT text, tags FROM record WHERE status = 'active' AND text LIKE '%4,400%'")
        assert [json.loads(str(tags)) for _, tags in rows] == [["confided"]]


def test_an_export_tells_of_it_and_an_import_keeps_the_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mark goes out with the memory and comes in with it."""
    monkeypatch.setenv("KENOBOT_MEMORY__EMBEDDER", "none")
    out = str(tmp_path / "memory.jsonl")
    for home, *command in (("one", "remember", SECRET), ("one", "export", out), ("two", "import", out)):
        assert main(["memory", *command, "--home", str(tmp_path / home)], ManualClock()) == 0
    assert "1 of what it holds was told in confidence" in capsys.readouterr().out
    assert main(["memory", "list", "--json", "--home", str(tmp_path / "two")], ManualClock()) == 0
    assert json.loads(capsys.readouterr().out)["tags"] == ["confided"]


async def _extract(scene: Scene) -> None:
    scene.clock.advance(3600)  # type: ignore[attr-defined]
    await scene.app.background.extraction.tick()
    await scene.app.background.extraction.wait_idle()
