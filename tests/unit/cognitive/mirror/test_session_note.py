"""`memory/SESSION.md`: written through, for its owner to read, and never read itself."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from kenobot.db import Connection
from tests.scene import Scene

SMALL = {"KENOBOT_CONTEXT__HISTORY_MESSAGES": "4", "KENOBOT_CONTEXT__HISTORY_MOST": "12"}


async def test_what_is_going_on_is_written_through(tmp_path: Path) -> None:
    """Working memory stands in the file right after the turn, by chat, with its time; a secret does not."""
    replies = ["ok <working-memory>- the roof is half done\n# no heading</working-memory>", "ok"]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("the roof")
        text = scene.read("SESSION.md")
    assert text.startswith("# What is going on\n")
    assert "## telegram-1 — 2026-02-14 14:30" in text
    assert "### Working memory (updated 2026-02-14 14:30)\n\n- the roof is half done\n\\# no heading" in text


async def test_summary_and_open_things_stand_there(tmp_path: Path) -> None:
    """What was said earlier, and of that what is still open; commitments of the owner's until they are resolved."""
    replies = ["ok", "ok"]
    async with Scene(tmp_path, replies, environ=SMALL) as scene:
        await scene.say("/remember Tengo que llamar al fontanero el 3 de marzo")
        for text in ("Hemos decidido ir a Oporto", "Todavía no sé si viene Álvaro", *["nada"] * 4):
            await scene.say(text)
        await scene.app.database.write(
            lambda c: c.execute("UPDATE record SET category = 'commitment' WHERE source = 'command'")
        )
        scene.app.mirror.mark(())
        await scene.app.mirror.flush()
        text = scene.read("SESSION.md")
    assert "## Open\n\n- Tengo que llamar al fontanero el 3 de marzo" in text
    opened = text.partition("### Open\n\n")[2].partition("\n\n")[0]
    assert "Todavía no sé si viene Álvaro" in opened
    assert "Oporto" not in opened
    assert "Hemos decidido ir a Oporto" in text.partition("### Earlier in this conversation")[2]


async def test_what_a_person_writes_into_it_is_put_aside(tmp_path: Path) -> None:
    """It is no memory, and it is not lost: it lies in the archive, and the file says again what is going on."""
    replies = ["ok <working-memory>- one</working-memory>", "ok <working-memory>- two</working-memory>"]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("a")
        path = scene.home.memory / "SESSION.md"
        path.write_text(path.read_text() + "my own note\n")
        await scene.say("b")
        aside = [each.read_text() for each in (scene.home.memory / "archive").glob("SESSION-*.md")]
        records = await scene.rows("SELECT text FROM record WHERE text LIKE '%my own note%'")
        assert "- two" in scene.read("SESSION.md")
        assert "my own note" not in scene.read("SESSION.md")
    assert [text for text in aside if "my own note" in text]
    assert records == []


def _written(connection: Connection, text: str) -> None:
    connection.execute("UPDATE record SET text = ? WHERE form = 'scratchpad'", (text,))


async def test_two_rounds_at_once_do_not_take_each_other_for_a_person(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One waits for the other: nothing is put aside, and nobody is warned."""
    async with Scene(tmp_path, ["ok <working-memory>- one</working-memory>"]) as scene:
        note = scene.app.mirror.session
        for round_ in range(5):
            (scene.home.memory / "SESSION.md").unlink(missing_ok=True)
            await scene.app.database.write(partial(_written, text=f"- pad {round_}"))
            await scene.say("a")
            await asyncio.gather(*(note.flush() for _ in range(4)))
        assert "- one" in scene.read("SESSION.md")
        assert not (scene.home.memory / "archive").exists()
    assert "was changed just now" not in caplog.text


async def test_a_restart_writes_nothing_anew(tmp_path: Path) -> None:
    """The file is known as our own: it is neither written nor put aside."""
    async with Scene(tmp_path, ["ok <working-memory>- one</working-memory>"]) as scene:
        await scene.say("a")
        before = (scene.home.memory / "SESSION.md").stat()
    async with Scene(tmp_path, ["ok"]) as scene:
        after = (scene.home.memory / "SESSION.md").stat()
        assert not list((scene.home.memory / "archive").glob("SESSION-*.md"))
    assert before.st_mtime_ns == after.st_mtime_ns
