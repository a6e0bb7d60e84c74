"""The month's stage: a whole KenoBot in a folder of its own, with the script's people, and a command line beside it."""

import asyncio
import contextlib
import io
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.month import checks
from bench.month.checks import MonthResult
from bench.month.provider import MonthModel
from bench.month.script import MonthScript, MonthStep
from kenobot.cli import main
from kenobot.gateway.access import Roster
from kenobot.language.fingerprint import key_of
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import Simulation

_FAST = 3  # of the everyday notes, one in so many
_CONFIG = """\
[bot]
timezone = "{zone}"

[context]
memory_tokens = {tokens}
"""
_LOOK = timedelta(hours=3)  # between two looks at the schedule while nobody talks; the nights come with it
_LULL = timedelta(minutes=20)  # after which everything that was said is due to be read for facts
_NAMED = "key:"  # in the script's orders: the key of the memory with these words


class MonthSimulation:
    """Use as `async with Stage(...) as stage`; then `run_step` the steps in order."""

    def __init__(self, folder: Path, script: MonthScript) -> None:
        self.model = MonthModel(script)
        self.restarts = 0
        self.command_failures: list[str] = []
        self._house = Simulation(
            folder,
            ScriptedProvider(self.model.reply, rule_based=False, keep=0),
            Roster.of(script.owners, script.users, script.chats),
            start=script.steps[0].at.astimezone(UTC) - timedelta(minutes=1),
            channels=dict.fromkeys(step.who.channel for step in script.steps if step.who is not None),
            config=_CONFIG.format(zone=script.zone.key, tokens=script.memory_tokens),
        )

    async def __aenter__(self) -> "MonthSimulation":
        await self._house.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._house.__aexit__(*raised)

    async def run_step(self, step: MonthStep) -> str:
        """Let a step happen at its time; what the bot said to it, "" when it was not asked or could not answer yet."""
        await self._until(step.at.astimezone(UTC))
        if step.restart:
            await self._house.restart()
            self.restarts += 1
        if step.down or step.up:
            self.model.down = step.down
        if step.command:
            return await self._order(step.command)
        who = step.who
        if who is None or not step.says:
            return ""
        return await self._house.say_as(who, step.says)

    async def wait_for_extraction(self) -> None:
        """Let time pass until whatever was said has been read for facts."""
        await self._until(self._house.clock.now() + 3 * _LULL)

    async def _order(self, words: Sequence[str]) -> str:
        """Give an order on the command line, beside the running bot."""
        words = [key_of(word.removeprefix(_NAMED)) if word.startswith(_NAMED) else word for word in words]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            argv = ["--home", str(self._house.home.path), *words]
            code = await asyncio.to_thread(main, argv, self._house.clock)
        if code:
            self.command_failures.append(f"`kenobot {' '.join(words)}` ended with {code}: {out.getvalue().strip()}")
        await self._house.app.check_external_changes()
        await self._house.wait_idle()
        return out.getvalue()

    async def _until(self, moment: datetime) -> None:
        """Move the clock, with a stop after which everything said so far is due."""
        pause = self._house.clock.now() + _LULL
        if moment > pause:
            self._house.advance_to(pause)
            await self._tick()
        await self._house.run_until(moment, _LOOK)

    async def _tick(self) -> None:
        """What the schedule does every so often."""
        await self._house.app.sweep()
        await self._house.app.background.extraction.tick()
        await self._house.wait_idle()

    async def recall_text(self, question: str, scope: str) -> tuple[str, str]:
        """Return the memories and the talk that a question finds within a scope."""
        return await self._house.recall_text(question, (scope,))

    async def records(self) -> list[tuple[str, str, str]]:
        """Scope, status and text of everything in memory but the summaries."""
        return [(scope, status, text) for form, scope, status, text in await self._house.records() if form != "summary"]

    async def summaries(self) -> list[str]:
        """The live summaries of what was said: they may tell what is not believed any more, and nothing forgotten."""
        rows = await self._house.records()
        return [text for form, _, status, text in rows if form == "summary" and status == "active"]


def run_month(script: MonthScript, *, fast: bool = False) -> MonthResult:
    """Run the whole of `script` in a folder that is gone afterwards. fast: with a third of the everyday notes."""
    if fast:
        script = _shortened(script)
    with tempfile.TemporaryDirectory(prefix="kenobot-month-") as folder:
        return asyncio.run(_play(Path(folder), script))


async def _play(folder: Path, script: MonthScript) -> MonthResult:
    verdict = MonthResult()
    async with MonthSimulation(folder, script) as stage:
        for step in script.steps:
            await stage.run_step(step)
            if step.expect is not None:
                checks.check_question(verdict, step, stage.model.requests.get(step.says))
        await stage.wait_for_extraction()
        await checks.check_recall(verdict, script, stage.recall_text)
        checks.check_records(verdict, script, await stage.records(), await stage.summaries())
        verdict.failures += stage.command_failures
        verdict.restarts, verdict.extractions = stage.restarts, stage.model.extractions
    return verdict


def _shortened(script: MonthScript) -> MonthScript:
    everyday = [step for step in script.steps if step.kind == "everyday"]
    kept = set(map(id, everyday[::_FAST]))
    return replace(script, steps=tuple(step for step in script.steps if step.kind != "everyday" or id(step) in kept))
