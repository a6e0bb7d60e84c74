"""A night goes pass by pass, each change whole; killed anywhere it goes on; what fails costs only itself."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kenobot.cognitive.control import undo
from kenobot.cognitive.control.forget import plan_purge
from kenobot.cognitive.mirror.cleanup import execute_purge
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.cycle import ModelAnswer
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import sleep_plans
from kenobot.ports.errors import StoreError
from kenobot.ports.nights import PHASES, NightProgress, PassResult, SleepRun
from kenobot.storage.connection import Connection, connect
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.transactions import transaction
from kenobot_testing.clock import START, EagerClock
from tests.samples import rows, scalar
from tests.unit.cognitive.sleep.small_night import (
    FADE,
    GATHER,
    JUDGE,
    PASSES,
    Killed,
    Mortal,
    Oracle,
    cycle,
    dump,
    fill,
    play,
)

SMALL = replace(DEFAULT, sleep=replace(DEFAULT.sleep, batch=2))


async def _opened(folder: Path) -> Database:
    database = Database.open(folder / "kenobot.db", folder / "backups")
    await database.write(fill)
    return database


async def _passed(database: Database, run: int = 1) -> dict[str, PassResult]:
    return {each.name: each for each in await database.read(lambda c: run_rows.pass_results(c, run))}


# ── a night ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_night_carries_out_what_its_passes_plan(database: Database) -> None:
    """Every kind of part: edits, something learnt with its links, ties, a proposal; each pass with its figures."""
    await database.write(fill)
    await play(cycle(database, Oracle()))
    passed = await _passed(database)
    assert list(passed) == ["gather", "judge", "fade", "propose"]
    assert [(each.done, each.skipped, each.changed_records, each.trouble) for each in passed.values()] == [
        (1, 0, 3, ""),
        (4, 0, 4, ""),
        (4, 0, 4, ""),
        (1, 0, 0, ""),
    ]
    assert await rows(database, "SELECT status, count(*) FROM record WHERE category = 'stale' GROUP BY 1") == [
        ("expired", 4)
    ]
    assert await rows(database, "SELECT text FROM record WHERE form = 'summary'") == [("a talk: (2, 5, 8)",)]
    assert await scalar(database, "SELECT count(*) FROM link WHERE type = 'derived'") == 3
    assert await rows(database, "SELECT key, state FROM proposal") == [("many-stale", "pending")]
    assert await scalar(database, "SELECT count(*) FROM sleep_plan") == 0
    assert await scalar(database, "SELECT count(*) FROM sleep_answer") == 0


async def test_every_change_bears_the_nights_own_moment(database: Database) -> None:
    """However long a night takes, and also after a crash, it is one moment; so is what it learns."""
    await database.write(fill)
    clock = EagerClock(START.replace(hour=20))
    await play(cycle(database, Oracle(), clock=clock))
    events = await rows(database, "SELECT DISTINCT at FROM event WHERE actor = 'sleep'")
    assert events == [(START.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00"),)]


async def test_a_second_night_changes_nothing(database: Database) -> None:
    """What was carried out, planned again, plans nothing."""
    await database.write(fill)
    await play(cycle(database))
    before = await rows(database, "SELECT * FROM record")
    run = await play(cycle(database))
    assert {each.done for each in (await _passed(database, run.id)).values()} == {0}
    assert await rows(database, "SELECT * FROM record") == before


async def test_a_night_without_anything_to_do_writes_a_line_a_pass(database: Database) -> None:
    """No plan is written down, carried out and cleared away that holds nothing: most nights are like that."""
    await database.write(fill)
    await play(cycle(database))
    writes, write = list[int](), database.write

    async def counted(work: Callable[[Connection], Any]) -> Any:
        writes.append(1)
        return await write(work)

    database.write = counted  # type: ignore[assignment,method-assign]
    run = await play(cycle(database))
    passed = await _passed(database, run.id)
    assert {(each.done, each.skipped, each.trouble) for each in passed.values()} == {(0, 0, "")}
    assert len(writes) <= len(PASSES) + 2  # and the night's beginning and end


async def test_a_pass_learns_when_it_last_came_to_a_good_end(database: Database) -> None:
    """A pass that failed looks again at all that came since it last worked; a night of other phases changes nothing."""
    seen: list[object] = []
    broken = [False]

    def look(view: NightView) -> Iterator[Change]:
        seen.append(view.since)
        if broken[0]:
            raise ValueError("odd")
        yield from ()

    one = Pass("look", "prune", "looks", look)
    days = [START.replace(day=day) for day in (15, 16, 17, 18)]

    async def night(at: Any, *phases: Any) -> None:
        run = await database.write(lambda c: run_rows.begin_or_resume(c, at, "hourly", phases))
        await cycle(database, night=(one,)).run_night(run)
        await database.write(lambda c: run_rows.finish_run(c, run.id, at, {}))

    await night(days[0], *PHASES)
    broken[0] = True
    await night(days[1], *PHASES)
    broken[0] = False
    await night(days[2], "improve")
    await night(days[3], *PHASES)
    assert seen == [None, days[0], days[0]]


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_model_is_asked_before_and_its_word_is_what_counts(database: Database) -> None:
    """Without it, rules decide; the tokens it used are counted."""
    await database.write(fill)
    oracle = Oracle()
    await play(cycle(database, oracle))
    assert len(oracle.asked) == 1
    assert await rows(database, "SELECT id, tags FROM record WHERE category = 'unclear'") == [
        (3, '["plain"]'),
        (6, '["odd"]'),
        (9, '["plain"]'),
        (12, '["odd"]'),
    ]
    assert await scalar(database, "SELECT tokens FROM sleep_run") == 7


@pytest.mark.parametrize("asker", [None, "silent"])
async def test_without_an_answer_rules_decide(database: Database, asker: str | None) -> None:
    """Nobody is there, or there are no tokens left."""

    async def silent(run: SleepRun, question: ModelQuestion) -> ModelAnswer | None:
        return None

    await database.write(fill)
    await play(cycle(database, silent if asker else None))
    assert await rows(database, "SELECT id FROM record WHERE tags LIKE '%odd%'") == [(3,), (6,)]


# ── failures ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _odd(_view: NightView) -> Iterator[Change]:
    yield Change("x", "x", (UpdateRecord(1, {"status": "expired"}),), 1)
    raise ValueError("what an odd memory")


def _bad_sql(view: NightView) -> Iterator[Change]:
    view.connection.execute("SELECT no_such_column FROM record")
    yield from ()


def _write(view: NightView) -> Iterator[Change]:
    view.connection.execute("UPDATE record SET status = 'expired'")
    yield from ()


@pytest.mark.parametrize(
    ("plan", "said"),
    [(_odd, "ValueError: what an odd memory"), (_bad_sql, "no_such_column"), (_write, "readonly")],
)
async def test_a_pass_that_fails_costs_only_itself(
    database: Database, plan: Callable[[NightView], Iterator[Change]], said: str
) -> None:
    """It is noted with its trouble, nothing of it is carried out, and the night goes on."""
    await database.write(fill)
    await play(cycle(database, night=(Pass("odd", "consolidate", "fails", plan), FADE)))
    passed = await _passed(database)
    assert said in passed["odd"].trouble
    assert (passed["odd"].done, passed["fade"].done, passed["fade"].trouble) == (0, 4, "")
    assert await scalar(database, "SELECT count(*) FROM record WHERE status = 'expired'") == 4


async def test_a_failing_disk_stops_the_night_and_blames_no_pass(database: Database) -> None:
    """It goes on when the disk works again."""

    def plan(_view: NightView) -> Iterator[Change]:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    await database.write(fill)
    with pytest.raises(StoreError):
        await play(cycle(database, night=(Pass("odd", "prune", "fails", plan), FADE)))
    assert await _passed(database) == {}
    await play(cycle(database, night=(Pass("odd", "prune", "works again", lambda _: ()), FADE)))
    assert (await _passed(database))["fade"].done == 4


async def test_a_change_that_fails_costs_only_itself(database: Database) -> None:
    """A column that records do not change is refused; what was planned beside it is done."""

    def plan(_view: NightView) -> Iterator[Change]:
        yield Change("x", "x", (UpdateRecord(1, {"scope": "user:other"}),), 1)
        yield Change("x", "x", (UpdateRecord(2, {"status": "expired"}),), 2)

    await database.write(fill)
    await play(cycle(database, night=(Pass("odd", "prune", "half wrong", plan),)))
    passed = (await _passed(database))["odd"]
    assert (passed.done, passed.skipped) == (1, 1)
    assert "records do not change their scope" in passed.trouble


async def test_what_changed_meanwhile_is_left_alone(database: Database) -> None:
    """A record that is no longer as the pass saw it, because a person was quicker, is not touched."""
    await database.write(fill)

    def plan(_view: NightView) -> Iterator[Change]:
        yield Change("x", "x", (UpdateRecord(1, {"status": "expired"}, expects={"text": "something else"}),), 1)

    await play(cycle(database, night=(Pass("slow", "prune", "comes late", plan),)))
    passed = (await _passed(database))["slow"]
    assert (passed.done, passed.skipped, passed.trouble) == (0, 1, "")
    assert await scalar(database, "SELECT status FROM record WHERE id = 1") == "active"


async def test_what_the_owner_took_back_is_not_decided_again(database: Database) -> None:
    """Not by the next night either; once they take that back, it may be."""
    await database.write(fill)
    await play(cycle(database, night=(FADE,)))
    owner = AdmitContext(START, "2026-02-14", "owner")
    (event,) = await database.read(lambda c: sleep_plans.pass_decisions(c, 1, "fade", 1))
    done = await database.write(lambda c: undo.undo(c, event, ALL_SCOPES, owner))
    await play(cycle(database, night=(FADE,)))
    assert await scalar(database, "SELECT status FROM record WHERE id = 1") == "active"
    assert (await _passed(database, 2))["fade"].skipped == 1
    await database.write(lambda c: undo.undo(c, done.event, ALL_SCOPES, owner))
    assert await scalar(database, "SELECT status FROM record WHERE id = 1") == "expired"


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_plan_is_carried_out_a_little_at_a_time(database: Database) -> None:
    """Between two short transactions there is a rest, so that conversation goes on."""
    await database.write(fill)
    clock = EagerClock()
    await play(cycle(database, night=(FADE,), policy=SMALL, clock=clock))
    assert clock.slept == [SMALL.sleep.batch_seconds * SMALL.sleep.rest_factor]
    assert (await _passed(database))["fade"].done == 4


async def test_a_plan_is_no_longer_than_a_night_can_hold(database: Database) -> None:
    """The rest comes with the next night, and the report says so."""
    await database.write(fill)
    policy = replace(DEFAULT, sleep=replace(DEFAULT.sleep, max_changes=3))
    for left in (1, 0):
        run = await play(cycle(database, night=(FADE,), policy=policy))
        assert await scalar(database, "SELECT count(*) FROM record WHERE category='stale' AND status='active'") == left
        assert ("more than one night" in (await _passed(database, run.id))["fade"].trouble) == bool(left)


async def test_the_ledger_forgets_old_nights(database: Database) -> None:
    """What they changed stays in the history of each memory."""
    await database.write(fill)
    for _ in range(5):
        await play(cycle(database, night=(FADE,)))
    events = await scalar(database, "SELECT count(*) FROM event")
    await database.write(lambda c: sleep_plans.prune_nights(c, 2))
    assert await rows(database, "SELECT id FROM sleep_run") == [(4,), (5,)]
    assert await rows(database, "SELECT DISTINCT run_id FROM sleep_pass") == [(4,), (5,)]
    assert await scalar(database, "SELECT count(*) FROM event") == events


# ── the end of the process ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("model", [True, False], ids=["a model", "rules"])
async def test_killed_between_any_two_transactions_a_night_comes_to_the_same(tmp_path: Path, model: bool) -> None:
    """Down to the numbers of records and events, and no question is asked twice once its answer was kept."""

    async def night(database: Any, oracle: Oracle) -> None:
        await play(cycle(database, oracle if model else None, policy=SMALL))

    (tmp_path / "clean").mkdir()
    clean = await _opened(tmp_path / "clean")
    await night(clean, Oracle())
    wanted = await clean.read(dump)
    await clean.close()
    for after in range(100):
        (tmp_path / str(after)).mkdir()
        database = await _opened(tmp_path / str(after))
        oracle = Oracle()
        killed = False
        try:
            await night(Mortal(database, after), oracle)
        except Killed:
            killed = True
            await night(database, oracle)
        assert await database.read(dump) == wanted, f"killed before transaction {after}"
        assert len(oracle.asked) <= 2 * model
        await database.close()
        if not killed:
            break
    assert after > 15


async def test_erasing_for_good_reaches_a_night_under_way(tmp_path: Path) -> None:
    """Plans and answers may quote what is erased: they go, and the pass plans again what is left."""
    database = await _opened(tmp_path)
    with pytest.raises(Killed):
        await play(cycle(Mortal(database, 10), night=(GATHER, JUDGE), policy=SMALL))  # type: ignore[arg-type]
    assert await scalar(database, "SELECT count(*) FROM sleep_plan") != 0
    await database.write(sleep_plans.delete_all_plans)
    await play(cycle(database, night=(GATHER, JUDGE), policy=SMALL))
    assert {each.trouble for each in (await _passed(database)).values()} == {""}
    assert await scalar(database, "SELECT count(*) FROM record WHERE category = 'unclear' AND tags = '[]'") == 0
    await database.close()


def _purge_first_unclear(database: Database) -> None:
    """Purge a record as the command line does beside the night: by a connection of its own."""
    with closing(connect(database._path)) as connection, transaction(connection):
        number = connection.execute("SELECT min(id) FROM record WHERE category = 'unclear'").fetchone()[0]
        doomed = plan_purge(connection, number, ALL_SCOPES)
        assert doomed is not None
        execute_purge(connection, doomed, ALL_SCOPES, AdmitContext(START, "2026-02-13", "owner", "cli"))


async def test_what_is_purged_while_a_model_is_asked_comes_back_by_no_answer(database: Database) -> None:
    """The answer to a question that showed it is not saved, only its cost; the pass asks again about what is left."""
    await database.write(fill)
    oracle = Oracle()

    async def ask(run: SleepRun, question: ModelQuestion) -> ModelAnswer | None:
        if not oracle.asked:
            _purge_first_unclear(database)
        return await oracle(run, question)

    run = await play(cycle(database, ask, night=(JUDGE,)))
    first, second = (len(asked.splitlines()) for asked in oracle.asked)
    assert (first, second) == (4, 3)
    assert await scalar(database, f"SELECT tokens FROM sleep_run WHERE id = {run.id}") == 14
    assert [(each.done, each.trouble) for each in (await _passed(database)).values()] == [(3, "")]


async def test_what_is_purged_while_a_pass_plans_comes_back_by_no_plan(database: Database) -> None:
    """What it read before is planned anew, and nothing of that stays."""
    await database.write(fill)
    plans: list[int] = []

    def plan(view: NightView) -> Iterator[Change]:
        changes = list(JUDGE.plan(view))
        plans.append(len(changes))
        if len(plans) == 1:
            _purge_first_unclear(database)
        yield from changes

    await play(cycle(database, night=(replace(JUDGE, plan=plan),)))
    assert plans == [4, 3]
    assert [(each.done, each.skipped) for each in (await _passed(database)).values()] == [(3, 0)]


async def test_the_steps_of_a_night_are_told(database: Database) -> None:
    """Each pass when it begins, and with what came of it when it ends."""
    await database.write(fill)
    told: list[tuple[int, int, str, bool]] = []

    async def tell(step: NightProgress) -> None:
        told.append((step.number, step.total, step.name, step.result is not None))

    await play(replace(cycle(database, night=PASSES[2:]), on_progress=tell))
    assert told == [(n, 2, name, end) for n, name in ((1, "fade"), (2, "propose")) for end in (False, True)]
