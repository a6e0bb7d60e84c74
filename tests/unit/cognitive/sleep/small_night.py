"""Small passes that do every kind of thing, a memory for them, and a way to play nights and compare what came of them.

They are planned again after being carried out and then ask for nothing, as every pass must.
"""

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.cycle import ModelAnswer, QuestionAnswerer, SleepCycle
from kenobot.cognitive.sleep.plan.changes import AddLink, AdmitRecord, Change, ProposeChange, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.ports.memory import Candidate
from kenobot.ports.nights import PHASES, SleepRun
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import START, EagerClock
from tests.memory_rows import put_record

UTC = ZoneInfo("UTC")


class Killed(BaseException):
    """Stands for the end of the process."""


class Mortal:
    """A database whose process is killed before its `after`-th transaction, or right after that one is on disk."""

    def __init__(self, database: Database, after: int, *, on_disk: bool = False) -> None:
        self._database = database
        self._left = after
        self._on_disk = on_disk

    async def write(self, work: Callable[[Connection], Any]) -> Any:
        self._left -= 1
        if self._left < 0:
            if self._on_disk:
                await self._database.write(work)
            raise Killed
        return await self._database.write(work)

    def read(self, work: Callable[[Connection], Any]) -> Awaitable[Any]:
        return self._database.read(work)

    def read_long(self, work: Callable[[Connection], Any]) -> Awaitable[Any]:
        return self._database.read_long(work)


def fill(connection: Connection, count: int = 12) -> None:
    """Some records of each kind that the passes look for."""
    for number in range(count):
        category = ("stale", "talk", "unclear")[number % 3]
        text = f"something {category} that was said as number {number}"
        put_record(connection, text, category=category, key=f"k{number}")


def _live(view: NightView, category: str) -> list[tuple[int, str, str]]:
    return view.connection.execute(
        "SELECT id, text, tags FROM record WHERE status = 'active' AND category = ? ORDER BY id", (category,)
    ).fetchall()


def _fade(view: NightView) -> Iterator[Change]:
    for number, _, _ in _live(view, "stale"):
        values = {"status": "expired", "valid_to": view.now.isoformat()}
        yield Change("expired", "it is stale", (UpdateRecord(number, values),), number)


def _gather(view: NightView) -> Iterator[Change]:
    """Three records make one, which a plan made half-way would not come to."""
    found = [row for row in _live(view, "talk") if "gathered" not in row[2]]
    for start in range(0, len(found) - 2, 3):
        three = found[start : start + 3]
        numbers = tuple(number for number, _, _ in three)
        summary = Candidate("summary", "owner", f"a talk: {numbers}", "talks", source="sleep", slot=f"talk:{start}")
        yield Change(
            "gathered",
            "three belong together",
            (
                AdmitRecord(summary, derived_from=numbers, day="2026-02-13"),
                *(UpdateRecord(number, {"tags": '["gathered"]'}, shown=False) for number in numbers),
                AddLink(numbers[0], numbers[1], "related", "said together"),
            ),
            numbers[0],
        )


def _asked(view: NightView) -> Sequence[ModelQuestion]:
    """All that is unclear, in one question: half of it would be another question."""
    unclear = [f"{number}: {text}" for number, text, tags in _live(view, "unclear") if tags == "[]"]
    return [ModelQuestion("Which of these are odd? A JSON list of numbers.", "\n".join(unclear))] if unclear else []


def _judge(view: NightView) -> Iterator[Change]:
    """Odd by a model's word, or by rule when it is the first half."""
    unclear = [number for number, _, tags in _live(view, "unclear") if tags == "[]"]
    said = next((view.answer(question) for question in _asked(view)), None)
    odd = json.loads(said) if said is not None else unclear[: len(unclear) // 2]
    for number in unclear:
        mark = "odd" if number in odd else "plain"
        yield Change("judged", f"it is {mark}", (UpdateRecord(number, {"tags": json.dumps([mark])}),), number)


def _propose(view: NightView) -> Iterator[Change]:
    found = view.connection.execute("SELECT count(*) FROM proposal WHERE key = 'many-stale'").fetchone()[0]
    expired = view.connection.execute("SELECT count(*) FROM record WHERE status = 'expired'").fetchone()[0]
    if expired >= 2 and not found:
        part = ProposeChange("many-stale", "rule", "Many things go stale", "Say less.", evidence={"expired": expired})
        yield Change("proposed", "much went stale", (part,))


GATHER = Pass("gather", "consolidate", "gathers talks", _gather)
JUDGE = Pass("judge", "consolidate", "tells odd from plain", _judge, _asked)
FADE = Pass("fade", "prune", "lets stale things go", _fade)
PROPOSE = Pass("propose", "improve", "proposes", _propose)
PASSES = (GATHER, JUDGE, FADE, PROPOSE)


class Oracle:
    """A model that finds what ends in an even number odd; it counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, run: SleepRun, question: ModelQuestion) -> ModelAnswer | None:
        self.asked.append(question.text)
        numbers = [int(line.split(":")[0]) for line in question.text.splitlines()]
        return ModelAnswer(json.dumps([number for number in numbers if number % 2 == 0]), 7, lambda connection: None)


def cycle(
    database: Database,
    ask: QuestionAnswerer | None = None,
    night: Sequence[Pass] = PASSES,
    policy: Policy = DEFAULT,
    clock: EagerClock | None = None,
) -> SleepCycle:
    return SleepCycle(database, clock or EagerClock(), UTC, night, policy, ask)


async def play(cycle: SleepCycle) -> SleepRun:
    """One night, or the rest of one."""
    run = await cycle.database.write(lambda connection: run_rows.begin_or_resume(connection, START, "hourly", PHASES))
    await cycle.run_night(run)
    await cycle.database.write(lambda connection: run_rows.finish_run(connection, run.id, START, {}))
    return run


def dump(connection: Connection) -> list[tuple[object, ...]]:
    """All that sleep can change, numbers of records and events included."""
    found: list[tuple[object, ...]] = []
    for table in ("record", "link", "event", "proposal", "sleep_run", "sleep_pass", "sleep_plan", "sleep_answer"):
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        found += sorted(((table, *row) for row in rows), key=repr)
    return found
