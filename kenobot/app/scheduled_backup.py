"""Make backups by schedule, each in a process of its own, which shares no moment of the processor with a turn."""

import asyncio
import contextlib
import logging
import os
import sys
from datetime import datetime, timedelta

from kenobot.core.bus import Bus
from kenobot.core.limited_program import kill_session
from kenobot.core.settings.home import Home
from kenobot.core.settings.schema import BackupSettings
from kenobot.ports.clock import Clock
from kenobot.ports.sentences import Sentence
from kenobot.ports.signals import HEALTH_DEGRADED
from kenobot.storage.backup.backups import COMMAND_SECONDS
from kenobot.storage.backup.names import backup_folder, find_archives

_log = logging.getLogger(__name__)

_SECONDS = 6 * 3600.0  # that a backup may take, beside its command
_AGAIN = timedelta(hours=1)  # after a failure
_NICENESS = 10
_LONGEST_REASON = 300  # characters


class ScheduledBackups:
    """Run `kenobot backup` whenever the newest backup of the folder is older than the settings allow."""

    def __init__(self, home: Home, settings: BackupSettings, clock: Clock, bus: Bus) -> None:
        self._home = home
        self._settings = settings
        self._clock = clock
        self._bus = bus
        self._failed_at: datetime | None = None

    async def run_if_due(self) -> None:
        """Make a backup if one is due. A failure is told to the owner, and tried again after an hour."""
        if not await self._is_due():
            return
        problem = await self._run()
        self._failed_at = self._clock.now() if problem else None
        if problem:
            _log.warning("the backup failed: %s", problem)
            reason = Sentence("backup.problem", reason=problem)
            await self._bus.emit(HEALTH_DEGRADED, "backup", "", reason=reason, cause="backup:")

    async def _is_due(self) -> bool:
        now = self._clock.now()
        if self._failed_at is not None and now - self._failed_at < _AGAIN:
            return False
        folder = backup_folder(self._home, self._settings.folder)
        archives = await asyncio.to_thread(find_archives, folder)
        every = timedelta(hours=self._settings.every_hours)
        past = [at for at, _ in archives if at <= now + every]  # none that a wrong clock dated
        return not past or now - past[-1] >= every

    async def _run(self) -> str:
        """Run the command; returns what went wrong, in its own words, or ""."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kenobot", "backup", "--json", "--home", str(self._home.path)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C.UTF-8"},  # the owner's language is chosen where the problem is told
            start_new_session=True,
        )
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
        try:
            async with asyncio.timeout(_SECONDS + COMMAND_SECONDS):
                _, said = await process.communicate()
        except TimeoutError:
            return "it took too long"
        finally:
            await kill_session(process)
        if not process.returncode:
            return ""
        lines = said.decode("utf-8", "replace").strip().splitlines() or [f"exit code {process.returncode}"]
        return lines[-1].removeprefix("kenobot: ")[:_LONGEST_REASON]
