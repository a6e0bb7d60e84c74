"""What is so once, is added, or is told of a namesake stays beside what memory has, in Spanish and English."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kenobot.ports.plugin import PluginContext
from kenobot.providers.offline import plugin
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

LIVE = "SELECT text FROM record WHERE status = 'active' AND form != 'box' ORDER BY id"
NAMESAKES = [
    ("Mi hermana Ana vive en Madrid", "Mi prima Ana vive en Paris"),
    ("My cousin Leo lives in Madrid", "My brother Leo lives in Paris"),
    ("My cousin Leo lives in Madrid", "My brother Leo lives in Madrid"),
    ("My friend Tom lives in Cork", "My nephew Tom lives in Leeds"),
]


def offline(home: Path) -> Scene:
    clock = EagerClock()
    provider = plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))
    return Scene(home, provider=provider, clock=clock, extraction=True)


async def live(scene: Scene) -> list[object]:
    return [row[0] for row in await scene.rows(LIVE)]


@pytest.mark.parametrize(
    "told",
    [
        ("I play football", "I didn't play football, it rained"),
        ("Tengo coche", "No tengo coche, está en el taller"),
        ("Tengo coche", "Ahora no tengo coche, está en el taller"),
        ("Tengo clase los lunes", "No tengo clase el lunes, es fiesta"),
        ("I have yoga on Mondays", "Now I also have yoga on Thursdays"),
        ("Trabajo los lunes", "Ahora también trabajo los martes"),
        ("I work on Mondays", "I now work on Tuesdays too"),
        ("My sister Ana is 30", "My niece Ana is 5 now"),
        ("My cousin Leo lives in Madrid", "My brother Leo lives in Paris now"),
        ("Mi tía Rosa vive en Madrid", "Mi abuela Rosa ahora vive en París"),
        ("My brother Leo's phone number is 600111222", "My cousin Leo's phone number is 600333444 now"),
    ],
)
async def test_both_are_kept(tmp_path: Path, told: Sequence[str]) -> None:
    """Without a model: nothing ends, and nothing of the words is lost."""
    async with offline(tmp_path) as scene:
        for text in told:
            assert "akes the place of “" not in await scene.say(text)
        assert await live(scene) == list(told)


@pytest.mark.parametrize(
    ("told", "denied"),
    [("I'm vegetarian", "I'm not vegetarian, I'm vegan"), ("My boss is ana", "my boss isn't ana, it's luis")],
)
async def test_what_a_clause_denies_is_asked_about(tmp_path: Path, told: str, denied: str) -> None:
    """A denial of the same words, with a reason or another value of no sure kind behind it, leads to the question."""
    async with offline(tmp_path) as scene:
        await scene.say(told)
        assert f"Does this take the place of “{told}”" in await scene.say(denied)
        assert await live(scene) == [told, denied]
        await scene.say("yes")
        assert await live(scene) == [denied]


@pytest.mark.parametrize(
    ("told", "right"),
    [
        ("Mi hermana se llama Eva", "mi hermana se llama Ana, no Eva"),
        ("My sister is called Eva", "my sister is called Ana, not Eva"),
    ],
)
async def test_a_name_put_right_takes_the_place_of_the_wrong_one(tmp_path: Path, told: str, right: str) -> None:
    """With the wrong one named behind the right one, in both languages."""
    async with offline(tmp_path) as scene:
        await scene.say(told)
        await scene.say(f"no, {right}")
        assert await live(scene) == [right]


async def test_how_old_a_namesake_is_is_answered(tmp_path: Path) -> None:
    """The answer has what was told of the relation that the question names."""
    async with offline(tmp_path) as scene:
        await scene.say("My sister Ana is 30")
        await scene.say("My niece Ana is 5 now")
        assert "My niece Ana is 5 now" in await scene.say("how old is my niece Ana?")
        assert "My sister Ana is 30" in await scene.say("how old is my sister Ana?")


@pytest.mark.parametrize(("one", "other"), NAMESAKES)
@pytest.mark.parametrize("way", ["command", "tag", "file"])
async def test_of_two_people_of_one_name_both_are_kept(tmp_path: Path, one: str, other: str, way: str) -> None:
    """By `/remember`, a tag of a reply and a line of a file."""
    replies = ["OK."] if way == "file" else [f"OK. <memory>{text}</memory>" for text in (one, other)]
    async with Scene(tmp_path, replies) as scene:
        if way == "file":
            page = scene.home.memory / "MEMORY.md"
            for lines in ([one], [one, other]):
                page.write_text("".join(f"- {line}\n" for line in lines), "utf-8")
                await scene.memory_files.wait_caught_up()
                await scene.say("hello")
            assert all(line in page.read_text("utf-8") for line in (one, other))
        else:
            for text in (one, other):
                await scene.say(f"/remember {text}" if way == "command" else "hello")
        assert await live(scene) == [one, other]


@pytest.mark.parametrize("namesake", ["Mi prima Ana vive en Paris", "Mi prima Ana es médica"])
async def test_a_name_of_two_people_alone_ends_nothing_of_either(tmp_path: Path, namesake: str) -> None:
    """Of which of them it tells, nobody knows."""
    async with Scene(tmp_path) as scene:
        told = ["Mi hermana Ana vive en Madrid", namesake, "Ana vive en Roma"]
        for text in told:
            await scene.say(f"/remember {text}")
        assert await live(scene) == told


@pytest.mark.parametrize(
    ("told", "denied"),
    [
        ("I play football", "I didn't play football, it rained"),
        ("I play football", "I didn't play football"),
        ("Juego al tenis", "No juego al tenis, me duele el codo"),
        ("Tengo clase los lunes", "No tengo clase el lunes, es fiesta"),
    ],
)
async def test_a_command_that_denies_something_once_ends_nothing(tmp_path: Path, told: str, denied: str) -> None:
    """What was not so once, or not for a reason, is kept beside what was said before."""
    async with Scene(tmp_path) as scene:
        await scene.say(f"/remember {told}")
        await scene.say(f"/remember {denied}")
        assert await live(scene) == [told, denied]


async def test_a_command_that_denies_the_same_words_ends_them(tmp_path: Path) -> None:
    """In the present, with nothing behind it."""
    async with Scene(tmp_path) as scene:
        await scene.say("/remember I play football")
        await scene.say("/remember I don't play football")
        assert await live(scene) == ["I don't play football"]
