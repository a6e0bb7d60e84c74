"""Cards that a crash left behind, between the writing of a card in its new place and the removal of the old one."""

from dataclasses import replace

from kenobot.agent.background.cleanup import execute_purge
from kenobot.cognitive.control.forget import plan_purge
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
