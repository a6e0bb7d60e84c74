"""The composition root: the only module that knows everybody. It builds the house, storey by storey."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from zoneinfo import ZoneInfo

from kenobot.agent.background.compaction import CompactionWorker
from kenobot.agent.background.extraction import ExtractionContext, ExtractionWorker, build_extraction_worker
from kenobot.agent.background.missing_files import MissingFilesWorker
from kenobot.agent.background.proposal_announcer import ProposalAnnouncer
from kenobot.agent.background.purge import PurgeFinisher
from kenobot.agent.background.sleep import SleepContext as Bedroom
from kenobot.agent.background.sleep import SleepWorker, sleep_policy
from kenobot.agent.background.summarizer import Summarizer
from kenobot.agent.budgeted_model import BudgetedModel, TokenBudget
from kenobot.agent.commands import catalog
from kenobot.agent.commands.base import CommandContext
from kenobot.agent.embedding_worker import EmbeddingWorker
from kenobot.agent.loop import AgentLoop, IntakePolicy
from kenobot.agent.model_router import ModelRouter, ProviderRoute
from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_service import PromptService
from kenobot.agent.prompt.reranker import build_reranker
from kenobot.agent.turn.runner import TurnRunner, TurnServices
from kenobot.app.app import App
from kenobot.app.plugin_instances import PluginInstances
from kenobot.app.settings_mapping import prompt_limits, reply_language, turn_policy
from kenobot.cognitive.identity.identity_files import Identity
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.mirror.rebuild import require_memory
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.index.indexer import Indexer
from kenobot.core.bus import Bus
from kenobot.core.circuit_breaker import CircuitBreaker
from kenobot.core.redaction import Redactor
from kenobot.core.scheduler import Scheduler
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, Settings
from kenobot.gateway.access import Access
from kenobot.gateway.admission import AdmissionControl
from kenobot.gateway.bot_messages import BotMessenger
from kenobot.gateway.delivery import Delivery
from kenobot.gateway.owner_alerts import OwnerAlerts
from kenobot.ports.clock import Clock
from kenobot.ports.provider import Provider
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.outbox import Outbox
from kenobot.storage.signal_log import SignalLog


@dataclass(frozen=True, slots=True)
class _Ground:
    """What everything else stands on."""

    home: Home
    settings: Settings
    zone: ZoneInfo
    clock: Clock
    rng: Random
    given: PluginInstances
    redact: Redactor
    database: Database
    bus: Bus


@dataclass(frozen=True, slots=True)
class _Memory:
    """Memory, its files, and what finds it."""

    mirror: MemoryFiles
    index: SideIndex
    embedding: EmbeddingWorker
    keeper: Indexer
    identity: Identity


@dataclass(frozen=True, slots=True)
class _Mail:
    """What comes and goes, and who may talk."""

    inbox: Inbox
    outbox: Outbox
    delivery: Delivery
    access: Access
    door: AdmissionControl
    messenger: BotMessenger


def assemble(home: Home, loaded: ResolvedSettings, clock: Clock, given: PluginInstances, rng: Random) -> App:
    """Wire everything up. Opens the database; raises ConfigError or StoreCorrupt when that fails."""
    ground = _ground(home, loaded, clock, given, rng)
    memory, mail = _memory(ground), _mail(ground)
    settings, database, bus, mirror = ground.settings, ground.database, ground.bus, memory.mirror
    model = build_model_router(settings, given.providers, clock)
    asked = choose_background_model(settings, given, model, clock)
    proposing = ProposalAnnouncer(database, bus)
    runner = TurnRunner(_parts(ground, memory, mail, model, asked, proposing))
    rooms = ExtractionContext(database, bus, clock, ground.zone, mirror, memory.index, memory.embedding)
    reading = build_extraction_worker(settings.extraction, rooms, asked)
    return App(
        clock=clock,
        database=database,
        bus=bus,
        audit=SignalLog(database, settings.signals.keep, ground.redact),
        inbox=mail.inbox,
        outbox=mail.outbox,
        memory_files=mirror,
        admission=mail.door,
        loop=_loop(ground, mail, runner, model),
        delivery=mail.delivery,
        owner_alerts=_notices(ground, mail),
        extraction=reading,
        compaction=_compaction(settings, rooms, asked),
        proposal_announcer=proposing,
        sleep_worker=build_sleep_worker(settings, _bedroom(ground, memory, reading), asked),
        index=memory.index,
        indexer=memory.keeper,
        embedding=memory.embedding,
        purge_finisher=PurgeFinisher(database, home.database, mirror, memory.keeper),
        missing_files=MissingFilesWorker(database, bus, clock, ground.zone, mirror),
        scheduler=Scheduler(),
        channels=given.channels,
        provider_name=given.provider.name,
        plugins=given.closable,
    )


def _ground(home: Home, loaded: ResolvedSettings, clock: Clock, given: PluginInstances, rng: Random) -> _Ground:
    require_memory(home.memory, home.database)
    return _Ground(
        home=home,
        settings=loaded.settings,
        zone=ZoneInfo(loaded.settings.bot.timezone),
        clock=clock,
        rng=rng,
        given=given,
        redact=Redactor(loaded.secrets()),
        database=Database.open(home.database, home.backups),
        bus=given.bus or Bus(clock),
    )


def _memory(ground: _Ground) -> _Memory:
    home, database, given = ground.home, ground.database, ground.given
    index = SideIndex(home.index)
    return _Memory(
        mirror=MemoryFiles(home.memory, database, ground.clock, ground.zone, sleep_policy(ground.settings.sleep)),
        index=index,
        embedding=EmbeddingWorker(database, index, ground.clock, given.embedder, given.previous_embedders),
        keeper=Indexer(database, index),
        identity=Identity(home.identity),
    )


def _mail(ground: _Ground) -> _Mail:
    database, bus, clock = ground.database, ground.bus, ground.clock
    inbox, outbox = Inbox(database, clock), Outbox(database, clock)
    delivery = Delivery(ground.given.channels, outbox, bus, clock, ground.rng)
    access = Access(ground.given.access_lists)
    door = AdmissionControl(
        access,
        database,
        bus,
        clock,
        delivery,
        pairing_enabled=ground.settings.access.pairing,
        language=reply_language(ground.settings),
    )
    messenger = BotMessenger(database, clock, ground.given.channels, delivery)
    return _Mail(inbox, outbox, delivery, access, door, messenger)


def _parts(
    ground: _Ground,
    memory: _Memory,
    mail: _Mail,
    model: ModelRouter,
    asked: ModelRouter | None,
    proposing: ProposalAnnouncer,
) -> TurnServices:
    """What a turn works with."""
    settings, database, clock, zone = ground.settings, ground.database, ground.clock, ground.zone
    builder = ContextBuilder(memory.identity, zone, prompt_limits(settings), memory.index)
    reranker = build_reranker(settings, asked, database, clock)
    hands = CommandContext(zone, ground.home.memory, memory.index, reply_language(settings))
    return TurnServices(
        database=database,
        bus=ground.bus,
        clock=clock,
        zone=zone,
        access=mail.access,
        prompt_service=PromptService(database, builder, memory.mirror, clock, memory.embedding, reranker),
        embedding=memory.embedding,
        mirror=memory.mirror,
        model=model,
        pipeline=Pipeline(ground.given.processors, ground.redact),
        channels=ground.given.channels,
        redact=ground.redact,
        rng=ground.rng,
        commands=catalog.build_commands(hands, mail.access),
        command_listeners=(mail.door, proposing),
        identity=memory.identity,
        delivery=mail.delivery,
        language=reply_language(settings),
        policy=turn_policy(settings, model.provider_count),
    )


def _loop(ground: _Ground, mail: _Mail, runner: TurnRunner, model: ModelRouter) -> AgentLoop:
    limits = ground.settings.loop
    policy = IntakePolicy(
        mail.door,
        mail.messenger,
        reply_language(ground.settings),
        backlog=limits.backlog,
        chat_backlog=limits.chat_backlog,
    )
    return AgentLoop(
        mail.inbox, ground.bus, ground.clock, runner, model, ground.rng, policy, parallel=limits.parallel_chats
    )


def _notices(ground: _Ground, mail: _Mail) -> OwnerAlerts:
    return OwnerAlerts(
        ground.database,
        ground.clock,
        mail.messenger,
        mail.access,
        ground.redact,
        reply_language(ground.settings),
    )


def _bedroom(ground: _Ground, memory: _Memory, reading: ExtractionWorker) -> Bedroom:
    return Bedroom(
        ground.database,
        ground.bus,
        ground.clock,
        ground.zone,
        ground.home.sleep_lock,
        memory.mirror,
        reading,
        memory.keeper,
        memory.index,
    )


def build_model_router(settings: Settings, providers: Sequence[Provider], clock: Clock) -> ModelRouter:
    """The providers in their order, each behind a breaker of its own."""
    failures, seconds = settings.provider.breaker_failures, settings.provider.breaker_seconds
    routes = [ProviderRoute(provider, CircuitBreaker(clock, failures, seconds)) for provider in providers]
    return ModelRouter(routes, settings.loop.turn_seconds, clock)


def choose_background_model(
    settings: Settings, given: PluginInstances, model: ModelRouter, clock: Clock
) -> ModelRouter | None:
    """Who is asked in the background: the provider, by the `model` it shares, or one of its own; None when by rules."""
    if getattr(given.extraction_provider or given.provider, "rule_based", False):
        return None
    return (
        model if given.extraction_provider is None else build_model_router(settings, [given.extraction_provider], clock)
    )


def _compaction(settings: Settings, rooms: ExtractionContext, asked: ModelRouter | None) -> CompactionWorker:
    """Who sums up what conversations no longer show."""
    budget = TokenBudget(rooms.database, rooms.clock, rooms.zone, "compaction", settings.compaction.daily_tokens)
    summarizer = Summarizer(BudgetedModel(asked, budget) if asked is not None else None, rooms.zone)
    return CompactionWorker(rooms, summarizer, prompt_limits(settings).window, reads=settings.extraction.enabled)


def build_sleep_worker(
    settings: Settings, rooms: Bedroom, asked: ModelRouter | None, *, unthrottled: bool = False
) -> SleepWorker:
    """Who looks after memory. unthrottled: nobody talks to the bot meanwhile."""
    hour = settings.sleep.hour if settings.sleep.hour >= 0 else None
    return SleepWorker(
        rooms, sleep_policy(settings.sleep), asked, enabled=settings.sleep.enabled, hour=hour, unthrottled=unthrottled
    )
