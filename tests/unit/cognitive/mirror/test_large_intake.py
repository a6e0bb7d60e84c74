"""Many edits at once: taken in by small transactions, while turns go on from what is known."""

import asyncio

import pytest

from kenobot.cognitive.mirror.intake import LargeIntake
from kenobot.cognitive.policy import DEFAULT
from kenobot.ports.errors import StoreError
from kenobot.ports.memory_files import IntakeNotice
from kenobot.storage.connection import Connection
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse

_LARGE = DEFAULT.files.large_from
_CHAT = "telegram-1"


def _notes(count: int) -> str:
    return "".join(f"- note{number} about thing{number}\n" for number in range(count))


def _count(connection: Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM record WHERE form = 'note'").fetchone()[0])


@pytest.fixture
async def notices(cards: CardHouse) -> list[tuple[IntakeNotice, int]]:
    """What is announced, each with the records there are by then."""
    heard: list[tuple[IntakeNotice, int]] = []

    async def listen(notice: IntakeNotice) -> None:
        heard.append((notice, await cards.database.read(_count)))

    intake = LargeIntake(listen)
    tree = cards.tree
    tree._intake = tree.list_files.intake = tree.record_files.intake = intake
    return heard


async def test_a_turn_does_not_wait_for_a_large_edit(cards: CardHouse, notices: list[tuple[IntakeNotice, int]]) -> None:
    """It goes on from what is known; the edit is announced, taken in in bounded transactions, and announced again."""
    cards.write("MEMORY.md", _notes(_LARGE + 40))
    assert await cards.tree.sync_in(_CHAT) == 0
    assert await cards.tree.sync_in(_CHAT) == 0  # the next one does not wait, either
    counts = {0}
    while len(notices) < 2:
        counts.add(await cards.database.write(_count))
    assert len(counts) > 10
    assert max(after - before for before, after in zip(sorted(counts), sorted(counts)[1:], strict=False)) <= (
        3 * DEFAULT.files.intake_batch
    )
    assert notices == [
        (IntakeNotice("MEMORY.md", _LARGE + 40, is_done=False), 0),
        (IntakeNotice("MEMORY.md", _LARGE + 40, is_done=True), _LARGE + 40),
    ]
    assert await cards.tree.sync_in(_CHAT) == 0
    assert cards.text("MEMORY.md") == _notes(_LARGE + 40)


async def test_a_turn_waits_for_a_small_edit(cards: CardHouse, notices: list[tuple[IntakeNotice, int]]) -> None:
    """What a person has just written is known when they are answered."""
    cards.write("MEMORY.md", _notes(_LARGE - 1))
    assert await cards.tree.sync_in(_CHAT) == _LARGE - 1
    assert await cards.database.read(_count) == _LARGE - 1
    assert notices == []


async def test_the_end_breaks_a_large_intake_off_and_the_next_start_goes_on(
    cards: CardHouse, notices: list[tuple[IntakeNotice, int]]
) -> None:
    """What was taken in stays, nothing is taken in twice, and the file is left as it is."""
    text = _notes(_LARGE + 40)
    cards.write("MEMORY.md", text)
    cards.tree.begin()
    while await cards.database.write(_count) == 0:
        await asyncio.sleep(0)
    await cards.tree.stop()
    some = await cards.database.read(_count)
    assert 0 < some < _LARGE + 40
    assert [notice.is_done for notice, _ in notices] == [False]
    assert cards.text("MEMORY.md") == text
    await cards.again().start()
    assert await cards.database.read(_count) == _LARGE + 40
    assert cards.text("MEMORY.md") == text


async def test_an_intake_that_fails_is_not_said_to_be_done() -> None:
    """Its beginning was announced; turns look at files again."""
    heard: list[bool] = []

    async def listen(notice: IntakeNotice) -> None:
        heard.append(notice.is_done)

    intake = LargeIntake(listen)
    with pytest.raises(StoreError):
        async with intake.announce("MEMORY.md", 300, 200):
            assert intake.is_under_way
            raise StoreError("the disk is full")
    assert heard == [False]
    assert not intake.is_under_way
