"""What pruning and guidelines do to a whole KenoBot: its files, its prompts, and what it recalls."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.consolidate import identity
from kenobot.cognitive.sleep.improve import errors, guidelines
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.prune import commitments, endings
from kenobot.cognitive.store import records
from kenobot.ports.provider import Reply, Request
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import START, ManualClock
from kenobot_testing.provider import ScriptedProvider
from tests.nights import play
from tests.scene import Scene


class _Reader(ScriptedProvider):
    """A model that answers people with one reply, and finds the same facts in every turn it reads."""

    def __init__(self, reply: str, facts: Sequence[dict[str, Any]]) -> None:
        super().__init__([reply], repeat_last=True, rule_based=False)
        self.asked: list[str] = []
        self._facts = json.dumps({"facts": facts})

    def _next(self, request: Request) -> Reply:
        if "You keep the memory" not in request.system[0].text:
            return super()._next(request)
        self.asked.append(request.messages[-1].text)
        return Reply(self._facts, "end_turn")


async def _sleep(scene: Scene, *passes: Pass, days: float) -> list[Change]:
    """Some passes of a night, so many days after the start; then what the mirror makes of it."""
    now = START + timedelta(days=days)
    done: list[Change] = await scene.app.database.write(lambda connection: play(connection, passes, now))
    scene.app.memory_files.mark_dirty([change.record for change in done if change.record is not None])
    await scene.app.memory_files.sync_out()
    return done


async def test_the_file_of_a_dead_scratchpad_goes_and_comes_back_with_undo(tmp_path: Path) -> None:
    """Seed 002: written on 14 February, gone in the night of the 21st; the rest of the chat stays."""
    reply = "Noted. <working-memory>\n- Status: resolved\n</working-memory>"
    async with Scene(tmp_path, [reply], clock=ManualClock()) as scene:
        await scene.say("the webhook works now")
        pad = scene.home.memory / "working" / "telegram-1.md"
        assert pad.read_text("utf-8").startswith("- Status: resolved")
        assert await _sleep(scene, endings.SCRATCHPADS, days=6.5) == []
        [gone] = await _sleep(scene, endings.SCRATCHPADS, days=7.4)
        assert not pad.exists()
        await scene.say("hello again")
        assert "### Working memory" not in scene.requests[-1]
        assert gone.kind == "expired"


async def test_an_identity_file_is_condensed_on_disk(tmp_path: Path) -> None:
    """What a person or the bot wrote there is taken in, condensed by night, and written back below its heading."""
    lines = [f"- Day {day}: I was too long about topic {day}, and was asked to be brief" for day in range(150)]
    text = "\n".join(["# Reflections", *lines])
    async with Scene(tmp_path, ["Hi."], clock=ManualClock(), files={"IDENTITY.md": text}) as scene:
        await scene.say("hello")
        [change] = await _sleep(scene, identity.PASS, days=1)
        file = (scene.home.memory / "IDENTITY.md").read_text("utf-8")
        assert change.kind == "condensed"
        assert len(file.encode()) <= 8193
        assert file.startswith("# Reflections\n")
        assert lines[-1] in file
        assert lines[0] not in file


async def test_guidelines_that_a_night_learned_reach_the_next_reading(tmp_path: Path) -> None:
    """Most of what was noted of a kind was taken back: the model that reads turns is told so."""
    fact = {"text": "El usuario vive en Lyon", "confidence": 0.95, "evidence": [1]}
    provider = _Reader("All right.", [fact])
    async with Scene(tmp_path, provider=provider, extraction=True, clock=ManualClock()) as scene:
        await scene.say("Vivo en Lyon")
        assert "## What experience says" not in provider.asked[-1]
        for number in range(12):
            told = f"recuerda que vivo en Lyon, ya van {number}"
            scene.clock.advance(60)  # type: ignore[attr-defined]
            await scene.say(told)
        assert await _sleep(scene, guidelines.PASS, days=1)
        scene.clock.advance(60)  # type: ignore[attr-defined]
        await scene.say("recuerda que vivo en Lyon de verdad")
        assert "## What experience says\n\n- Most of what you propose is known already" in provider.asked[-1]


async def test_what_a_night_let_go_is_recalled_no_more_and_recalled_again_after_undo(tmp_path: Path) -> None:
    """A forwarded claim fades; what the owner said beside it does not."""
    replies = [
        "<memory>The office moves to Berlin</memory> Noted.",
        "Noted. <memory>Adrian lives in Lyon</memory>",
        "Ok",
    ]
    async with Scene(tmp_path, replies, clock=ManualClock()) as scene:
        await scene.say("The office moves to Berlin", forwarded=True)
        scene.clock.advance(60)  # type: ignore[attr-defined]
        await scene.say("I live in Lyon")
        [change] = await _sleep(scene, endings.EXPIRY, endings.BELIEFS, days=130)
        record = change.record
        assert record is not None
        scene.clock.advance(days=130)  # type: ignore[attr-defined]
        await scene.say("What is new?")
        assert "Berlin" not in scene.requests[-1].rpartition("What is new?")[0].rpartition("## Memory")[2][:400]
        assert "Adrian lives in Lyon" in scene.requests[-1]
        events = await scene.rows("SELECT max(id) FROM event WHERE type = 'pruned'")
        when = AdmitContext(scene.clock.now(), "2026-06-24", "owner")
        await scene.app.database.write(lambda connection: undo(connection, int(str(events[0][0])), ALL_SCOPES, when))
        back = await scene.app.database.read(lambda connection: records.get(connection, record, ALL_SCOPES))
        assert back is not None
        assert back.status == "active"


async def test_a_promise_that_was_said_to_be_kept_is_found_in_the_conversation(tmp_path: Path) -> None:
    """No tag, no model: what sounds done is asked about, and its own words with "done" end it, in that turn."""
    async with Scene(tmp_path, ["Vale."], extraction=True, clock=ManualClock()) as scene:
        await scene.say("Prometo regar las plantas de Ana")
        await scene.app.background.extraction.tick()
        await scene.app.background.extraction.wait_idle()
        scene.clock.advance(days=2)  # type: ignore[attr-defined]
        await scene.say("Ya he regado las plantas de Ana")
        assert [change.kind for change in await _sleep(scene, commitments.PASS, days=2.5)] == ["asked"]
        scene.clock.advance(days=1)  # type: ignore[attr-defined]
        await scene.say("Prometo regar las plantas de Ana: hecho")
        done = await _sleep(scene, commitments.PASS, days=3.5)
        assert [change.kind for change in done] == ["resolved", "expired"]
        assert await _sleep(scene, commitments.PASS, days=60) == []
        assert [change.kind for change in await _sleep(scene, commitments.PASS, days=96)] == ["expired"]


async def test_a_lesson_stands_in_memory_md_and_in_the_next_prompt(tmp_path: Path) -> None:
    """From trouble of our own; trouble from outside teaches nothing."""
    replies = [
        "<memory>Config error: missing DATABASE_URL in configuration of the bot</memory> Noted.",
        "<memory>The webhook of n8n gives a 401 error</memory> Noted.",
        "Ok.",
    ]
    async with Scene(tmp_path, replies, clock=ManualClock()) as scene:
        for text in ("Config error: missing DATABASE_URL in the bot", "The webhook of n8n gives a 401 error", "so?"):
            if text == "so?":
                kinds = [change.kind for change in await _sleep(scene, errors.PASS, days=0.6)]
                assert kinds == ["learned", "classified"]
            scene.clock.advance(60)  # type: ignore[attr-defined]
            await scene.say(text)
        file = (scene.home.memory / "MEMORY.md").read_text("utf-8")
        assert "Configuration issue: Config error: missing DATABASE_URL" in file
        assert "401" not in file
        assert "Configuration issue: Config error" in scene.requests[-1]
