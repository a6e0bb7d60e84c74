"""The mirror over time: others at the same file, trouble with the disk, and what it costs when nothing is new."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kenobot.cognitive.mirror import scan
from kenobot.cognitive.store import events, list_file_rows
from kenobot.cognitive.store.change import change
from kenobot.language.markdown import list_layout
from kenobot.ports.errors import StoreError
from kenobot.ports.memory_changes import ChangeContext
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from tests.unit.cognitive.mirror.house import ENTRY, LOG, House
from tests.unit.cognitive.mirror.notes import cursor_of, row_of

# ── somebody else at the same file ───────────────────────────────────────────────────────────────────────────────


async def test_a_save_while_the_bot_writes_is_not_overwritten(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is looked at again just before it is written."""
    await house.learn("one", flush=True)
    write = disk._write_one

    def interrupted(*args: Any) -> disk.FileStamp | None:
        monkeypatch.setattr(disk, "_write_one", write)
        house.edit(LOG, "one\n\n", "one\n\n## 15:00 — mine\n\n")
        return write(*args)

    monkeypatch.setattr(disk, "_write_one", interrupted)
    await house.learn("two", flush=True)
    assert house.text(LOG) == ENTRY("one") + "## 15:00 — mine\n\n" + ENTRY("two")
    assert await house.texts() == ["one", "two", "mine"]


async def test_looks_and_writes_at_once_come_out_right(house: House) -> None:
    """Many turns looking while the bot writes and a person edits: every fact once, in memory and in the file."""
    await house.learn("zero", flush=True)
    house.edit(LOG, "zero\n\n", "zero\n\n## 15:00 — mine\n\n")

    async def turn(number: int) -> None:
        await house.mirror.sync_in()
        await house.learn(f"fact {number}", flush=True)

    await asyncio.gather(*(turn(number) for number in range(10)))
    expected = ["mine", "zero", *(f"fact {number}" for number in range(10))]
    assert sorted(await house.texts()) == sorted(expected)
    said = [list_layout.fact_text("daily", chunk) for chunk in list_layout.split("daily", house.text(LOG))]
    assert sorted(text for text in said if text) == sorted(expected)


async def test_what_is_being_written_is_not_written_yet(house: House) -> None:
    """Writes count as pending until they are over, so that waiting for the files waits for those under way."""
    house.mirror.mark_dirty([await house.learn("one")])
    writing = asyncio.create_task(house.mirror.sync_out())
    while not writing.done():
        assert house.mirror.has_pending_writes
        await asyncio.sleep(0)
    assert not house.mirror.has_pending_writes
    assert house.text(LOG) == ENTRY("one")


# ── trouble ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("damaged", [b"\xff\xfe broken", bytes(40), b"## 14:00" + bytes(9)])
async def test_a_damaged_file_is_left_alone_and_reported(
    house: House, caplog: pytest.LogCaptureFixture, damaged: bytes
) -> None:
    """It is never overwritten; when the person has mended it, everything is brought together."""
    await house.learn("one", flush=True)
    (house.root / LOG).write_bytes(damaged)
    await house.learn("two", flush=True)
    assert (house.root / LOG).read_bytes() == damaged
    assert list(house.mirror.problems) == [f"{LOG} is not UTF-8 text: it is left alone."]
    await house.mirror.sync_in()
    assert [record.message for record in caplog.records] == list(house.mirror.problems)
    assert await house.texts() == ["one", "two"]
    house.write(LOG, ENTRY("one") + "## 15:00 — mended\n\n")
    await house.mirror.sync_in()
    assert not house.mirror.problems
    assert house.text(LOG) == ENTRY("one") + "## 15:00 — mended\n\n" + ENTRY("two")


async def test_a_file_that_ends_in_half_a_character_of_its_owners_is_left_alone(house: House) -> None:
    """An editor that writes Latin-1 may end a file so; that a cut-off append of ours does too takes no byte of it."""
    await house.learn("one", flush=True)
    theirs = (house.root / LOG).read_bytes() + "## 15:00 — el café".encode()[:-1]
    (house.root / LOG).write_bytes(theirs)
    await house.learn("two", flush=True)
    assert (house.root / LOG).read_bytes() == theirs
    assert list(house.mirror.problems) == [f"{LOG} is not UTF-8 text: it is left alone."]


async def test_a_file_that_cannot_be_written_is_tried_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk costs nothing but time, also across a restart."""

    async def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(disk, "replace", full)
        await house.learn("one", flush=True)
        problem = f"{LOG} cannot be written (No space left on device): check the disk and who owns it."
        assert list(house.mirror.problems) == [problem]
    assert await cursor_of(house) in (None, "0")
    await house.mirror.sync_out()
    assert house.text(LOG) == ENTRY("one")
    assert not house.mirror.problems


async def test_a_file_that_breaks_the_mirror_costs_itself(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns go on, the other files too, and the broken one is named."""
    split = list_layout.split

    def brittle(kind: list_layout.FileKind, text: str) -> list[str]:
        if "poison" in text:
            raise RuntimeError("a bug of ours")
        return split(kind, text)

    monkeypatch.setattr(list_layout, "split", brittle)
    house.write("MEMORY.md", "- poison\n")
    house.write(LOG, "## 9:00 — fine\n")
    await house.mirror.sync_in()
    assert await house.texts() == ["fine"]
    assert house.mirror.problems == ("MEMORY.md cannot be understood: it is left alone.",)
    assert house.text("MEMORY.md") == "- poison\n"


async def test_without_a_database_an_edit_waits_in_the_file(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing database is told to the caller, and the edit is taken in when it works again."""

    async def failing(_: object) -> None:
        raise StoreError("no")

    house.write("MEMORY.md", "- mine\n")
    with monkeypatch.context() as patch:
        patch.setattr(house.database, "write", failing)
        with pytest.raises(StoreError):
            await house.mirror.sync_in()
    assert await house.mirror.sync_in() == 1
    assert await house.texts() == ["mine"]


async def test_a_purged_record_leaves_file_and_note(house: House) -> None:
    """When a record is erased for good, so is its line, and what the mirror had noted of it."""
    await house.learn("keep")
    secret = await house.learn("erase me", flush=True)

    def purge(connection: Connection) -> None:
        connection.execute("DELETE FROM link WHERE src = ? OR dst = ?", (secret, secret))
        connection.execute("DELETE FROM record WHERE id = ?", (secret,))
        events.add_event(connection, house.clock.now(), "owner", "purged", record=secret)

    await house.database.write(purge)
    await house.mirror.sync_out()
    assert house.text(LOG) == ENTRY("keep")
    assert await row_of(house, LOG) == (ENTRY("keep"), [1])


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_look_at_unchanged_files_asks_the_database_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One listing of the folders is all it takes."""
    for number in range(20):
        await house.learn(f"fact {number}", f"chat:c{number}")
    await house.mirror.sync_out()
    calls: list[str] = []

    def spy(name: str, owner: object) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def called(*args: object, **named: object) -> Any:
            calls.append(name)
            return real(*args, **named)

        monkeypatch.setattr(owner, name, called)

    spy("read", house.database)
    spy("write", house.database)
    spy("list_files", scan)
    assert await house.mirror.sync_in() == 0
    assert calls == ["list_files"]


async def test_turns_that_begin_together_share_a_look(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for a look that has not begun yet needs none of their own; all know of the edit."""
    looks = 0
    look = scan.list_files

    def counted(root: Path, seen: Mapping[str, disk.FileStamp], *, archive: bool) -> dict[str, disk.FileStamp]:
        nonlocal looks
        looks += 1
        return look(root, seen, archive=archive)

    monkeypatch.setattr(scan, "list_files", counted)
    house.write("MEMORY.md", "- mine\n")

    async def turn() -> list[str]:
        await house.mirror.sync_in()
        return await house.texts()

    assert await asyncio.gather(*(turn() for _ in range(50))) == [["mine"]] * 50
    assert looks == 1


async def test_a_turn_never_looks_through_the_archive(house: House) -> None:
    """What no prompt shows, and only ever grows, is looked at by the rounds in the background, and by a whole look."""
    path = "archive/2024-01-01.md"
    house.write(path, "## 09:00 — one\n\n")
    house.clock.advance(61)
    await house.mirror.sync_in("c")
    assert await house.texts() == []
    assert await house.mirror.scan() == 1
    assert await house.texts() == ["one"]
    house.write(path, "## 09:00 — two\n\n")
    house.clock.advance(30)
    assert await house.mirror.scan() == 0
    await house.mirror.sync_in("c")
    assert await house.texts() == ["one"]
    house.clock.advance(31)
    assert await house.mirror.scan() == 1
    assert await house.texts() == ["two"]
    house.write(path, "## 09:00 — three\n\n")
    await house.mirror.sync_in()
    assert await house.texts() == ["three"]


async def test_a_turn_does_not_take_the_archive_that_it_passes_over_for_lost(house: House) -> None:
    """Files that were not looked at are not missing: nothing is forgotten, and the deletion of one still counts."""
    path = "archive/2024-01-01.md"
    house.write(path, "## 09:00 — one\n\n")
    await house.mirror.sync_in()
    house.clock.advance(10)
    await house.mirror.sync_in("c")
    await house.mirror.sync_out()
    assert house.text(path) == "## 09:00 — one\n\n"
    assert await house.texts() == ["one"]


async def test_who_waits_for_a_whole_look_gets_one(house: House) -> None:
    """Also when a turn, which leaves the archive out, asked for the look that both wait for."""
    house.write("archive/2024-01-01.md", "## 09:00 — one\n\n")
    await asyncio.gather(house.mirror.sync_in("c"), house.mirror.sync_in())
    assert await house.texts() == ["one"]


async def test_a_turn_looks_at_its_own_files_and_now_and_then_at_all(house: House) -> None:
    """Other chats' and older files are found within two seconds, what the turn shows of these days at once."""
    for number in range(20):
        house.write(f"chats/c{number}/2024-01-01.md", "## 9:00 — old\n\n")
    await house.mirror.sync_in()
    house.write("chats/c1/2024-01-01.md", "## 9:00 — older\n\n")
    house.write("MEMORY.md", "- hot\n")
    assert await house.mirror.sync_in("c2") == 1
    assert await house.texts() == ["hot"]
    house.edit("MEMORY.md", "hot", "hotter")
    assert await house.mirror.sync_in("c2") == 1
    house.clock.advance(2)
    assert await house.mirror.sync_in("c2") == 1
    assert await house.texts("chat:c1") == ["older"]


async def test_a_glance_says_whether_a_look_would_find_something(house: House) -> None:
    """It costs no lock and no lookup: False when all is as it was, True after an edit, a new or a lost file."""
    house.write("MEMORY.md", "- one\n")
    await house.mirror.sync_in()

    def differs() -> bool:
        return house.mirror.has_changes("c1")

    assert not differs()
    house.edit("MEMORY.md", "one", "two")
    assert differs()
    await house.mirror.sync_in("c1")
    assert not differs()
    house.write("working/c1.md", "by hand")
    assert differs()
    await house.mirror.sync_in("c1")
    (house.root / "MEMORY.md").unlink()
    assert differs()
    house.clock.advance(2)
    assert house.mirror.full_scan_is_due(), "it is time to look at all the files"


async def test_after_two_seconds_a_glance_covers_the_files_that_no_turn_shows(house: House) -> None:
    """An edited, a new and a lost one; where nothing changed, the next two seconds are the turn's own files' again."""
    other = "chats/c9/2024-01-01.md"
    house.write(other, "## 9:00 — old\n\n")
    await house.mirror.sync_in()
    for number, name in enumerate((other, "chats/c8/2024-01-01.md", other)):
        if number < 2:
            house.write(name, f"## 9:00 — older {number}\n\n")
        else:
            (house.root / name).unlink()
        assert not house.mirror.has_changes("c1")
        house.clock.advance(2)
        assert house.mirror.has_changes("c1")
        await house.mirror.sync_in("c1")
        house.clock.advance(2)
        assert not house.mirror.has_changes("c1")
        assert not house.mirror.full_scan_is_due()


async def test_a_glance_over_all_files_lists_no_folder_that_was_listed_twice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It compares their stamps and those of the files, and so sees a new, an edited and a lost file all the same."""
    listed: list[Path] = []
    wanted = scan.list_files

    def count(root: Path, seen: Mapping[str, disk.FileStamp], *, archive: bool = True) -> dict[str, disk.FileStamp]:
        listed.append(root)
        return wanted(root, seen, archive=archive)

    def look() -> bool:
        house.clock.advance(2)
        return house.mirror.has_changes("c1")

    other = "chats/c9/2024-01-01.md"
    house.write(other, "## 9:00 — old\n\n")
    await house.mirror.sync_in()
    assert not look() and not look()
    monkeypatch.setattr(scan, "list_files", count)
    assert not look() and not look() and not listed
    edits: tuple[Callable[[], object], ...] = (
        lambda: house.write("chats/c8/2024-01-01.md", "## 9:00 — new\n\n"),
        lambda: house.edit(other, "old", "older"),
        (house.root / other).unlink,
    )
    for edit in edits:
        edit()
        assert look()
        await house.mirror.sync_in("c1")
        assert not look() and not look()
        listed.clear()
        assert not look() and not listed


async def test_a_start_after_a_clean_stop_writes_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mirror remembers how far it had come."""
    await house.learn("one")
    await house.mirror.stop()
    monkeypatch.setattr(house.database, "write", None)
    await house.restart().start()
    assert house.text(LOG) == ENTRY("one")


async def test_a_line_taken_out_while_sleep_moves_it_is_forgotten(house: House) -> None:
    """The file is then as the bot would have written it; but it was not the bot that did."""
    record = await house.learn("Ana lives in Bilbao", core=True, flush=True)
    known = await house.record(record)
    act = ChangeContext(house.clock.now(), "sleep", "a night")
    await house.database.write(lambda c: change(c, known, "moved", {"tier": "daily"}, act))
    house.write("MEMORY.md", "")
    assert await house.mirror.sync_in() == 1
    await house.mirror.sync_out()
    assert await house.texts() == []
    assert house.text("MEMORY.md") == "" and LOG not in house.files()


async def test_for_a_text_with_a_file_of_its_own_no_other_file_is_read(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory that says something else is looked for in all files, a scratchpad is not: its file has just that."""
    sought: list[set[int]] = []
    search = list_file_rows.list_files_with

    def note(connection: Connection, records: Iterable[int], *among: Sequence[str]) -> list[str]:
        if not among:
            sought.append(set(records))
        return search(connection, records, *among)

    pad = await house.learn("version 1", "chat:c", form="scratchpad", slot="working", flush=True)
    told = await house.learn("one", flush=True)
    monkeypatch.setattr(list_file_rows, "list_files_with", note)
    assert await house.learn("version 2", "chat:c", form="scratchpad", slot="working", flush=True) == pad
    await house.forget(told)
    await house.mirror.sync_out()
    assert sought == [set(), {told}]
    assert house.text("working/c.md") == "version 2"
