"""Cards that a crash left behind or kept from being written, and folders of cards that go while the bot runs."""

import shutil
from dataclasses import replace

import pytest

from kenobot.cognitive.control import missing_files
from kenobot.cognitive.control.forget import plan_purge
from kenobot.cognitive.mirror.cleanup import execute_purge
from kenobot.cognitive.mirror.records import record_file_rows
from kenobot.cognitive.mirror.records.record_file_rows import RecordFileRow
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.disk import FileStamp
from tests.unit.cognitive.mirror.house import TODAY
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse

TEA = Candidate("note", "owner", "Ana likes lapsang", source="extraction")
OWNER = ("owner",)


async def left_behind(cards: CardHouse) -> str:
    """A forgotten record whose live card stands still, as the process died before it removed it; its path."""
    number = await cards.tell(TEA)
    path = cards.card(number)
    held = (cards.root / path).read_bytes()

    def row(connection: Connection) -> RecordFileRow:
        [found] = record_file_rows.rows_of_record(connection, number)
        return found

    noted = await cards.database.read(row)
    await cards.forget(number)
    await cards.tree.sync_out()
    assert not (cards.root / path).exists()
    # Disk and notes as they were just before: the new card is written, but neither is it noted nor the old one removed.
    (cards.root / path).parent.mkdir(parents=True, exist_ok=True)
    (cards.root / path).write_bytes(held)
    seen = replace(noted, extra_lines=(), line_ending="\n", stamp=FileStamp.of((cards.root / path).stat()))
    await cards.database.write(lambda c: record_file_rows.save_row(c, seen))
    return path


async def test_the_card_that_was_to_be_removed_goes_with_the_next_look(cards: CardHouse) -> None:
    """What is forgotten does not stand on among what is believed."""
    path = await left_behind(cards)
    await cards.again().start()
    assert not (cards.root / path).exists()
    assert (cards.root / f"archive/{path}").exists()
    assert cards.tree.problems == ()


async def test_it_goes_when_what_it_says_is_erased_meanwhile(cards: CardHouse) -> None:
    """A card of our own, unchanged, that says what was erased is removed; one of that number with other words stays."""
    path = await left_behind(cards)
    number = next(iter(cards.cards()))
    copy = cards.text(path)

    def purge(connection: Connection) -> None:
        doomed = plan_purge(connection, number, OWNER)
        assert doomed is not None
        execute_purge(connection, doomed, OWNER, cards.occasion("owner"))

    await cards.database.write(purge)
    await cards.sync()
    cards.write(path, copy)  # as it would stand there if nobody knew of it any more
    await cards.again().start()
    assert not [each for each in cards.files() if "lapsang" in cards.text(each)]


async def test_a_file_that_a_crash_kept_from_being_noted_as_removed_is_no_loss(cards: CardHouse) -> None:
    """The record is erased, its card is gone, and only the note of the card stands still: nothing is to be told."""
    number = await cards.tell(TEA)
    [row] = await cards.database.read(lambda c: record_file_rows.rows_of_record(c, number))

    def purge(connection: Connection) -> None:
        doomed = plan_purge(connection, number, OWNER)
        assert doomed is not None
        execute_purge(connection, doomed, OWNER, cards.occasion("owner"))

    await cards.database.write(purge)
    await cards.tree.sync_out()
    await cards.database.write(lambda c: record_file_rows.save_row(c, row))
    assert not (cards.root / f"facts/{TODAY}").exists()
    await cards.again().start()
    assert cards.tree.problems == ()
    assert await cards.database.read(lambda c: record_file_rows.row_at(c, row.path)) is None


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_lost_folder_in_which_the_bot_writes_is_no_deletion(cards: CardHouse, restarts: bool) -> None:
    """The new card makes the folder again before a look has missed it: the others in it are lost, and written again."""
    number = await cards.tell(TEA)
    shutil.rmtree(cards.root / "facts")
    tree = cards.again() if restarts else cards.tree
    new = await cards.tell(replace(TEA, text="the boiler is serviced in May"))
    await tree.sync_in()
    await tree.sync_out()
    assert {*cards.cards()} >= {number, new}
    assert (await cards.record(number)).status == "active"
    held = await cards.database.read(missing_files.open_loss)
    assert held is not None and held.records == (number,)


async def test_a_lost_card_is_written_by_the_next_process_too(cards: CardHouse) -> None:
    """One that died after it had found the loss has told nobody which files it was about to write."""
    number = await cards.tell(TEA)
    shutil.rmtree(cards.root / "facts")
    await cards.tree.sync_in()
    await cards.again().start()
    assert {*cards.cards()} == {number}
