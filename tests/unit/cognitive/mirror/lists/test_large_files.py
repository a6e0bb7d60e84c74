"""What a large file of notes costs."""

from functools import partial

from kenobot.storage.connection import Connection
from tests.unit.cognitive.mirror.house import House
from tests.unit.cognitive.mirror.notes import follow_edit

_TICK = 100  # steps of SQLite's machine


def _notes(start: int, count: int) -> str:
    return "".join(f"- note{number} about thing{number}\n" for number in range(start, start + count))


def _steps(connection: Connection, house: House, path: str, text: str) -> int:
    """Take in a file; the steps of SQLite's machine that took."""
    ticks = 0

    def tick() -> int:
        nonlocal ticks
        ticks += 1
        return 0

    connection.set_progress_handler(tick, _TICK)
    follow_edit(connection, house, path, text)
    connection.set_progress_handler(None, 0)
    return ticks


async def test_a_line_costs_the_same_however_many_came_before_it(house: House) -> None:
    """What was taken in since the files were last in step is not read anew for each line."""
    few = await house.database.write(partial(_steps, house=house, path="2026-02-11-a.md", text=_notes(0, 50)))
    await house.database.write(partial(_steps, house=house, path="2026-02-12-b.md", text=_notes(50, 800)))
    many = await house.database.write(partial(_steps, house=house, path="2026-02-13-c.md", text=_notes(850, 50)))
    assert many < 1.3 * few
