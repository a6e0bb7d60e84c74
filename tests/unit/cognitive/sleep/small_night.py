"""Small passes that do every kind of thing, a memory for them, and a way to play nights and compare what came of them.

They are planned again after being carried out and then ask for nothing, as every pass must.
"""

import json
from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.policy.sleep import PHASES
from kenobot.cognitive.sleep import sleep_store
from kenobot.cognitive.sleep.cycle import Asked, Cycle, Said
from kenobot.cognitive.sleep.plan.changes import Change, Edit, Learn, Propose, Tie
from kenobot.cognitive.sleep.plan.passes import Pass, Question, View
from kenobot.cognitive.sleep.sleep_store import Run
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.testing.clock import START, EagerClock
from tests.memory_rows import put_record

UTC = ZoneInfo("UTC")


def fill(connection: Connection, count: int = 12) -> None:
    """Some records of each kind that the passes look for."""
    for number in range(count):
        category = ("stale", "talk", "unclear")[number % 3]
        text = f"something {category} that was said as number {number}"
        put_record(connection, text, category=category, key=f"k{number}")


def _live(view: View, category: str) -> list[tuple[int, str, str]]:
    return view.connection.execute(
        "SELECT id, text, tags FROM record WHERE status = 'active' AND category = ? ORDER BY id", (category,)
    ).fetchall()


def _fade(view: View) -> Iterator[Change]:
    for number, _, _ in _live(view, "stale"):
        values = {"status": "expired", "valid_to": view.now.isoformat()}
        yield Change("expired", "it is stale", (Edit(number, values),), number)


def _gather(view: View) -> Iterator[Change]:
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
                Learn(summary, derived_from=numbers, day="2026-02-13"),
                *(Edit(number, {"tags": '["gathered"]'}, shown=False) for number in numbers),
                Tie(numbers[0], numbers[1], "related", "said together"),
            ),
            numbers[0],
        )


def _asked(view: View) -> Sequence[Question]:
    """All that is unclear, in one question: half of it would be another question."""
    unclear = [f"{number}: {text}" for number, text, tags in _live(view, "unclear") if tags == "[]"]
    return [Question("Which of these are odd? A JSON list of numbers.", "\n".join(unclear))] if unclear else []


def _judge(view: View) -> Iterator[Change]:
    """Odd by a model's word, or by rule when it is the first half."""
    unclear = [number for number, _, tags in _live(view, "unclear") if tags == "[]"]
    said = next((view.answer(question) for question in _asked(view)), None)
    odd = json.loads(said) if said is not None else unclear[: len(unclear) // 2]
    for number in unclear:
        mark = "odd" if number in odd else "plain"
        yield Change("judged", f"it is {mark}", (Edit(number, {"tags": json.dumps([mark])}),), number)


def _propose(view: View) -> Iterator[Change]:
    found = view.connection.execute("SELECT count(*) FROM proposal WHERE key = 'many-stale'").fetchone()[0]
    expired = view.connection.execute("SELECT count(*) FROM record WHERE status = 'expired'").fetchone()[0]
    if expired >= 2 and not found:
        part = Propose("many-stale", "rule", "Many things go stale", "Say less.", evidence={"expired": expired})
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

    async def __call__(self, run: Run, question: Question) -> Said | None:
        self.asked.append(question.text)
        numbers = [int(line.split(":")[0]) for line in question.text.splitlines()]
        return Said(json.dumps([number for number in numbers if number % 2 == 0]), 7, lambda connection: None)


def cycle(
    database: Database,
    ask: Asked | None = None,
    night: Sequence[Pass] = PASSES,
    policy: Policy = DEFAULT,
    clock: EagerClock | None = None,
) -> Cycle:
    return Cycle(database, clock or EagerClock(), UTC, policy, ask, night=night)


async def play(cycle: Cycle) -> Run:
    """One night, or the rest of one."""
    run = await cycle.database.write(lambda connection: sleep_store.begin(connection, START, "hourly", PHASES))
    await cycle.play(run)
    await cycle.database.write(lambda connection: sleep_store.finish(connection, run.id, START, {}))
    return run


def dump(connection: Connection) -> list[tuple[object, ...]]:
    """All that sleep can change, numbers of records and events included."""
    found: list[tuple[object, ...]] = []
    for table in ("record", "link", "event", "proposal", "sleep_run", "sleep_pass", "sleep_plan", "sleep_answer"):
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        found += sorted(((table, *row) for row in rows), key=repr)
    return found
