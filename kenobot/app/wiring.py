"""The composition root: the only module that knows everybody. It builds the house, storey by storey."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from zoneinfo import ZoneInfo

from kenobot.agent.background.compaction import Compaction
from kenobot.agent.background.extraction import Extraction, Rooms, extraction
from kenobot.agent.background.missing_files import Losing
from kenobot.agent.background.proposal_announcer import Proposing
from kenobot.agent.background.purge_worker import Scrubber
from kenobot.agent.background.sleep import Rooms as Bedroom
from kenobot.agent.background.sleep import Sleeper, policy_of
from kenobot.agent.background.summarizer import Summarizer
from kenobot.agent.commands import catalog
from kenobot.agent.commands.memory_base import Hands
from kenobot.agent.embedding_worker import Embedding
from kenobot.agent.loop import AgentLoop, Gate
from kenobot.agent.model_router import Model, Route
from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_service import Building
from kenobot.agent.prompt.reranker import reranker_of
from kenobot.agent.turn.runner import Parts, TurnRunner
from kenobot.app.app import App
from kenobot.app.plugin_instances import Given
from kenobot.app.settings_mapping import language_of, limits_of, turn_policy_of
from kenobot.cognitive.identity.files import Identity
from kenobot.cognitive.mirror.rebuild import demand_memory
from kenobot.cognitive.mirror.tree import Tree
from kenobot.cognitive.recall.index.index import Index
from kenobot.cognitive.recall.index.indexer import Keeper
from kenobot.core.bus import Bus
from kenobot.core.circuit_breaker import CircuitBreaker
from kenobot.core.i18n import guess, say
from kenobot.core.redaction import Redactor
from kenobot.core.scheduler import Schedule
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Loaded, Settings
from kenobot.gateway.access import Access
from kenobot.gateway.admission import Door, Post
from kenobot.gateway.bot_messages import Courier
from kenobot.gateway.delivery import Delivery
from kenobot.gateway.owner_alerts import Notices
from kenobot.ports.clock import Clock
from kenobot.ports.messages import Inbound
from kenobot.ports.provider import Provider
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.outbox import Outbox
from kenobot.storage.signal_log import Audit


@dataclass(frozen=True, slots=True)
class _Ground:
    """What everything else stands on."""

    home: Home
    settings: Settings
    zone: ZoneInfo
    clock: Clock
    rng: Random
    given: Given
    redact: Redactor
    database: Database
    bus: Bus


@dataclass(frozen=True, slots=True)
class _Memory:
    """Memory, its files, and what finds it."""

    mirror: Tree
    index: Index
    embedding: Embedding
    keeper: Keeper
    identity: Identity


@dataclass(frozen=True, slots=True)
class _Mail:
    """What comes and goes, and who may talk."""

    inbox: Inbox
    outbox: Outbox
    delivery: Delivery
    access: Access
    door: Door


def assemble(home: Home, loaded: Loaded, clock: Clock, given: Given, rng: Random) -> App:
    """Wire everything up. Opens the database; raises ConfigError or StoreCorrupt when that fails."""
    ground = _ground(home, loaded, clock, given, rng)
    memory, mail = _memory(ground), _mail(ground)
    settings, database, bus, mirror = ground.settings, ground.database, ground.bus, memory.mirror
    model = model_of(settings, given.providers, clock)
    asked = thinking(settings, given, model, clock)
    proposing = Proposing(database, bus)
    runner = TurnRunner(_parts(ground, memory, mail, model, asked, proposing.decided))
    rooms = Rooms(database, bus, clock, ground.zone, mirror.mark, memory.index, memory.embedding)
    reading = extraction(settings.extraction, rooms, asked)
    return App(
        clock=clock,
        database=database,
        bus=bus,
        audit=Audit(database, settings.signals.keep, ground.redact),
        inbox=mail.inbox,
        outbox=mail.outbox,
        mirror=mirror,
        door=mail.door,
        loop=_loop(ground, mail, runner, model),
        delivery=mail.delivery,
        notices=_notices(ground, mail),
        extraction=reading,
        compaction=_compaction(settings, rooms, asked),
        proposing=proposing,
        sleeper=sleeper_of(settings, _bedroom(ground, memory, reading), asked),
        index=memory.index,
        keeper=memory.keeper,
        embedding=memory.embedding,
        scrubber=Scrubber(database, home.database, mirror.flush, memory.keeper.keep_up),
        losing=Losing(database, bus, clock, ground.zone, lambda: mirror.mark(())),
        schedule=Schedule(),
        channels=given.channels,
        providers=given.providers if given.reader is None else (*given.providers, given.reader),
    )


def _ground(home: Home, loaded: Loaded, clock: Clock, given: Given, rng: Random) -> _Ground:
    demand_memory(home.memory, home.database)
    return _Ground(
        home=home,
        settings=loaded.settings,
        zone=ZoneInfo(loaded.settings.bot.timezone),
        clock=clock,
        rng=rng,
        given=given,
        redact=Redactor(loaded.secrets()),
        database=Database.open(home.database, home.backups),
        bus=Bus(clock),
    )


def _memory(ground: _Ground) -> _Memory:
    home, database, given = ground.home, ground.database, ground.given
    index = Index(home.index)
    return _Memory(
        mirror=Tree(home.memory, database, ground.clock, ground.zone, policy_of(ground.settings.sleep)),
        index=index,
        embedding=Embedding(database, index, ground.clock, given.embedder, given.formers),
        keeper=Keeper(database, index),
        identity=Identity(home.identity),
    )


def _mail(ground: _Ground) -> _Mail:
    database, bus, clock = ground.database, ground.bus, ground.clock
    inbox, outbox = Inbox(database, clock), Outbox(database, clock)
    delivery = Delivery(ground.given.channels, outbox, bus, clock, ground.rng)
    access = Access(ground.given.rosters)
    door = Door(
        access,
        database,
        bus,
        clock,
        Post(delivery.hand_over, delivery.sweep),
        secrets.randbelow,
        pairs=ground.settings.access.pairing,
        language=language_of(ground.settings),
    )
    return _Mail(inbox, outbox, delivery, access, door)


def _parts(
    ground: _Ground, memory: _Memory, mail: _Mail, model: Model, asked: Model | None, decided: Callable[[], None]
) -> Parts:
    """What a turn works with. decided: told that a proposal was approved or rejected."""
    settings, database, clock, zone = ground.settings, ground.database, ground.clock, ground.zone
    builder = ContextBuilder(memory.identity, zone, limits_of(settings), memory.index)
    reranker = reranker_of(settings, asked, database, clock)
    hands = Hands(zone, ground.home.memory, memory.index, language_of(settings))
    return Parts(
        database=database,
        bus=ground.bus,
        clock=clock,
        zone=zone,
        access=mail.access,
        building=Building(database, builder, memory.mirror, clock, memory.embedding, reranker),
        embedding=memory.embedding,
        mirror=memory.mirror,
        model=model,
        pipeline=Pipeline(ground.given.processors, ground.redact),
        channels=ground.given.channels,
        redact=ground.redact,
        rng=ground.rng,
        commands=catalog.commands(mail.access, mail.door.changed, hands, decided),
        finish_bootstrap=memory.identity.finish_bootstrap,
        violations=memory.identity.violations,
        hand_over=mail.delivery.hand_over,
        language=language_of(settings),
        policy=turn_policy_of(settings, model.count),
    )


def _loop(ground: _Ground, mail: _Mail, runner: TurnRunner, model: Model) -> AgentLoop:
    settings, rng = ground.settings, ground.rng
    courier = Courier(ground.database, ground.clock, ground.given.channels, mail.delivery.hand_over)

    async def turn_away(inbound: Inbound) -> None:
        language = language_of(settings) or guess(inbound.text)
        await courier.say(inbound.channel, inbound.chat, say("too_many", language))

    return AgentLoop(
        mail.inbox,
        ground.bus,
        ground.clock,
        runner,
        model.wait_until_back,
        lambda: f"{rng.getrandbits(64):016x}",
        Gate(mail.door, turn_away, settings.loop.backlog, settings.loop.chat_backlog),
        parallel=settings.loop.parallel_chats,
    )


def _notices(ground: _Ground, mail: _Mail) -> Notices:
    return Notices(
        ground.database,
        ground.clock,
        ground.given.channels,
        mail.delivery.hand_over,
        mail.access.is_owner,
        ground.redact,
        language_of(ground.settings),
    )


def _bedroom(ground: _Ground, memory: _Memory, reading: Extraction) -> Bedroom:
    mirror, index = memory.mirror, memory.index

    async def gather() -> None:
        await mirror.take_in()  # what people wrote into the files comes before what a night makes of it
        await reading.drain()

    return Bedroom(
        ground.database,
        ground.bus,
        ground.clock,
        ground.zone,
        ground.home.sleep_lock,
        gather,
        lambda: mirror.mark(()),
        memory.keeper.keep_up,
        lambda: index.neighbours,
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
