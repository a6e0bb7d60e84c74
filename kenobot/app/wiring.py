"""Build parts from the settings, for the app and for commands that need a part of it."""

from datetime import timedelta

from kenobot.agent.background.compaction import CompactionWorker
from kenobot.agent.background.per_chat_worker import WorkerContext
from kenobot.agent.background.sleep import SleepContext, SleepWorker, sleep_policy
from kenobot.agent.model_router import ModelRouter, ProviderRoute
from kenobot.agent.prompt.context_builder import PromptLimits
from kenobot.agent.turn.state_machine import TurnPolicy
from kenobot.app.plugin_instances import PluginInstances
from kenobot.core.i18n import Language
from kenobot.core.retry import CircuitBreaker, RetryPolicy
from kenobot.core.settings.load import Settings
from kenobot.ports.clock import Clock
from kenobot.ports.provider import Provider


def build_compaction_worker(settings: Settings, context: WorkerContext, model: ModelRouter | None) -> CompactionWorker:
    """Build the worker that summarizes conversations; model None leaves all to rules."""
    budgeted = context.budgeted(model, "compaction", settings.compaction.daily_tokens)
    return CompactionWorker(context, budgeted, prompt_limits(settings).window, reads=settings.extraction.enabled)


def build_models(settings: Settings, plugins: PluginInstances, clock: Clock) -> tuple[ModelRouter, ModelRouter | None]:
    """Build the models of conversations and of the background work, each provider behind a breaker of its own.

    The latter are the former, or one of their own; None when rules do the work.
    """
    failures, seconds = settings.provider.breaker_failures, settings.provider.breaker_seconds

    def route(*providers: Provider) -> ModelRouter:
        routes = [ProviderRoute(provider, CircuitBreaker(clock, failures, seconds)) for provider in providers]
        return ModelRouter(routes, settings.loop.turn_seconds, clock, settings.provider.answer_chars)

    model, own = route(*plugins.providers), plugins.extraction_provider
    if getattr(own or plugins.provider, "rule_based", False):
        return model, None
    return model, model if own is None else route(own)


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
    return TurnPolicy(
        settings.loop.attempts,
        retry,
        expires_after=expire,
        provider_count=providers,
        continuations=settings.provider.continuations,
        answer_chars=settings.provider.answer_chars,
    )


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
