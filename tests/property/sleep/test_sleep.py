"""Nights that are killed again and again, and conversation that goes on beside them."""

import asyncio
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.memory import Candidate
from kenobot.storage.database import Database
from kenobot_testing.clock import START
from tests.property.effort import effort
from tests.scratch import scratch
from tests.unit.cognitive.sleep.small_night import Killed, Mortal, Oracle, cycle, dump, fill, play

POLICY = replace(DEFAULT, sleep=replace(DEFAULT.sleep, batch=2))
TALK = AdmitContext(START, "2026-02-14", "owner")


async def _night(folder: Path, kills: list[tuple[int, bool]], talk: int) -> tuple[list[tuple[object, ...]], Oracle]:
    database = Database.open(folder / "kenobot.db", folder / "backups")
    oracle = Oracle()
    try:
        await database.write(fill)
        for after, on_disk in kills:
            try:
                await play(cycle(Mortal(database, after, on_disk=on_disk), oracle, policy=POLICY))  # type: ignore[arg-type]
            except Killed:
                continue
        await play(cycle(database, oracle, policy=POLICY))
        for number in range(talk):
            said = Candidate("note", "owner", f"said meanwhile, number {number}")
            await database.write(lambda connection, said=said: admit(connection, said, TALK))  # type: ignore[misc]
        return await database.read(dump), oracle
    finally:
        await database.close()


def _memory(found: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Records, links and proposals: how many nights it took does not matter."""
    return [row[:-2] for row in found if row[0] in ("record", "link")] + [row for row in found if row[0] == "proposal"]


@effort(6, 1)
@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=5))
def test_however_often_it_is_killed_a_night_comes_to_the_same_memory(kills: list[tuple[int, bool]]) -> None:
    """One clean run and many that ended badly remember the same, and each verdict was paid for at most once a kill."""
    with scratch() as folder:
        (Path(folder) / "clean").mkdir()
        (Path(folder) / "killed").mkdir()
        wanted, _ = asyncio.run(_night(Path(folder) / "clean", [], 2))
        found, oracle = asyncio.run(_night(Path(folder) / "killed", kills, 2))
    assert _memory(found) == _memory(wanted)
    assert 1 <= len(oracle.asked) <= 1 + len(kills)
    assert not [row for row in found if row[0] in ("sleep_plan", "sleep_answer")]
