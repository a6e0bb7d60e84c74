"""The composition root: construct every part from the settings, and hand each the parts that it works with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from zoneinfo import ZoneInfo

from kenobot.agent.background.compaction import CompactionWorker
from kenobot.agent.background.extraction import ExtractionContext, build_extraction_worker
from kenobot.agent.background.missing_files import MissingFilesWorker
from kenobot.agent.background.proposal_announcer import ProposalAnnouncer
from kenobot.agent.background.purge import PurgeFinisher
from kenobot.agent.background.sleep import SleepContext, SleepWorker, sleep_policy
from kenobot.agent.background.summarizer import Summarizer
from kenobot.agent.budgeted_model import BudgetedModel, TokenBudget
from kenobot.agent.commands.command import CommandContext
from kenobot.agent.commands.registry import CommandRegistry
from kenobot.agent.embedding_worker import EmbeddingWorker
from kenobot.agent.loop import AgentLoop, IntakePolicy
from kenobot.agent.model_router import ModelRouter, ProviderRoute
from kenobot.agent.prompt.context_builder import ContextBuilder, PromptLimits
from kenobot.agent.prompt.prompt_service import PromptService
from kenobot.agent.prompt.reranker import build_reranker
from kenobot.agent.turn.runner import TurnRunner, TurnServices
from kenobot.agent.turn.state_machine import TurnPolicy
from kenobot.app.app import App
from kenobot.app.plugin_instances import PluginInstances
from kenobot.cognitive.identity.identity_files import Identity
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.mirror.rebuild import require_memory
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.index.indexer import Indexer
from kenobot.core.bus import Bus
from kenobot.core.circuit_breaker import CircuitBreaker
from kenobot.core.i18n import Language
from kenobot.core.redaction import Redactor
from kenobot.core.retry import RetryPolicy
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
class _Base:
    """The dependencies of every other part."""

    home: Home
    settings: Settings
    zone: ZoneInfo
    clock: Clock
    rng: Random
    plugins: PluginInstances
    redact: Redactor
    database: Database
    bus: Bus


@dataclass(frozen=True, slots=True)
class _Memory:
    """Memory's files, index and vectors."""

    files: MemoryFiles
    index: SideIndex
    embedding: EmbeddingWorker
    indexer: Indexer
    identity: Identity


@dataclass(frozen=True, slots=True)
class _Mail:
    """Messages in and out, and who may talk."""

    inbox: Inbox
    outbox: Outbox
    delivery: Delivery
    access: Access
    admission: AdmissionControl
    messenger: BotMessenger


def assemble(home: Home, loaded: ResolvedSettings, clock: Clock, plugins: PluginInstances, rng: Random) -> App:
    """Wire everything up. Opens the database; raises ConfigError or StoreCorrupt when that fails."""
    require_memory(home.memory, home.database)
    settings, zone = loaded.settings, ZoneInfo(loaded.settings.bot.timezone)
    redact, database = Redactor(loaded.secrets()), Database.open(home.database, home.backups)
    bus = plugins.bus or Bus(clock)
    base = _Base(home, settings, zone, clock, rng, plugins, redact, database, bus)
    memory, mail = _memory(base), _mail(base)
    model = build_model_router(settings, plugins.providers, clock)
    background = choose_background_model(settings, plugins, model, clock)
    announcer = ProposalAnnouncer(database, bus)
    runner = TurnRunner(_turn_services(base, memory, mail, model, background, announcer))
    context = ExtractionContext(database, bus, clock, zone, memory.files, memory.index, memory.embedding)
    extraction = build_extraction_worker(settings.extraction, context, background)
    sleep = SleepContext(
        *(database, bus, clock, zone, home.sleep_lock),
        *(memory.files, extraction, memory.indexer, memory.index),
    )
    return App(
        clock=clock,
        database=database,
        bus=bus,
        audit=SignalLog(database, settings.signals.keep, redact),
        inbox=mail.inbox,
        outbox=mail.outbox,
        memory_files=memory.files,
        admission=mail.admission,
        loop=_loop(base, mail, runner, model),
        delivery=mail.delivery,
        owner_alerts=OwnerAlerts(database, clock, mail.messenger, mail.access, redact, reply_language(settings)),
        extraction=extraction,
        compaction=_compaction(settings, context, background),
        proposal_announcer=announcer,
        sleep_worker=build_sleep_worker(settings, sleep, background),
        index=memory.index,
        indexer=memory.indexer,
        embedding=memory.embedding,
        purge_finisher=PurgeFinisher(database, home.database, memory.files, memory.indexer),
        missing_files=MissingFilesWorker(database, bus, clock, zone, memory.files),
        scheduler=Scheduler(),
        channels=plugins.channels,
        provider_name=plugins.provider.name,
        plugins=plugins.closable,
    )


def _memory(base: _Base) -> _Memory:
    home, database, index = base.home, base.database, SideIndex(base.home.index)
    return _Memory(
        MemoryFiles(home.memory, database, base.clock, base.zone, sleep_policy(base.settings.sleep)),
        index,
        EmbeddingWorker(database, index, base.clock, base.plugins.embedder, base.plugins.previous_embedders),
        Indexer(database, index),
        Identity(home.identity),
    )


def _mail(base: _Base) -> _Mail:
    database, bus, clock, channels = base.database, base.bus, base.clock, base.plugins.channels
    inbox, outbox = Inbox(database, clock), Outbox(database, clock)
    delivery = Delivery(channels, outbox, bus, clock, base.rng)
    access = Access(base.plugins.access_lists)
    pairing, language = base.settings.access.pairing, reply_language(base.settings)
    admission = AdmissionControl(access, database, bus, clock, delivery, pairing_enabled=pairing, language=language)
    return _Mail(inbox, outbox, delivery, access, admission, BotMessenger(database, clock, channels, delivery))


def _turn_services(
    base: _Base,
    memory: _Memory,
    mail: _Mail,
    model: ModelRouter,
    background: ModelRouter | None,
    announcer: ProposalAnnouncer,
) -> TurnServices:
    settings, database, clock, zone = base.settings, base.database, base.clock, base.zone
    builder = ContextBuilder(memory.identity, zone, prompt_limits(settings), memory.index)
    reranker = build_reranker(settings, background, database, clock)
    commands = CommandContext(zone, base.home.memory, mail.access, memory.index, reply_language(settings))
    return TurnServices(
        database=database,
        bus=base.bus,
        clock=clock,
        zone=zone,
        access=mail.access,
        prompt_service=PromptService(database, builder, memory.files, clock, memory.embedding, reranker),
        embedding=memory.embedding,
        mirror=memory.files,
        model=model,
        pipeline=Pipeline(base.plugins.processors, base.redact),
        channels=base.plugins.channels,
        redact=base.redact,
        rng=base.rng,
        commands=CommandRegistry(commands),
        command_listeners=(mail.admission, announcer),
        identity=memory.identity,
        delivery=mail.delivery,
        language=reply_language(settings),
        policy=turn_policy(settings, model.provider_count),
    )


def _loop(base: _Base, mail: _Mail, runner: TurnRunner, model: ModelRouter) -> AgentLoop:
    limits, language = base.settings.loop, reply_language(base.settings)
    policy = IntakePolicy(
        mail.admission, mail.messenger, language, backlog=limits.backlog, chat_backlog=limits.chat_backlog
    )
    return AgentLoop(mail.inbox, base.bus, base.clock, runner, model, base.rng, policy, parallel=limits.parallel_chats)


def _compaction(settings: Settings, context: ExtractionContext, model: ModelRouter | None) -> CompactionWorker:
    budget = TokenBudget(context.database, context.clock, context.zone, "compaction", settings.compaction.daily_tokens)
    summarizer = Summarizer(BudgetedModel(model, budget) if model is not None else None, context.zone)
    return CompactionWorker(context, summarizer, prompt_limits(settings).window, reads=settings.extraction.enabled)


def build_model_router(settings: Settings, providers: Sequence[Provider], clock: Clock) -> ModelRouter:
    """The providers in their order, each behind a breaker of its own."""
    failures, seconds = settings.provider.breaker_failures, settings.provider.breaker_seconds
    routes = [ProviderRoute(provider, CircuitBreaker(clock, failures, seconds)) for provider in providers]
    return ModelRouter(routes, settings.loop.turn_seconds, clock)


def choose_background_model(
    settings: Settings, given: PluginInstances, model: ModelRouter, clock: Clock
) -> ModelRouter | None:
    """The model of the background work: `model` itself, or one of its own; None when rules do it."""
    if getattr(given.extraction_provider or given.provider, "rule_based", False):
        return None
    return (
        model if given.extraction_provider is None else build_model_router(settings, [given.extraction_provider], clock)
    )


def build_sleep_worker(
    settings: Settings, context: SleepContext, asked: ModelRouter | None, *, unthrottled: bool = False
) -> SleepWorker:
    """Build the worker of sleep. unthrottled: no conversation has to be kept fluent meanwhile."""
    hour = settings.sleep.hour if settings.sleep.hour >= 0 else None
    return SleepWorker(
        context, sleep_policy(settings.sleep), asked, enabled=settings.sleep.enabled, hour=hour, unthrottled=unthrottled
    )


def reply_language(settings: Settings) -> Language | None:
    """Return the language of the bot's own sentences; None follows the message."""
    return None if settings.bot.language == "auto" else settings.bot.language


def turn_policy(settings: Settings, providers: int) -> TurnPolicy:
    """Return the retries and deadlines of a turn. providers: how many there are to ask."""
    retry = RetryPolicy(attempts=settings.provider.attempts, budget=settings.provider.retry_seconds)
    expire = timedelta(hours=settings.messages.expire_hours).total_seconds()
    return TurnPolicy(settings.loop.attempts, retry, expires_after=expire, provider_count=providers)


def prompt_limits(settings: Settings) -> PromptLimits:
    """Return the sizes of a prompt's sections."""
    context, memory, compaction = settings.context, settings.memory, settings.compaction
    return PromptLimits(
        **dict(context),
        recall_mode=memory.recall,
        recent_days=memory.days,
        max_tokens=settings.provider.max_tokens,
        late_after=timedelta(minutes=settings.messages.stale_minutes),
        summary_tokens=compaction.summary_tokens if compaction.enabled else 0,
    )
