"""Plays the month from its first day to its last and judges it."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from kenobot.evals.month import judge
from kenobot.evals.month.judge import MonthResult
from kenobot.evals.month.script import MonthScript
from kenobot.evals.month.stage import CommandLine, MonthSimulation

_FAST = 3  # of the everyday notes, one in so many


def run_month(script: MonthScript, command_line: CommandLine, *, fast: bool = False) -> MonthResult:
    """Run the whole of `script` in a folder that is gone afterwards. `command_line` takes its orders.

    fast: with a third of the everyday notes.
    """
    if fast:
        script = _shortened(script)
    with tempfile.TemporaryDirectory(prefix="kenobot-month-") as folder:
        return asyncio.run(_play(Path(folder), script, command_line))


async def _play(folder: Path, script: MonthScript, command_line: CommandLine) -> MonthResult:
    verdict = MonthResult()
    async with MonthSimulation(folder, script, command_line) as stage:
        for step in script.steps:
            await stage.run_step(step)
            if step.is_question:
                judge.check_question(verdict, step, stage.model.requests.get(step.says))
        await stage.wait_for_extraction()
        await judge.check_recall(verdict, script, stage.recall_text)
        judge.check_records(verdict, script, await stage.records(), await stage.summaries())
        verdict.failures += stage.command_failures
        verdict.restarts, verdict.extractions = stage.restarts, stage.model.extractions
    return verdict


def _shortened(script: MonthScript) -> MonthScript:
    everyday = [step for step in script.steps if step.kind == "everyday"]
    kept = set(map(id, everyday[::_FAST]))
    return replace(script, steps=tuple(step for step in script.steps if step.kind != "everyday" or id(step) in kept))
