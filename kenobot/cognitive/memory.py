"""The door of memory: all that the rest of the product does with memories, and the values it gets back.

Each method runs inside the transaction of its caller, so that what a turn remembers is written with the turn or not at
all. Modules behind the door are imported at their first use: a process that answers one question needs few of them.
"""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, records
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import Record
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
    from kenobot.cognitive.remember.rehearsal import rehearse
    from kenobot.cognitive.replies import Replies
    from kenobot.cognitive.sleep.proposal_announcer import ProposalAnnouncer
    from kenobot.cognitive.telling import Telling
    from kenobot.cognitive.transfers import Transfers
    from kenobot.cognitive.workers import MemoryWorkers
    from kenobot.ports.explanations import AbsenceExplanation, ReplyExplanation, UsedMemory
    from kenobot.ports.memory_changes import ForgetResult, PurgePlan, UndoResult
    from kenobot.ports.recall import Matches
    from kenobot.ports.records import EventRow, HistoryStep, Link
    from kenobot.ports.turns import UnextractedTurn
    from kenobot.storage.conversation import MessageRow
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
    "rehearse",
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
    "remember.rehearsal": "rehearse",
}
"""The names that are imported at their first use, by module."""

_MODULES = {name: module for module, names in _LATE.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"kenobot.cognitive.{_MODULES[name]}"), name)


def _talk(left_out: bool) -> str:
    """Return the key of the summaries of chats where they are left out."""
    from kenobot.cognitive.compact.digest import KEY

    return KEY if left_out else ""


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a home.

    index: finds memories by their words and meaning; None compares the newest ones letter by letter.
    """

    index: "SideIndex | None" = None

    # ── see ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def recall(self, connection: Connection, query: "MemoryQuery") -> "SearchReport":
        """Search for what is about a question, with reasons and certainty. Needs an index."""
        from kenobot.cognitive.recall.search.fusion import recall_with_queries

        assert self.index is not None
        return recall_with_queries(connection, self.index, query)

    def find(self, connection: Connection, text: str, reach: Scopes) -> "Matches":
        """Find the live memories that a text may mean, the likeliest first, for what must not guess."""
        from kenobot.cognitive.control.find import find_memories, index_search

        search = index_search(self.index) if self.index is not None else None
        return find_memories(connection, text, reach, search=search)

    @staticmethod
    def resolve(connection: Connection, reference: str, reach: Scopes, *, live: bool = False) -> Record:
        """Return the memory that a number, a key or an unambiguous beginning of a key names.

        live: only what is remembered now. Raises AmbiguousReference.
        """
        from kenobot.cognitive.control.find import resolve_reference

        return resolve_reference(connection, reference, reach, live=live)

    @staticmethod
    def get(connection: Connection, number: int, reach: Scopes) -> Record | None:
        """Return a memory, whatever its status."""
        return records.get(connection, number, reach)

    @staticmethod
    def get_statement(connection: Connection, number: int, reach: Scopes) -> Record | None:
        """Return a live memory that says something by itself."""
        return records.get_statement(connection, number, reach)

    @staticmethod
    def get_same(connection: Connection, scope: str, form: str, text: str) -> Record | None:
        """Return the live memory of a scope and a form that says the same as a text."""
        from kenobot.language.fingerprint import key_of

        return records.by_key(connection, scope, form, key_of(text))

    @staticmethod
    def get_all(connection: Connection, numbers: Sequence[int], reach: Scopes) -> Mapping[int, Record]:
        """Return memories by their numbers, those that there are."""
        return records.by_ids(connection, numbers, reach)

    @staticmethod
    def list_records(
        connection: Connection,
        reach: Scopes,
        statuses: Sequence[str],
        forms: Sequence[str] = (),
        limit: int | None = None,
        *,
        before: int | None = None,
        at: datetime | None = None,
        told_only: bool = False,
    ) -> list[Record]:
        """List memories of these statuses and forms, none for any, the newest first.

        before: only numbers below, of all forms but boxes. at: as they were at that moment, instead of by status.
        told_only: without the summaries of chats, which hold words of the bot too.
        """
        if before is not None:
            return records.page_of_records(connection, reach, statuses, before, limit or 0)
        if at is not None:
            from kenobot.cognitive.control.history import alive_at

            return alive_at(connection, reach, at, forms, limit or 0)
        return records.list_records(connection, reach, statuses, forms, limit, without_key=_talk(told_only))

    @staticmethod
    def count_by_form(connection: Connection, reach: Scopes, *, told_only: bool = False) -> dict[str, int]:
        """Count the live memories by form. told_only: see `list_records`."""
        return records.live_counts_by_form(connection, reach, without_key=_talk(told_only))

    @staticmethod
    def list_told_by(connection: Connection, scope: str, turns: Iterable[int], among: int) -> list[int]:
        """Return which of the newest `among` memories of a scope are made of these turns, by number."""
        return records.newest_from_messages(connection, scope, turns, among)

    @staticmethod
    def list_with_attribute(connection: Connection, scope: str, subject: str, name: str) -> list[Record]:
        """List the live memories of a scope that hold an attribute of a subject."""
        from kenobot.cognitive.store import term_index

        return term_index.records_with_attribute(connection, scope, subject, name)

    @staticmethod
    def list_lately_learned(connection: Connection, session: str) -> list[int]:
        """Return the memories that the newest turns of a conversation made, by number."""
        from kenobot.cognitive.store.feedback import recently_learned

        return [number for number, _ in recently_learned(connection, session)]

    @staticmethod
    def is_chat_summary(record: Record) -> bool:
        """Return whether a memory is the summary of a chat, which holds words of the bot too."""
        return record.key == _talk(True)

    @staticmethod
    def last_number(connection: Connection) -> int:
        """Return the number of the newest memory."""
        return records.last_record(connection)

    @staticmethod
    def get_as_of(connection: Connection, number: int, moment: datetime, reach: Scopes) -> Record | None:
        """Return a memory as it was at a moment; None where it was not there yet."""
        from kenobot.cognitive.control.history import as_of

        return as_of(connection, number, moment, reach)

    @staticmethod
    def list_links(connection: Connection, number: int, reach: Scopes, limit: int) -> "list[Link]":
        """List the links of a memory."""
        from kenobot.cognitive.store.links import links_around

        return links_around(connection, number, reach, limit)

    @staticmethod
    def find_unextracted(
        connection: Connection, wanted: str, session: str, reach: tuple[str, ...]
    ) -> "UnextractedTurn | None":
        """Find the turn that no memory is made of yet and that says most of `wanted`, the newest of equal ones."""
        from kenobot.cognitive.control.unextracted import find_unextracted

        return find_unextracted(connection, wanted, session, reach)

    @property
    def nearness(self) -> "Nearness | None":
        """Return the similarity of embedded statements; None without vectors."""
        return self.index.statement_similarity if self.index is not None else None

    # ── explain ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def history(connection: Connection, number: int, reach: Scopes) -> "list[HistoryStep]":
        """List what happened to a memory, the newest first."""
        from kenobot.cognitive.control.history import history

        return history(connection, number, reach)

    @staticmethod
    def get_event(connection: Connection, number: int) -> "EventRow | None":
        """Return an event by its number."""
        return events.get_event(connection, number)

    @staticmethod
    def list_events(connection: Connection, number: int) -> "list[EventRow]":
        """List what happened to a memory, the oldest first, as it is stored."""
        return events.record_events(connection, number)

    @staticmethod
    def list_decision(connection: Connection, event: int) -> "list[EventRow]":
        """List the events of a decision, its own among them."""
        return events.decision_events(connection, event)

    @staticmethod
    def list_quotations(connection: Connection, turns: Iterable[int], reach: Scopes) -> "list[tuple[int, MessageRow]]":
        """Return the messages of turns that are kept and may be shown, each with its turn."""
        from kenobot.cognitive.store.feedback import quotable_message

        said = ((turn, quotable_message(connection, turn, reach)) for turn in turns)
        return [(turn, message) for turn, message in said if message is not None]

    @staticmethod
    def explain_reply(connection: Connection, session: str, reach: Scopes) -> "ReplyExplanation | None":
        """Return the last reply of a conversation, and the memories that it was shown."""
        from kenobot.cognitive.control.history import explain_last_reply

        return explain_last_reply(connection, session, reach)

    @staticmethod
    def split_used(reply: "ReplyExplanation") -> "tuple[tuple[UsedMemory, ...], tuple[UsedMemory, ...]]":
        """Split the memories of a reply into those behind it and those that were only in view."""
        from kenobot.cognitive.control.history import split_used

        return split_used(reply)

    def explain_absence(
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
    def remember(connection: Connection, candidate: Candidate, occasion: AdmitContext) -> Decision:
        """Admit a candidate: create, reinforce or replace a memory, or refuse it."""
        from kenobot.cognitive.remember.admit import admit

        return admit(connection, candidate, occasion)

    @staticmethod
    def supersede(connection: Connection, number: int, candidate: Candidate, occasion: AdmitContext) -> Decision:
        """Put a candidate in the place of a memory of its scope, which stays as history."""
        from kenobot.cognitive.remember.admit import supersede

        return supersede(connection, number, candidate, occasion)

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
    def admit_unextracted(
        connection: Connection, said: "UnextractedTurn", wanted: str, order: AdmitContext, zone: ZoneInfo
    ) -> int | None:
        """Remember what is meant of a turn, and what else it tells; return the former, None if it was refused."""
        from kenobot.cognitive.control.unextracted import admit_unextracted

        return admit_unextracted(connection, said, wanted, order, zone)

    @staticmethod
    def last_decision(connection: Connection, number: int) -> int | None:
        """Return the event of the last decision about a memory: what an undo takes back."""
        return events.last_decision_on(connection, number)

    @staticmethod
    def find_last_told(connection: Connection, session: str, scope: str, at: datetime) -> dict[int, str]:
        """Find what the last message that told anything in a chat had remembered lately, by its decisions."""
        from kenobot.cognitive.control.undo import find_last_told

        return find_last_told(connection, session, scope, at)

    @staticmethod
    def find_undoable(connection: Connection, scopes: Iterable[str], author: str = "") -> int | None:
        """Find the newest decision of these scopes that can be undone. author: who alone said what it changed."""
        from kenobot.cognitive.control.undo import last_undoable_event

        return last_undoable_event(connection, scopes, author)

    @staticmethod
    def undo(
        connection: Connection, event: int, reach: Scopes, occasion: AdmitContext, author: str = ""
    ) -> "UndoResult":
        """Take back the decision of an event. author: see `find_undoable`. Raises UndoError."""
        from kenobot.cognitive.control.undo import undo

        return undo(connection, event, reach, occasion, author)

    @staticmethod
    def undo_all(
        connection: Connection, decisions: Sequence[int], reach: Scopes, occasion: AdmitContext
    ) -> "UndoResult":
        """Take back several decisions, the newest first, as one. Raises UndoError."""
        from kenobot.cognitive.control.undo import undo_all

        return undo_all(connection, decisions, reach, occasion)

    @staticmethod
    def is_only_of(connection: Connection, event: int, author: str, reach: Scopes) -> bool:
        """Return whether a decision changed nothing but the words of an account."""
        from kenobot.cognitive.control.undo import changes_only_words_of

        return changes_only_words_of(connection, event, author, reach)

    @staticmethod
    def is_said_only_by(connection: Connection, record: Record, author: str) -> bool:
        """Return whether nobody but an account told a memory."""
        from kenobot.cognitive.control.forget import said_only_by

        return said_only_by(connection, record, author)

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

    @staticmethod
    def close_idle_boxes(connection: Connection, at: datetime) -> bool:
        """Close the topics that nothing was added to for a while; return whether there were any."""
        from kenobot.cognitive.remember import boxes

        return bool(boxes.close_idle_boxes(connection, ChangeContext(at, "memory", "nothing was added for a while")))
