"""What decay has put away is still recalled, by a whole KenoBot, from its own place."""

from datetime import timedelta
from pathlib import Path

from kenobot.cognitive.sleep.consolidate import weeks
from kenobot.cognitive.sleep.prune import tiers
from kenobot.storage.connection import Connection
from tests.memory_rows import put_record
from tests.nights import play
from tests.scene import Scene

PORT = "n8n listens on port 5678 behind the proxy"


async def _learn(scene: Scene, text: str, tier: str, days_ago: int = 0) -> None:
    at = scene.clock.now() - timedelta(days=days_ago)

    def work(connection: Connection) -> None:
        number = put_record(connection, text, at=at, trust="owner", confidence=0.95, tier=tier, source="tag").id
        connection.execute("UPDATE record SET changed_event = (SELECT max(id) FROM event) WHERE id = ?", (number,))

    await scene.app.database.write(work)


async def test_a_question_brings_a_ref_fact_into_the_prompt(tmp_path: Path) -> None:
    """The frame shows the pointer and not the fact; the message that asks for it gets it, and only that one."""
    async with Scene(tmp_path, ["ok"]) as scene:
        await _learn(scene, PORT, "ref:n8n")
        await _learn(scene, "n8n keeps its data in /srv", "ref:n8n")
        await _learn(scene, "likes tea in the morning", "core")
        await scene.say("good morning to you my friend")
        await scene.say("on which port does n8n listen?")
        morning, question = scene.requests
    assert "- likes tea in the morning\n- [n8n](ref-n8n.md): 2 facts" in morning
    assert PORT not in morning
    assert f"- {PORT} _(" in question


async def test_an_archived_fact_is_recalled_and_a_small_memory_still_shown_whole(tmp_path: Path) -> None:
    """A log that has left the tree is shown as long as there is room, and found when there is none."""
    async with Scene(tmp_path, ["ok"]) as scene:
        await _learn(scene, "the plumber is called Ignacio", "archive", days_ago=90)
        await scene.say("who came about the sink?")
        assert "the plumber is called Ignacio" in scene.requests[0]


async def test_a_weeks_summary_is_no_second_telling_of_its_facts(tmp_path: Path) -> None:
    """A fact that is found stands alone; the summary it is in does not, and a night's summaries are no news."""
    async with Scene(tmp_path, ["ok"]) as scene:
        await _learn(scene, "the plumber is called Ignacio", "daily", days_ago=40)
        await scene.say("good morning to you my friend")
        now = scene.clock.now()
        await scene.app.database.write(lambda c: play(c, (weeks.PASS, tiers.DAILIES), now))
        await scene.say("how is the plumber called?")
        prompt = scene.requests[1]
    assert prompt.count("the plumber is called Ignacio") == 1
    assert "2026-W" not in prompt
