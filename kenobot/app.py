"""The composition root: the only module that knows everybody. It builds the house, opens it, and closes it."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from kenobot import orders, turns
from kenobot.access import Access
from kenobot.audit import Audit
from kenobot.breaker import CircuitBreaker
from kenobot.building import Building
from kenobot.bus import Bus
from kenobot.channels.console import Console, ConsoleOptions
from kenobot.clock import Clock
from kenobot.cognitive.change import Act
from kenobot.cognitive.identity.files import Identity
from kenobot.cognitive.mirror.tree import Tree
from kenobot.cognitive.rebuild import demand_memory
from kenobot.cognitive.recall.index import Index
from kenobot.cognitive.recall.keeper import Keeper
from kenobot.cognitive.remember import boxes
from kenobot.compaction import Compaction
from kenobot.context import ContextBuilder
from kenobot.courier import Courier
from kenobot.db import Database
from kenobot.delivery import Delivery
from kenobot.door import Door, Post
from kenobot.embedding import Embedding
from kenobot.errors import StoreError
from kenobot.extraction import Extraction, Rooms, extraction
from kenobot.given import Given
from kenobot.home import Home
from kenobot.inbox import Inbox
from kenobot.language import guess, say
from kenobot.loop import AgentLoop, Gate
from kenobot.losing import Losing
from kenobot.memory_hands import Hands
from kenobot.model import Model, Route
from kenobot.notices import Notices
from kenobot.outbox import Outbox
from kenobot.ports import Channel, Inbound, Provider
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.proposing import Proposing
from kenobot.reranker import reranker_of
from kenobot.runner import Parts, TurnRunner
from kenobot.schedule import Schedule
from kenobot.scrubbing import Scrubber
from kenobot.secrets import Redactor
from kenobot.settings import Loaded, Settings
from kenobot.signals import MEMORY_WRITTEN, MESSAGE_IN, MESSAGE_OUT, STARTED, STOPPING, Envelope
from kenobot.sleeper import Rooms as Bedroom
from kenobot.sleeper import Sleeper, policy_of
from kenobot.summarizer import Summarizer
from kenobot.supervise import keep_running, notify_systemd, stop_signals
from kenobot.wished import language_of, limits_of, turn_policy_of

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
        await turns.prune(self.database, self.clock.now())
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
                for provider in self.providers:
                    close = getattr(provider, "aclose", None)
                    if close is not None:
                        await close()
        await self.database.close()
        self.index.close()


def assemble(home: Home, loaded: Loaded, clock: Clock, given: Given, rng: Random) -> App:
    """Wire everything up. Opens the database; raises ConfigError or StoreCorrupt when that fails."""
    settings = loaded.settings
    zone = ZoneInfo(settings.bot.timezone)
    redact = Redactor(loaded.secrets())
    pipeline = Pipeline(given.processors, redact)
    demand_memory(home.memory, home.database)
    database = Database.open(home.database, home.backups)
    bus = Bus(clock)
    inbox, outbox = Inbox(database, clock), Outbox(database, clock)
    mirror = Tree(home.memory, database, clock, zone, policy_of(settings.sleep))
    index = Index(home.index)
    embedding = Embedding(database, index, clock, given.embedder, given.formers)
    identity = Identity(home.identity)
    model = model_of(settings, given.providers, clock)
    asked = thinking(settings, given, model, clock)
    proposing = Proposing(database, bus)
    delivery = Delivery(given.channels, outbox, bus, clock, rng)
    access = Access(given.rosters)
    door = Door(
        access,
        database,
        bus,
        clock,
        Post(delivery.hand_over, delivery.sweep),
        secrets.randbelow,
        pairs=settings.access.pairing,
        language=language_of(settings),
    )
    runner = TurnRunner(
        Parts(
            database=database,
            bus=bus,
            clock=clock,
            zone=zone,
            access=access,
            building=Building(
                database,
                ContextBuilder(identity, zone, limits_of(settings), index),
                mirror,
                clock,
                embedding,
                reranker_of(settings, asked, database, clock),
            ),
            embedding=embedding,
            mirror=mirror,
            model=model,
            pipeline=pipeline,
            channels=given.channels,
            redact=redact,
            rng=rng,
            commands=orders.commands(
                access, door.changed, Hands(zone, home.memory, index, language_of(settings)), proposing.decided
            ),
            finish_bootstrap=identity.finish_bootstrap,
            violations=identity.violations,
            hand_over=delivery.hand_over,
            language=language_of(settings),
            policy=turn_policy_of(settings, model.count),
        )
    )
    courier = Courier(database, clock, given.channels, delivery.hand_over)

    async def turn_away(inbound: Inbound) -> None:
        language = language_of(settings) or guess(inbound.text)
        await courier.say(inbound.channel, inbound.chat, say("too_many", language))

    audit = Audit(database, settings.signals.keep, redact)
    keeper = Keeper(database, index)
    rooms = Rooms(database, bus, clock, zone, mirror.mark, index, embedding)
    reading = extraction(settings.extraction, rooms, asked)

    async def gather() -> None:
        await mirror.take_in()  # what people wrote into the files comes before what a night makes of it
        await reading.drain()

    bedroom = Bedroom(
        database,
        bus,
        clock,
        zone,
        home.sleep_lock,
        gather,
        lambda: mirror.mark(()),
        keeper.keep_up,
        lambda: index.neighbours,
    )
    return App(
        clock=clock,
        database=database,
        bus=bus,
        audit=audit,
        inbox=inbox,
        outbox=outbox,
        mirror=mirror,
        door=door,
        loop=AgentLoop(
            inbox,
            bus,
            clock,
            runner,
            model.wait_until_back,
            lambda: f"{rng.getrandbits(64):016x}",
            Gate(door, turn_away, settings.loop.backlog, settings.loop.chat_backlog),
            parallel=settings.loop.parallel_chats,
        ),
        delivery=delivery,
        notices=Notices(
            database, clock, given.channels, delivery.hand_over, access.is_owner, redact, language_of(settings)
        ),
        extraction=reading,
        compaction=_compaction(settings, rooms, asked),
        proposing=proposing,
        sleeper=sleeper_of(settings, bedroom, asked),
        index=index,
        keeper=keeper,
        embedding=embedding,
        scrubber=Scrubber(database, home.database, mirror.flush, keeper.keep_up),
        losing=Losing(database, bus, clock, zone, lambda: mirror.mark(())),
        schedule=Schedule(),
        channels=given.channels,
        providers=given.providers if given.reader is None else (*given.providers, given.reader),
    )


def model_of(settings: Settings, providers: Sequence[Provider], clock: Clock) -> Model:
    """The providers in their order, each behind a breaker of its own."""
    failures, seconds = settings.provider.breaker_failures, settings.provider.breaker_seconds
    routes = [Route(provider, CircuitBreaker(clock, failures, seconds)) for provider in providers]
    return Model(routes, settings.loop.turn_seconds, clock)


def thinking(settings: Settings, given: Given, model: Model, clock: Clock) -> Model | None:
    """Who is asked in the background: the provider, by the `model` it shares, or one of its own; None when by rules."""
    if getattr(given.reader or given.provider, "by_rote", False):
        return None
    return model if given.reader is None else model_of(settings, [given.reader], clock)


def _compaction(settings: Settings, rooms: Rooms, asked: Model | None) -> Compaction:
    """Who sums up what conversations no longer show."""
    summarizer = Summarizer(rooms.database, rooms.clock, rooms.zone, asked, settings.compaction.daily_tokens)
    return Compaction(rooms, summarizer, limits_of(settings).window, reads=settings.extraction.enabled)


def sleeper_of(settings: Settings, rooms: Bedroom, asked: Model | None, *, hurried: bool = False) -> Sleeper:
    """Who looks after memory. hurried: nobody talks to the bot meanwhile."""
    hour = settings.sleep.hour if settings.sleep.hour >= 0 else None
    return Sleeper(rooms, policy_of(settings.sleep), asked, enabled=settings.sleep.enabled, hour=hour, hurried=hurried)


async def serve(home: Home, loaded: Loaded, clock: Clock, given: Given, console: ConsoleOptions | None = None) -> int:
    """Run until SIGTERM, SIGINT, or the end of the console conversation. Returns the exit code."""
    app = assemble(home, loaded, clock, given, Random())  # noqa: S311 - trace ids and jitter, not secrets
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
