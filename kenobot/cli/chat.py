"""`kenobot chat`: with the bot that runs in this home, or, where none does, with one of this process."""

import asyncio
import os
import socket
import time
from typing import TYPE_CHECKING

from kenobot.agent.commands.registry import COMMAND_NAMES
from kenobot.channels.console import Console, ConsoleOptions, ConsoleSettings, shows_drafts
from kenobot.cli.context import CommandContext
from kenobot.cli.start import serve_channels
from kenobot.core import local_socket, log, texts
from kenobot.core.i18n import Language, terminal_language
from kenobot.core.settings.home import AlreadyLocked
from kenobot.gateway.channel_supervisor import stop_signals

if TYPE_CHECKING:
    from kenobot.core.frames import Welcome

HOLDER_SECONDS = 10.0  # for a bot that is starting, or a command that holds the home for a moment
REOPEN_SECONDS = 30.0  # for a bot that is started again
_LOOK_SECONDS = 0.1
_CONNECT_SECONDS = 5.0


def chat(context: CommandContext) -> int:
    """Join the bot that runs, or run one for this conversation. Raises AlreadyLocked when neither can be."""
    deadline = time.monotonic() + HOLDER_SECONDS
    while True:
        joined = _connect(context)
        if joined is not None:
            return join(context, *joined)
        try:
            return serve_channels(context, _options(context))
        except AlreadyLocked:
            if time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_SECONDS)


def _connect(context: CommandContext) -> "tuple[socket.socket, Welcome] | None":
    """Connect to the bot of this home; None when none listens. Raises ConfigError when it refuses."""
    link = local_socket.connect(context.home.socket, _CONNECT_SECONDS)
    if link is None:
        return None
    from kenobot.cli import bot_link  # costs a chat without such a bot more than all its other imports

    welcome = bot_link.greet(link, chat=True, trace=context.args.trace, drafts=shows_drafts())
    return None if welcome is None else (link, welcome)


def join(context: CommandContext, link: socket.socket, welcome: "Welcome") -> int:
    """Talk with the bot at the other end. Raises BotGone, ConfigError and StreamFailed."""
    from kenobot.cli.bot_link import BotLink, LinkTexts
    from kenobot.core.worker import run_until_first

    loaded, language = context.loaded, _language(context)
    log.configure("critical", loaded.settings.log.format, loaded.secrets())  # the bot's own log has what happens
    settings: ConsoleSettings = loaded.plugin_settings("kenobot.channels", "console", ConsoleSettings)
    console = Console(settings, context.plugin_context)
    console.options = _options(context, texts.CONSOLE_JOINED(language, process=welcome.process))
    told = LinkTexts(
        texts.CONSOLE_CUT(language, seconds=int(REOPEN_SECONDS)),
        texts.CONSOLE_BACK(language),
        texts.CONSOLE_GONE(language),
        texts.CONSOLE_LOST(language),
        texts.CONSOLE_TOO_LONG(language),
    )

    async def converse() -> None:
        bot = BotLink(lambda: _connect(context), console, told, REOPEN_SECONDS)
        console.wait_drained = bot.wait_drained
        stop = asyncio.Event()
        with stop_signals(stop):
            await run_until_first(console.run(bot), bot.run(link), stop.wait())

    asyncio.run(converse())
    return 0


def _options(context: CommandContext, joined: str = "") -> ConsoleOptions:
    args = context.args
    if args.message is not None:
        return ConsoleOptions(message=args.message, trace=args.trace)
    language, settings = _language(context), context.loaded.settings
    who = texts.CONSOLE_OFFLINE if settings.provider.name == "offline" else texts.CONSOLE_PROVIDER
    opening = texts.CONSOLE_OPENING(
        language,
        name=settings.bot.name,
        who=who(language, provider=settings.provider.name),
        folder=context.home.memory,
    )
    lines = [opening, texts.CONSOLE_KEYS(language), *([joined] if joined else [])]
    return ConsoleOptions(None, args.trace, "\n".join(lines), texts.CONSOLE_LEAVING(language), COMMAND_NAMES)


def _language(context: CommandContext) -> Language:
    settings = context.loaded.settings
    return settings.bot.language if settings.bot.language != "auto" else terminal_language(os.environ)
