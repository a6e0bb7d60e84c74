"""Build models and policies from the settings, for the app and for commands that need a part of it."""

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.agent.media.intake import MediaIntake, MediaLimits
from kenobot.agent.prompt.prompt_context import PromptLimits
from kenobot.agent.turn.state_machine import TurnPolicy
from kenobot.app.plugin_instances import PluginInstances
from kenobot.core.bus import Bus
from kenobot.core.i18n import Language
from kenobot.core.retry import CircuitBreaker
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Settings
from kenobot.ledger.ledger import Ledger
from kenobot.ledger.limits import budget_limits, job_limits
from kenobot.ledger.model_router import ModelRouter, ProviderRoute
from kenobot.ledger.prices import Price, PriceList
from kenobot.ledger.transcription import LedgerTranscriber
from kenobot.ports.clock import Clock
from kenobot.ports.provider import Provider, is_rule_based
from kenobot.storage.database import Database
from kenobot.storage.media_files import MediaFolder

if TYPE_CHECKING:
    from kenobot.agent.turn.toolbox import Toolbox

TURN_SECONDS = 600.0
"""How long one whole reply of a model may take."""

BREAKER_FAILURES = 5
"""Failures in a row after which a provider is left alone."""
BREAKER_SECONDS = 60.0
"""How long it is left alone at most."""
SUMMARY_TOKENS = 700
"""How long the summary of the beginning of a conversation may be: a page, of which a prompt shows all."""
_FIRST_PROBE = 2.0  # seconds


def build_models(settings: Settings, plugins: PluginInstances, clock: Clock) -> tuple[ModelRouter, ModelRouter | None]:
    """Build the models of conversations and of the background work, each provider behind a breaker of its own.

    The latter are the former, or one of their own; None when rules do the work.
    """

    def route(*providers: Provider) -> ModelRouter:
        routes = [
            ProviderRoute(provider, CircuitBreaker(clock, BREAKER_FAILURES, BREAKER_SECONDS, _FIRST_PROBE))
            for provider in providers
        ]
        return ModelRouter(routes, TURN_SECONDS, clock)

    model, own = route(*plugins.providers), plugins.cheap_provider
    if is_rule_based(own or plugins.provider):
        return model, None
    return model, model if own is None else route(own)


def build_ledger(settings: Settings, database: Database, clock: Clock, bus: Bus | None = None) -> Ledger:
    """Build the ledger with the owner's budgets and prices."""
    budget = settings.budget
    own = {
        name.lower(): Price.of_dollars(**price.model_dump(exclude_none=True)) for name, price in budget.prices.items()
    }
    return Ledger(
        database, clock, ZoneInfo(settings.bot.timezone), PriceList(own), budget_limits(budget), bus, job_limits(budget)
    )


def build_media(
    settings: Settings, home: Home, database: Database, clock: Clock, plugins: PluginInstances, ledger: Ledger
) -> MediaIntake:
    """Build what reads attachments, the transcriber behind the ledger."""
    listens = LedgerTranscriber(plugins.transcriber, ledger) if plugins.transcriber is not None else None
    limits = MediaLimits(keep_days=settings.media.keep_days)
    return MediaIntake(database, clock, plugins.channels, MediaFolder(home.media), limits, listens)


def build_toolbox(settings: Settings, plugins: PluginInstances) -> "Toolbox | None":
    """Build the box of the enabled tools; None without any. One that cannot be used is left out and logged."""
    if not plugins.tools and plugins.mcp is None:
        return None
    from kenobot.agent.turn.toolbox import Toolbox, ToolLimits

    limits = ToolLimits(calls_a_day=settings.tools.calls_a_day)
    return Toolbox(plugins.tools, limits, () if plugins.mcp is None else (plugins.mcp,))


def reply_language(settings: Settings) -> Language | None:
    """Return the language of the bot's own sentences; None follows the message."""
    return None if settings.bot.language == "auto" else settings.bot.language


def turn_policy(providers: int, tool_rounds: int = 0) -> TurnPolicy:
    """Return the retries and deadlines of a turn. providers: how many there are to ask."""
    return TurnPolicy(provider_count=providers, tool_rounds=tool_rounds)


def prompt_limits(settings: Settings) -> PromptLimits:
    """Return the sizes of a prompt's sections."""
    return PromptLimits(
        **dict(settings.context), max_tokens=settings.provider.max_tokens, summary_tokens=SUMMARY_TOKENS
    )
