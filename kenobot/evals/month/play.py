"""Plays the month from its first day to its last and judges it."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from kenobot.evals.month import judge
from kenobot.evals.month.judge import Verdict
from kenobot.evals.month.script import Script
from kenobot.evals.month.stage import CommandLine, Stage

_FAST = 3  # of the everyday notes, one in so many


def play(script: Script, command_line: CommandLine, *, fast: bool = False) -> Verdict:
    """Run the whole of `script` in a folder that is gone afterwards. `command_line` takes its orders.

    fast: with a third of the everyday notes.
    """
    if fast:
        script = _shortened(script)
    with tempfile.TemporaryDirectory(prefix="kenobot-month-") as folder:
        return asyncio.run(_play(Path(folder), script, command_line))


async def _play(folder: Path, script: Script, command_line: CommandLine) -> Verdict:
    verdict = Verdict()
    async with Stage(folder, script, command_line) as stage:
        for step in script.steps:
            await stage.play(step)
            if step.asks:
                judge.judge_question(verdict, step, stage.model.requests.get(step.says))
        await stage.rest()
        await judge.judge_recall(verdict, script, stage.recalled)
        judge.judge_store(verdict, script, await stage.records(), await stage.summaries())
        verdict.failures += stage.complaints
        verdict.restarts, verdict.readings = stage.restarts, stage.model.readings
    return verdict


def _shortened(script: Script) -> Script:
    everyday = [step for step in script.steps if step.kind == "everyday"]
    kept = set(map(id, everyday[::_FAST]))
    return replace(script, steps=tuple(step for step in script.steps if step.kind != "everyday" or id(step) in kept))
