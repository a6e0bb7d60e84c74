"""Forgetting in a group: a guest takes away what they alone said; for the rest its speaker and the owner are asked."""

from pathlib import Path

import pytest

from kenobot.gateway.access import Roster
from tests.scene import Scene

GROUP: dict[str, object] = {"chat": "-100", "private": False}
OWNER, LUIS, EVA = (
    {"user": user, "user_name": name, **GROUP} for user, name in (("1", "Ana"), ("2", "Luis"), ("3", "Eva"))
)
BOILER = "The boiler was repaired by Luis"
LIVE = "SELECT text FROM record WHERE status = 'active' AND form != 'box' ORDER BY id"


def scene_of(folder: Path, *replies: str, **more: object) -> Scene:
    return Scene(folder, replies or ["Hm."], roster=Roster.of(["1"], [], ["-100"]), **more)  # type: ignore[arg-type]


async def say(scene: Scene, text: str, who: dict[str, object]) -> str:
    return await scene.say(text, **who)  # type: ignore[arg-type]


async def live(scene: Scene) -> list[object]:
    return [row[0] for row in await scene.rows(LIVE)]


@pytest.mark.parametrize(
    "wish", ["/forget boiler", "/forget 1", f"/forget {BOILER}", "/olvida 1", "forget that the boiler was repaired"]
)
@pytest.mark.parametrize("speaker", [OWNER, LUIS])
async def test_a_guest_removes_nothing_that_another_said(tmp_path: Path, wish: str, speaker: dict[str, object]) -> None:
    """However the wish is put, the fact stays, whoever of the guests then says yes, and neither does undo remove it."""
    async with scene_of(tmp_path) as scene:
        await say(scene, f"/remember {BOILER}", speaker)
        answer = await say(scene, wish, EVA)
        assert BOILER in answer
        assert "*yes*" in answer or "*sí*" in answer
        assert await say(scene, "yes", EVA) == "Hm."
        await say(scene, "/undo", EVA)
        await say(scene, "/undo 1", EVA)
        assert await live(scene) == [BOILER]


@pytest.mark.parametrize("who", [OWNER, LUIS])
async def test_the_one_who_said_it_and_the_owner_are_asked(tmp_path: Path, who: dict[str, object]) -> None:
    """Either says yes or no to a guest's wish."""
    async with scene_of(tmp_path) as scene:
        await say(scene, f"/remember {BOILER}", LUIS)
        await say(scene, "/forget boiler", EVA)
        assert "keep" in await say(scene, "no", who)
        await say(scene, "/forget boiler", EVA)
        assert "Forgotten" in await say(scene, "yes", who)
        assert await live(scene) == []


async def test_what_two_people_said_is_the_owners_to_remove(tmp_path: Path) -> None:
    """Neither of them speaks for the other."""
    async with scene_of(tmp_path) as scene:
        await say(scene, f"/remember {BOILER}", LUIS)
        await say(scene, f"/remember {BOILER}", EVA)
        await say(scene, "/forget boiler", EVA)
        assert await say(scene, "yes", LUIS) == "Hm."
        await say(scene, "/forget boiler", EVA)
        assert "Forgotten" in await say(scene, "yes", OWNER)


async def test_a_guest_removes_their_own_words_and_nobody_elses(tmp_path: Path) -> None:
    """What they said goes at once; what another said of the same stays, also when it is undone and done again."""
    async with scene_of(tmp_path) as scene:
        await say(scene, "the boiler was repaired by Luis yesterday", LUIS)
        await say(scene, f"/remember {BOILER}", EVA)
        await say(scene, f"/remember {BOILER} on Friday at noon, he said", LUIS)
        answer = await say(scene, f"/forget {BOILER}", EVA)
        assert "Forgotten" in answer
        assert await live(scene) == [f"{BOILER} on Friday at noon, he said"]
        assert await scene.rows("SELECT account FROM hidden_turn JOIN author USING (inbox_id)") == [("3",)]
        assert "Undone" in await say(scene, "/undo", EVA)
        assert BOILER in await live(scene)
        [(undone,)] = await scene.rows("SELECT max(id) FROM event WHERE type = 'undone'")
        assert "Undone" in await say(scene, f"/undo {undone}", EVA)
        assert BOILER not in await live(scene)
        assert await scene.rows("SELECT account FROM hidden_turn JOIN author USING (inbox_id)") == [("3",)]


async def test_the_owner_removes_what_anybody_said(tmp_path: Path) -> None:
    """The group's memory is the owner's bot's."""
    async with scene_of(tmp_path) as scene:
        await say(scene, f"/remember {BOILER}", LUIS)
        assert "Forgotten" in await say(scene, "/forget boiler", OWNER)
        assert await live(scene) == []


async def test_a_guest_does_not_hide_a_message_that_another_wrote(tmp_path: Path) -> None:
    """Also before it is extracted, a turn of another's stays until its speaker or the owner says yes."""
    async with scene_of(tmp_path) as scene:
        await say(scene, BOILER, LUIS)
        answer = await say(scene, "/forget boiler repaired Luis", EVA)
        assert BOILER in answer
        assert await say(scene, "yes", EVA) == "Hm."
        assert await scene.rows("SELECT * FROM hidden_turn") == []
        await say(scene, "/forget boiler repaired Luis", EVA)
        assert "orgotten" in await say(scene, "yes", LUIS)
        assert await scene.rows("SELECT count(*) FROM hidden_turn") == [(1,)]


async def test_who_said_it_is_known_after_the_mail_is_gone(tmp_path: Path) -> None:
    """The inbox forgets its senders after a week; memory does not."""
    async with scene_of(tmp_path, "Noted. <memory>Eva has a red bicycle</memory>") as scene:
        await say(scene, "I have a red bicycle", EVA)
        await say(scene, f"/remember {BOILER}", EVA)
        await scene.app.database.write(lambda connection: connection.execute("DELETE FROM inbox"))
        assert "Forgotten" not in await say(scene, "/forget red bicycle", LUIS)
        assert "Forgotten" in await say(scene, "/forget red bicycle", EVA)
        assert "Forgotten" in await say(scene, "/forget boiler", EVA)


async def test_what_nobody_can_tell_the_author_of_is_the_owners(tmp_path: Path) -> None:
    """A memory from before authors were noted is not a guest's to remove."""
    async with scene_of(tmp_path) as scene:
        await say(scene, f"/remember {BOILER}", EVA)
        await scene.app.database.write(lambda connection: connection.execute("DELETE FROM author"))
        assert "Forgotten" not in await say(scene, "/forget boiler", EVA)
        assert "Forgotten" in await say(scene, "yes", OWNER)
