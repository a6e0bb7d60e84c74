"""`/proposals`, `/approve` and `/reject` in chat, and the notice after a night, by talk with a whole KenoBot."""

from pathlib import Path

import pytest

from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.plan.changes import ProposeChange
from kenobot.cognitive.store import proposals
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

PART = ProposeChange("k", "rule", "Too *many* words", "Be brief.", {"instruction": "Answer in one sentence."})


async def lay(scene: Scene, part: ProposeChange = PART) -> None:
    await scene.app.database.write(lambda c: run_rows.insert_proposal(c, part, 1, scene.clock.now()))


async def test_the_owner_approves_and_takes_back_in_chat(tmp_path: Path) -> None:
    """The rule is in the very next prompt, and gone after `/reject`; each approval is announced once."""
    async with Scene(tmp_path, ["ok"]) as scene:
        before = scene.read("identity/rules.json")
        assert "no suggestions" in await scene.say("/proposals")
        await lay(scene)
        told = await scene.say("/proposals")
        assert "1. *Too many words* — Be brief (a line in rules.json)" in told
        assert scene.read("identity/rules.json") == before
        assert await scene.say("/approve 1") == "Done: Too many words. `/reject 1` takes it back."
        await scene.app.proposal_announcer.wait_idle()
        await scene.say("hello")
        assert "- Answer in one sentence." in scene.requests[-1]
        assert "Taken back" in await scene.say("/reject 1")
        await scene.say("hello")
        assert "Answer in one sentence." not in scene.requests[-1]
        assert scene.read("identity/rules.json") == before
        await scene.app.audit.flush()
        signals = await scene.rows("SELECT name FROM signal WHERE name LIKE 'approval:%' ORDER BY id")
    assert ("approval:approved",) in signals
    assert signals.count(("approval:approved",)) == 1


async def test_in_spanish(tmp_path: Path) -> None:
    """The Spanish names get Spanish answers, and what is turned down stays so."""
    async with Scene(tmp_path, ["ok"]) as scene:
        await lay(scene)
        assert "Mis sugerencias" in await scene.say("/propuestas")
        assert "Escribe `/aprobar`" in await scene.say("/aprobar todo")
        assert "Rechazado" in await scene.say("/rechazar 1")
        assert "No puedo hacerlo" in await scene.say("/aprobar 1")
        assert "No tengo sugerencias" in await scene.say("/propuestas")
        assert "No puedo hacerlo" in await scene.say("/aprobar 99")


@pytest.mark.parametrize(
    "how",
    [
        {"chat": "2", "user": "2"},
        {"chat": "-5", "user": "1", "private": False},
        {"chat": "1", "user": "1", "forwarded": True},
    ],
    ids=["a guest", "the owner in a group", "a forwarded order"],
)
async def test_nobody_else_decides_anything(tmp_path: Path, how: dict[str, object]) -> None:
    """For a guest, in a group and from a forward they are words like any other: the model answers."""
    async with Scene(tmp_path, ["the model answers"]) as scene:
        await lay(scene)
        for order in ("/proposals", "/approve 1", "/reject 1"):
            assert await scene.say(order, **how) == "the model answers"  # type: ignore[arg-type]
        waiting = await scene.app.database.read(proposals.list_proposals)
    assert [each.state for each in waiting] == ["pending"]


async def test_the_owner_is_told_once(tmp_path: Path) -> None:
    """In their private chat, without the words of the proposal; not again after a restart, and again for a new one."""
    clock = EagerClock()
    async with Scene(tmp_path, ["ok"], clock=clock) as scene:
        await scene.say("hello there, how are you today?")
        await lay(scene)
        await scene.app.proposal_announcer.announce()
        await scene.app.wait_drained()
        assert [text for text in scene.texts if "/proposals" in text] == [
            "I have suggestions for you (1): `/proposals` shows them. Nothing changes by itself."
        ]
        await scene.app.proposal_announcer.announce()
        await scene.app.wait_drained()
        assert len(scene.texts) == 2
    clock.advance(8000)
    async with Scene(tmp_path, ["ok"], clock=clock) as scene:
        await scene.app.wait_drained()
        assert scene.texts == []
        await lay(scene, ProposeChange("other", "setting", "A title", "A text"))
        await scene.app.proposal_announcer.announce()
        await scene.app.wait_drained()
        assert len(scene.texts) == 1


async def test_a_forbidden_pattern_in_a_reply_is_noted(tmp_path: Path) -> None:
    """Whole words, whatever their case; a reply without any leaves no trace."""
    async with Scene(tmp_path, ["Sure. I HOPE this helps!", "Fine."]) as scene:
        await scene.say("hello")
        await scene.say("hello")
        rows = await scene.rows("SELECT json_extract(data, '$.patterns[0]') FROM event WHERE type = 'rule_broken'")
    assert rows == [("I hope this helps",)]
