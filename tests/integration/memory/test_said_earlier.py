"""What a prompt quotes of earlier talk bears on the message, and it denies nothing that is known."""

import re
from pathlib import Path

import pytest

from kenobot_testing.provider import ScriptedProvider
from tests.scene import Scene

ENGLISH = (
    "Bread costs two euros", "My cousin paints boats", "I slept badly", "The lift is broken", "It rained all day",
    "My shoes are wet",
)  # fmt: skip
SPANISH = (
    "El pan cuesta dos euros", "Mi primo pinta barcos", "He dormido mal", "El ascensor está roto",
    "Ha llovido todo el día", "Tengo los zapatos mojados",
)  # fmt: skip


async def _ask(folder: Path, said: tuple[str, ...], question: str) -> tuple[str, str]:
    """The prompt of a question in a new conversation, and what it quotes of the old one."""
    replies = ["Okay, what else?" for _ in said]
    async with Scene(folder, provider=ScriptedProvider([*replies, "Hm."], rule_based=False)) as scene:
        for text in said:
            await scene.say(text)
        await scene.say("/new")
        await scene.say(question)
        quoted = re.search(r"### Said earlier\n(.*?)\n</", scene.requests[-1], re.DOTALL)
        return scene.requests[-1], quoted[1] if quoted else ""


@pytest.mark.parametrize(
    ("said", "question", "told", "untold"),
    [
        (ENGLISH, "Who paints boats?", "cousin paints boats", ("Bread", "slept")),
        (SPANISH, "¿Quién pinta barcos?", "primo pinta barcos", ("pan", "dormido")),
        (ENGLISH, "Where is the lift?", "lift is broken", ("slept", "rained")),
    ],
)
async def test_only_what_bears_on_the_message_is_quoted(
    tmp_path: Path, said: tuple[str, ...], question: str, told: str, untold: tuple[str, ...]
) -> None:
    """Neither the turn before it nor the next message."""
    prompt, quoted = await _ask(tmp_path, said, question)
    assert told in quoted
    assert not [text for text in untold if text in quoted]
    assert "Nothing was remembered" not in prompt


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (ENGLISH, "What is the capital of Peru?"), (ENGLISH, "Thanks a lot"), (ENGLISH, "And then?"),
        (SPANISH, "¿Cuál es la capital de Perú?"), (SPANISH, "Muchas gracias"), (SPANISH, "¿Y luego?"),
    ],
)  # fmt: skip
async def test_nothing_is_quoted_without_bearing(tmp_path: Path, said: tuple[str, ...], question: str) -> None:
    """Six statements about other things stay where they are."""
    assert (await _ask(tmp_path, said, question))[1] == ""


async def test_the_first_prompt_of_a_home_says_that_nothing_is_remembered(tmp_path: Path) -> None:
    """There it is true."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("Who paints boats?")
        assert "Nothing was remembered" in scene.requests[-1]


async def test_onboarding_denies_nothing_that_is_known(tmp_path: Path) -> None:
    """It says that nothing is known of the person until something is."""
    replies = ["Hello!", "Nice. <user-update>Name: Nora; nurse in Soria</user-update>", "Fine."]
    async with Scene(tmp_path, replies, bootstrap=True) as scene:
        await scene.say("hello")
        assert "know nothing about your person yet" in scene.requests[-1]
        await scene.say("I am Nora, a nurse in Soria")
        await scene.say("good")
        assert "nurse in Soria" in scene.requests[-1] and "First Conversation" in scene.requests[-1]
        assert "know nothing about your person" not in scene.requests[-1]
