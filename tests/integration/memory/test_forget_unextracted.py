"""What was just said and has not been read for memories yet can be forgotten, too: nobody learns it afterwards."""

from pathlib import Path

import pytest

from tests.scene import Scene

LIVE = "SELECT text FROM record WHERE status = 'active' AND form != 'box' ORDER BY id"
PARIS = [
    ("I live in Paris and my dog is called Toby", "/forget I live in Paris", "my dog is called Toby"),
    ("Vivo en París y mi perro se llama Toby", "/olvida vivo en París", "mi perro se llama Toby"),
]


async def live(scene: Scene) -> list[object]:
    return [row[0] for row in await scene.rows(LIVE)]


@pytest.mark.parametrize(("told", "order", "rest"), PARIS)
async def test_what_nobody_has_read_yet_is_forgotten_and_not_learned(
    tmp_path: Path, told: str, order: str, rest: str
) -> None:
    """It leaves the talk at once, nobody learns it later, what else it told is kept; undo brings it back."""
    async with Scene(tmp_path, ["Nice."]) as scene:
        await scene.say(told)
        assert await live(scene) == []
        answer = await scene.say(order)
        assert answer.startswith(("Forgotten:", "Olvidado:")) and "/" in answer
        assert await live(scene) == [rest]
        await scene.say("hello again")
        assert "Par" not in scene.requests[-1]
    async with Scene(tmp_path, ["Fine."], extraction=True) as scene:
        scene.channel.number = 100
        await scene.say("good morning")
        assert await live(scene) == [rest]
        assert "Par" not in scene.requests[-1]
        await scene.say("/undo")
        assert sorted(map(str, await live(scene))) == sorted([rest, told])


@pytest.mark.parametrize(
    ("told", "order", "yes"),
    [
        ("By the way, n8n webhooks want query params", "forget that n8n webhooks want query params", "yes"),
        ("Por cierto, los webhooks de n8n usan parámetros", "olvida lo de los webhooks", "sí"),
    ],
)
async def test_in_plain_words_it_asks_first(tmp_path: Path, told: str, order: str, yes: str) -> None:
    """With the words that were said; a no changes nothing, a yes hides them."""
    async with Scene(tmp_path, ["Good to know."]) as scene:
        await scene.say(told)
        assert "webhooks" in await scene.say(order)
        await scene.say("no")
        assert await scene.rows("SELECT count(*) FROM record") == [(0,)]
        await scene.say("and now?")
        assert "webhooks" in scene.requests[-1]
        assert "webhooks" in await scene.say(order)
        assert (await scene.say(yes)).startswith(("Forgotten:", "Olvidado:"))
        await scene.say("and now?")
        assert "webhooks" not in scene.requests[-1]
        assert await live(scene) == []


async def test_a_yes_after_it_was_read_means_the_memory(tmp_path: Path) -> None:
    """Between the question and the answer the turn was read for memories: then that memory is forgotten."""
    async with Scene(tmp_path, ["Nice."]) as scene:
        await scene.say("I live in Paris")
        assert "Paris" in await scene.say("forget that I live in Paris")
    async with Scene(tmp_path, ["Nice."], extraction=True) as scene:
        scene.channel.number = 100
        await scene.app.background.extraction.tick()
        await scene.app.background.extraction.wait_idle()
        assert await live(scene) == ["I live in Paris"]
        assert (await scene.say("yes")).startswith("Forgotten:")
        assert await live(scene) == []


async def test_a_password_that_slipped_out_is_not_looked_at_again(tmp_path: Path) -> None:
    """It is not fit to be kept even as something forgotten: the message alone is hidden."""
    async with Scene(tmp_path, ["Careful!"]) as scene:
        await scene.say("my password is hunter2hunter2, oh no")
        assert "no longer use that message" in await scene.say("/forget my password is hunter2hunter2")
        await scene.say("what did I say?")
        assert "hunter2" not in scene.requests[-1]
        assert await scene.rows("SELECT count(*) FROM record WHERE text LIKE '%hunter2%'") == [(0,)]


async def test_nobody_forgets_what_others_said_elsewhere(tmp_path: Path) -> None:
    """A guest's words in their own chat are not the owner's to hide by a word, nor the other way round."""
    async with Scene(tmp_path, ["Nice."]) as scene:
        await scene.say("I live in Paris", chat="7", user="7")
        assert "nothing like that" in await scene.say("/forget I live in Paris")
        assert "nothing like that" in await scene.say("/forget I live in Paris", chat="8", user="8")
        assert (await scene.say("/forget I live in Paris", chat="7", user="7")).startswith("Forgotten:")


async def test_a_memory_that_says_it_is_meant_before_a_message(tmp_path: Path) -> None:
    """What is remembered already is forgotten as ever, with its turns."""
    async with Scene(tmp_path, ["Noted. <memory>The user lives in Paris</memory>", "Yes."]) as scene:
        await scene.say("I live in Paris")
        assert "The user lives in Paris" in await scene.say("/forget lives in Paris")
        assert await live(scene) == []
