"""The owner lets people in and puts them out by a word in chat."""

import re
from pathlib import Path

import pytest

from kenobot.gateway.access import Roster
from tests.scene import Scene

CODE = re.compile(r"[A-Z2-9]{4}-[A-Z2-9]{4}")
ROSTER = Roster.of(["1"], ["2"], ["-100"])


def scene_in(folder: Path) -> Scene:
    return Scene(folder, ["Hm."], roster=ROSTER)


async def code_of(scene: Scene, user: str, text: str = "hello", name: str = "") -> str:
    match = CODE.search(await scene.say(text, chat=user, user_name=name))
    assert match is not None
    return match[0]


async def test_from_stranger_to_guest_and_back(tmp_path: Path) -> None:
    """Code, approval in chat, an answer, the list, revocation, a stranger again; the model hears the guest alone."""
    async with scene_in(tmp_path) as scene:
        code = await code_of(scene, "9", name="Ana *B*")
        assert "you may talk to me now" not in await scene.say("hello again", chat="9")
        assert scene.requests == []
        answer = await scene.say(f"/pair {code.lower()}")
        assert answer.splitlines()[0] == "Ana B (telegram `9`) may talk to me now. `/people` lists everyone you let in."
        assert scene.channel.sent[-1].chat in {"1", "9"}
        assert ("9", "My owner let you in: we can talk now.") in {
            (out.chat, out.part.text) for out in scene.channel.sent
        }
        assert await scene.say("and now?", chat="9") == "Hm."
        assert "- Ana B (telegram `9`)" in await scene.say("/people")
        assert "Ana B (telegram `9`) may no longer" in await scene.say("/people revoke 9")
        assert CODE.search(await scene.say("and now?", chat="9"))
        assert len(scene.requests) == 1
        assert "with that id" in await scene.say("/people revoke 9")
        assert [text for _, text in await scene.rows("SELECT role, text FROM message")] == ["and now?", "Hm."]


async def test_in_spanish(tmp_path: Path) -> None:
    """The Spanish names get Spanish answers."""
    async with scene_in(tmp_path) as scene:
        assert "Escribe `/emparejar`" in await scene.say("/emparejar")
        assert "ningún código" in await scene.say("/emparejar ABCD-EFGH")
        code = await code_of(scene, "9", "Hola, ¿quién eres?")
        assert "Personas que esperan permiso" in await scene.say("/personas")
        assert "Intentos que quedan: 4" in await scene.say("/emparejar WRNG-WRNG")
        answer = await scene.say(f"/emparejar {code}")
        assert "ya puede hablar conmigo" in answer
        assert "Mi dueño te ha admitido" in answer  # what the other one was told
        assert "ya no puede hablar conmigo" in await scene.say("/personas revocar telegram 9")


async def test_five_wrong_codes(tmp_path: Path) -> None:
    """The owner is told how many tries are left, then that it is shut; an answer comes to everything else still."""
    async with scene_in(tmp_path) as scene:
        code = await code_of(scene, "9")
        answers = [await scene.say("/pair WRNG-WRNG") for _ in range(5)]
        assert ["Tries left" in answer for answer in answers] == [True] * 4 + [False]
        assert "no one new can be let in for an hour" in answers[-1]
        assert "no one new can be let in for an hour" in await scene.say(f"/pair {code}")
        assert await scene.say("still there?") == "Hm."
        assert await scene.say("hello", chat="10") == ""


@pytest.mark.parametrize(
    "who",
    [
        {"chat": "2", "user": "2"},
        {"chat": "-100", "user": "1", "private": False},
        {"chat": "-100", "user": "9", "private": False},
        {"chat": "1", "user": "1", "forwarded": True},
    ],
    ids=["a guest", "the owner in a group", "somebody in a group", "a forwarded command"],
)
async def test_nobody_else_lets_anybody_in(tmp_path: Path, who: dict[str, object]) -> None:
    """To everybody but the owner in private it is a message like any other, and counts as no try."""
    async with scene_in(tmp_path) as scene:
        code = await code_of(scene, "9")
        for order in (f"/pair {code}", "/people", "/people revoke 2"):
            assert await scene.say(order, **who) == "Hm."  # type: ignore[arg-type]
        assert await scene.rows("SELECT * FROM approved_person") == []
        assert await scene.rows("SELECT value FROM key_value WHERE key LIKE 'pairing%'") == []


async def test_who_is_in_the_configuration_is_not_put_out_in_chat(tmp_path: Path) -> None:
    """Neither a guest nor the owner: they stay who they are."""
    async with scene_in(tmp_path) as scene:
        for user in ("1", "2", ""):
            assert "no one with that id" in await scene.say(f"/people revoke {user}")
        assert await scene.say("hello", chat="2") == "Hm."


async def test_the_command_line_is_noticed(tmp_path: Path) -> None:
    """Somebody let in from outside the process is told so and let in; somebody put out is a stranger."""
    from kenobot.gateway import pairing
    from kenobot.storage import approved_people
    from kenobot.storage.connection import connect

    async with scene_in(tmp_path) as scene:
        await scene.app.check_external_changes()
        code = await code_of(scene, "9")
        connection = connect(scene.home.database)
        connection.execute("BEGIN IMMEDIATE")
        assert pairing.approve(connection, code, scene.clock.now(), lambda *_: False).kind == "approved"
        connection.execute("COMMIT")
        await scene.app.check_external_changes()
        await scene.app.wait_drained()
        assert scene.texts[-1] == "My owner let you in: we can talk now."
        assert await scene.say("hello", chat="9") == "Hm."
        assert approved_people.revoke_person(connection, "telegram", "9")
        connection.close()
        await scene.app.check_external_changes()
        assert "Hm." not in await scene.say("hello", chat="9")
