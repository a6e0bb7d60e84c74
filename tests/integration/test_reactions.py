"""An emoji that is put to a reply is feedback on the memories behind that reply."""

from pathlib import Path

import pytest

from tests.scene import Scene

FACT = "The gate code is 4711"
CONFIDENCE = f"SELECT confidence FROM record WHERE text = '{FACT}'"


async def react(scene: Scene, emoji: str, target: int = 1, user: str = "1", chat: str = "1") -> float:
    """Put an emoji to the answer that left as part `target`; returns the confidence of the fact behind it."""
    private = chat == "1"
    before = len(scene.texts)
    await scene.say("", chat, user, kind="reaction", value=emoji, target=str(target), private=private)
    assert scene.texts[before:] == []
    return await confidence(scene)


async def confidence(scene: Scene) -> float:
    ((found,),) = await scene.rows(CONFIDENCE)
    return float(str(found))


async def taught(scene: Scene) -> float:
    await scene.say("the gate code is 4711")
    await scene.say("thanks")
    return await confidence(scene)


REPLIES = [f"The gate code is 4711, noted. <memory>{FACT}</memory>", "You are welcome"]


async def test_a_thumb_counts_as_a_word(tmp_path: Path) -> None:
    """Up confirms and down disputes, whatever its colour, also of a reply that is not the last."""
    async with Scene(tmp_path, REPLIES) as scene:
        before = await taught(scene)
        disputed = await react(scene, "👎🏽")
        assert disputed < before
        assert await react(scene, "👍") > disputed
        kinds = await scene.rows("SELECT type FROM event WHERE type IN ('confirmed', 'disputed', 'undone') ORDER BY id")
        assert kinds == [("disputed",), ("undone",), ("confirmed",)]
        assert len(scene.requests) == 2


async def test_what_is_taken_away_is_undone(tmp_path: Path) -> None:
    """Whoever touched the wrong one has done nothing."""
    async with Scene(tmp_path, REPLIES) as scene:
        before = await taught(scene)
        await react(scene, "👎")
        assert await react(scene, "") == before


@pytest.mark.parametrize(("emoji", "target"), [("🤣", 1), ("🤔", 1), ("👎", 2), ("👎", 77), ("", 1)])
async def test_what_means_nothing_of_memory_changes_nothing(tmp_path: Path, emoji: str, target: int) -> None:
    """A laugh, an answer that used no memory, and a message that is not known."""
    async with Scene(tmp_path, REPLIES) as scene:
        before = await taught(scene)
        assert await react(scene, emoji, target) == before
        assert await scene.rows("SELECT DISTINCT state FROM inbox") == [("answered",)]


async def test_others_do_not_judge_the_owners_memory(tmp_path: Path) -> None:
    """Nor does a number that another chat has."""
    async with Scene(tmp_path, REPLIES) as scene:
        before = await taught(scene)
        assert await react(scene, "👎", user="2") == before
        assert await react(scene, "👎", chat="-5", user="2") == before


async def test_a_reaction_in_a_topic_is_about_what_was_said_there(tmp_path: Path) -> None:
    """Platforms do not tell of the topic; the memory of the group's topic is meant."""
    async with Scene(tmp_path, REPLIES) as scene:
        group = {"private": False, "thread": "7"}
        await scene.say("the gate code is 4711", "-5", **group)  # type: ignore[arg-type]
        before = await confidence(scene)
        assert await react(scene, "👎", chat="-5") < before


async def test_in_a_group_each_person_reacts_for_themselves(tmp_path: Path) -> None:
    """What one puts there, and takes away again, leaves what another put there."""
    async with Scene(tmp_path, REPLIES) as scene:
        await scene.say("the gate code is 4711", "-5", private=False)
        disputed = await react(scene, "👎", chat="-5", user="1")
        assert await react(scene, "👍", chat="-5", user="2") > disputed
        assert await react(scene, "", chat="-5", user="2") == disputed
