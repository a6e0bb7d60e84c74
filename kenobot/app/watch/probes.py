"""Probes of health: the figures of each look, and the limits beyond which something is wrong."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from kenobot.agent.snapshot import Snapshot, take_snapshot
from kenobot.app.running_channels import ChannelState
from kenobot.app.watch.machine_room import disk_room, memory_limit, resident_bytes
from kenobot.app.watch.pulse import Pulse
from kenobot.core.health import Check, Reading
from kenobot.core.redaction import Redactor, one_line
from kenobot.core.retry import CircuitBreaker
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Settings
from kenobot.ledger.expert_rest import EXTRACTION, is_replaced_by_rules
from kenobot.ports.channel import Channel, ReportsLiveness, find_last_heard
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreCorrupt, StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence, change_values
from kenobot.ports.signals import CHANNEL_DOWN, HEALTH_DEGRADED, Envelope, Signals
from kenobot.storage import diagnosis
from kenobot.storage.backup.names import backup_folder, find_archives
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.queue_ages import QueueAges

if TYPE_CHECKING:
    from kenobot.tools.mcp.servers import McpServers

_log = logging.getLogger(__name__)

LOOK_SECONDS = 60.0
"""Seconds between two looks: a cause counts after two, and is over after three without it."""
PAUSE_SECONDS = 10.0
"""Seconds of a pause of the event loop that is reported: after a longer one no channel is answered in time."""
GROWTH_MB = 500
"""Growth of resident memory after the first hour beyond which something is wrong."""
FIRST_CHECK = timedelta(hours=1)
"""Time from the start until the first check of the whole database."""
CHECK_HOURS = 24
"""Time between two checks of the whole database."""

_MEGA = 1_000_000
_ANSWER_SECONDS = 20.0  # that the database may take for a small question
_UNHEALTHY_QUEUE = 6.0  # times its limit
_SILENCE = timedelta(minutes=5)  # of a platform
_QUEUE, _OUTBOX = timedelta(minutes=10), timedelta(minutes=15)  # that a message may wait
_NIGHTS = timedelta(days=3)  # without one, where sleep is enabled
_LATE_BACKUP = timedelta(hours=12)
_NEAR, _FULL = 0.85, 0.97  # shares of the memory limit
_SETTLED = timedelta(hours=1)  # from the start, until what is in memory is what stays there
_REFUSALS = 3  # of a provider in a row
_DOWNS = 5  # ends of a channel's intake within ...
_DOWN_WINDOW = timedelta(minutes=10)
_STILL_DOWN = timedelta(minutes=3)  # after the last of them
_ARCHIVES_EVERY = timedelta(minutes=10)
_AWAKE = timedelta(hours=2)  # from the start, until a late night or backup is the bot's own fault
_REASON = 200  # characters


@dataclass(frozen=True, slots=True)
class ProbeServices:
    """Hold the parts of the bot that probes look at.

    channels: those that run, by name. states: of all. circuits: of the providers. pulse: None measures no pauses.
    servers: of MCP; None where there are none.
    """

    home: Home
    settings: Settings
    database: Database
    clock: Clock
    redact: Redactor
    channels: Mapping[str, Channel]
    states: Callable[[], Sequence[ChannelState]]
    circuits: Callable[[], Sequence[tuple[str, CircuitBreaker]]]
    pulse: Pulse | None = None
    servers: "McpServers | None" = None


@dataclass(slots=True)
class _Downs:
    """The ends of a channel's intake. announced: the owner was told of it."""

    at: deque[datetime] = field(default_factory=lambda: deque(maxlen=_DOWNS))  # bounded: 5; turn
    reason: str = ""
    announced: bool = False


class Probes:
    """The checks. `attach` them to the bus, then `look` as often as is wished."""

    def __init__(self, services: ProbeServices) -> None:
        self._s = services
        self._began = services.clock.now()
        self._began_at = services.clock.monotonic()
        self._looked_at = self._awake_since = self._began
        # bounded: the channels there are; start
        self._downs: dict[str, _Downs] = {}
        self._backup_failed: datetime | None = None
        self._archives_at: datetime | None = None
        self.newest_backup: datetime | None = None
        self._damage = ""
        self._checked_at: datetime | None = None
        self._checking: asyncio.Task[None] | None = None
        self._settled_bytes: int | None = None
        self._limit = memory_limit()

    def attach(self, signals: Signals) -> None:
        """Listen for what channels and backups say of themselves."""
        signals.subscribe((CHANNEL_DOWN, HEALTH_DEGRADED), self._hear)

    async def look(self) -> tuple[list[Reading], set[Check]]:
        """Measure everything; returns the readings, and the checks that could not measure."""
        self._note_awake()
        readings: list[Reading] = []
        unknown: set[Check] = set()
        looks: tuple[tuple[tuple[Check, ...], Callable[[], Awaitable[list[Reading]]]], ...] = (
            (("loop", "memory", "provider"), self._look_at_process),
            (("poll", "channel"), self._look_at_channels),
            (("disk",), self._look_at_disk),
            (("queue", "outbox", "sleep", "extraction"), self._look_at_rows),
            (("database",), self._look_at_database),
            (("backup",), self._look_at_backups),
            (("mcp", "mcp_trust"), self._look_at_servers),
        )
        for checks, look in looks:
            try:
                readings += await look()
            except (StoreError, OSError, TimeoutError) as error:
                _log.debug("%s could not be looked at: %s", ", ".join(checks), error)
                unknown.update(checks)
        return readings, unknown

    async def stop(self) -> None:
        """Break off a check of the whole database that is under way."""
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)

    def _note_awake(self) -> None:
        """Note when the machine was last woken: so long between two looks, it had been suspended."""
        now = self._s.clock.now()
        if now - self._looked_at >= _AWAKE:
            self._awake_since = now
        self._looked_at = now

    def _had_time(self) -> bool:
        """Return whether what was due while the machine was off, or suspended, could have been done since."""
        return self._s.clock.now() - self._awake_since >= _AWAKE

    async def _hear(self, envelope: Envelope) -> None:
        cause, channel = str(envelope.payload.get("cause", "")), str(envelope.payload.get("channel", ""))
        if envelope.signal is CHANNEL_DOWN:
            downs = self._downs.setdefault(channel, _Downs())
            downs.at.append(envelope.at)
            downs.reason = str(envelope.payload.get("error", ""))
        elif cause.startswith("channel:"):
            self._downs.setdefault(cause.partition(":")[2], _Downs()).announced = True
        elif cause == "backup:":
            self._backup_failed = envelope.at

    # ── the process ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _look_at_process(self) -> list[Reading]:
        return [*self._pauses(), *self._memory(), *self._providers()]

    def _pauses(self) -> Iterator[Reading]:
        pulse = self._s.pulse
        if pulse is None or not (longest := pulse.take_longest()):
            return
        name = pulse.last_dump.name if pulse.last_dump is not None else ""
        values: dict[str, str | int] = {"seconds": round(longest), "file": f"logs/stacks/{name}"}
        yield Reading("loop", longest / PAUSE_SECONDS, sudden=True, values=values)

    def _memory(self) -> Iterator[Reading]:
        taken = resident_bytes()
        if taken is None:
            return
        megabytes = round(taken / _MEGA)
        if self._limit:
            values = {"megabytes": megabytes, "limit": round(self._limit / _MEGA)}
            yield Reading("memory", taken / (_NEAR * self._limit), critical=_FULL / _NEAR, values=values)
        if self._settled_bytes is None and self._s.clock.now() - self._began >= _SETTLED:
            self._settled_bytes = taken
        if self._settled_bytes is not None:
            growth = GROWTH_MB * _MEGA
            values = {"megabytes": megabytes, "limit": round((self._settled_bytes + growth) / _MEGA)}
            yield Reading("memory", (taken - self._settled_bytes) / growth, "growth", values=values)

    def _providers(self) -> Iterator[Reading]:
        circuits = self._s.circuits()
        failing = {name for name, circuit in circuits if is_failing(circuit)}
        every = {name for name, _ in circuits} == failing
        for name, circuit in circuits:
            if name in failing:
                values = {"count": max(1, circuit.unanswered)}
                yield Reading("provider", 2, name, 2 if every else None, values=values)

    # ── channels ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _look_at_channels(self) -> list[Reading]:
        states = self._s.states()
        serving = [each.name for each in states if each.state == "serving"]
        sick = {each.name: each.reason for each in states if each.state == "failed"}
        sick |= {name: self._downs[name].reason for name in serving if self._keeps_failing(name)}
        every = bool(sick) and not set(serving) - sick.keys()
        readings = [
            Reading("channel", 2, name, 2 if every else None, values={"reason": self._clean_reason(reason)})
            for name, reason in sick.items()
        ]
        return readings + [each for name in serving if name not in sick for each in self._silence(name)]

    def _keeps_failing(self, name: str) -> bool:
        downs, now = self._downs.get(name), self._s.clock.now()
        if downs is None or not downs.at:
            return False
        if now - downs.at[-1] > _STILL_DOWN:
            downs.announced = False
            return False
        return downs.announced or (len(downs.at) == _DOWNS and now - downs.at[0] < _DOWN_WINDOW)

    def _silence(self, name: str) -> Iterator[Reading]:
        channel = self._s.channels.get(name)
        if channel is None or not isinstance(channel, ReportsLiveness):
            return
        heard = find_last_heard(channel)
        silent = self._s.clock.monotonic() - (self._began_at if heard is None else heard)
        patience = max(_SILENCE.total_seconds(), 2 * channel.stall_seconds)
        yield Reading("poll", silent / patience, name, values={"minutes": round(silent / 60)})

    # ── the disk and what is on it ───────────────────────────────────────────────────────────────────────────────

    async def _look_at_disk(self) -> list[Reading]:
        watch = self._s.settings.watch
        if not watch.disk_mb:
            return []
        room = await asyncio.to_thread(disk_room, self._s.home.path)
        free = max(room.free / _MEGA, 0.001) if not room.read_only else 0.001
        load, critical = watch.disk_mb / free, watch.disk_mb * _MEGA / watch.least_bytes
        values = {"megabytes": int(free)}
        return [Reading("disk", load, critical=critical, sudden=load >= critical, values=values)]

    async def _look_at_rows(self) -> list[Reading]:
        async with asyncio.timeout(_ANSWER_SECONDS):
            snapshot, rules_extract = await self._s.database.read(self._read_rows)
        extraction = [Reading("extraction", 1, sudden=True)] if rules_extract else []
        return [*self._queues(snapshot.ages), *self._nights(snapshot), *extraction]

    def _read_rows(self, connection: Connection) -> tuple[Snapshot, bool]:
        return take_snapshot(connection, self._s.clock.now()), is_replaced_by_rules(connection, EXTRACTION)

    def _queues(self, ages: QueueAges) -> Iterator[Reading]:
        now = self._s.clock.now()
        if ages.unanswered is not None:
            age = now - ages.unanswered
            values = {"minutes": _minutes(age), "count": ages.unanswered_count}
            yield Reading("queue", age / _QUEUE, critical=_UNHEALTHY_QUEUE, values=values)
        for name, (since, count) in ages.undelivered.items():
            if name in self._s.channels:  # one that was stopped keeps its answers on purpose
                values = {"minutes": _minutes(now - since), "count": count}
                yield Reading("outbox", (now - since) / _OUTBOX, name, values=values)

    def _nights(self, snapshot: Snapshot) -> Iterator[Reading]:
        now = self._s.clock.now()
        last = snapshot.last_night or snapshot.born
        if not (self._s.settings.sleep.enabled and last is not None and self._had_time()):
            return
        yield Reading("sleep", (now - last) / _NIGHTS, values={"days": (now - last).days})

    async def _look_at_database(self) -> list[Reading]:
        self._check_now_and_then()
        reason = self._damage
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._s.database.read(lambda connection: connection.execute("SELECT 1").fetchone())
        except TimeoutError:
            reason = Sentence("database.silent", seconds=_ANSWER_SECONDS)
        except StoreError as error:
            reason = str(error)
        if not reason and (await asyncio.to_thread(disk_room, self._s.home.path)).read_only:
            reason = Sentence("system.EROFS")
        if not reason:
            return []
        return [Reading("database", 2, critical=2, sudden=True, values={"reason": self._clean_reason(reason)})]

    def _check_now_and_then(self) -> None:
        """Begin a check of the whole database beside everything else, if that is due."""
        now = self._s.clock.now()
        due = self._began + FIRST_CHECK if self._checked_at is None else self._checked_at + timedelta(hours=CHECK_HOURS)
        if now >= due and (self._checking is None or self._checking.done()):
            self._checked_at = now
            self._checking = asyncio.create_task(self._check_database(), name="database check")

    async def _check_database(self) -> None:
        try:
            # In the thread of a long reading, which holds up no end of the process.
            found = await self._s.database.read_long(lambda _: diagnosis.first_problem(self._s.home.database))
        except StoreCorrupt as error:
            found = str(error)
        except StoreError as error:
            _log.warning("the database could not be checked: %s", error)
            return
        self._damage = found
        if found:
            _log.error("the database is damaged: %s", found)

    async def _look_at_backups(self) -> list[Reading]:
        every = timedelta(hours=self._s.settings.backup.every_hours)
        now = self._s.clock.now()
        if self._archives_at is None or now - self._archives_at >= _ARCHIVES_EVERY or self._backup_failed is not None:
            self._archives_at = now
            folder = backup_folder(self._s.home, self._s.settings.backup.folder)
            archives = await asyncio.to_thread(find_archives, folder)
            self.newest_backup = max((at for at, _ in archives if at <= now + every), default=None)
        if not every:
            return []
        newest = self.newest_backup
        if self._backup_failed is not None and newest is not None and newest > self._backup_failed:
            self._backup_failed = None
        age = now - (newest or self._began)
        lateness = age / (every + _LATE_BACKUP) if self._had_time() else 0.0
        load = max(lateness, 1.0 if self._backup_failed is not None else 0.0)
        values = {"hours": round(age / timedelta(hours=1)), "every": round(every / timedelta(hours=1))}
        return [Reading("backup", load, values=values)]

    async def _look_at_servers(self) -> list[Reading]:
        states = () if self._s.servers is None else self._s.servers.states
        down = [
            Reading("mcp", 2, each.name, values={"reason": self._clean_reason(each.reason)})
            for each in states
            if each.state == "down"
        ]
        unseen = [
            Reading("mcp_trust", 2, each.name, values={"count": each.untrusted}) for each in states if each.untrusted
        ]
        return down + unseen

    def _clean_reason(self, reason: str) -> str:
        """Return a reason as it may be shown: one line, without secrets."""
        return change_values(reason, lambda text: one_line(self._s.redact(" ".join(text.split())))[:_REASON])


def is_failing(circuit: CircuitBreaker) -> bool:
    """Return whether a provider has not answered several times in a row, or refused."""
    return circuit.state != "CLOSED" or circuit.refusals >= _REFUSALS


def _minutes(age: timedelta) -> int:
    return round(age / timedelta(minutes=1))
