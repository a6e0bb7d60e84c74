"""A round of writing: what is noted of the files that it wrote."""

from pathlib import Path

import pytest

from kenobot.cognitive.remember.admit import admit
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse, open_card_house


def _count_noted(connection: Connection) -> tuple[int, int]:
    """How many files of records, and of lists, are noted."""
    count = "SELECT (SELECT count(*) FROM record_file), (SELECT count(*) FROM list_file)"
    records, lists = connection.execute(count).fetchone()
    return records, lists


async def _remember(house: CardHouse, text: str) -> None:
    said = Candidate("note", "owner", text, trust="owner", source="tag")
    await house.database.write(lambda c: admit(c, said, house.occasion("model")))


async def test_what_a_round_wrote_is_count_noted_by_one_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The day's log that grew, the file of the record, and up to where all is written."""
    async with open_card_house(tmp_path) as house:
        await house.tree.catch_up()
        await _remember(house, "The roof is red")
        await house.tree.sync_out()
        await _remember(house, "Marta plays the cello")
        before, commits = await house.database.read(_count_noted), []
        commit = house.database._commit

        def count(connection: Connection, group: list[object]) -> None:
            commits.append(len(group))
            commit(connection, group)  # type: ignore[arg-type]

        monkeypatch.setattr(house.database, "_commit", count)
        await house.tree.sync_out()
        assert await house.database.read(_count_noted) == (before[0] + 1, before[1])
        assert len(commits) == 1
        assert await house.tree.sync_in() == 0


async def test_a_look_between_a_file_and_its_note_takes_it_for_no_edit(tmp_path: Path) -> None:
    """What was written is noted before anything is compared with it."""
    async with open_card_house(tmp_path) as house:
        tree = house.tree
        await tree.catch_up()
        await _remember(house, "The roof is red")
        await tree.sync_out()
        await _remember(house, "Marta plays the cello")
        dirty, _ = await tree._find_dirty()
        for kind, found in zip(tree._kinds, dirty, strict=True):
            await kind.sync_out(found)
        assert tree.record_files._notes and tree.list_files._notes
        assert await tree.sync_in() == 0
        assert not tree.record_files._notes and not tree.list_files._notes


async def test_a_process_that_dies_before_the_note_leaves_files_of_ours(tmp_path: Path) -> None:
    """The next one notes them, and takes nothing of them for a person's."""
    async with open_card_house(tmp_path) as house:
        await house.tree.catch_up()
        await _remember(house, "The roof is red")
        await house.tree.sync_out()
        await _remember(house, "Marta plays the cello")
        dirty, _ = await house.tree._find_dirty()
        for kind, found in zip(house.tree._kinds, dirty, strict=True):
            await kind.sync_out(found)
        records, files = await house.everything(), {path: house.text(path) for path in house.files()}
        await house.again().catch_up()
        assert await house.everything() == records
        assert {path: house.text(path) for path in house.files()} == files
        assert await house.sync() == 0
