"""A sentence that says two things, of which one is no longer so: told by conversation, in Spanish and English."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kenobot.ports.clock import Clock
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Provider
from kenobot.providers.offline import plugin
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

LIVE = "SELECT text FROM record WHERE status = 'active' AND form != 'box' ORDER BY id"


def offline(home: Path, clock: Clock) -> Provider:
    return plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))


async def live(scene: Scene) -> list[object]:
    return [row[0] for row in await scene.rows(LIVE)]


TALKS = [
    (
        ("Me llamo Ana y vivo en Lyon", "Ahora vivo en Madrid"),
        {"¿Dónde vivo?": "Madrid", "¿Cómo me llamo?": "Ana"},
        ["Me llamo Ana", "Ahora vivo en Madrid"],
    ),
    (
        ("My name is Ana and I live in Lyon", "I live in Madrid now"),
        {"Where do I live?": "Madrid", "What is my name?": "Ana"},
        ["My name is Ana", "I live in Madrid now"],
    ),
    (
        ("I live in Lyon and work at Acme", "I live in Madrid now"),
        {"Where do I live?": "Madrid", "Where do I work?": "Acme"},
        ["I work at Acme", "I live in Madrid now"],
    ),
    (
        ("Recuerda que vivo en Lyon y mi perro se llama Toby", "Ahora vivo en Madrid"),
        {"¿Dónde vivo?": "Madrid", "¿Cómo se llama mi perro?": "Toby"},
        ["mi perro se llama Toby", "Ahora vivo en Madrid"],
    ),
    (
        ("Me llamo Ana y vivo en Lyon", "Ya no vivo en Lyon"),
        {"¿Dónde vivo?": "Ya no vivo en Lyon", "¿Cómo me llamo?": "Ana"},
        ["Me llamo Ana", "Ya no vivo en Lyon"],
    ),
    (
        ("My name is Ana and I live in Lyon", "I don't live in Lyon anymore"),
        {"Where do I live?": "I don't live in Lyon", "What is my name?": "Ana"},
        ["My name is Ana", "I don't live in Lyon anymore"],
    ),
    (
        ("I pay 42 euros a month for Netflix and Spotify", "I cancelled Netflix"),
        {"What do I pay for Netflix?": "I pay 42 euros a month for Netflix and Spotify"},
        ["I pay 42 euros a month for Netflix and Spotify", "I cancelled Netflix"],
    ),
    (
        ("Mi madre está ingresada en el Clínico y tiene 74 años", "mi madre ya está en casa"),
        {"¿Cuántos años tiene mi madre?": "74", "¿Dónde está mi madre?": "ya está en casa"},
        ["Mi madre está ingresada en el Clínico y tiene 74 años", "mi madre ya está en casa"],
    ),
    (
        ("There are 28 kids in my class", "two kids moved away so I'm down to 26", "yes"),
        {"How many kids are in my class?": "26"},
        ["two kids moved away so I'm down to 26"],
    ),
]


@pytest.mark.parametrize(("told", "asked", "left"), TALKS)
async def test_what_is_no_longer_so_is_not_answered(
    tmp_path: Path, told: Sequence[str], asked: dict[str, str], left: list[str]
) -> None:
    """Without a model: the answer is what was said last, in this chat and in one that begins later; the rest stays.

    What no rule is sure of, and nobody said yes to, stays beside it word for word.
    """
    clock = EagerClock()
    async with Scene(tmp_path, provider=offline(tmp_path, clock), clock=clock, extraction=True) as scene:
        for text in told:
            await scene.say(text)
        assert await live(scene) == left
        for chat in ("1", "1-later"):
            for question, answer in asked.items():
                said = await scene.say(question, chat=chat, user="1")
                assert answer in said, question
                assert "Lyon" not in said or "Lyon" in answer, question


async def test_a_models_tags_are_taken_apart_as_well(tmp_path: Path) -> None:
    """What the model notes of two things: what is over is in no later prompt, and undo brings it back."""
    replies = [
        "Noted. <memory>User's name is Ana and lives in Lyon</memory>",
        "Noted. <memory>User lives in Madrid</memory>",
        "Madrid.",
    ]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("I am Ana from Lyon")
        await scene.say("I moved")
        await scene.say("Where do I live?", chat="later", user="1")
        assert "User's name is Ana" in scene.requests[-1] and "Lyon" not in scene.requests[-1]
        assert await live(scene) == ["User's name is Ana", "User lives in Madrid"]
        assert "Lyon" not in scene.read("2026-02-14.md")
        await scene.say("/undo")
        assert await live(scene) == ["User's name is Ana and lives in Lyon"]


async def test_a_sentence_that_cannot_be_taken_apart_says_so(tmp_path: Path) -> None:
    """It stays for the rest that it tells, with a note beside what is over."""
    replies = [
        "<memory>User's name is Ana and she lives in Lyon</memory>",
        "<memory>The user's name is Eva</memory>",
        ".",
    ]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("I am Ana")
        await scene.app.database.write(
            lambda c: c.execute('UPDATE record SET attributes = \'{"name": "Ana", "residence": "Lyon"}\'')
        )
        await scene.say("I am Eva now")
        assert await live(scene) == [
            "User's name is Ana and she lives in Lyon [no longer: Ana]",
            "The user's name is Eva",
        ]


async def test_what_is_left_may_be_known_already(tmp_path: Path) -> None:
    """Then the sentence is history, and what it said stays once."""
    tags = ["I work at Acme", "I live in Lyon and work at Acme", "I live in Madrid"]
    async with Scene(tmp_path, [f"<memory>{tag}</memory>" for tag in tags]) as scene:
        for tag in tags:
            await scene.say(tag)
        assert await live(scene) == ["I work at Acme", "I live in Madrid"]
