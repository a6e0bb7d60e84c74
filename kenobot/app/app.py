"""Everything that runs, wired up: how it opens, what it does by the clock, and how it closes."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kenobot.agent.background.compaction import Compaction
from kenobot.agent.background.extraction import Extraction
from kenobot.agent.background.missing_files import Losing
from kenobot.agent.background.proposal_announcer import Proposing
from kenobot.agent.background.purge_worker import Scrubber
from kenobot.agent.background.sleep import Sleeper
from kenobot.agent.embedding_worker import Embedding
from kenobot.agent.loop import AgentLoop
from kenobot.channels.console import Console, ConsoleOptions
from kenobot.cognitive.mirror.tree import Tree
from kenobot.cognitive.recall.index.index import Index
from kenobot.cognitive.recall.index.indexer import Keeper
from kenobot.cognitive.remember import boxes
from kenobot.cognitive.store.change import Act
from kenobot.core import plugins
from kenobot.core.bus import Bus
from kenobot.core.scheduler import Schedule
from kenobot.gateway.admission import Door
from kenobot.gateway.channel_supervisor import keep_running, notify_systemd, stop_signals
from kenobot.gateway.delivery import Delivery
from kenobot.gateway.owner_alerts import Notices
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.provider import Provider
from kenobot.ports.signals import MEMORY_WRITTEN, MESSAGE_IN, MESSAGE_OUT, STARTED, STOPPING, Envelope
from kenobot.storage import reply_checkpoints
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.outbox import Outbox
from kenobot.storage.signal_log import Audit

_log = logging.getLogger(__name__)

_HOUSEKEEPING_SECONDS = 3600.0
_AUDIT_SECONDS = 2.0
_ELSEWHERE_SECONDS = 1.0
_SWEEP_SECONDS = 60.0
_CARDS_SECONDS = 10.0
_INDEX_SECONDS = 60.0
_SCRUB_SECONDS = 10.0
_GRACE_SECONDS = 6.0
_CLOSE_SECONDS = 2.0


@dataclass(slots=True)
class App:
    """Everything that runs, wired up. `start` before use, `stop` after."""

    clock: Clock
    database: Database
    bus: Bus
    audit: Audit
    inbox: Inbox
    outbox: Outbox
    mirror: Tree
    door: Door
    loop: AgentLoop
    delivery: Delivery
    notices: Notices
    extraction: Extraction
    compaction: Compaction
    proposing: Proposing
    sleeper: Sleeper
    index: Index
    keeper: Keeper
    embedding: Embedding
    scrubber: Scrubber
    losing: Losing
    schedule: Schedule
    channels: dict[str, Channel]
    providers: Sequence[Provider]

    async def start(self) -> None:
        """Take up what an earlier run left behind, then be ready for new mail."""
        await self._keep_house()
        self.schedule.every(_HOUSEKEEPING_SECONDS, "housekeeping", self._keep_house)
        self.schedule.every(_AUDIT_SECONDS, "audit", self.audit.flush)
        self.schedule.every(_ELSEWHERE_SECONDS, "command line", self.look_elsewhere)
        self.schedule.every(_SWEEP_SECONDS, "sweep", self.sweep)
        self.schedule.every(_CARDS_SECONDS, "memory files", self.mirror.sweep)
        self.schedule.every(_INDEX_SECONDS, "memory index", self.keeper.keep_up)
        self.schedule.every(_SCRUB_SECONDS, "erasing", self.scrubber.tick)
        self.schedule.every(_CARDS_SECONDS, "lost files", self.losing.tick)
        self.schedule.every(_INDEX_SECONDS, "memory by meaning", self.embedding.tick)
        await self.mirror.start()
        await self.door.refresh()
        self.bus.bell(MESSAGE_IN, self.loop.on_message_in)
        self.bus.bell(MESSAGE_OUT, self.delivery.on_message_out)
        self.notices.attach(self.bus)
        self.bus.tap(self.audit.note)
        await self.delivery.start()
        await self.loop.start()
        await self.extraction.start(self.schedule)
        await self.compaction.start(self.schedule)
        await self.proposing.start(self.schedule)
        self.sleeper.start(self.schedule)
        await self.bus.fire(STARTED, "app", "", channels=" ".join(self.channels), provider=self.providers[0].name)

    async def _keep_house(self) -> None:
        await self.notices.remember()
        await self.inbox.prune()
        await self.outbox.prune()
        await reply_checkpoints.prune(self.database, self.clock.now())
        rested = Act(self.clock.now(), "memory", "nothing was added for a while")
        if await self.database.write(lambda connection: boxes.seal_idle(connection, rested)):
            self.mirror.mark(())

    async def look_elsewhere(self) -> None:
        """Notice what the owner did with the command line meanwhile: with people, mail and memory."""
        if await self.database.changed_elsewhere() or self.door.stale:
            await self.door.refresh()
            self.mirror.mark(())  # memory may have changed as well
            self.embedding.wake()
            await self.sweep()

    async def sweep(self) -> None:
        """Take up what nobody works on, so that every accepted message ends and every part leaves."""
        await self.loop.sweep()
        await self.delivery.sweep()

    async def drained(self) -> None:
        """Return once every accepted message has been answered and every answer sent, memory mirrored included."""
        while True:
            await self.loop.wait_idle()
            await self.door.settle()
            await self.notices.wait_idle()
            await self.delivery.wait_idle()
            await self.bus.settle()
            if self.delivery.idle and self.loop.idle:
                break
        await self.mirror.flush()

    async def stop(self) -> None:
        """Finish or park what is under way, then close everything. Within ten seconds in all."""
        await self.bus.fire(STOPPING, "app", "")
        await self.schedule.stop()
        await self.sleeper.stop()
        await self.loop.stop(_GRACE_SECONDS)
        await self.extraction.stop()
        await self.compaction.stop()
        await self.proposing.stop()
        await self.keeper.stop()
        await self.embedding.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.bus.settle()
        await self.notices.stop()
        await self.delivery.stop(_CLOSE_SECONDS)
        await self.bus.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.mirror.stop()
                with contextlib.suppress(StoreError):  # a full disk is no reason to end badly
                    await self.audit.flush()
                await plugins.close(self.providers)
        await self.database.close()
        self.index.close()


async def serve(app: App, console: ConsoleOptions | None = None) -> int:
    """Run until SIGTERM, SIGINT, or the end of the console conversation. Returns the exit code."""
    if console is not None:
        _attach_console(app, console)
    stop = asyncio.Event()
    with stop_signals(stop):
        try:
            await app.start()
            _log.info("ready: %s, with %s", ", ".join(app.channels), app.providers[0].name)
            notify_systemd("READY=1")
            await app.schedule.start()
            app.keeper.begin()
            app.embedding.begin()
            app.sleeper.begin()
            await _watch(app, stop)
        finally:
            notify_systemd("STOPPING=1")
            await app.stop()
    return 0


async def _watch(app: App, stop: asyncio.Event) -> None:
    """Run the channels until asked to stop or until none is left. Raises ConfigError from a channel."""
    intake = [
        asyncio.create_task(keep_running(channel, app.loop, app.bus, app.clock), name=f"channel {name}")
        for name, channel in app.channels.items()
    ]
    asked = asyncio.create_task(stop.wait(), name="stop")
    running: set[asyncio.Task[Any]] = set(intake)
    try:
        while running and not stop.is_set():
            done, _ = await asyncio.wait({asked, *running}, return_when=asyncio.FIRST_COMPLETED)
            for task in done & running:
                running.discard(task)
                task.result()
    finally:
        for task in (asked, *intake):
            task.cancel()
        await asyncio.gather(asked, *intake, return_exceptions=True)


def _attach_console(app: App, options: ConsoleOptions) -> None:
    channel = app.channels["console"]
    assert isinstance(channel, Console)
    channel.options = options
    channel.drain = app.drained
    if options.trace:

        async def show(envelope: Envelope) -> None:
            told = envelope.payload
            channel.announce(f"  ⋅ {told['action']} in {told['scope']}: {told['text']} ({told['reason']})")

        app.bus.subscribe(MEMORY_WRITTEN, show)
