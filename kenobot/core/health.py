"""Turn measurements into causes, and causes into the state of the bot's health.

A cause begins once it is seen in two looks in a row, and ends after three without it, so that what lies at its limit
does not come and go. Pure: the looks are `kenobot.app.watch`'s.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Literal

from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import pack_text, unpack_text

Level = Literal["degraded", "unhealthy"]
State = Literal["healthy", "degraded", "unhealthy"]
Check = Literal[
    "loop",
    "poll",
    "channel",
    "queue",
    "outbox",
    "disk",
    "memory",
    "database",
    "provider",
    "sleep",
    "backup",
    "extraction",
    "mcp",
    "mcp_trust",
]

_CONFIRM, _CLEAR = 2, 3  # looks
_MARGIN = 0.8  # of a limit, below which a cause that began is over

_BEGUN: Mapping[Check, Text] = {
    "loop": texts.HEALTH_LOOP,
    "poll": texts.HEALTH_POLL,
    "channel": texts.HEALTH_CHANNEL,
    "queue": texts.HEALTH_QUEUE,
    "outbox": texts.HEALTH_OUTBOX,
    "disk": texts.HEALTH_DISK,
    "memory": texts.HEALTH_MEMORY,
    "database": texts.HEALTH_DATABASE,
    "provider": texts.HEALTH_PROVIDER,
    "sleep": texts.HEALTH_SLEEP,
    "backup": texts.HEALTH_BACKUP,
    "extraction": texts.HEALTH_EXTRACTION,
    "mcp": texts.HEALTH_MCP,
    "mcp_trust": texts.HEALTH_MCP_TRUST,
}
_OVER: Mapping[Check, Text] = {
    "loop": texts.HEALTH_LOOP_OVER,
    "poll": texts.HEALTH_POLL_OVER,
    "channel": texts.HEALTH_CHANNEL_OVER,
    "queue": texts.HEALTH_QUEUE_OVER,
    "outbox": texts.HEALTH_OUTBOX_OVER,
    "disk": texts.HEALTH_DISK_OVER,
    "memory": texts.HEALTH_MEMORY_OVER,
    "database": texts.HEALTH_DATABASE_OVER,
    "provider": texts.HEALTH_PROVIDER_OVER,
    "sleep": texts.HEALTH_SLEEP_OVER,
    "backup": texts.HEALTH_BACKUP_OVER,
    "extraction": texts.HEALTH_EXTRACTION_OVER,
    "mcp": texts.HEALTH_MCP_OVER,
    "mcp_trust": texts.HEALTH_MCP_TRUST_OVER,
}
STATES: tuple[State, ...] = ("healthy", "degraded", "unhealthy")
CHECKS: tuple[Check, ...] = tuple(_BEGUN)


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of a check. subject: of several that it looks at, such as a channel.

    load: the share of its limit; from 1 on something is wrong. critical: the load from which the bot cannot do its
    work; None: it can. sudden: it counts at the first look. values: of the sentence that tells it.
    """

    check: Check
    load: float
    subject: str = ""
    critical: float | None = None
    sudden: bool = False
    values: Mapping[str, str | int] = field(default_factory=dict)  # bounded: what one sentence tells; turn

    @property
    def key(self) -> str:
        """Return the name of the cause that this would be."""
        return f"{self.check}:{self.subject}"

    @property
    def level(self) -> Level | None:
        """Return how bad it is; None where nothing is wrong."""
        if self.critical is not None and self.load >= self.critical:
            return "unhealthy"
        return "degraded" if self.load >= 1 else None


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that is wrong. since: when it was first seen. values: of the sentence that tells it."""

    check: Check
    subject: str
    level: Level
    since: datetime
    values: Mapping[str, str | int] = field(default_factory=dict)  # bounded: what one sentence tells; turn

    @property
    def key(self) -> str:
        return f"{self.check}:{self.subject}"

    def text(self, language: Language) -> str:
        """Say what is wrong, and what to do."""
        values = {"subject": self.subject, **self.values}
        try:
            return _BEGUN[self.check](language, **values)
        except KeyError:  # stored by a version with another sentence
            return self.key

    def over_text(self, language: Language) -> str:
        """Say that it is well again."""
        return _OVER[self.check](language, subject=self.subject)

    def encode(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        since = self.since.isoformat()
        return {
            "check": self.check,
            "subject": self.subject,
            "level": self.level,
            "since": since,
            "values": {k: pack_text(value) if isinstance(value, str) else value for k, value in self.values.items()},
        }

    @classmethod
    def load(cls, stored: object) -> "Cause | None":
        """Read what `stored` gave; None when it is damaged, or of a check that there is no more."""
        if not isinstance(stored, dict) or stored.get("check") not in _BEGUN:
            return None
        level: Level = "unhealthy" if stored.get("level") == "unhealthy" else "degraded"
        try:
            since = datetime.fromisoformat(stored["since"])
            values = {name: _load_value(value) for name, value in dict(stored["values"]).items()}
            return cls(stored["check"], str(stored["subject"]), level, since, values)
        except (KeyError, TypeError, ValueError):
            return None


def _load_value(stored: object) -> str | int:
    return stored if isinstance(stored, int) else unpack_text(str(stored))


def state_of(levels: Iterable[Level | None]) -> State:
    """Return the state that all levels together make: the worst."""
    found = set(levels)
    return "unhealthy" if "unhealthy" in found else "degraded" if "degraded" in found else "healthy"


@dataclass(slots=True)
class _Track:
    """History of a cause: looks in a row with it, or without it. cause: once it has begun."""

    seen: int = 0
    missed: int = 0
    since: datetime | None = None
    cause: Cause | None = None


class HealthTracker:
    """Follows causes from look to look."""

    def __init__(self) -> None:
        # bounded: the checks and channels there are; test_a_cause_that_ended_leaves_nothing
        self._tracks: dict[str, _Track] = {}

    def adopt(self, causes: Iterable[Cause]) -> None:
        """Take up causes that the owner was told of, by an earlier run or by an alert: they end like others."""
        for cause in causes:
            track = self._tracks.setdefault(cause.key, _Track())
            track.since, track.cause = track.since or cause.since, track.cause or cause

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Return what is wrong now, the worst and then the oldest first."""
        found = [track.cause for track in self._tracks.values() if track.cause is not None]
        return tuple(sorted(found, key=lambda cause: (cause.level != "unhealthy", cause.since, cause.key)))

    @property
    def state(self) -> State:
        """Return how the bot is."""
        return state_of(cause.level for cause in self.causes)

    def look(self, readings: Iterable[Reading], at: datetime, unknown: Collection[Check] = ()) -> None:
        """Take in a look. unknown: checks that could not measure, of which everything stays as it was."""
        read = {reading.key: reading for reading in readings}
        for key, reading in read.items():
            if reading.level is not None or key in self._tracks:
                self._follow(self._tracks.setdefault(key, _Track()), reading, at)
        for key, track in self._tracks.items():
            if key not in read and key.partition(":")[0] not in unknown:
                self._miss(track)
        self._tracks = {key: track for key, track in self._tracks.items() if track.seen or track.cause is not None}

    def _follow(self, track: _Track, reading: Reading, at: datetime) -> None:
        level, held = reading.level, track.cause
        if held is not None and level is None and reading.load >= _MARGIN:
            level = "degraded"
        if level is None:
            self._miss(track)
            return
        track.seen, track.missed = track.seen + 1, 0
        track.since = track.since or at
        if held is not None and held.level == "unhealthy" and reading.critical is not None:
            level = "unhealthy" if reading.load >= _MARGIN * reading.critical else level
        if held is not None:
            track.cause = replace(held, level=level, values=reading.values or held.values)
        elif track.seen >= _CONFIRM or reading.sudden:
            track.cause = Cause(reading.check, reading.subject, level, track.since, reading.values)

    def _miss(self, track: _Track) -> None:
        track.seen, track.missed = 0, track.missed + 1
        if track.cause is None or track.missed >= _CLEAR:
            track.cause = track.since = None
