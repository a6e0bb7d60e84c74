"""A whole KenoBot in a folder of its own, on a clock that a script moves, with channels that the script speaks on."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.app.app import App
from kenobot.app.plugin_instances import load_plugins
from kenobot.cognitive.memory import Inspection, MemoryQuery
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.gateway.access import Roster
from kenobot.ports.channel import Sink
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.plugin import Plugin
from kenobot.ports.provider import Provider
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START, ManualClock
from kenobot_testing.scenario import Speaker

__all__ = ["Roster", "ScriptedChannel", "Simulation"]

_NAP = 300.0  # seconds; what sleeps longer is not waited for
_POLL = 0.02
_PATIENCE = 60.0  # seconds of real time
_BLINK = 0.001  # seconds: a clock in microseconds cannot be moved by less than one
_BREATH = 1.0  # seconds: a pause as short as this is over at once
_AN_HOUR = timedelta(hours=1)


class ScriptedChannel:
    """A channel on which only the script speaks; what the bot says stays in `sent`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent: list[Outbound] = []

    async def run(self, sink: Sink) -> None:
        await asyncio.Event().wait()

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),)

    async def send(self, outbound: Outbound) -> str:
        self.sent.append(outbound)
        return str(outbound.id)


class _Clock(ManualClock):
    """Moves only when told to. The breaths that work takes so as not to be in the way take no time."""

    async def sleep(self, seconds: float) -> None:
        await (super().sleep(seconds) if seconds > _BREATH else asyncio.sleep(0))


class Simulation:
    """A running bot: use as `async with Simulation(...) as bot`, then `say` things and let time pass with `run_until`.

    provider: writes the answers; None: the one that `config` names, such as a plugin under test. roster: who may talk
    on each channel that the script speaks on; by default the owner, "1". start: the time on its clock, which nothing
    else moves. channels: the channels' names; one of a name in `plugins` is that plugin's, and runs. config: text for
    kenobot.toml. files: of the memory folder, as they are before the first start. embedder: as in the settings; without
    one a simulation is the same on every machine.
    plugins: by name, plugins under test, which say their kind; they are on.
    """

    def __init__(  # noqa: PLR0913 - each by its name, and all but one with a default
        self,
        folder: Path,
        provider: Provider | None = None,
        roster: Roster | None = None,
        *,
        start: datetime = START,
        channels: Iterable[str] = ("fake",),
        config: str = "",
        files: Mapping[str, str] | None = None,
        embedder: str = "none",
        plugins: Mapping[str, Plugin[Any, Any]] | None = None,
    ) -> None:
        self.home = Home(folder / "home")
        self.clock: ManualClock = _Clock(start.astimezone(UTC))
        self._start = self.clock.now()
        self._plugins = dict(plugins or {})
        self._own_channels = [name for name in channels if name in self._plugins]
        self.channels = {name: ScriptedChannel(name) for name in channels if name not in self._plugins}
        self.app: App
        self.zone: ZoneInfo
        self._provider = provider
        self.roster = roster or Roster.of(owners=["1"])
        self._intakes: list[asyncio.Task[None]] = []
        self._config = config
        self._embedder = embedder
        self._files = dict(files or {})
        self._numbers = 0
        self._held = contextlib.ExitStack()

    async def __aenter__(self) -> "Simulation":
        self.home.prepare()
        self.home.seed_identity()
        (self.home.identity / "BOOTSTRAP.md").unlink()
        self.home.config_file.write_text(self._config, "utf-8")
        for name, text in self._files.items():
            path = self.home.memory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def _open(self) -> None:
        self._held.enter_context(self.home.lock())  # as a bot that runs holds it
        environ = {"KENOBOT_MEMORY__EMBEDDER": self._embedder}
        loaded = load_settings(self.home, environ, given=self._plugins)
        self.zone = ZoneInfo(loaded.settings.bot.timezone)
        parts = load_plugins(self.home, loaded, self.clock, self._own_channels or ["console"], self._provider)
        own = {name: parts.channels[name] for name in self._own_channels}
        given = replace(
            parts,
            fallbacks=(),
            channels={**self.channels, **own},
            access_lists={**parts.access_lists, **dict.fromkeys(self.channels, self.roster)},
        )
        self.app = App(self.home, loaded, self.clock, given, Random(7))  # noqa: S311 - jitter, and the same each time
        await self.app.start()
        self._intakes = [asyncio.create_task(channel.run(self.app.loop), name=name) for name, channel in own.items()]

    async def _close(self) -> None:
        for intake in self._intakes:
            intake.cancel()
        await asyncio.gather(*self._intakes, return_exceptions=True)
        try:
            await self.app.stop()
        finally:
            self._held.close()

    async def restart(self) -> None:
        """Stop the bot and start it again."""
        await self.stop_until(self.clock.now())

    async def stop_until(self, until: datetime) -> None:
        """Stop the bot, and start it again at a moment."""
        await self._close()
        self.advance_to(until)
        await self._open()
        await self.wait_idle()

    # ── talk ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def say(self, channel: str, chat: str, user: str, text: str, *, name: str = "", private: bool = True) -> str:
        """Say something as somebody; return what the bot answered once all is quiet again, "" when it did not."""
        sent = self.channels[channel].sent
        before = len(sent)
        self._numbers += 1
        await self.app.loop(
            Inbound(
                channel=channel,
                external_id=str(self._numbers),
                chat=chat,
                user=user,
                text=text,
                sent_at=self.clock.now(),
                user_name=name,
                private=private,
            )
        )
        await self.wait_idle()
        return "\n".join(each.part.text for each in sent[before:])

    async def ask(self, text: str) -> str:
        """Say something as the owner on the first channel that the script speaks on; return what the bot answered."""
        owner = min(self.roster.owners)
        return await self.say(next(iter(self.channels)), owner, owner, text)

    async def until(self, happy: Callable[[], bool]) -> None:
        """Let the bot work, and its clock go on with what waits, until something is so.

        Raises AssertionError when that takes a minute of real time.
        """
        ends = time.monotonic() + _PATIENCE
        while not happy():
            assert time.monotonic() < ends, f"it did not become so within {_PATIENCE:g} seconds"
            await asyncio.sleep(_POLL)
            if naps := [nap for nap in self.clock.pending_sleeps if nap <= _NAP]:
                self.clock.advance(max(_BLINK, min(naps)))

    async def say_as(self, speaker: Speaker, text: str) -> str:
        """Say something as a speaker in their chat; return what the bot answered."""
        who = speaker
        return await self.say(who.channel, who.chat, who.user, text, name=who.name, private=who.private)

    async def wait_idle(self) -> None:
        """Wait until nothing is under way; what sleeps for a little while is woken."""
        waiting = asyncio.ensure_future(self._wait_for_quiet())
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=_POLL)
            naps = [nap for nap in self.clock.pending_sleeps if nap <= _NAP]
            if not waiting.done() and naps:
                self.clock.advance(max(_BLINK, min(naps)))
        await waiting

    async def _wait_for_quiet(self) -> None:
        """Return once a round in which everything had its turn has written nothing to memory.

        What a worker writes while the files of memory are being written is in none of them before the next round.
        """
        app, last, event = self.app, -1, await self.app.database.read(Inspection.last_event)
        workers = (app.background.extraction, app.background.compaction, app.background.sleep_worker)
        while event != last or not all(worker.idle for worker in workers):
            last = event
            await app.wait_drained()
            for worker in workers:
                await worker.wait_idle()
            await app.bus.drain()
            event = await app.database.read(Inspection.last_event)

    # ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def advance_to(self, moment: datetime) -> None:
        """Move the clock and nothing else. Time never goes back."""
        self.clock.advance(max(0.0, (moment - self.clock.now()).total_seconds()))

    async def run_until(self, until: datetime, every: timedelta = _AN_HOUR) -> None:
        """Let time pass until a moment: `every` so often, counted from the start, the bot's schedule is followed."""
        while (moment := self._start + ((self.clock.now() - self._start) // every + 1) * every) <= until:
            self.advance_to(moment)
            await self.run_schedule()
        self.advance_to(until)

    async def run_schedule(self) -> None:
        """Run all that is on the bot's schedule now."""
        await self.app.scheduler.run_all_now()
        await self.app.reminders.tick()
        await self.wait_idle()

    # ── a look inside ────────────────────────────────────────────────────────────────────────────────────────────

    async def recall_text(self, question: str, scopes: Sequence[str]) -> tuple[str, str]:
        """Return the memories and the talk that a question finds within these scopes."""
        query = MemoryQuery(question, tuple(scopes), self.clock.now(), self.zone, force=True)
        pack = await self.app.database.read(lambda connection: self.app.memory.recall(connection, query))
        return "\n".join(each.line for each in pack.memories), "\n".join(each.line for each in pack.excerpts)

    async def records(self) -> list[tuple[str, str, str, str]]:
        """Form, scope, status and text of everything in memory."""

        def everything(connection: Connection) -> list[tuple[str, str, str, str]]:
            scopes = [scope for (scope,) in connection.execute("SELECT DISTINCT scope FROM record ORDER BY scope")]
            sought = "SELECT form, scope, status, text FROM record WHERE scope = ? ORDER BY id"
            return [row for scope in scopes for row in connection.execute(sought, (scope,))]

        return await self.app.database.read(everything)

    def files(self) -> dict[str, str]:
        """Return the memory folder: each file's text, by its path in there."""
        root = self.home.memory
        return {
            path.relative_to(root).as_posix(): path.read_text("utf-8", "replace")
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }
