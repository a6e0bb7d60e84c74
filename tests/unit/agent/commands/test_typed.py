"""Commands as people type them: in a talk of two languages, with accents, and with a day in them."""

import json
from pathlib import Path

import pytest

from tests.scene import Scene

_SPANISH, _ENGLISH = "¿qué es lo que más me gusta de la paella?", "what is the name of my dog and where is he?"


async def test_a_command_is_answered_in_the_language_of_the_last_message(tmp_path: Path) -> None:
    """However much was said in another before it."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        for text in (_SPANISH, _SPANISH, _ENGLISH):
            await scene.say(text)
        assert (await scene.say("/why")).startswith("No memory")
        await scene.say(_SPANISH)
        assert not (await scene.say("/why")).startswith("No memory")


@pytest.mark.parametrize("written", ["/MEMÓRIA", "/memória"])
async def test_a_command_may_bear_an_accent(tmp_path: Path, written: str) -> None:
    """People type as they speak."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        assert "recuerdo" in await scene.say(written)
        assert "/sueño" in await scene.say("/sueño")
        assert scene.requests == []


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("la reunión del cole es el 3 de diciembre de 2031 a las 17h", "2031-12-03"),
        ("dentist on 4 May 2031 at 5pm", "2031-05-04"),
        ("the gate code is 4417", None),
    ],
)
async def test_what_is_remembered_by_command_is_planned_for_the_day_that_it_names(
    tmp_path: Path, words: str, day: str | None
) -> None:
    """So that a question for plans finds it."""
    async with Scene(tmp_path) as scene:
        await scene.say(f"/remember {words}")
        ((attributes,),) = await scene.rows("SELECT attributes FROM record WHERE form = 'note'")
        assert json.loads(str(attributes)).get("due") == day
