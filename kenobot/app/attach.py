"""Hand the services of the bot to the channels that serve it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kenobot.app.app import App
from kenobot.app.bot_services import BotServices, ServesBot
from kenobot.cognitive.memory import Policy
from kenobot.ports.channel import Channel, TakesRequests
from kenobot.ports.errors import ConfigError

if TYPE_CHECKING:
    from kenobot.core.status_report import StatusReport

_HTTP = "http"


def attach_bot(app: App, channel: Channel) -> Channel:
    """Return a channel; one that serves the bot with its services."""
    if isinstance(channel, ServesBot):
        channel.serve_bot(_services_of(app))
    return channel


def check_hooks(channels: Mapping[str, Channel]) -> None:
    """Raise ConfigError where a channel waits for requests of its platform and nothing serves HTTP."""
    for name, channel in channels.items():
        if _HTTP not in channels and isinstance(channel, TakesRequests) and channel.awaits_requests:
            raise ConfigError("channels.webhook_needs_http", name=name)


def _services_of(app: App) -> BotServices:
    def begin_sleep() -> bool:
        return app.background.sleep_worker.begin_now()  # whose modules are imported at the first use

    async def report_status() -> "StatusReport":
        from kenobot.app.watch.report import build_status  # noqa: PLC0415 - with what it looks at

        return await build_status(app, app.channel_states())

    return BotServices(
        database=app.database,
        clock=app.clock,
        zone=app.zone,
        access=app.access,
        index=app.index,
        embedding=app.embedding,
        memory_files=app.memory_files,
        budgets=app.ledger.limits,
        policy=Policy.of(app.settings.sleep),
        started=app.clock.now(),
        channels=app.channels,
        unfinished=lambda: app.loop.unfinished_count,
        begin_sleep=begin_sleep,
        sweep=app.sweep,
        state=lambda: "healthy" if app.watch is None else app.watch.state,
        status=report_status,
        commands=app.command_context,
        home=app.home,
        loaded=app.loaded,
        take=app.loop,
        note_changes=app.note_changes,
        language=app.owner_alerts.find_language,
    )
