"""Begin the work behind the turns: once nobody talks, its modules are loaded, then it follows the schedule."""

import asyncio
import contextlib
import gc
import importlib
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kenobot.app.wiring import reply_language
from kenobot.core.worker import SCHEDULER_MODULES
from kenobot.ports.errors import StoreError

if TYPE_CHECKING:
    from kenobot.app.app import App
    from kenobot.app.running_channels import ChannelState

_log = logging.getLogger(__name__)

_HEAD_START_SECONDS, _LONGEST_HEAD_START = 1.0, 10.0  # of the turns before the work behind them
_QUIET_SECONDS = 0.3  # without a turn: to load that work takes as long, and would hold up each turn beside it
_QUIET_SPELL_SECONDS = 1.0  # without a turn, before what works behind the turns looks at them
_QUIET_FILES_SECONDS = 1.3  # before memory's files are written: what was just extracted goes with them
_LOAD_AGAIN_SECONDS = 5.0
_BACKUP_SECONDS = 300.0  # between looks whether one is due
_MENU_SECONDS = 3600.0  # between two looks whether a menu of commands is still to be set
LOADED_LATER = (
    "kenobot.agenda.delivery",
    "kenobot.agenda.overdue",
    "kenobot.app.menu_setter",
    "kenobot.app.watch.wiring",
    "kenobot.cognitive.workers",
    *SCHEDULER_MODULES,
)
"""The modules of the work behind the turns, which are loaded once nobody talks."""


async def run_background(app: "App", states: "Callable[[], Sequence[ChannelState]]") -> None:
    """Begin the work behind the turns of an app once nobody has talked for a moment, then follow the schedule.

    states: of the channels.

    The first messages after the start come before it: they would share the processor with its imports.
    """
    await app.clock.sleep(_HEAD_START_SECONDS)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LONGEST_HEAD_START):
            await app.loop.wait_idle()
            await app.database.pacer.await_quiet(_QUIET_SECONDS)
    await load_background(app)
    app.quiet.seconds, app.quiet_for_files.seconds = _QUIET_SPELL_SECONDS, _QUIET_FILES_SECONDS
    if app.plugins.mcp is not None:
        app.plugins.mcp.begin()
    await app.start_background()
    from kenobot.app.menu_setter import MenuSetter

    menus = MenuSetter(app.database, app.channels, app.plugins.access_lists, reply_language(app.settings))
    app.scheduler.run_every(_MENU_SECONDS, "menus", menus.refresh)
    app.scheduler.run_every(3600.0, "media", lambda: _remove_unused_media(app))
    if app.settings.backup.every_hours:
        from kenobot.app.scheduled_backup import ScheduledBackups

        backups = ScheduledBackups(app.home, app.settings.backup, app.clock, app.bus)
        app.scheduler.run_every(_BACKUP_SECONDS, "backup", backups.run_if_due)
    if app.shared is None:
        from kenobot.app.watch.wiring import build_watch

        app.watch = build_watch(app, states)
        await app.watch.start(app.scheduler)
    app.scheduler.run_every(3600.0, "agenda", app.reminders.prune)
    app.scheduler.run_every(600.0, "promises", app.build_overdue_asker().ask)
    await app.scheduler.start()
    app.reminders.begin()
    app.indexer.begin()
    app.embedding.begin()
    app.background.sleep_worker.begin()
    if app.home.versions.exists():
        from kenobot.app.trial import tell_of_update

        await tell_of_update(app)
    await menus.refresh()
    await _remove_unused_media(app)


async def load_background(app: "App") -> None:
    """Import what works behind the turns, as soon as there are the file descriptors and the memory for it."""
    while True:
        try:
            for module in LOADED_LATER:
                await asyncio.to_thread(importlib.import_module, module)
        except (OSError, MemoryError) as error:
            reason = str(error) or "no memory"
            _log.warning("The work behind the turns cannot begin yet: %s. It is tried again.", reason)
            await app.clock.sleep(_LOAD_AGAIN_SECONDS)
        else:
            if app.shared is None:
                gc.freeze()  # what was loaded stays: no collection that a turn waits for goes through it
            return


async def _remove_unused_media(app: "App") -> None:
    try:
        await app.media.remove_unused()
    except (StoreError, OSError) as error:
        _log.warning("Unused files of the media folder were not removed: %s", error)
