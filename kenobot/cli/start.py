"""What `chat` and `run` share: valid settings first, then the folders, the log, the lock, and everything else."""

import asyncio
import ctypes
import os
from random import Random
from typing import TYPE_CHECKING

from kenobot.core import log
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, load_settings
from kenobot.ports.clock import Clock, SystemClock
from kenobot.ports.errors import ConfigError, StoreCorrupt

if TYPE_CHECKING:
    from kenobot.channels.console import ConsoleOptions


_M_ARENA_MAX, _ARENAS = -8, 2


def serve_channels(folder: str | None, clock: Clock | None, console: "ConsoleOptions | None" = None) -> int:
    """Serve the enabled channels, or only the console when there are options for it. Returns the exit code.

    Raises ConfigError before anything on disk has changed, or when the home is in use.
    """
    home = Home.find(os.environ, folder)
    loaded = load_settings(home, os.environ)
    channels = loaded.settings.channels.enabled if console is None else ("console",)
    if not channels:
        raise ConfigError("No channel is enabled: run `kenobot setup`, or talk right here with `kenobot chat`.")
    log.configure(_level(loaded, console), loaded.settings.log.format, loaded.secrets())
    log.install_exception_hooks()
    limit_malloc_arenas()
    from kenobot.app import app, plugin_instances, wiring
    from kenobot.storage import migrate

    clock = clock or SystemClock()
    parts = plugin_instances.load_plugins(home, loaded, clock, channels)

    async def serve() -> int:
        rng = Random()  # noqa: S311 - trace ids and jitter, not secrets
        return await app.serve(wiring.assemble(home, loaded, clock, parts, rng), console)

    try:
        migrate.check(home.database)
        home.prepare()
        with home.lock():
            home.seed_identity()
            return asyncio.run(serve())
    except StoreCorrupt as error:  # a service that starts again would find it as damaged as before
        raise ConfigError(str(error)) from error


def limit_malloc_arenas() -> bool:
    """Have the threads to come share two stores of free memory; whether that could be done: glibc alone has them.

    It would give each thread one of its own, of which none takes what another left: 55 of 250 MB with a large memory.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, _ARENAS))


def _level(loaded: ResolvedSettings, console: "ConsoleOptions | None") -> str:
    """In a chat, everyday log lines would stand between the messages: only an explicit setting brings them."""
    by_default = loaded.origin("log.level") == "default"
    return "warning" if console is not None and by_default else loaded.settings.log.level
