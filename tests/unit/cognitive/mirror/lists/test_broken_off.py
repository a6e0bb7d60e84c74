"""A save of several files whose taking in is broken off: the next process brings it to the same end."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kenobot.cognitive.control import missing_files
from kenobot.cognitive.policy import DEFAULT
from kenobot.ports.errors import StoreError
from kenobot.storage.database import Database
from kenobot_testing.clock import ManualClock
from tests.property.mail.power import Crash, Power
from tests.unit.cognitive.mirror.house import ENTRY, LOG, House

_POLICY = replace(DEFAULT, files=replace(DEFAULT.files, intake_batch=1, announce_from=3))
_MOST = 60  # transactions of a save


async def _save(folder: Path, writes: int) -> tuple[bool, dict[str, str], list[tuple[str, str]], bool]:
    """Let a process die after so many transactions of a save, and the next one go on.

    Returns whether it died, every file, every text with its record's state, and whether the owner is told of what went.
    """
    folder.mkdir()
    power = Power(lives_on=False)
    house = House(folder / "memory", Database.open(folder / "a.db", folder), ManualClock(), policy=_POLICY)
    try:
        await house.mirror.start()
        for text in ("The plumber comes on Monday", "The boiler was repaired by Luis", "Nora works at the mint"):
            await house.learn(text)
        for number in range(4):
            await house.learn(f"{number} apples")
        await house.learn("El seguro vence en mayo", core=True, flush=True)
        await house.mirror.sync_out()
        house.write(LOG, ENTRY("The plumber comes on Monday or Tuesday"))
        house.write("MEMORY.md", "- El seguro del coche vence en mayo\n- Nora works at the mint\n")
        house.write("ref-home.md", "- The boiler was repaired by Luis in March\n")
        power.cut(Crash(writes, "after"), folder / "b.db")
        with suppress(StoreError):
            await house.mirror.sync_in()
        died = power.dead.is_set()
        power.restore()
        if died:
            await house.database.close()
            house.database = Database.open(folder / "b.db", folder)
            house.restart()
        await house.mirror.sync_in()
        await house.mirror.sync_out()
        files = {path: house.text(path) for path in sorted(house.files())}
        rows = await house.database.read(
            lambda c: c.execute("SELECT text, status FROM record WHERE form != 'box' ORDER BY text, status").fetchall()
        )
        return died, files, rows, bool(await house.database.read(missing_files.list_unannounced))
    finally:
        power.close()
        await house.mirror.stop()
        await house.database.close()


async def test_a_save_broken_off_between_any_two_lines_comes_to_the_same(tmp_path: Path) -> None:
    """Lines corrected, moved, also in other words, and taken out: nothing comes back, and nothing is lost."""
    whole = await _save(tmp_path / "whole", 10_000)
    assert {text for text, status in whole[2] if status == "active"} == {
        "The plumber comes on Monday or Tuesday",
        "The boiler was repaired by Luis in March",
        "Nora works at the mint",
        "El seguro del coche vence en mayo",
    }
    for writes in range(_MOST):
        died, *found = await _save(tmp_path / str(writes), writes)
        if not died:
            break
        assert tuple(found) == whole[1:], f"after {writes} transactions"
    assert writes > 5
