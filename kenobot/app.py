"""The composition root: the only module that knows everybody. It builds the house, opens it, and closes it."""

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from kenobot import plugins
from kenobot.access import Access
from kenobot.audit import Audit
from kenobot.breaker import CircuitBreaker
from kenobot.bus import Bus
from kenobot.channels.console import Console, ConsoleOptions
from kenobot.clock import Clock
from kenobot.cognitive.identity.files import Identity
from kenobot.cognitive.mirror.sync import Mirror
from kenobot.context import ContextBuilder, Limits
from kenobot.db import Database
from kenobot.delivery import Delivery
from kenobot.errors import ConfigError, PluginError
from kenobot.home import Home
from kenobot.inbox import Inbox
from kenobot.loop import AgentLoop
from kenobot.model import Model
from kenobot.outbox import Outbox
from kenobot.plugins import Group
from kenobot.ports import Channel, PostProcessor, Provider, Surroundings
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.retry import RetryPolicy
from kenobot.runner import Parts, TurnRunner
from kenobot.schedule import Schedule
from kenobot.secrets import Redactor
from kenobot.settings import Loaded, Settings
from kenobot.signals import MEMORY_WRITTEN, MESSAGE_IN, MESSAGE_OUT, STARTED, STOPPING, Envelope
from kenobot.supervise import keep_running, notify_systemd, stop_signals
from kenobot.turn import TurnPolicy

_log = logging.getLogger(__name__)

_HOUSEKEEPING_SECONDS = 3600.0
_AUDIT_SECONDS = 2.0
_GRACE_SECONDS = 6.0
_CLOSE_SECONDS = 2.0


@dataclass(slots=True)
class App:
    """Everything that runs, wired up. `start` before use, `stop` after."""

    database: Database
    bus: Bus
    audit: Audit
    inbox: Inbox
    outbox: Outbox
    mirror: Mirror
    loop: AgentLoop
    delivery: Delivery
    schedule: Schedule
    channels: dict[str, Channel]
    provider: Provider

    async def start(self) -> None:
        """Take up what an earlier run left behind, then be ready for new mail."""
        await self._keep_house()
        self.schedule.every(_HOUSEKEEPING_SECONDS, "housekeeping", self._keep_house)
        self.schedule.every(_AUDIT_SECONDS, "audit", self.audit.flush)
        await self.mirror.start()
        self.bus.bell(MESSAGE_IN, self.loop.on_message_in)
        self.bus.bell(MESSAGE_OUT, self.delivery.on_message_out)
        self.bus.tap(self.audit.note)
        await self.delivery.start()
        await self.loop.start()
        await self.bus.fire(STARTED, "app", "", channels=" ".join(self.channels), provider=self.provider.name)

    async def _keep_house(self) -> None:
        await self.inbox.prune()
        await self.outbox.prune()

    async def drained(self) -> None:
        """Return once every accepted message has been answered and every answer sent, memory mirrored included."""
        while True:
            await self.loop.wait_idle()
            await self.delivery.wait_idle()
            await self.bus.settle()
            if self.delivery.idle and self.loop.idle:
                break
        await self.mirror.flush()

    async def stop(self) -> None:
        """Finish or park what is under way, then close everything. Within ten seconds in all."""
        await self.bus.fire(STOPPING, "app", "")
        await self.schedule.stop()
        await self.loop.stop(_GRACE_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.bus.settle()
        await self.delivery.stop(_CLOSE_SECONDS)
        await self.bus.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.mirror.stop()
                await self.audit.flush()
                close = getattr(self.provider, "aclose", None)
                if close is not None:
                    await close()
        await self.database.close()


@dataclass(frozen=True, slots=True)
class Given:
    """The parts that come from plugins, ready made. `owners`: for each channel, the owner's own accounts."""

    provider: Provider
    channels: dict[str, Channel]
    owners: Mapping[str, Sequence[str]]
    processors: Sequence[PostProcessor]


def load_parts(home: Home, loaded: Loaded, clock: Clock, names: Iterable[str]) -> Given:
    """The plugins that the configuration asks for. Raises ConfigError when a person must fix something."""
    surroundings = Surroundings(home.path, clock, loaded.settings.bot.name)
    provider: Provider = _part(loaded, "kenobot.providers", loaded.settings.provider.name, surroundings)
    channels, owners = _channels(loaded, names, surroundings)
    return Given(provider, channels, owners, _processors(loaded, surroundings))


def assemble(home: Home, loaded: Loaded, clock: Clock, given: Given, rng: Random) -> App:
    """Wire everything up. Opens the database; raises ConfigError or StoreCorrupt when that fails."""
    settings = loaded.settings
    zone = ZoneInfo(settings.bot.timezone)
    redact = Redactor(loaded.secrets())
    pipeline = Pipeline(given.processors, redact)
    database = Database.open(home.database, home.backups)
    bus = Bus(clock)
    inbox, outbox = Inbox(database, clock), Outbox(database, clock)
    mirror = Mirror(home.memory, database, clock, zone)
    identity = Identity(home.identity)
    breaker = CircuitBreaker(clock, settings.provider.breaker_failures, settings.provider.breaker_seconds)
    delivery = Delivery(given.channels, outbox, bus, clock, rng)
    runner = TurnRunner(
        Parts(
            database=database,
            bus=bus,
            clock=clock,
            zone=zone,
            access=Access(given.owners),
            builder=ContextBuilder(identity, zone, _limits(settings)),
            mirror=mirror,
            model=Model(given.provider, breaker, settings.loop.turn_seconds),
            pipeline=pipeline,
            channels=given.channels,
            redact=redact,
            rng=rng,
            finish_bootstrap=identity.finish_bootstrap,
            hand_over=delivery.hand_over,
            language=None if settings.bot.language == "auto" else settings.bot.language,
            policy=TurnPolicy(settings.loop.attempts, RetryPolicy(attempts=settings.provider.attempts)),
        )
    )
    audit = Audit(database, settings.signals.keep)
    return App(
        database=database,
        bus=bus,
        audit=audit,
        inbox=inbox,
        outbox=outbox,
        mirror=mirror,
        loop=AgentLoop(
            inbox,
            bus,
            clock,
            runner,
            lambda: f"{rng.getrandbits(64):016x}",
            parallel=settings.loop.parallel_chats,
            backlog=settings.loop.backlog,
        ),
        delivery=delivery,
        schedule=Schedule(),
        channels=given.channels,
        provider=given.provider,
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        budget=settings.context.budget_tokens,
        memory=settings.context.memory_tokens,
        message=settings.context.message_tokens,
        history=settings.context.history_messages,
        most=settings.context.history_most,
        mode=settings.memory.recall,
        days=settings.memory.days,
        max_tokens=settings.provider.max_tokens,
    )


async def serve(home: Home, loaded: Loaded, clock: Clock, given: Given, console: ConsoleOptions | None = None) -> int:
    """Run until SIGTERM, SIGINT, or the end of the console conversation. Returns the exit code."""
    app = assemble(home, loaded, clock, given, Random())  # noqa: S311 - trace ids and jitter, not secrets
    if console is not None:
        _attach_console(app, console)
    stop = asyncio.Event()
    with stop_signals(stop):
        try:
            await app.start()
            _log.info("ready: %s, with %s", ", ".join(app.channels), app.provider.name)
            notify_systemd("READY=1")
            await app.schedule.start()
            await _watch(app, clock, stop)
        finally:
            notify_systemd("STOPPING=1")
            await app.stop()
    return 0


async def _watch(app: App, clock: Clock, stop: asyncio.Event) -> None:
    """Run the channels until asked to stop or until none is left. Raises ConfigError from a channel."""
    intake = [
        asyncio.create_task(keep_running(channel, app.loop, app.bus, clock), name=f"channel {name}")
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


def _channels(
    loaded: Loaded, names: Iterable[str], surroundings: Surroundings
) -> tuple[dict[str, Channel], Mapping[str, list[str]]]:
    """The channels by name, and whose accounts there are the owner's. A broken plugin is left out, loudly."""
    channels: dict[str, Channel] = {}
    owners: dict[str, list[str]] = {}
    for name in names:
        try:
            plugin = plugins.load("kenobot.channels", name)
            settings = loaded.plugin("kenobot.channels", name, plugin.settings)
            channels[name] = plugin.build(settings, surroundings)
        except PluginError as error:
            _log.error("%s The other channels run without it.", error)
            continue
        owners[name] = list(getattr(settings, "owners", ()))
    if not channels:
        raise ConfigError("None of the enabled channels can be used: see the lines above, then run `kenobot setup`.")
    return channels, owners


def _processors(loaded: Loaded, surroundings: Surroundings) -> list[PostProcessor]:
    found: list[PostProcessor] = []
    for name in loaded.settings.postprocessors.enabled:
        try:
            found.append(_part(loaded, "kenobot.postprocessors", name, surroundings))
        except PluginError as error:
            _log.error("%s Replies go out without it.", error)
    return found


def _part(loaded: Loaded, group: Group, name: str, surroundings: Surroundings) -> Any:
    plugin = plugins.load(group, name)
    return plugin.build(loaded.plugin(group, name, plugin.settings), surroundings)
