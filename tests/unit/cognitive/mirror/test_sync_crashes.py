"""The mirror over time: crashes between two steps, and what was lost."""

import asyncio

import pytest

from tests.unit.cognitive.mirror.house import ENTRY, LOG, House
from tests.unit.cognitive.mirror.notes import cursor_of, follow_edit, put_back, row_of
from tests.waiting import until


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
    await house.mirror.sync_out()
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
    await house.restart().sync_in()
    assert await house.texts() == ["one", "three", "two and a half"]
    assert {record.trust for record in await house.live()} == {"model"}
    await house.mirror.sync_out()
    assert house.text(LOG) == ENTRY("one") + ENTRY("two and a half") + ENTRY("three")


async def test_a_crash_after_an_edit_was_taken_in_does_not_take_it_in_again(house: House) -> None:
    """The edit and the note that it was read commit together; only the writing of the file is left to do."""
    await house.learn("one", flush=True)
    await house.learn("two")
    house.edit(LOG, "one", "uno")
    text = house.text(LOG)
    await house.database.write(lambda c: follow_edit(c, house, LOG, text))
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
    await house.mirror.sync_in()
    await house.mirror.sync_out()
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
    look = asyncio.create_task(house.mirror.sync_in())
    await until(house.mirror._lock.locked)
    await asyncio.to_thread(lambda: None)
    look.cancel()
    with pytest.raises(asyncio.CancelledError):
        await look
    await house.mirror.sync_in()
    assert await house.texts() == ["mine"]


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
