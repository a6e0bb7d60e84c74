"""A report is bounded, tells each change once with its reason, and shows nothing that was erased."""

from dataclasses import replace

import pytest

from kenobot.cli.sleep.report_text import as_markdown
from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.report import as_json, build_report, is_large
from kenobot.ports.nights import PHASES, NightReport, PassResult, SleepRun
from kenobot.storage.database import Database
from kenobot_testing.clock import START
from tests.unit.cognitive.sleep.small_night import FADE, GATHER, PASSES, UTC, cycle, fill, play

POLICY = SleepPolicy()


async def _report(database: Database, run: SleepRun, policy: SleepPolicy = POLICY) -> NightReport:
    night = await database.read(lambda c: run_rows.get_run(c, run.id))
    assert night is not None
    return await database.read(lambda c: build_report(c, night, PASSES, policy))


@pytest.mark.parametrize(
    ("touched", "live", "large"), [(6, 100, True), (5, 100, False), (2, 10, False), (3, 10, True), (0, 0, False)]
)
def test_more_than_a_twentieth_is_much(touched: int, live: int, large: bool) -> None:
    """Of the live memories; two are never many."""
    assert is_large(PassResult("x", "prune", live, touched, touched, 0), POLICY) is large


async def test_a_report_is_bounded(database: Database) -> None:
    """A night of hundreds of changes shows some of each pass, and says how many more there are."""
    await database.write(lambda c: fill(c, 900))
    run = await play(cycle(database, night=(GATHER, FADE)))
    report = await _report(database, run)
    text = as_markdown(report, UTC)
    assert [(len(account.shown_changes), account.omitted) for account in report.passes] == [(20, 80), (20, 280)]
    assert "- … and 280 more: `kenobot memory log` has them all" in text
    assert len(text) < 20_000
    told = as_json(report)
    assert told["done"] == 400
    assert len(str(told)) < 40_000


async def test_a_decision_of_many_parts_is_told_once(database: Database) -> None:
    """With the memory that it is mainly about, and how many others it changed."""
    await database.write(fill)
    report = await _report(database, await play(cycle(database, night=(GATHER,))))
    (deed,) = report.passes[0].shown_changes
    assert (deed.kind, deed.record, deed.other_records, deed.undone) == ("gathered", 2, 3, False)
    assert deed.changes == (("tags", "[]", '["gathered"]'),)
    assert ", and 3 more memories. Why: three belong together. [`kenobot memory undo" in as_markdown(report, UTC)


async def test_a_night_under_way_says_what_is_still_to_do(database: Database) -> None:
    """And not that it can be taken back."""
    await database.write(fill)
    run = await database.write(lambda c: run_rows.begin_or_resume(c, START, "hourly", PHASES))
    await replace(cycle(database), passes=(FADE,)).run_night(run)
    text = as_markdown(await _report(database, run), UTC)
    assert "Not finished · 4 decisions · 3 passes still to do." in text
    assert "sleep undo" not in text


async def test_what_was_erased_is_not_told(database: Database) -> None:
    """The report is read from what is there, so it forgets with memory."""
    await database.write(fill)
    run = await play(cycle(database, night=(FADE,)))
    await database.write(lambda c: c.execute("UPDATE event SET data = '{\"erased\": true}' WHERE record_id = 1"))
    await database.write(lambda c: c.execute("DELETE FROM record WHERE id = 1"))
    report = await _report(database, run)
    assert [deed.record for deed in report.passes[0].shown_changes] == [4, 7, 10]
    assert report.passes[0].omitted == 1
    assert "number 0" not in as_markdown(report, UTC)
