"""The mirror over time: crashes between two steps, trouble with the disk, and what it costs when nothing is new."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kenobot.cognitive import store
from kenobot.cognitive.mirror import edits, files, layout
from kenobot.cognitive.mirror.places import place_of
from kenobot.db import Connection
from kenobot.errors import StoreError
from tests.unit.cognitive.mirror.house import TODAY, House

LOG = f"{TODAY}.md"
ENTRY = "## 14:30 — {}\n\n".format

Row = tuple[str, list[str | int]] | None


async def row_of(house: House, path: str) -> Row:
    return await house.database.read(lambda c: store.mirrored(c, path))


async def put_back(house: House, path: str, row: Row, cursor: str | None) -> None:
    """Undo what the mirror noted in the database after it had written the file: the process died in between."""

    def undo(connection: Connection) -> None:
        if row is None:
            store.drop_mirrored(connection, path)
        else:
            store.put_mirrored(connection, path, *row)
        store.write_state(connection, "mirror:event", cursor or "0")

    await house.database.write(undo)


async def cursor_of(house: House) -> str | None:
    return await house.database.read(lambda c: store.read_state(c, "mirror:event"))


# ── crashes ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_crash_before_the_file_was_written_is_caught_up_with(house: House) -> None:
    """What was committed and not yet shown is shown after the start."""
    await house.learn("one", flush=True)
    await house.learn("two")
    await house.restart().start()
    assert house.text(LOG) == ENTRY("one") + ENTRY("two")


async def test_a_crash_between_file_and_note_is_not_an_edit(house: House) -> None:
    """A file that holds what it would be written as was written by us: nothing is admitted or forgotten."""
    one = await house.learn("one", flush=True)
    row, cursor = await row_of(house, LOG), await cursor_of(house)
    two = await house.learn("two")
    await house.forget(one)
    await house.mirror.flush()
    await put_back(house, LOG, row, cursor)
    events, live = await house.count_events(), await house.live()
    await house.restart().start()
    assert (await house.count_events(), await house.live()) == (events, live)
    assert await row_of(house, LOG) == (ENTRY("two"), [two])


async def test_a_scratchpad_written_before_that_crash_is_not_an_edit(house: House) -> None:
    """The same for a file that holds one text: it is no repeat of a person's, and nobody vouches for it."""
    path = "working/c.md"
    await house.learn("version 1", "chat:c", form="scratchpad", slot="working", flush=True)
    row, cursor = await row_of(house, path), await cursor_of(house)
    await house.learn("version 2", "chat:c", form="scratchpad", slot="working", flush=True)
    await put_back(house, path, row, cursor)
    events, live = await house.count_events(), await house.live("chat:c")
    await house.restart().start()
    assert (await house.count_events(), await house.live("chat:c")) == (events, live)


async def test_a_crash_at_the_very_first_file_is_not_an_edit(house: House) -> None:
    """The same when the file had never been noted at all."""
    await house.learn("one", flush=True)
    await put_back(house, LOG, None, None)
    events = await house.count_events()
    await house.restart().start()
    assert await house.count_events() == events
    assert await row_of(house, LOG) == (ENTRY("one"), [1])


async def test_bot_writes_after_that_crash_lose_and_repeat_nothing(house: House) -> None:
    """Even when the bot wrote twice more before anybody looked, each fact stands once, with its own trust."""
    await house.learn("one", flush=True)
    row, cursor = await row_of(house, LOG), await cursor_of(house)
    two = await house.learn("two", flush=True)
    await put_back(house, LOG, row, cursor)
    await house.learn("three")
    await house.learn("two and a half", replaces=two)
    await house.restart().take_in()
    assert await house.texts() == ["one", "three", "two and a half"]
    assert {record.trust for record in await house.live()} == {"model"}
    await house.mirror.flush()
    assert house.text(LOG) == ENTRY("one") + ENTRY("two and a half") + ENTRY("three")


async def test_a_crash_after_an_edit_was_taken_in_does_not_take_it_in_again(house: House) -> None:
    """The edit and the note that it was read commit together; only the writing of the file is left to do."""
    await house.learn("one", flush=True)
    await house.learn("two")
    house.edit(LOG, "one", "uno")
    place = place_of(LOG)
    assert place is not None
    text, occasion = house.text(LOG), house.occasion("owner")
    await house.database.write(lambda c: edits.take_in(c, LOG, place, house.zone, text, occasion))
    events = await house.count_events()
    await house.restart().start()
    assert await house.count_events() == events
    assert house.text(LOG) == ENTRY("uno") + ENTRY("two")


async def test_an_edit_made_while_nothing_ran_is_taken_in_at_the_start(house: House) -> None:
    """Edits and bot writes from before a restart both hold."""
    one = await house.learn("one", flush=True)
    await house.learn("two")
    await house.forget(one)
    house.edit(LOG, "one\n\n", "one\n\n## 15:00 — mine\n\n")
    (house.root / ".kenobot-0123456789abcdef.tmp").write_text("half")
    await house.restart().start()
    assert await house.texts() == ["two", "mine"]
    assert house.text(LOG) == "## 15:00 — mine\n\n" + ENTRY("two")
    assert house.files() == {LOG}


async def test_a_lost_tree_is_written_again(house: House) -> None:
    """Every file comes back, with the person's own words in it."""
    house.write("MEMORY.md", "# Me\n- mine\n")
    await house.learn("likes tea", category="preference")
    await house.learn("pad", "chat:c", form="scratchpad", slot="working")
    await house.mirror.take_in()
    await house.mirror.flush()
    before = {path: house.text(path) for path in house.files()}
    for path in before:
        (house.root / path).unlink()
    events = await house.count_events()
    await house.restart().start()
    assert {path: house.text(path) for path in house.files()} == before
    assert await house.count_events() == events


async def test_a_lost_database_is_read_back_from_the_tree(house: House) -> None:
    """Without rows and notes the files are all new lines of the owner's: no fact is lost and no file changes."""
    house.write("MEMORY.md", "# Me\n- mine\n")
    house.write(LOG, ENTRY("one") + ENTRY("two"))
    house.write("chats/c/context.md", "Work")
    before = {path: house.text(path) for path in house.files()}
    await house.restart().start()
    assert sorted(await house.texts()) == ["mine", "one", "two"]
    assert await house.texts("chat:c") == ["Work"]
    assert {path: house.text(path) for path in house.files()} == before


async def test_a_cancelled_look_ends_well(house: House) -> None:
    """A turn that is cancelled while an edit is taken in leaves neither half an edit nor an open file."""
    house.write("MEMORY.md", "- mine\n")
    look = asyncio.create_task(house.mirror.take_in())
    while not house.mirror._lock.locked():
        await asyncio.sleep(0)
    await asyncio.to_thread(lambda: None)
    look.cancel()
    with pytest.raises(asyncio.CancelledError):
        await look
    await house.mirror.take_in()
    assert await house.texts() == ["mine"]


# ── somebody else at the same file ───────────────────────────────────────────────────────────────────────────────


async def test_a_save_while_the_bot_writes_is_not_overwritten(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is looked at again just before it is replaced."""
    await house.learn("one", flush=True)
    replace = files.replace

    async def interrupted(*args: Any) -> files.Stamp | None:
        monkeypatch.setattr(files, "replace", replace)
        house.edit(LOG, "one\n\n", "one\n\n## 15:00 — mine\n\n")
        return await replace(*args)

    monkeypatch.setattr(files, "replace", interrupted)
    await house.learn("two", flush=True)
    assert house.text(LOG) == ENTRY("one") + "## 15:00 — mine\n\n" + ENTRY("two")
    assert await house.texts() == ["one", "two", "mine"]


async def test_looks_and_writes_at_once_come_out_right(house: House) -> None:
    """Many turns looking while the bot writes and a person edits: every fact once, in memory and in the file."""
    await house.learn("zero", flush=True)
    house.edit(LOG, "zero\n\n", "zero\n\n## 15:00 — mine\n\n")

    async def turn(number: int) -> None:
        await house.mirror.take_in()
        await house.learn(f"fact {number}", flush=True)

    await asyncio.gather(*(turn(number) for number in range(10)))
    expected = ["mine", "zero", *(f"fact {number}" for number in range(10))]
    assert sorted(await house.texts()) == sorted(expected)
    said = [layout.fact("daily", chunk) for chunk in layout.split("daily", house.text(LOG))]
    assert sorted(text for text in said if text) == sorted(expected)


# ── trouble ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_damaged_file_is_left_alone_and_reported(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """It is never overwritten; when the person has mended it, everything is brought together."""
    await house.learn("one", flush=True)
    (house.root / LOG).write_bytes(b"\xff\xfe broken")
    await house.learn("two", flush=True)
    assert (house.root / LOG).read_bytes() == b"\xff\xfe broken"
    assert list(house.mirror.problems) == [f"{LOG} is not UTF-8 text: it is left alone."]
    await house.mirror.take_in()
    assert [record.message for record in caplog.records] == list(house.mirror.problems)
    assert await house.texts() == ["one", "two"]
    house.write(LOG, ENTRY("one") + "## 15:00 — mended\n\n")
    await house.mirror.take_in()
    assert not house.mirror.problems
    assert house.text(LOG) == ENTRY("one") + "## 15:00 — mended\n\n" + ENTRY("two")


async def test_a_file_that_cannot_be_written_is_tried_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk costs nothing but time, also across a restart."""

    async def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "replace", full)
        await house.learn("one", flush=True)
        problem = f"{LOG} cannot be written (No space left on device): check the disk and who owns it."
        assert list(house.mirror.problems) == [problem]
    assert await cursor_of(house) in (None, "0")
    await house.mirror.flush()
    assert house.text(LOG) == ENTRY("one")
    assert not house.mirror.problems


async def test_a_file_that_breaks_the_mirror_costs_itself(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns go on, the other files too, and the broken one is named."""
    split = layout.split

    def brittle(kind: layout.Kind, text: str) -> list[str]:
        if "poison" in text:
            raise RuntimeError("a bug of ours")
        return split(kind, text)

    monkeypatch.setattr(layout, "split", brittle)
    house.write("MEMORY.md", "- poison\n")
    house.write(LOG, "## 9:00 — fine\n")
    await house.mirror.take_in()
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
            await house.mirror.take_in()
    assert await house.mirror.take_in() == 1
    assert await house.texts() == ["mine"]


async def test_a_purged_record_leaves_file_and_note(house: House) -> None:
    """When a record is erased for good, so is its line, and what the mirror had noted of it."""
    await house.learn("keep")
    secret = await house.learn("erase me", flush=True)

    def purge(connection: Connection) -> None:
        connection.execute("DELETE FROM link WHERE src = ? OR dst = ?", (secret, secret))
        connection.execute("DELETE FROM record WHERE id = ?", (secret,))
        store.add_event(connection, house.clock.now(), "owner", "purged", record=secret)

    await house.database.write(purge)
    await house.mirror.flush()
    assert house.text(LOG) == ENTRY("keep")
    assert await row_of(house, LOG) == (ENTRY("keep"), [1])


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_look_at_unchanged_files_asks_the_database_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One listing of the folders is all it takes."""
    for number in range(20):
        await house.learn(f"fact {number}", f"chat:c{number}")
    await house.mirror.flush()
    calls: list[str] = []

    def spy(name: str, owner: object) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def called(*args: object, **named: object) -> Any:
            calls.append(name)
            return real(*args, **named)

        monkeypatch.setattr(owner, name, called)

    spy("read", house.database)
    spy("write", house.database)
    spy("scan", files)
    assert await house.mirror.take_in() == 0
    assert calls == ["scan"]


async def test_turns_that_begin_together_share_a_look(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for a look that has not begun yet needs none of their own; all know of the edit."""
    looks = 0
    scan = files.scan

    def counted(root: Path, seen: Mapping[str, files.Stamp], *, archive: bool) -> dict[str, files.Stamp]:
        nonlocal looks
        looks += 1
        return scan(root, seen, archive=archive)

    monkeypatch.setattr(files, "scan", counted)
    house.write("MEMORY.md", "- mine\n")

    async def turn() -> list[str]:
        await house.mirror.take_in()
        return await house.texts()

    assert await asyncio.gather(*(turn() for _ in range(50))) == [["mine"]] * 50
    assert looks == 1


async def test_a_turn_never_looks_through_the_archive(house: House) -> None:
    """What no prompt shows, and only ever grows, is looked at by the rounds in the background, and by a whole look."""
    path = "archive/2024-01-01.md"
    house.write(path, "## 09:00 — one\n\n")
    house.clock.advance(61)
    await house.mirror.take_in("c")
    assert await house.texts() == []
    assert await house.mirror.sweep() == 1
    assert await house.texts() == ["one"]
    house.write(path, "## 09:00 — two\n\n")
    house.clock.advance(30)
    assert await house.mirror.sweep() == 0
    await house.mirror.take_in("c")
    assert await house.texts() == ["one"]
    house.clock.advance(31)
    assert await house.mirror.sweep() == 1
    assert await house.texts() == ["two"]
    house.write(path, "## 09:00 — three\n\n")
    await house.mirror.take_in()
    assert await house.texts() == ["three"]


async def test_a_turn_does_not_take_the_archive_that_it_passes_over_for_lost(house: House) -> None:
    """Files that were not looked at are not missing: nothing is forgotten, and the deletion of one still counts."""
    path = "archive/2024-01-01.md"
    house.write(path, "## 09:00 — one\n\n")
    await house.mirror.take_in()
    house.clock.advance(10)
    await house.mirror.take_in("c")
    await house.mirror.flush()
    assert house.text(path) == "## 09:00 — one\n\n"
    assert await house.texts() == ["one"]


async def test_who_waits_for_a_whole_look_gets_one(house: House) -> None:
    """Also when a turn, which leaves the archive out, asked for the look that both wait for."""
    house.write("archive/2024-01-01.md", "## 09:00 — one\n\n")
    await asyncio.gather(house.mirror.take_in("c"), house.mirror.take_in())
    assert await house.texts() == ["one"]


async def test_a_turn_looks_at_its_own_files_and_now_and_then_at_all(house: House) -> None:
    """Other chats' and older files are found within two seconds, what the turn shows of these days at once."""
    for number in range(20):
        house.write(f"chats/c{number}/2024-01-01.md", "## 9:00 — old\n\n")
    await house.mirror.take_in()
    house.write("chats/c1/2024-01-01.md", "## 9:00 — older\n\n")
    house.write("MEMORY.md", "- hot\n")
    assert await house.mirror.take_in("c2") == 1
    assert await house.texts() == ["hot"]
    house.edit("MEMORY.md", "hot", "hotter")
    assert await house.mirror.take_in("c2") == 1
    house.clock.advance(2)
    assert await house.mirror.take_in("c2") == 1
    assert await house.texts("chat:c1") == ["older"]


async def test_a_glance_says_whether_a_look_would_find_something(house: House) -> None:
    """It costs no lock and no lookup: False when all is as it was, True after an edit, a new or a lost file."""
    house.write("MEMORY.md", "- one\n")
    await house.mirror.take_in()

    def differs() -> bool:
        glance = house.mirror.glance("c1")
        assert glance is not None
        return glance()

    assert not differs()
    house.edit("MEMORY.md", "one", "two")
    assert differs()
    await house.mirror.take_in("c1")
    assert not differs()
    house.write("working/c1.md", "by hand")
    assert differs()
    await house.mirror.take_in("c1")
    (house.root / "MEMORY.md").unlink()
    assert differs()
    house.clock.advance(2)
    assert house.mirror.glance("c1") is None, "it is time to look at all the files"


async def test_a_start_after_a_clean_stop_writes_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mirror remembers how far it had come."""
    await house.learn("one")
    await house.mirror.stop()
    monkeypatch.setattr(house.database, "write", None)
    await house.restart().start()
    assert house.text(LOG) == ENTRY("one")


async def test_what_was_forgotten_after_that_crash_does_not_come_back(house: House) -> None:
    """A line of ours that could not be noted is not the owner's word when its record is forgotten meanwhile."""
    await house.learn("one", flush=True)
    row, cursor = await row_of(house, LOG), await cursor_of(house)
    two = await house.learn("two", flush=True)
    await put_back(house, LOG, row, cursor)
    await house.forget(two)
    house.edit(LOG, "two\n\n", "two\n\n## 15:00 — mine\n\n")
    await house.restart().start()
    assert await house.texts() == ["one", "mine"]
    assert house.text(LOG) == ENTRY("one") + "## 15:00 — mine\n\n"


async def test_a_scratchpad_of_before_that_crash_does_not_come_back(house: House) -> None:
    """The same for a text that was replaced rather than forgotten."""
    path, pad = "working/c.md", {"scope": "chat:c", "form": "scratchpad", "slot": "working"}
    await house.learn("version 1", **pad, flush=True)  # type: ignore[arg-type]
    row, cursor = await row_of(house, path), await cursor_of(house)
    await house.learn("version 2", **pad, flush=True)  # type: ignore[arg-type]
    await put_back(house, path, row, cursor)
    await house.learn("version 3", **pad)  # type: ignore[arg-type]
    await house.restart().start()
    assert (house.text(path), await house.texts("chat:c")) == ("version 3", ["version 3"])


async def test_a_line_that_was_forgotten_long_ago_can_be_written_again(house: House) -> None:
    """What the owner writes anew is news, even if it was forgotten once."""
    one = await house.learn("one", core=True, flush=True)
    await house.forget(one)
    await house.mirror.flush()
    house.write("MEMORY.md", "- one\n")
    await house.mirror.take_in()
    assert await house.texts() == ["one"]
