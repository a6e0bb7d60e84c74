"""A secret is never kept by a guess; the reply offers to keep it, and a yes keeps it word for word."""

import asyncio
from pathlib import Path

import pytest

from kenobot.cli import main
from tests.integration.memory.test_change_questions import LIVE, live, scene
from tests.scene import Scene

OFFER = "Shall I keep it, word for word?"


@pytest.mark.parametrize(
    ("text", "question", "answer", "kept"),
    [
        ("my alarm code is 2580", OFFER, "yes", "my alarm code is 2580"),
        ("wifi pw is biscuit2021!", OFFER, "yes please", "wifi pw is biscuit2021!"),
        ("Remember that my phone PIN is 0852", OFFER, "yes", "my phone PIN is 0852"),
        ("/remember my password is hunter22xyz!", OFFER, "yes", "my password is hunter22xyz!"),
        ("Netflix: rob@example.org / Pa55word!", OFFER, "yes", "Netflix: rob@example.org / Pa55word!"),
        ("mi PIN del banco es 4821", "¿Lo guardo, palabra por palabra?", "sí", "mi PIN del banco es 4821"),
        ("Hola. La contraseña del wifi es perro99", "¿Lo guardo", "sí", "La contraseña del wifi es perro99"),
    ],
)
async def test_a_yes_keeps_it_word_for_word(tmp_path: Path, text: str, question: str, answer: str, kept: str) -> None:
    """Nothing is kept before it; a rule, a wish and a command are asked about alike."""
    async with scene(tmp_path) as house:
        assert question in await house.say(text)
        assert await live(house) == []
        assert "✓" in await house.say(answer)
        assert await live(house) == [kept]


async def test_the_buttons_answer_too_and_undo_takes_it_back(tmp_path: Path) -> None:
    """However the talk went on."""
    async with scene(tmp_path) as house:
        await house.say("my alarm code is 2580")
        assert list(house.buttons) == ["Yes, keep it", "No, don't"]
        pressed = house.buttons["Yes, keep it"]
        await house.say("Hello there")
        assert "✓" in await house.say("", kind="action", target="1", value=pressed)
        assert await live(house) == ["my alarm code is 2580"]
        await house.press("Undo")
        assert await live(house) == []


async def test_a_no_and_silence_keep_nothing(tmp_path: Path) -> None:
    """A later yes means something else."""
    async with scene(tmp_path) as house:
        await house.say("my alarm code is 2580")
        assert await house.say("no") == "Good, I keep nothing of it."
        await house.say("my bank PIN is 4821")
        await house.say("Hello there")
        assert "✓" not in await house.say("yes")
        assert await live(house) == []


async def test_it_stands_in_the_message_alone(tmp_path: Path) -> None:
    """The question, its buttons, events and signals name the message by its number."""
    async with scene(tmp_path) as house:
        await house.say("my alarm code is 2580")
        tables = [str(name) for (name,) in await house.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        holding = [table for table in tables if "2580" in str(await house.rows(f'SELECT * FROM "{table}"'))]
        assert sorted(holding) == ["inbox", "message"]


async def test_a_tag_of_a_model_is_asked_about(tmp_path: Path) -> None:
    """A number that only looks like one is noted as ever."""
    replies = [
        "OK. <memory>Rob's alarm code is 2580</memory>",
        "OK. <memory>Rob lives in flat 3</memory>",
        "I will.",
    ]
    async with Scene(tmp_path, replies) as house:
        answer = await house.say("My alarm code is 2580")
        assert "I did not save that" in answer and OFFER in answer
        assert "✓" in await house.say("yes")
        assert OFFER not in await house.say("I live in flat 3")
        assert OFFER in await house.say("Remember that my bank PIN is 4821")
        assert await live(house) == ["My alarm code is 2580", "Rob lives in flat 3"]


async def test_what_is_kept_comes_back_from_its_file(tmp_path: Path) -> None:
    """Whoever loses the database does not lose it, though it looks like a password."""
    async with scene(tmp_path) as house:
        await house.say("remember that my password is hunter2xyz")
        await house.say("yes")
    assert await asyncio.to_thread(main, ["--home", str(tmp_path / "home"), "memory", "rebuild", "--replace"]) == 0
    async with scene(tmp_path) as house:
        assert await live(house) == ["my password is hunter2xyz"]


async def test_what_stands_beside_a_secret_is_kept(tmp_path: Path) -> None:
    """In the same sentence and in those around it; a yes adds the secret alone."""
    async with scene(tmp_path) as house:
        await house.say("We stay at mum's in Leeds. The alarm code is 2580. She has a cat called Miso.")
        assert await live(house) == ["We stay at mum's in Leeds", "She has a cat called Miso"]
        await house.say("yes")
        assert (await live(house))[2:] == ["The alarm code is 2580"]
        assert OFFER in await house.say("I work at Acme and my bank PIN is 4821")
        assert (await live(house))[3:] == ["I work at Acme"]


async def test_in_a_group_nothing_is_offered(tmp_path: Path) -> None:
    """All would see it."""
    async with Scene(tmp_path, ["Hm."]) as house:
        group: dict[str, object] = {"chat": "-100", "private": False}
        answer = await house.say("/remember the alarm code is 2580", user="2", **group)  # type: ignore[arg-type]
        assert "another secret" in answer and OFFER not in answer
        assert await house.rows(LIVE) == []


async def test_a_message_that_is_gone_from_the_inbox_is_read_from_the_conversation(tmp_path: Path) -> None:
    """The inbox keeps a week; a message that was erased is gone."""
    async with scene(tmp_path) as house:
        await house.say("my alarm code is 2580")
        await house.app.database.write(lambda connection: connection.execute("UPDATE inbox SET text = ''"))
        assert "✓" in await house.say("yes")
        assert await live(house) == ["my alarm code is 2580"]
        await house.say("my bank PIN is 4821")
        await house.app.database.write(lambda connection: connection.execute("UPDATE inbox SET text = ''"))
        await house.app.database.write(lambda connection: connection.execute("UPDATE message SET text = 'gone'"))
        assert "no longer there" in await house.say("yes")
        assert await live(house) == ["my alarm code is 2580"]


@pytest.mark.parametrize("back", ["forget it", "don't remember this", "olvídalo"])
async def test_words_that_point_back_refuse_the_offer(tmp_path: Path, back: str) -> None:
    """They retract nothing else, and a later yes keeps no secret."""
    async with scene(tmp_path) as house:
        await house.say("I live in Leeds")
        await house.say("my PIN is 4821")
        await house.say(back)
        await house.say("yes")
        assert await live(house) == ["I live in Leeds"]
