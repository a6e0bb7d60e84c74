"""A whole KenoBot in a folder of its own, on a clock that the script moves, with channels the script speaks on."""

import asyncio
import contextlib
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from kenobot.access import Roster
from kenobot.app import App, assemble
from kenobot.clock import Clock
from kenobot.cognitive.keys import key_of
from kenobot.cognitive.recall.recall import Query, recall
from kenobot.db import Connection
from kenobot.given import load_parts
from kenobot.home import Home
from kenobot.month.model import ScriptedModel
from kenobot.month.script import Script, Step
from kenobot.ports import Inbound, Outbound, Part, Sink
from kenobot.settings import load
from kenobot.testing.clock import ManualClock

CommandLine = Callable[[Sequence[str], Clock], int]

_CONFIG = """\
[bot]
timezone = "{zone}"

[context]
memory_tokens = {tokens}
"""
_LULL = timedelta(minutes=20)  # after which everything that was said is due to be read for facts
_NAP = 300.0  # seconds; what sleeps longer is not waited for
_POLL = 0.02
_NAMED = "key:"  # in the script's orders: the key of the memory with these words
_BLINK = 0.001  # seconds: a clock in microseconds cannot be moved by less than one


class Line:
    """A channel on which only the script speaks; what the bot says stays in `sent`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent: list[Outbound] = []

    async def run(self, sink: Sink) -> None:
        """See `kenobot.ports.Channel`."""
        await asyncio.Event().wait()

    def render(self, text: str) -> Sequence[Part]:
        """See `kenobot.ports.Channel`."""
        return (Part(text),)

    async def send(self, outbound: Outbound) -> str:
        """See `kenobot.ports.Channel`."""
        self.sent.append(outbound)
        return str(outbound.id)


class Stage:
    """Use as `async with Stage(...) as stage`; then `play` the steps in order. said: what the bot answered to each."""

    def __init__(self, folder: Path, script: Script, command_line: CommandLine) -> None:
        self._script = script
        self._command_line = command_line
        self._home = Home(folder / "home")
        self._clock = ManualClock(script.steps[0].at.astimezone(UTC) - timedelta(minutes=1))
        self._numbers = 0
        names = dict.fromkeys(step.who.channel for step in script.steps if step.who is not None)
        self._lines = {name: Line(name) for name in names}
        self.model = ScriptedModel(script)
        self.restarts = 0
        self.complaints: list[str] = []
        self._held = contextlib.ExitStack()
        self.app: App

    async def __aenter__(self) -> "Stage":
        self._home.prepare()
        self._home.seed_identity()
        (self._home.identity / "BOOTSTRAP.md").unlink()
        config = _CONFIG.format(zone=self._script.zone.key, tokens=self._script.memory_tokens)
        self._home.config_file.write_text(config, "utf-8")
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def _close(self) -> None:
        try:
            await self.app.stop()
        finally:
            self._held.close()

    async def _open(self) -> None:
        self._held.enter_context(self._home.lock())  # as a bot that runs holds it
        loaded = load(self._home, {})
        parts = load_parts(self._home, loaded, self._clock, ["console"])
        script = self._script
        roster = Roster.of(script.owners, script.users, script.chats)
        given = replace(
            parts,
            provider=self.model,
            fallbacks=(),
            channels=dict(self._lines),
            rosters=dict.fromkeys(self._lines, roster),
        )
        self.app = assemble(self._home, loaded, self._clock, given, Random(7))  # noqa: S311 - jitter, and the same each time
        await self.app.start()

    async def play(self, step: Step) -> str:
        """Let a step happen at its time; what the bot said to it, "" when it was not asked or could not answer yet."""
        await self._until(step.at.astimezone(UTC))
        if step.restart:
            await self._close()
            await self._open()
            self.restarts += 1
            await self._settle()
        if step.down or step.up:
            self.model.down = step.down
        if step.command:
            return await self._order(step.command)
        if step.who is None or not step.says:
            return ""
        line = self._lines[step.who.channel]
        before = len(line.sent)
        self._numbers += 1
        inbound = Inbound(
            channel=line.name,
            external_id=str(self._numbers),
            chat=step.who.chat,
            user=step.who.user,
            text=step.says,
            sent_at=self._clock.now(),
            user_name=step.who.name,
            private=step.who.private,
        )
        await self.app.loop(inbound)
        await self._settle()
        return "\n".join(sent.part.text for sent in line.sent[before:])

    async def rest(self) -> None:
        """Let time pass until whatever was said has been read for facts."""
        await self._until(self._clock.now() + 3 * _LULL)

    async def _order(self, words: Sequence[str]) -> str:
        """Give an order on the command line, beside the running bot."""
        words = [key_of(word.removeprefix(_NAMED)) if word.startswith(_NAMED) else word for word in words]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            argv = ["--home", str(self._home.path), *words]
            code = await asyncio.to_thread(self._command_line, argv, self._clock)
        if code:
            self.complaints.append(f"`kenobot {' '.join(words)}` ended with {code}: {out.getvalue().strip()}")
        await self.app.look_elsewhere()
        await self._settle()
        return out.getvalue()

    async def _until(self, moment: datetime) -> None:
        """Move the clock, with a stop after which everything said so far is due."""
        pause = self._clock.now() + _LULL
        if moment > pause:
            self._advance(pause)
            await self._tick()
        self._advance(moment)

    def _advance(self, moment: datetime) -> None:
        self._clock.advance(max(0.0, (moment - self._clock.now()).total_seconds()))

    async def _tick(self) -> None:
        """What the schedule does every so often."""
        await self.app.sweep()
        await self.app.extraction.tick()
        await self._settle()

    async def _settle(self) -> None:
        """Wait until nothing is under way; what sleeps for a little while is woken."""
        waiting = asyncio.ensure_future(self._quiet())
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=_POLL)
            naps = [nap for nap in self._clock.naps if nap <= _NAP]
            if not waiting.done() and naps:
                self._clock.advance(max(_BLINK, min(naps)))
        await waiting

    async def _quiet(self) -> None:
        await self.app.drained()
        if not self.app.extraction.idle:
            await self.app.extraction.wait_idle()
            await self.app.drained()

    async def recalled(self, question: str, scope: str) -> str:
        """What memory finds for a question, for somebody who may know this scope only."""
        query = Query(question, (scope,), self._clock.now(), self._script.zone, always=True)
        pack = await self.app.database.read(lambda connection: recall(connection, self.app.index, query))
        return "\n".join([*(memory.line for memory in pack.memories), *(excerpt.line for excerpt in pack.excerpts)])

    async def records(self) -> list[tuple[str, str, str]]:
        """Scope, status and text of everything in memory."""

        def everything(connection: Connection) -> list[tuple[str, str, str]]:
            scopes = [scope for (scope,) in connection.execute("SELECT DISTINCT scope FROM record ORDER BY scope")]
            sought = "SELECT scope, status, text FROM record WHERE scope = ? ORDER BY id"
            return [row for scope in scopes for row in connection.execute(sought, (scope,))]

        rows = await self.app.database.read(everything)
        return [(str(scope), str(status), str(text)) for scope, status, text in rows]
