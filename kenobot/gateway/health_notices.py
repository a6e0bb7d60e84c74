"""Tell the owner what is wrong with the bot, once a cause, and when it is well again.

What they were told of is stored in the transaction that puts the words into the outbox: neither a restart nor a crash
tells it twice, or not at all.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence

from kenobot.core import texts
from kenobot.core.health import Cause
from kenobot.core.i18n import Language
from kenobot.gateway.owner_alerts import OwnerAlerts
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Outbound
from kenobot.storage import health_told
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)

_OF_CHANNELS = ("poll", "channel", "outbox")


@dataclass(frozen=True, slots=True)
class _Change:
    """Changes of health since the owner was told. begun: causes that are new or worse. left: causes they know of."""

    begun: tuple[Cause, ...]
    over: tuple[Cause, ...]
    left: tuple[Cause, ...]

    @property
    def urgent(self) -> bool:
        return any(cause.level == "unhealthy" for cause in self.begun)

    def words(self, language: Language) -> str:
        """Word it as one message."""
        parts = []
        if self.begun:
            head = texts.HEALTH_UNHEALTHY if self.urgent else texts.HEALTH_DEGRADED
            parts.append(head(language, lines=_lines(cause.text(language) for cause in self.begun)))
        if self.over:
            parts.append(texts.HEALTH_BETTER(language, lines=_lines(cause.over_text(language) for cause in self.over)))
            if not self.begun and not self.left:
                parts.append(texts.HEALTH_ALL_WELL(language))
        return "\n\n".join(parts)


class HealthNotices:
    """Tells changes of health by way of the owner's alerts."""

    def __init__(self, database: Database, clock: Clock, alerts: OwnerAlerts) -> None:
        self._database = database
        self._clock = clock
        self._alerts = alerts
        # bounded: the checks and channels there are; test_what_went_around_the_outbox_is_told_once
        self._told_directly: dict[str, Cause] = {}

    async def load_told(self) -> tuple[Cause, ...]:
        """Return the causes that the owner was told of, and not yet that they are over. Raises StoreError."""
        return tuple(_causes(await self._database.read(health_told.load)).values())

    async def tell(self, causes: Sequence[Cause]) -> None:
        """Tell what has changed since the owner was told last, if anything has. Never raises StoreError."""
        try:
            if await self._database.read(lambda connection: self._change(connection, causes)) is None:
                return
            parts = await self._database.write(lambda connection: self._enqueue(connection, causes))
        except StoreError as error:
            _log.warning("what is wrong could not be stored for the owner: %s", error)
            await self._tell_directly(causes)
        else:
            self._alerts.dispatch(parts)

    async def _tell_directly(self, causes: Sequence[Cause]) -> None:
        """Send what is urgent around the outbox, once in this run."""
        urgent = tuple(cause for cause in causes if cause.level == "unhealthy" and cause.key not in self._told_directly)
        if urgent:
            self._told_directly |= {cause.key: cause for cause in urgent}
            await self._alerts.send_health(_Change(urgent, (), ()).words)

    def _change(self, connection: Connection, causes: Sequence[Cause]) -> _Change | None:
        """Compare what holds with what the owner was told; None where they know it all."""
        told = {**_causes(health_told.load(connection)), **self._told_directly}
        now = {cause.key: cause for cause in causes}
        begun = [cause for key, cause in now.items() if key not in told or _is_worse(cause, told[key])]
        over = [cause for key, cause in told.items() if key not in now]
        left = [cause for key, cause in now.items() if key in told]
        return _Change(tuple(begun), tuple(over), tuple(left)) if begun or over else None

    def _enqueue(self, connection: Connection, causes: Sequence[Cause]) -> list[Outbound]:
        change = self._change(connection, causes)
        if change is None:
            return []
        broken = {cause.subject for cause in causes if cause.check in _OF_CHANNELS}
        parts = self._alerts.enqueue_health(connection, change.words, broken, self._clock.now(), urgent=change.urgent)
        if parts is None:
            return []
        health_told.save(connection, {cause.key: cause.encode() for cause in causes})
        self._told_directly = {}
        return parts


def _causes(stored: Mapping[str, object]) -> dict[str, Cause]:
    found = (Cause.load(each) for each in stored.values())
    return {cause.key: cause for cause in found if cause is not None}


def _is_worse(cause: Cause, told: Cause) -> bool:
    return cause.level == "unhealthy" and told.level != "unhealthy"


def _lines(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)
