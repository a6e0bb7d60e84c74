"""Messages that one person sends within moments are one turn, whatever happens meanwhile."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.ports.messages import Attachment
from kenobot.ports.provider import Reply
from kenobot.storage import turn_steps
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.hasty import HastyScene


async def test_three_fragments_are_one_turn(tmp_path: Path) -> None:
    """Each is a row of its own, and each is answered with the first; the wait counts from the last one."""
    async with HastyScene(tmp_path) as scene:
        await scene.put("buy milk")
        await scene.waits(1.5)
        scene.time.advance(1.0)
        await scene.put("and bread")
        await scene.put("and tea")
        scene.time.advance(0.5)
        await scene.waits(1.0)
        assert scene.requests == []
        assert await scene.answered(1) == ["ok"]
        await scene.app.wait_drained()
        assert "buy milk\nand bread\nand tea" in scene.requests[0]
        assert len(scene.requests) == 1
        rows = await scene.rows("SELECT state, joined_to FROM inbox ORDER BY id")
        assert rows == [("answered", None), ("answered", 1), ("answered", 1)]
        assert scene.app.loop.unfinished_count == 0


async def test_the_wait_has_an_end(tmp_path: Path) -> None:
    """Who writes on and on is answered after five seconds with what there is."""
    async with HastyScene(tmp_path) as scene:
        for number in range(12):
            await scene.put(f"word{number}")
            await asyncio.sleep(0.01)
            scene.time.advance(0.5)
        await scene.until(lambda: len(scene.requests) > 0)
        assert "word9" in scene.requests[0]
        assert "word11" not in scene.prompts()[0]


async def test_a_command_neither_waits_nor_joins(tmp_path: Path) -> None:
    """It ends the wait of what stands before it, and the clock need not move."""
    async with HastyScene(tmp_path) as scene:
        await scene.put("/help")
        await scene.until(lambda: len(scene.texts) == 1)
        await scene.put("hello")
        await scene.waits(1.5)
        await scene.put("/help")
        await scene.until(lambda: len(scene.texts) == 3)
        assert scene.texts[1] == "ok"
        assert scene.texts[0] == scene.texts[2]
        assert await scene.rows("SELECT count(*) FROM inbox WHERE joined_to IS NOT NULL") == [(0,)]


async def test_stop_ends_what_waits(tmp_path: Path) -> None:
    """The fragments are not answered, and the model is not asked."""
    async with HastyScene(tmp_path) as scene:
        await scene.put("write me a novel")
        await scene.put("in ten volumes")
        await scene.waits(1.5)
        await scene.put("stop")
        await scene.until(lambda: len(scene.texts) == 1)
        await scene.app.wait_drained()
        assert scene.requests == []
        assert await scene.rows("SELECT state FROM inbox ORDER BY id") == [("dropped",), ("dropped",), ("answered",)]


@pytest.mark.parametrize(
    "more",
    [
        {"user": "2"},
        {"forwarded": True},
        {"quoted": "that", "quoted_author": "Bea"},
        {"sent_at": START - timedelta(hours=1)},
    ],
)
async def test_what_is_no_fragment_is_a_turn_of_its_own(tmp_path: Path, more: dict[str, object]) -> None:
    """Another person's, a forwarded message, an answer to something else, or one of another time."""
    async with HastyScene(tmp_path) as scene:
        await scene.put("one")
        await scene.put("two", **more)  # type: ignore[arg-type]
        assert await scene.answered(2) == ["ok", "ok"]
        assert len(scene.requests) == 2


async def test_fragments_outlive_a_restart(tmp_path: Path) -> None:
    """Those of a wait that was cut short are joined by the next run, without another wait."""
    async with HastyScene(tmp_path) as scene:
        await scene.put("buy milk")
        await scene.put("and bread")
        await scene.waits(1.5)
    async with HastyScene(tmp_path) as scene:
        await scene.until(lambda: len(scene.texts) == 1)
        await scene.app.wait_drained()
        assert "buy milk\nand bread" in scene.requests[0]
        assert await scene.rows("SELECT state FROM inbox") == [("answered",), ("answered",)]


async def test_a_paid_answer_is_to_the_fragments_it_was_asked_with(tmp_path: Path) -> None:
    """What came later is answered by itself, and nothing that was joined is left out."""
    async with HastyScene(tmp_path) as scene:
        for text in ("one", "two", "three"):
            await scene.put(text)
        await scene.waits(1.5)

        def pay(connection: Connection) -> None:
            connection.execute("UPDATE inbox SET joined_to = 1 WHERE id = 2")
            turn_steps.append_step(connection, 1, 0, Reply("paid", "end_turn"), START)

        await scene.app.database.write(pay)
    async with HastyScene(tmp_path) as scene:
        assert await scene.answered(2) == ["paid", "ok"]
        told = await scene.rows("SELECT text FROM message WHERE role = 'user' ORDER BY id")
        assert told == [("one\ntwo",), ("three",)]


async def test_what_is_attached_to_fragments_is_read(tmp_path: Path) -> None:
    """A place that is sent behind its words is part of the message."""
    async with HastyScene(tmp_path) as scene:
        await scene.put("where is this?")
        await scene.put("", attachments=(Attachment("location", text="41.4, 2.2"),))
        await scene.answered(1)
        assert "where is this?\n[sent a location: 41.4, 2.2]" in scene.requests[0]
        assert len(scene.requests) == 1
