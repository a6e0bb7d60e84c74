"""The door of memory: all that the rest of the product does with memories, and the values it gets back.

Each method runs inside the transaction of its caller, so that what a turn remembers is written with the turn or not at
all. Modules behind the door are imported at their first use: a process that answers one question needs few of them.
"""

import importlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.records import History, Records
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Candidate, Decision
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes

if TYPE_CHECKING:
    from kenobot.cognitive.background.per_chat_worker import WorkerContext
    from kenobot.cognitive.background.sleep import SleepContext
    from kenobot.cognitive.held_files import HeldFiles
    from kenobot.cognitive.imports import Imports
    from kenobot.cognitive.inspection import Inspection
    from kenobot.cognitive.mirror.memory_files import MemoryFiles
    from kenobot.cognitive.nights import Nights, Proposals
    from kenobot.cognitive.policy import Policy
    from kenobot.cognitive.promises import Promises
    from kenobot.cognitive.recall.embedding_worker import EmbeddingWorker
    from kenobot.cognitive.recall.index.index import Indexer, SideIndex
    from kenobot.cognitive.recall.prompt.reader import MemoryReader
    from kenobot.cognitive.recall.results.memory import (
        NO_MEMORY,
        Excerpt,
        MemoryPack,
        MemoryQuery,
        RecalledMemory,
        SearchHints,
        SearchReport,
    )
    from kenobot.cognitive.recall.results.trace import RecallTrace
    from kenobot.cognitive.remember.nearness import Nearness
    from kenobot.cognitive.replies import Replies
    from kenobot.cognitive.sleep.proposal_announcer import ProposalAnnouncer
    from kenobot.cognitive.telling import Telling
    from kenobot.cognitive.transfers import Transfers
    from kenobot.cognitive.workers import MemoryWorkers
    from kenobot.ports.explanations import AbsenceExplanation, ReplyExplanation
    from kenobot.ports.memory_changes import ForgetResult, PurgePlan, UndoResult
    from kenobot.ports.recall import Matches
    from kenobot.storage.erasure import ErasureResult

__all__ = [
    "DEFAULT",
    "NO_MEMORY",
    "AdmitContext",
    "EmbeddingWorker",
    "Excerpt",
    "HeldFiles",
    "Imports",
    "Indexer",
    "Inspection",
    "Memory",
    "MemoryFiles",
    "MemoryPack",
    "MemoryQuery",
    "MemoryReader",
    "MemoryWorkers",
    "Nights",
    "Policy",
    "Promises",
    "ProposalAnnouncer",
    "Proposals",
    "RecallTrace",
    "RecalledMemory",
    "Replies",
    "SearchHints",
    "SearchReport",
    "SideIndex",
    "SleepContext",
    "Telling",
    "Transfers",
    "WorkerContext",
]

_LATE = {
    "held_files": "HeldFiles",
    "imports": "Imports",
    "inspection": "Inspection",
    "nights": "Nights Proposals",
    "promises": "Promises",
    "replies": "Replies",
    "telling": "Telling",
    "transfers": "Transfers",
    "workers": "MemoryWorkers",
    "background.per_chat_worker": "WorkerContext",
    "background.sleep": "SleepContext",
    "mirror.memory_files": "MemoryFiles",
    "policy": "Policy",
    "recall.embedding_worker": "EmbeddingWorker",
    "recall.index.index": "Indexer SideIndex",
    "recall.prompt.reader": "MemoryReader",
    "recall.results.memory": "NO_MEMORY Excerpt MemoryPack MemoryQuery RecalledMemory SearchHints SearchReport",
    "recall.results.trace": "RecallTrace",
    "sleep.proposal_announcer": "ProposalAnnouncer",
}
"""The names that are imported at their first use, by module."""

_MODULES = {name: module for module, names in _LATE.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"kenobot.cognitive.{_MODULES[name]}"), name)


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a home.

    records, history: what is remembered, and what happened to it.
    index: finds memories by their words and meaning; None compares the newest ones letter by letter.
    """

    index: "SideIndex | None" = None
    records: ClassVar[type[Records]] = Records
    history: ClassVar[type[History]] = History

    # ── see ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def recall(self, connection: Connection, query: "MemoryQuery") -> "SearchReport":
        """Search for what is about a question, with reasons and certainty. Needs an index."""
        from kenobot.cognitive.recall.search.recall import recall_with_queries

        assert self.index is not None
        return recall_with_queries(connection, self.index, query)

    def find(self, connection: Connection, text: str, reach: Scopes) -> "Matches":
        """Find the live memories that a text may mean, the likeliest first, for what must not guess."""
        from kenobot.cognitive.control.find import find_memories, index_search

        search = index_search(self.index) if self.index is not None else None
        return find_memories(connection, text, reach, search=search)

    @property
    def nearness(self) -> "Nearness | None":
        """Return the similarity of embedded statements; None without vectors."""
        return self.index.statement_similarity if self.index is not None else None

    def explain(
        self,
        connection: Connection,
        text: str,
        query: "MemoryQuery",
        reply: "ReplyExplanation | None",
        reach: Scopes,
    ) -> "AbsenceExplanation":
        """Explain why a reply was not shown what a text says. query: of the reply."""
        from kenobot.cognitive.control.why_not import explain_absence

        return explain_absence(connection, self.index, text, query, reply, reach)

    # ── change ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def remember(
        connection: Connection, candidate: Candidate, occasion: AdmitContext, *, instead_of: int | None = None
    ) -> Decision:
        """Admit a candidate: create, reinforce or replace a memory, or refuse it.

        instead_of: a memory of its scope whose place it takes, and which stays as history.
        """
        from kenobot.cognitive.remember.admit import admit, supersede

        if instead_of is not None:
            return supersede(connection, instead_of, candidate, occasion)
        return admit(connection, candidate, occasion)

    @staticmethod
    def correct(
        connection: Connection,
        number: int,
        text: str,
        reach: Scopes,
        occasion: AdmitContext,
        *,
        trust: Trust = "owner",
    ) -> Decision:
        """Put other words in the place of a memory. Raises LookupError, and ValueError for the same words."""
        from kenobot.cognitive.remember.admit import correct

        return correct(connection, number, text, reach, occasion, trust=trust)

    @staticmethod
    def forget(
        connection: Connection,
        number: int,
        reach: Scopes,
        occasion: AdmitContext,
        *,
        names: Iterable[str] = (),
        reason: str = "",
        author: str = "",
    ) -> "ForgetResult | None":
        """Hide a memory, what repeats it and the messages that told it; None where it is not remembered.

        names: of who said it. author: the account whose words alone are hidden; "" for anybody's.
        """
        from kenobot.cognitive.control.forget import forget

        return forget(connection, number, reach, occasion, names=names, reason=reason, author=author)

    @staticmethod
    def undo(
        connection: Connection,
        decision: int | Sequence[int],
        reach: Scopes,
        occasion: AdmitContext,
        author: str = "",
    ) -> "UndoResult":
        """Take back the decision of an event, whole. Raises UndoError.

        decision: the event; several, the newest first, are taken back as one change, which a later undo takes back.
        author: see `find_undoable`; of one event.
        """
        from kenobot.cognitive.control.undo import undo, undo_all

        if isinstance(decision, int):
            return undo(connection, decision, reach, occasion, author)
        return undo_all(connection, decision, reach, occasion)

    @staticmethod
    def plan_purge(connection: Connection, number: int, reach: Scopes) -> "PurgePlan | None":
        """Return what erasing a memory for good would erase."""
        from kenobot.cognitive.control.forget import plan_purge

        return plan_purge(connection, number, reach)

    @staticmethod
    def purge(
        connection: Connection, plan: "PurgePlan", reach: Scopes, occasion: AdmitContext
    ) -> "tuple[PurgePlan, ErasureResult]":
        """Erase what a plan names from every table; returns the plan as carried out. Files and free space follow."""
        from kenobot.cognitive.mirror.cleanup import execute_purge

        return execute_purge(connection, plan, reach, occasion)
