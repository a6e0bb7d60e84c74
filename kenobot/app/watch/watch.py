"""Probe health every N seconds, notify the owner of changes, and keep the state for commands."""

import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from kenobot.app.watch.probes import Probes
from kenobot.app.watch.pulse import Pulse
from kenobot.core.bus import Bus
from kenobot.core.health import Cause, HealthTracker, State
from kenobot.core.worker import Scheduler
from kenobot.gateway.health_notices import HealthNotices
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.signals import HEALTH_CHANGED

_log = logging.getLogger(__name__)


class Watch:
    """`start` it once everything runs, `stop` it at the end.

    seconds: between two looks. notices: None tells nobody.
    """

    def __init__(
        self,
        probes: Probes,
        notices: HealthNotices | None,
        bus: Bus,
        clock: Clock,
        seconds: float,
        pulse: Pulse | None = None,
    ) -> None:
        self._probes = probes
        self._seconds = seconds
        self._pulse = pulse
        self._notices = notices
        self._bus = bus
        self._clock = clock
        self._tracker = HealthTracker()
        # bounded: the checks and channels there are; test_what_is_over_in_quiet_hours_stays_over
        self._adopted: set[str] = set()
        self.looked_at: datetime | None = None
        self.since = clock.now()

    @property
    def state(self) -> State:
        """Return how the bot is."""
        return self._tracker.state

    @property
    def causes(self) -> Sequence[Cause]:
        """Return what is wrong."""
        return self._tracker.causes

    @property
    def newest_backup(self) -> datetime | None:
        """Return when the newest backup was made, where any are due."""
        return self._probes.newest_backup

    async def start(self, scheduler: Scheduler) -> None:
        """Take up what an earlier run told, and look every so often once the scheduler runs."""
        if self._pulse is not None:
            self._pulse.start()
        self._probes.attach(self._bus)
        await self._adopt_told()
        scheduler.run_every(self._seconds, "watch", self.look)

    async def look(self) -> None:
        """Look once."""
        await self._adopt_told()
        before, at = self._tracker.state, self._clock.now()
        known = {cause.key: cause.level for cause in self.causes}
        readings, unknown = await self._probes.look()
        self._tracker.look(readings, at, unknown)
        self.looked_at = at
        now = {cause.key: cause.level for cause in self.causes}
        if self.state != before:
            self.since = at
        if now != known:
            _log.log(
                logging.WARNING if now else logging.INFO, "health: %s: %s", self.state, ", ".join(now) or "no cause"
            )
            await self._bus.emit(HEALTH_CHANGED, "watch", "", state=self.state, causes=" ".join(now))
        if self._notices is not None:
            await self._notices.tell(self.causes)

    async def _adopt_told(self) -> None:
        """Take up what the owner was told since the last look; what is over and waits to be told stays over."""
        if self._notices is None:
            return
        try:
            told = await self._notices.load_told()
        except StoreError as error:
            _log.warning("what the owner was told cannot be read: %s", error)
            return
        self._tracker.adopt(cause for cause in told if cause.key not in self._adopted)
        self._adopted = {cause.key for cause in told}

    async def stop(self) -> None:
        """End what is under way."""
        if self._pulse is not None:
            self._pulse.stop()
        await self._probes.stop()

    async def dump_stacks(self) -> Path | None:
        """Write down where every thread and task stands; None where nothing can. Raises OSError."""
        return None if self._pulse is None else await self._pulse.dump("asked for")
