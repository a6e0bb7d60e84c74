"""The owner decides by buttons below what the bot tells of its own accord, and below its lists."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.plan.changes import ProposeChange
from kenobot.gateway.access import Roster
from kenobot.ports.channel import Capabilities
from tests.scene import Scene


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with Scene(tmp_path, ["Hm."], roster=Roster.of(["1"])) as scene:
        scene.channel.capabilities = Capabilities(buttons=True, edits=True)
        await scene.say("hello there, how are you?")
        yield scene


async def _knock(scene: Scene, user: str = "5", name: str = "Mum") -> None:
    """A stranger writes in private; the owner hears of it last."""
    await scene.say("let me in please", chat=user, user=user, user_name=name)
    assert scene.channel.sent[-1].chat == "1"


async def test_a_stranger_is_let_in_by_two_presses(scene: Scene) -> None:
    """The name is theirs to choose, so the second question shows the account; then they are told, and answered."""
    await _knock(scene)
    sure = await scene.press("Let Mum in")
    assert "Mum (telegram `5`) chose that name" in sure
    assert not await scene.put("hi", chat="5", user="5")
    await scene.press("Yes, let them in")
    assert "Mum (telegram `5`) may talk to me now" in "\n".join(scene.texts[-2:])
    assert "we can talk now" in "\n".join(outbound.part.text for outbound in scene.channel.sent if outbound.chat == "5")
    assert await scene.say("hi", chat="5", user="5") == "Hm."


async def test_a_stranger_is_turned_away(scene: Scene) -> None:
    """Their code is void then, and the button that let them in is gone."""
    await _knock(scene)
    buttons = scene.buttons
    code = next(outbound.part.text for outbound in scene.channel.sent if outbound.chat == "5").split()[-6].strip(".")
    assert "stays out" in await scene.press("Not now")
    assert not await scene.put("", kind="action", target="1", value=buttons["Let Mum in"])
    assert "No code is valid" in await scene.say(f"/pair {code}")
    assert not await scene.put("hi", chat="5", user="5")


async def test_nobody_but_the_owner_lets_in(scene: Scene) -> None:
    """Not the stranger, who may know what is written on a button."""
    await _knock(scene)
    value = scene.buttons["Let Mum in"]
    assert not await scene.put("", chat="5", user="5", kind="action", target="1", value=value)
    assert not await scene.put("", chat="1", user="5", kind="action", target="1", value=value)


async def test_who_waits_is_let_in_from_the_list_as_well(scene: Scene) -> None:
    """Once the hour of the code is over nobody waits any more."""
    await _knock(scene)
    await scene.say("/people")
    assert list(scene.buttons) == ["Let Mum in"]
    scene.clock.advance(3601)  # type: ignore[attr-defined]
    assert "No code is valid now" in await scene.press("Let Mum in")


async def test_proposals_are_decided_one_after_the_other(scene: Scene) -> None:
    """The rest stays in the message, and an approval can be taken back from it."""
    for number in (1, 2):
        part = ProposeChange(f"k{number}", "rule", f"Rule {number}", f"Do {number}.", {"instruction": f"Do {number}."})
        await scene.app.database.write(partial(run_rows.insert_proposal, part=part, run=1, at=scene.clock.now()))
    await scene.app.proposal_announcer.announce()
    await scene.app.wait_drained()
    await scene.press("Show")
    assert {"✓ Approve #1", "✗ Reject #1", "✓ Approve #2", "✗ Reject #2"} == set(scene.buttons)
    approved = await scene.press("✓ Approve #1")
    assert approved.startswith("Done: Rule 1")
    assert "Do 1." in scene.read("identity/rules.json")
    assert set(scene.buttons) == {"Undo #1", "✓ Approve #2", "✗ Reject #2"}
    assert (await scene.press("Undo #1")).startswith("Taken back: Rule 1")
    assert "Do 1." not in scene.read("identity/rules.json")
    await scene.press("✗ Reject #2")
    assert scene.buttons == {}
