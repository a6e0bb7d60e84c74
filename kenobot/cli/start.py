"""`kenobot run`: valid settings first, then the folders, the log, the lock, and the app."""

import asyncio
import contextlib
import ctypes
import logging
import os
import sys
from dataclasses import replace
from random import Random

from kenobot.app import app, plugin_instances
from kenobot.app.serve import serve
from kenobot.channels.console import ConsoleOptions, ConsoleSettings
from kenobot.cli.context import CommandContext
from kenobot.core import log
from kenobot.core.hard_end import HardEnd
from kenobot.core.i18n import terminal_language
from kenobot.core.settings.load import ResolvedSettings
from kenobot.core.systemd import start_extended
from kenobot.gateway.access import Roster
from kenobot.ports.errors import ConfigError, StoreCorrupt
from kenobot.storage import migrate

_log = logging.getLogger(__name__)
_REST_SECONDS = 1.0
_LONGEST_END = 11.0  # seconds; an end in good order takes ten at most
_LONGEST_STANDSTILL = 15.0  # seconds of computing
_M_ARENA_MAX, _ARENAS = -8, 2


def serve_channels(context: CommandContext, console: ConsoleOptions | None = None) -> int:
    """Serve the enabled channels, or only the console when there are options for it. Returns the exit code.

    Raises ConfigError before anything on disk has changed, or when the home is in use.
    """
    home, loaded, clock = context.home, context.loaded, context.clock
    channels = loaded.settings.channels.enabled if console is None else ("console",)
    if not channels:
        raise ConfigError("channels.none_enabled")
    log.configure(_level(loaded, console), loaded.settings.log.format, loaded.secrets())
    log.install_exception_hooks()
    limit_malloc_arenas()
    screens: ConsoleSettings = loaded.plugin_settings("kenobot.channels", "console", ConsoleSettings)
    parts = plugin_instances.load_plugins(home, loaded, clock, channels)
    parts = replace(parts, access_lists={"console": Roster.from_settings(screens), **parts.access_lists})

    end = HardEnd(_LONGEST_END, _LONGEST_STANDSTILL)

    async def run() -> int:
        rng = Random()  # noqa: S311 - trace ids and jitter, not secrets
        with start_extended():  # a large database may have to be backed up and migrated first
            bot = app.App(home, loaded, clock, parts, rng, terminal_language(os.environ))
        watching = asyncio.create_task(end.watch_loop(), name="standstill")
        code = await serve(bot, console, screens.user, end.begin)
        watching.cancel()
        await _end_rest(code)
        return code

    if home.versions.exists():  # most homes were never updated
        _finish_update(context)
    try:
        migrate.check(home.database)
        home.prepare()
        with home.lock():
            home.seed_identity()
            _log_to_files(context, in_chat=console is not None and console.message is None)
            try:
                return asyncio.run(run())
            finally:
                end.cancel()
    except StoreCorrupt as error:  # a service that starts again would find it as damaged as before
        raise ConfigError(str(error)) from error


def _finish_update(context: CommandContext) -> None:
    """Take an update back that was cut off."""
    from kenobot.cli.deployment import find_deployment  # noqa: PLC0415 - see where it is called

    if deployment := find_deployment():
        deployment.finish_update(context)
    else:
        _log.warning("An update of this home would not be taken back: run pip install 'kenobot[deploy]'")


async def _end_rest(code: int) -> None:
    """End what plugins have left behind. A task that swallows its end takes the process along: asyncio would wait."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    stuck = rest and (await asyncio.wait(rest, timeout=_REST_SECONDS))[1]
    if stuck:
        _log.error("%s never ends: the process does.", stuck.pop().get_name())
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def limit_malloc_arenas() -> bool:
    """Make later threads share two malloc arenas instead of one each; False where the C library is not glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, _ARENAS))


def _log_to_files(context: CommandContext, *, in_chat: bool) -> None:
    """Log to files of the home where that is set, and in a chat, between whose messages no line of the log belongs.

    Called with the home locked: only one process writes them.
    """
    wanted, clock = context.loaded.settings.log, context.clock
    if wanted.to != "stderr" or in_chat:
        from kenobot.core.log_file import LogFile, LogLimits  # noqa: PLC0415 - most logs go to standard error

        log.write_to(LogFile(context.home.logs, LogLimits(), clock.now), instead=wanted.to == "file" or in_chat)


def _level(loaded: ResolvedSettings, console: ConsoleOptions | None) -> str:
    """Choose the level of the log: in a chat, whose messages its lines would part, only a setting raises it."""
    by_default = loaded.origin("log.level") == "default"
    return "warning" if console is not None and by_default else loaded.settings.log.level
