"""Map settings to the limits and policies of the parts."""

from datetime import timedelta

from kenobot.agent.prompt.context_builder import PromptLimits
from kenobot.agent.turn.state_machine import TurnPolicy
from kenobot.core.i18n import Language
from kenobot.core.retry import RetryPolicy
from kenobot.core.settings.load import Settings


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
    return PromptLimits(
        budget_tokens=settings.context.budget_tokens,
        memory_tokens=settings.context.memory_tokens,
        message_tokens=settings.context.message_tokens,
        history_min=settings.context.history_min,
        history_max=settings.context.history_max,
        recall_mode=settings.memory.recall,
        recent_days=settings.memory.days,
        max_tokens=settings.provider.max_tokens,
        late_after=timedelta(minutes=settings.messages.stale_minutes),
        summary_tokens=settings.compaction.summary_tokens if settings.compaction.enabled else 0,
    )
