"""What sleep needs while it sleeps is gone when it wakes, and what it keeps is bounded."""

import asyncio
import gc
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.store import sleep_plans
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import START, EagerClock
from tests.memory_rows import put_record
from tests.samples import rows, scalar
from tests.scene import Scene
from tests.unit.cognitive.sleep.small_night import PASSES, Oracle, cycle, fill, play


def _left() -> dict[str, int]:
    """Objects of sleep's own classes that somebody still holds, passes aside."""
    gc.collect()
    kept: dict[str, int] = {}
    for thing in gc.get_objects():
        kind = type(thing)
        if str(kind.__module__).startswith("kenobot.cognitive.sleep") and not isinstance(thing, Pass):
            kept[kind.__qualname__] = kept.get(kind.__qualname__, 0) + 1
    return kept


def _more_than(before: dict[str, int]) -> dict[str, int]:
    return {name: count - before.get(name, 0) for name, count in _left().items() if count > before.get(name, 0)}


def _put(connection: Connection) -> None:
    for number in range(60):
        at = START - timedelta(days=number)
        text = f"Project {number % 7} failed with error {number}; solved by a restart. Ana prefers tea"
        put_record(connection, f"{text}, number {number}", at=at, trust="owner", subject=f"project {number % 7}")


def _more(connection: Connection, start: int) -> None:
    for number in range(start, start + 3):
        put_record(connection, f"something that is stale as number {number}", category="stale")


async def test_nothing_of_a_night_stays_when_it_is_over(tmp_path: Path) -> None:
    """Views, plans and whatever passes gather for themselves go with the night, with the passes that ship."""
    async with Scene(tmp_path, ["All right."]) as scene:
        await scene.say("hello, I live in Lyon")
        await scene.app.database.write(_put)
        await scene.app.background.sleep_worker.sleep("hourly")  # the first loads what the others keep
        before = _left()
        for _ in range(2):
            await scene.app.background.sleep_worker.sleep("hourly")
        async with asyncio.timeout(120):
            while _more_than(before):  # a thread of the database may hold its last result until the next read
                assert await scene.rows("SELECT 1") == [(1,)]
        assert await scene.rows("SELECT name FROM sleep_pass WHERE trouble != ''") == []


async def test_the_ledger_keeps_a_year_of_nights_and_plans_of_none(database: Database) -> None:
    """What was planned and answered goes with its night; the oldest nights go; a proposal is made once."""
    await database.write(fill)
    policy = replace(DEFAULT, sleep=replace(DEFAULT.sleep, kept_nights=3))
    for number in range(6):
        await database.write(lambda c, start=100 * number: _more(c, start))  # type: ignore[misc]
        await database.write(lambda c: sleep_plans.prune_nights(c, policy.sleep.kept_nights - 1))
        await play(cycle(database, Oracle(), night=PASSES, policy=policy, clock=EagerClock()))
    assert await rows(database, "SELECT id FROM sleep_run") == [(4,), (5,), (6,)]
    assert await scalar(database, "SELECT count(*) FROM sleep_pass") == 3 * len(PASSES)
    assert await scalar(database, "SELECT count(*) FROM sleep_plan") == 0
    assert await scalar(database, "SELECT count(*) FROM sleep_answer") == 0
    assert await scalar(database, "SELECT count(*) FROM proposal") == 1
    assert await database.read(run_rows.last_run) is not None
