"""The base of background workers that process one chat after the other, one round at a time."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Generic, TypeVar
from zoneinfo import ZoneInfo

from kenobot.cognitive.recall.embedding_worker import EmbeddingWorker
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.remember.extract import known_memories
from kenobot.core.bus import Bus
from kenobot.core.quiet_spell import QuietSpell
from kenobot.core.retry import Backoff
from kenobot.core.worker import BackgroundTask, Scheduler
from kenobot.ledger.ledger import Ledger
from kenobot.ledger.model_router import ModelRouter
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import session_id
from kenobot.ports.memory_files import Mirror
from kenobot.ports.signals import MESSAGE_OUT, Envelope, Signal
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """Dependencies of the workers that read conversations.

    files: the Markdown files of memory. quiet: what new turns ask for begins after it.
    """

    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    files: Mirror
    ledger: Ledger
    index: SideIndex | None = None
    embedding: EmbeddingWorker | None = None
    quiet: QuietSpell = field(default_factory=QuietSpell)

    def limit_to_budget(self, model: ModelRouter | None, purpose: str) -> BudgetedModel | None:
        """Put a model behind the ledger, for a purpose; None stays None."""
        return BudgetedModel(model, self.ledger, purpose) if model is not None else None

    @property
    def memory_search(self) -> known_memories.NearSearch:
        """The search for memories that a text is about."""
        index = self.index
        if index is None:
            return known_memories.near_by_subject
        from kenobot.cognitive.recall.search.recall import similar_records

        return lambda connection, text, reach, limit: similar_records(connection, index, text, reach, limit)


class WaitingChats(Generic[T]):
    """Remember of the chats looked at last, in which nothing was due, how much waits."""

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        # bounded: 1,000 chats; test_what_is_known_of_chats_that_wait_is_bounded
        self._known: dict[str, T] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, session: str) -> T | None:
        """Return what was found of a chat."""
        return self._known.get(session)

    def put(self, session: str, found: T) -> None:
        """Remember what was found of a chat, in place of the one that was looked at longest ago."""
        self._known.pop(session, None)
        self._known[session] = found
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]

    def clear(self) -> None:
        """Forget all, to look at each chat as a whole."""
        self._known.clear()


@dataclass(slots=True)
class ChatBackoff:
    """The failures of a chat so far. limit: turns to try at a time. not_before: on the monotonic clock."""

    limit: int = 0
    failures: int = 0
    not_before: float = 0.0

    def back_off(self, backoff: Backoff, clock: Clock, error: Exception) -> None:
        """Wait after a failure, longer with each in a row."""
        self.not_before = clock.monotonic() + backoff.pause(self.failures, error)
        self.failures += 1


class PerChatWorker(BackgroundTask, ABC):
    """wakes: signals that begin a round over the chats with new turns. every: seconds between rounds over all chats.

    What fails in a round waits for the next one. Not `enabled`, it does nothing.
    """

    def __init__(
        self, context: WorkerContext, name: str, every: float, wakes: Sequence[Signal], *, enabled: bool
    ) -> None:
        super().__init__(name)
        self._p = context
        self._every = every
        self._wakes = wakes
        self._enabled = enabled
        self._again = False
        self._everywhere = True
        # bounded: chats with a reply on its way out; test_what_was_heard_is_forgotten_with_each_look
        self._heard: set[str] = set()
        # bounded: chats that no model can read or sum up; test_a_failed_summary_leaves_the_window_as_it_was
        self._failing: dict[str, ChatBackoff] = {}

    async def start(self, schedule: Scheduler) -> None:
        """Begin a round over all chats, and listen for new turns."""
        if not self._enabled:
            return
        self._p.bus.wake_on(MESSAGE_OUT, self._hear)
        for signal in self._wakes:
            self._p.bus.wake_on(signal, lambda _: self._p.quiet.begin_after(self._wake))
        schedule.run_every(self._every, self._name, self.tick)
        await self.tick()

    async def tick(self) -> None:
        """Begin a round over all chats, without waiting for it."""
        if self._enabled:
            self._everywhere = True
            self._wake()

    @property
    def tracked_chats(self) -> int:
        """The chats with new turns or failures."""
        return len(self._heard) + len(self._failing)

    @abstractmethod
    def _sessions(self, connection: Connection) -> Sequence[str]:
        """List the chats where work may be due."""

    @abstractmethod
    async def _advance(self, session: str) -> bool:
        """Process the next batch of a chat if it is due; return whether to try again at once."""

    async def _compute(self, work: Callable[[], T]) -> T:
        """Run what may take milliseconds in the background's thread: the event loop's serves every chat."""
        return await self._p.database.read(lambda _: work())

    def _is_resting(self) -> bool:
        """Return whether no chat can be processed now; the next tick then tries all."""
        return False

    def _hear(self, envelope: Envelope) -> None:
        self._heard.add(session_id(str(envelope.payload["channel"]), str(envelope.payload["chat"])))

    def _wake(self) -> None:
        self._again = True
        self._begin(self._run)

    async def _run(self) -> None:
        try:
            while self._again and not self._stopping:
                self._again = False
                await self._round()
        except StoreError as error:
            _log.warning("%s cannot go on now: %s", self._name, error)
        except Exception:
            _log.exception("%s failed; the next tick tries again", self._name)

    async def _round(self) -> None:
        sessions: Sequence[str] = sorted(self._heard)
        everywhere, self._everywhere = self._everywhere, False
        self._heard = set()
        if self._is_resting():
            return
        if everywhere:
            sessions = await self._p.database.read(self._sessions)
        for session in sessions:
            while not self._stopping and await self._advance(session):
                pass
