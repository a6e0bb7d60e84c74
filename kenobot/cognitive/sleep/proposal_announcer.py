"""Announce proposals and approvals, each once, also across restarts and those made on the command line."""

import logging
from collections.abc import Collection
from functools import partial

from kenobot.cognitive.store import proposals
from kenobot.core.bus import Bus
from kenobot.core.worker import BackgroundTask, Scheduler
from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.signals import APPROVAL_APPROVED, APPROVAL_PROPOSED, CONFIG_CHANGED, SLEEP_FINISHED, Envelope
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.state import read_json, write_json

_log = logging.getLogger(__name__)

_TOLD = "proposals:told"  # a key of the table `state`
_LOOK_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class _News:
    """Unannounced proposals and approvals. newest: the last proposal. approved: event, proposal and kind of each."""

    waiting: int
    newest: int
    approved: tuple[tuple[int, int, str], ...]


class ProposalAnnouncer(BackgroundTask):
    """Announce new proposals and approvals; `start` it once."""

    def __init__(self, database: Database, bus: Bus) -> None:
        super().__init__("proposals")
        self._database = database
        self._bus = bus

    async def start(self, schedule: Scheduler) -> None:
        """Announce now, after each night, when the owner has decided, and every ten minutes."""
        self._bus.wake_on(SLEEP_FINISHED, self._wake)
        schedule.run_every(_LOOK_SECONDS, "proposals", self.announce)
        await self.announce()

    def note_command(self, changes: Collection[str]) -> None:
        """Announce the owner's decisions."""
        if "proposals" in changes:
            self._wake()

    def _wake(self, _: Envelope | None = None) -> None:
        self._begin(self._run)

    async def _run(self) -> None:
        try:
            await self.announce()
        except StoreError as error:
            _log.warning("proposals cannot be read now: %s", error)

    async def announce(self) -> None:
        """Announce all that is new. Raises StoreError."""
        if await self._database.read(_news) is None:
            return
        news = await self._database.write(partial(_news, mark=True))
        if news is None:
            return
        if news.waiting:
            await self._bus.emit(APPROVAL_PROPOSED, "sleep", "", count=news.waiting, newest=news.newest)
        for _, number, kind in news.approved:
            await self._bus.emit(APPROVAL_APPROVED, "owner", "", proposal=number, kind=kind)
            if kind in ("rule", "preference"):
                await self._bus.emit(CONFIG_CHANGED, "owner", "", reason="identity")


def _news(connection: Connection, *, mark: bool = False) -> _News | None:
    """Read the news, and mark it as announced; None when there is none."""
    proposal, event = read_json(connection, _TOLD, [0, 0])  # the last that were announced
    waiting, newest = proposals.newer_pending(connection, proposal)
    approved = tuple(proposals.approvals(connection, event))
    if not waiting and not approved:
        return None
    if mark:
        last = max((number for number, _, _ in approved), default=event)
        write_json(connection, _TOLD, [max(proposal, newest), last])
    return _News(waiting, newest, approved)
