"""`kenobot chat` and `kenobot run`: valid settings first, then the folders, the log, the lock, and the app."""

import asyncio
import ctypes
import os
from random import Random

from kenobot.agent.commands.registry import COMMAND_NAMES
from kenobot.app import app, plugin_instances
from kenobot.channels.console import ConsoleOptions
from kenobot.cli.context import CommandContext
from kenobot.core import log, texts
from kenobot.core.i18n import terminal_language
from kenobot.core.settings.load import ResolvedSettings
from kenobot.gateway.channel_supervisor import start_extended
from kenobot.ports.errors import ConfigError, StoreCorrupt
from kenobot.storage import migrate

_M_ARENA_MAX, _ARENAS = -8, 2


def serve_channels(context: CommandContext, console: ConsoleOptions | None = None) -> int:
    """Serve the enabled channels, or only the console when there are options for it. Returns the exit code.

    Raises ConfigError before anything on disk has changed, or when the home is in use.
    """
    home, loaded, clock = context.home, context.loaded, context.clock
    channels = loaded.settings.channels.enabled if console is None else ("console",)
    if not channels:
        raise ConfigError("No channel is enabled: run `kenobot setup`, or talk right here with `kenobot chat`.")
    log.configure(_level(loaded, console), loaded.settings.log.format, loaded.secrets())
    log.install_exception_hooks()
    limit_malloc_arenas()
    parts = plugin_instances.load_plugins(home, loaded, clock, channels)

    async def serve() -> int:
        rng = Random()  # noqa: S311 - trace ids and jitter, not secrets
        with start_extended():  # a large database may have to be backed up and migrated first
            bot = app.App(home, loaded, clock, parts, rng)
        return await app.serve(bot, console)

    try:
        migrate.check(home.database)
        home.prepare()
        with home.lock():
            home.seed_identity()
            return asyncio.run(serve())
    except StoreCorrupt as error:  # a service that starts again would find it as damaged as before
        raise ConfigError(str(error)) from error


def chat(context: CommandContext) -> int:
    args = context.args
    if args.message is not None:
        return serve_channels(context, ConsoleOptions(message=args.message, trace=args.trace))
    language, settings = terminal_language(os.environ), context.loaded.settings
    language = settings.bot.language if settings.bot.language != "auto" else language
    who = texts.CONSOLE_OFFLINE if settings.provider.name == "offline" else texts.CONSOLE_PROVIDER
    opening = texts.CONSOLE_OPENING(
        language,
        name=settings.bot.name,
        who=who(language, provider=settings.provider.name),
        folder=context.home.memory,
    )
    opening = f"{opening}\n{texts.CONSOLE_KEYS(language)}"
    leaving = texts.CONSOLE_LEAVING(language)
    return serve_channels(context, ConsoleOptions(None, args.trace, opening, leaving, COMMAND_NAMES))


def limit_malloc_arenas() -> bool:
    """Have later threads share two malloc arenas instead of one each; False where the C library is not glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, _ARENAS))


def _level(loaded: ResolvedSettings, console: ConsoleOptions | None) -> str:
    """In a chat, everyday log lines would stand between the messages: only an explicit setting brings them."""
    by_default = loaded.origin("log.level") == "default"
    return "warning" if console is not None and by_default else loaded.settings.log.level
