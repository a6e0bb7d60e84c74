"""A person who says stop ends the turn under way, also one that hangs, and what waits behind it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.agent.stop_words import stop_word
from kenobot.ports.clock import SystemClock
from kenobot.ports.provider import Delta, Request
from kenobot.storage import dead_letters, turn_stats
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage
from kenobot_testing.provider import ScriptedProvider
from tests.cases import each
from tests.samples import inbound
from tests.scene import Scene
from tests.unit.agent.loop.house import House


class _Hanging:
    """A turn that never ends by itself."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def __call__(self, pending: PendingMessage) -> None:
        if not stop_word(pending.inbound.text) and pending.inbound.text != "hello":
            self.begun.set()
            await asyncio.Event().wait()


async def states(house: House) -> list[tuple[object, ...]]:
    return await house.database.read(
        lambda c: c.execute("SELECT text, state, reason FROM inbox ORDER BY id").fetchall()
    )


@pytest.mark.parametrize("word", ["para", "Stop", "/stop", "cancelar", " cancel "])
async def test_a_turn_that_hangs_is_stopped_at_once(database: Database, word: str) -> None:
    """What waits behind it is taken back too, and what comes later is answered; nothing of it is a failure."""
    house = House(database)
    house.during = hanging = _Hanging()
    await house.say("a long story", 1)
    await hanging.begun.wait()
    await house.say("and another", 2)
    await house.say(word, 3)
    await house.say("hello", 4)
    async with asyncio.timeout(60):
        await house.loop.wait_idle()
    found = await states(house)
    stopped = "stopped by its sender"
    assert [row[1:] for row in found] == [
        ("dropped", stopped),
        ("dropped", stopped),
        ("answered", ""),
        ("answered", ""),
    ]
    assert house.loop.unfinished_count == 0
    counts = await database.read(lambda c: turn_stats.count_messages(c, SystemClock().now() - timedelta(days=9999)))
    assert counts.failure_rate == 0
    assert await database.read(lambda c: dead_letters.find(c, dead_letters.ENDED)) == []


async def test_a_stop_counts_after_a_crash(database: Database) -> None:
    """Stored before the process died, it ends what it was said of at the next start; no turn begins for that."""
    first = House(database)
    for number, text in enumerate(("a long story", "para", "hello"), 1):
        await first.inbox.store(inbound(text, number), f"trace {number}")
    house = House(database)
    await house.loop.start()
    async with asyncio.timeout(60):
        await house.loop.wait_idle()
    assert [row[1] for row in await states(house)] == ["dropped", "answered", "answered"]
    assert house.texts() == ["para", "hello"]


async def test_another_chat_goes_on(database: Database) -> None:
    """A stop is for the chat it is said in."""
    house = House(database)
    house.during = hanging = _Hanging()
    await house.say("a long story", 1, chat="1")
    await hanging.begun.wait()
    await house.say("stop", 2, chat="2")
    await house.loop.wait_chat_idle("fake-2")
    assert house.loop.unfinished_count == 1
    await house.loop.stop(0)


async def test_a_message_that_waits_for_a_model_is_stopped(database: Database) -> None:
    """Nobody has to wait for the model to come back."""
    house = House(database)
    house.out_of_reach.add("a question")
    await house.say("a question", 1)
    await house.loop.wait_idle()
    await house.say("para", 2)
    async with asyncio.timeout(60):
        await house.loop.wait_idle()
    assert [row[1] for row in await states(house)] == ["dropped", "answered"]
    assert house.loop.unfinished_count == 0


async def test_in_a_group_each_stops_what_is_theirs(database: Database) -> None:
    """One guest does not silence the answer to another."""
    house = House(database)
    house.during = hanging = _Hanging()
    await house.loop(inbound("a long story", 1, chat="-1", user="8", private=False))
    await hanging.begun.wait()
    await house.loop(inbound("stop", 2, chat="-1", user="9", private=False))
    assert house.loop.unfinished_count == 2
    await house.loop(inbound("stop", 3, chat="-1", user="8", private=False))
    async with asyncio.timeout(60):
        await house.loop.wait_idle()
    assert [row[1] for row in await states(house)] == ["dropped", "answered", "answered"]


async def test_a_full_chat_can_be_stopped(database: Database) -> None:
    """The limit of what may wait does not hold for the word that empties it."""
    house = House(database, chat_backlog=2)
    house.during = hanging = _Hanging()
    await house.say("one", 1)
    await hanging.begun.wait()
    await house.say("two", 2)
    assert not await house.say("three", 3)
    assert await house.say("para", 4)
    async with asyncio.timeout(60):
        await house.loop.wait_idle()
    assert house.loop.unfinished_count == 0


class _HangingProvider(ScriptedProvider):
    """A model that begins to answer and never ends."""

    def __init__(self) -> None:
        super().__init__(["never"], repeat_last=True)
        self.asked = asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.asked.set()
        yield Delta("Once upon <memory>a time</memory>")
        await asyncio.Event().wait()


async def test_a_model_that_hangs_is_broken_off(tmp_path: Path) -> None:
    """A short word is all the answer, and neither the conversation nor memory has anything of the turn."""
    provider = _HangingProvider()
    async with Scene(tmp_path, provider=provider) as scene:
        await scene.put("Cuéntame un cuento muy largo, por favor")
        await provider.asked.wait()
        async with asyncio.timeout(30):
            assert await scene.say("para") == "Parado."
        assert await scene.rows("SELECT text FROM message") == []
        assert await scene.rows("SELECT text FROM record") == []
        assert await scene.rows("SELECT payload FROM turn_step") == []


async def test_the_person_is_told_once(tmp_path: Path) -> None:
    """In their language, and otherwise when there was nothing to stop."""
    async with Scene(tmp_path, ["ok"]) as scene:
        assert await scene.say("para") == "No hay nada en marcha que parar."
        assert await scene.say("/stop") == "There is nothing under way to stop."
        assert not scene.requests


@each(
    ("text", "word"),
    [
        *((word, word) for word in ("stop", "para", "cancel", "cancelar", "basta", "detente", "cancela")),
        ("¡BASTA!", "basta"),
        ("basta ya", "basta"),
        ("¡Para ya!", "para"),
        ("Detén", "deten"),
        ("Párate.", "parate"),
        ("cancelá", ""),
        ("stop, please", "stop"),
        ("/cancela", "cancela"),
        ("para mañana", ""),
        ("parada", ""),
        ("basta con dos", ""),
        ("cancela la cita", ""),
        ("stop?", ""),
        ("", ""),
        ("stop" + " " * 40, ""),
    ],
)
def test_a_word_alone_stops(text: str, word: str) -> None:
    """A stop word stops in every form that people give it, and no sentence with one does."""
    assert stop_word(text) == word
