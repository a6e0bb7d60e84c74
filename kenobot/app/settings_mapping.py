"""What the settings wish, in the terms of the parts that do it."""

from datetime import timedelta

from kenobot.agent.prompt.context_builder import Limits
from kenobot.agent.turn.state_machine import TurnPolicy
from kenobot.core.i18n import Language
from kenobot.core.retry import RetryPolicy
from kenobot.core.settings.load import Settings


def language_of(settings: Settings) -> Language | None:
    """The language of the bot's own sentences; None goes by what a person writes."""
    return None if settings.bot.language == "auto" else settings.bot.language


def turn_policy_of(settings: Settings, providers: int) -> TurnPolicy:
    """How often and for how long a turn is tried. providers: how many there are to turn to."""
    retry = RetryPolicy(attempts=settings.provider.attempts, budget=settings.provider.retry_seconds)
    expire = timedelta(hours=settings.mail.expire_hours).total_seconds()
    return TurnPolicy(settings.loop.attempts, retry, expire=expire, providers=providers)


def limits_of(settings: Settings) -> Limits:
    """How much of what a prompt may hold."""
    return Limits(
        budget=settings.context.budget_tokens,
        memory=settings.context.memory_tokens,
        message=settings.context.message_tokens,
        history=settings.context.history_messages,
        most=settings.context.history_most,
        mode=settings.memory.recall,
        days=settings.memory.days,
        max_tokens=settings.provider.max_tokens,
        late=timedelta(minutes=settings.mail.late_minutes),
        summary=settings.compaction.summary_tokens if settings.compaction.enabled else 0,
    )
