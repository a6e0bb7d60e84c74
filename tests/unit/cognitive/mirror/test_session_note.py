"""`memory/SESSION.md`: written through, for its owner to read, and never read itself."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import pytest

from kenobot.cognitive.mirror.session_note import SessionNote
from kenobot.cognitive.store import events, records
from kenobot.cognitive.store.change import change, delete_records
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import put_record
from tests.scene import Scene

SMALL = {"PromptLimits.history_min": 4, "PromptLimits.history_max": 12}


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
        await scene.app.database.write(_promised)
        scene.app.memory_files.mark_dirty(())
        await scene.app.memory_files.sync_out()
        text = scene.read("SESSION.md")
    assert "## Open\n\n- Tengo que llamar al fontanero el 3 de marzo" in text
    opened = text.partition("### Open\n\n")[2].partition("\n\n")[0]
    assert "Todavía no sé si viene Álvaro" in opened
    assert "Oporto" not in opened
    assert "Hemos decidido ir a Oporto" in text.partition("### Earlier in this conversation")[2]


def _promised(connection: Connection) -> None:
    connection.execute("UPDATE record SET category = 'commitment' WHERE source = 'command'")
    _touched(connection)


def _touched(connection: Connection) -> None:
    row = connection.execute("SELECT max(id) FROM record").fetchone()
    events.add_event(connection, datetime.now(UTC), "test", "edited", record=row[0])


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
    _touched(connection)


async def test_two_rounds_at_once_do_not_take_each_other_for_a_person(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One waits for the other: nothing is put aside, and nobody is warned."""
    async with Scene(tmp_path, ["ok <working-memory>- one</working-memory>"]) as scene:
        note = scene.memory_files.session_note
        for round_ in range(5):
            (scene.home.memory / "SESSION.md").unlink(missing_ok=True)
            await scene.app.database.write(partial(_written, text=f"- pad {round_}"))
            await scene.say("a")
            await asyncio.gather(*(note.sync_out() for _ in range(4)))
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


async def test_a_file_that_is_gone_or_changed_is_written_again_while_memory_stays_as_it_is(tmp_path: Path) -> None:
    """What a round of writing remembers of the last one is no reason to leave the file as somebody else made it."""
    async with Scene(tmp_path, ["ok <working-memory>- one</working-memory>"]) as scene:
        await scene.say("a")
        path, note = scene.home.memory / "SESSION.md", scene.memory_files.session_note
        text = path.read_text()
        path.unlink()
        await note.sync_out()
        assert path.read_text() == text
        path.write_text(text + "- mine\n")
        await note.sync_out()
        assert path.read_text() == text
        aside = [each.read_text() for each in (scene.home.memory / "archive").glob("SESSION-*.md")]
    assert aside == [text + "- mine\n"]


async def test_a_chat_that_is_no_longer_the_owners_own_leaves_it(tmp_path: Path) -> None:
    """Where memory writes what is said there tells that, and no record changes with it."""
    async with Scene(tmp_path, ["ok <working-memory>- one</working-memory>"]) as scene:
        await scene.say("a")
        assert "- one" in scene.read("SESSION.md")
        said = "INSERT INTO message (session, role, text, at, scope) SELECT session, role, text, at, ? FROM message"
        await scene.app.database.write(lambda c: c.execute(said, ("chat:telegram-1",)))
        await scene.memory_files.session_note.sync_out()
        assert "- one" not in scene.read("SESSION.md")


async def test_what_it_is_made_of_is_read_again_only_when_something_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round of writing after nothing happened costs a look, and a change of a record costs all of it."""
    made: list[date] = []
    wanted = SessionNote._render

    def noted(self: SessionNote, connection: Connection, chats: Mapping[str, Sequence[Record]], today: date) -> object:
        made.append(today)
        return wanted(self, connection, chats, today)

    monkeypatch.setattr(SessionNote, "_render", noted)
    async with Scene(tmp_path, ["ok <working-memory>- one</working-memory>"]) as scene:
        await scene.say("a")
        note = scene.memory_files.session_note
        await note.sync_out()
        before = len(made)
        await note.sync_out()
        assert len(made) == before
        await scene.app.database.write(partial(_written, text="- two"))
        await note.sync_out()
        assert len(made) == before + 1
        assert "- two" in scene.read("SESSION.md")


def _erase(connection: Connection, number: int) -> None:
    delete_records(connection, [number])
    events.add_event(connection, START, "test", "purged", record=number)


async def test_a_memory_that_it_does_not_tell_of_leaves_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fact leaves the file alone; a commitment comes into it, and goes once it is none any more, or is erased."""
    made: list[date] = []
    wanted = SessionNote._render

    def noted(self: SessionNote, connection: Connection, chats: Mapping[str, Sequence[Record]], today: date) -> object:
        made.append(today)
        return wanted(self, connection, chats, today)

    def resolve(connection: Connection, number: int) -> None:
        [record] = records.by_ids(connection, [number], (OWNER_SCOPE,)).values()
        change(connection, record, "amended", {"category": "fact"}, ChangeContext(START, "test", "no promise", ""))

    monkeypatch.setattr(SessionNote, "_render", noted)
    async with Scene(tmp_path, ["ok <working-memory>- one</working-memory>"]) as scene:
        await scene.say("a")
        database, note = scene.app.database, scene.memory_files.session_note
        await note.sync_out()
        before = len(made)
        await database.write(partial(put_record, text="the roof is red"))
        await note.sync_out()
        assert len(made) == before
        paint, roof = [
            await database.write(partial(put_record, text=text, category="commitment"))
            for text in ("paint the door", "mend the roof")
        ]
        await note.sync_out()
        assert "paint the door" in scene.read("SESSION.md")
        await database.write(partial(resolve, number=paint.id))
        await note.sync_out()
        assert "paint the door" not in scene.read("SESSION.md")
        await database.write(partial(_erase, number=roof.id))
        await note.sync_out()
        assert "mend the roof" not in scene.read("SESSION.md")
