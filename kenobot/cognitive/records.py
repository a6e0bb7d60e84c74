"""See what is remembered, and what happened to it; inside a transaction of the caller."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from kenobot.cognitive.store import events, records
from kenobot.ports.browsing import Facets, RecordFilter
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes

if TYPE_CHECKING:
    from kenobot.ports.browsing import ConfidencePoint, Days, Happening, Period, TimelineItem, TimelinePeriod
    from kenobot.ports.explanations import ReplyExplanation, UsedMemory
    from kenobot.ports.records import HistoryStep, Link
    from kenobot.storage.message_rows import MessageRow


_FACETS = 100  # values of a column that are counted


def _talk(left_out: bool) -> str:
    """Return the key of the summaries of chats where they are left out."""
    from kenobot.language.summary.digest import KEY

    return KEY if left_out else ""


class Records:
    """Get and list memories."""

    @staticmethod
    def get(connection: Connection, number: int, reach: Scopes, *, at: datetime | None = None) -> Record | None:
        """Return a memory, whatever its status. at: as it was at that moment; None where it was not there yet."""
        if at is not None:
            from kenobot.cognitive.control.history import get_as_of

            return get_as_of(connection, number, at, reach)
        return records.get(connection, number, reach)

    @staticmethod
    def resolve(connection: Connection, reference: str, reach: Scopes, *, live: bool = False) -> Record:
        """Return the memory that a number, a key or an unambiguous beginning of a key names.

        live: only what is remembered now. Raises AmbiguousReference.
        """
        from kenobot.cognitive.control.find import resolve_reference

        return resolve_reference(connection, reference, reach, live=live)

    get_statement = staticmethod(records.get_statement)
    """Return a live memory that says something by itself."""

    @staticmethod
    def get_same(connection: Connection, scope: str, form: str, text: str) -> Record | None:
        """Return the live memory of a scope and a form that says the same as a text."""
        from kenobot.language.fingerprint import key_of

        return records.by_key(connection, scope, form, key_of(text))

    get_all = staticmethod(records.by_ids)
    """Return memories by their numbers, those that there are."""

    @staticmethod
    def list_records(
        connection: Connection,
        reach: Scopes,
        statuses: Sequence[str],
        forms: Sequence[str] = (),
        limit: int | None = None,
        *,
        told_only: bool = False,
    ) -> list[Record]:
        """List memories of these statuses and forms, none for any, the newest first.

        told_only: without the summaries of chats, which hold words of the bot too.
        """
        return records.list_records(connection, reach, statuses, forms, limit, without_key=_talk(told_only))

    @staticmethod
    def list_page(
        connection: Connection, reach: Scopes, wanted: RecordFilter, *, before: int, limit: int
    ) -> list[Record]:
        """List memories that a filter chooses, of all forms but boxes, with numbers below one, the newest first."""
        return records.page_of_records(connection, reach, wanted, before, limit)

    @staticmethod
    def list_as_of(
        connection: Connection,
        reach: Scopes,
        moment: datetime,
        wanted: RecordFilter,
        *,
        limit: int,
        before: int | None = None,
    ) -> list[Record]:
        """List the memories that were live at a moment, as they were worded then, the newest first.

        wanted: of what they were then, whose statuses count for nothing. before: only numbers below.
        """
        from kenobot.cognitive.control.history import list_alive_at

        return list_alive_at(connection, reach, moment, wanted, limit, before)

    @staticmethod
    def count_facets(connection: Connection, reach: Scopes) -> Facets:
        """Count the live memories by form, category, source and subject."""
        return Facets(*records.count_values(connection, ("form", "category", "source", "subject"), reach, _FACETS))

    @staticmethod
    def count_subjects(connection: Connection, reach: Scopes) -> dict[str, int]:
        """Count the live memories by whom or what they are about."""
        return records.count_values(connection, ("subject",), reach, _FACETS)[0]

    @staticmethod
    def count_by_form(connection: Connection, reach: Scopes, *, told_only: bool = False) -> dict[str, int]:
        """Count the live memories by form. told_only: see `list_records`."""
        return records.live_counts_by_form(connection, reach, without_key=_talk(told_only))

    list_told_by = staticmethod(records.newest_from_messages)
    """Return which of the newest `among` memories of a scope are made of these turns, by number."""

    list_newest_about = staticmethod(records.list_newest_about)
    """List the newest live facts of a scope about a subject, at most so many, in the order they came."""

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

    last_number = staticmethod(records.last_record)
    """Return the number of the newest memory."""

    @staticmethod
    def list_links(connection: Connection, number: int, reach: Scopes, limit: int) -> "list[Link]":
        """List the links of a memory."""
        from kenobot.cognitive.store.links import links_around

        return links_around(connection, number, reach, limit)


class History:
    """List what happened to memories, and find the decisions that an undo takes back."""

    @staticmethod
    def list_steps(connection: Connection, number: int, reach: Scopes) -> "list[HistoryStep]":
        """List what happened to a memory, the newest first."""
        from kenobot.cognitive.control.history import history

        return history(connection, number, reach)

    @staticmethod
    def list_confidence(connection: Connection, number: int, reach: Scopes) -> "list[ConfidencePoint]":
        """List how sure a memory was, from its making on, the oldest first."""
        from kenobot.cognitive.control.history import list_confidence

        return list_confidence(connection, number, reach)

    @staticmethod
    def count_by_period(
        connection: Connection, reach: Scopes, days: "Days", by: "Period", *, subject: str = ""
    ) -> "list[TimelinePeriod]":
        """Count what happened to memories by period, the newest first, without periods in which nothing did."""
        from kenobot.cognitive.control.timeline import count_by_period

        return count_by_period(connection, reach, days, by, subject=subject)

    @staticmethod
    def list_happenings(
        connection: Connection,
        reach: Scopes,
        days: "Days",
        kinds: "Sequence[Happening]" = (),
        *,
        before: int,
        limit: int,
        subject: str = "",
    ) -> "list[TimelineItem]":
        """List what happened to memories in some days, the newest first. before: only events with numbers below."""
        from kenobot.cognitive.control.timeline import list_happenings

        return list_happenings(connection, reach, days, kinds, before=before, limit=limit, subject=subject)

    get_event = staticmethod(events.get_event)
    """Return an event by its number."""

    list_events = staticmethod(events.record_events)
    """List what happened to a memory, the oldest first, as it is stored."""

    list_decision = staticmethod(events.decision_events)
    """List the events of a decision, its own among them."""

    last_decision = staticmethod(events.last_decision_on)
    """Return the event of the last decision about a memory: what an undo takes back."""

    @staticmethod
    def list_rivals(connection: Connection, record: int, reach: Scopes) -> list[Record]:
        """List the live memories that may have replaced one: its owner was asked, and has not denied it."""
        from kenobot.cognitive.control.rivals import list_rivals

        return list_rivals(connection, record, reach)

    @staticmethod
    def list_asked(connection: Connection, record: int) -> set[int]:
        """List the memories of any status that may have replaced one: asked about, and not denied."""
        from kenobot.cognitive.control.rivals import list_asked

        return list_asked(connection, record)

    @staticmethod
    def list_denied(connection: Connection, record: int) -> set[int]:
        """List the memories of which the person said that they hold beside one."""
        from kenobot.cognitive.control.rivals import list_denied

        return list_denied(connection, record)

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
    def select_undoable(connection: Connection, events: Iterable[int], reach: Scopes) -> frozenset[int]:
        """Select the events whose decisions an undo would put back as things are."""
        from kenobot.cognitive.control.undo import can_undo

        return frozenset(event for event in dict.fromkeys(events) if can_undo(connection, event, reach))

    @staticmethod
    def is_only_of(connection: Connection, event: int, author: str, reach: Scopes) -> bool:
        """Return whether a decision changed nothing but the words of an account."""
        from kenobot.cognitive.control.undo import changes_only_words_of

        return changes_only_words_of(connection, event, author, reach)

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
    def explain_reply_to(connection: Connection, turn: int, reach: Scopes) -> "ReplyExplanation | None":
        """Return the reply to an inbox row, and the memories that it was shown; None without one in reach."""
        from kenobot.cognitive.control.history import explain_reply_to

        return explain_reply_to(connection, turn, reach)

    @staticmethod
    def list_turn_changes(connection: Connection, session: str, turn: int, reach: Scopes) -> "list[TimelineItem]":
        """List what a message and the reply to it did to memory, in order."""
        from kenobot.cognitive.control.turn_changes import list_turn_changes

        return list_turn_changes(connection, session, turn, reach)

    @staticmethod
    def split_used(reply: "ReplyExplanation") -> "tuple[tuple[UsedMemory, ...], tuple[UsedMemory, ...]]":
        """Split the memories of a reply into those behind it and those that were only in view."""
        from kenobot.cognitive.control.history import split_used

        return split_used(reply)

    @staticmethod
    def is_said_only_by(connection: Connection, record: Record, author: str) -> bool:
        """Return whether nobody but an account told a memory."""
        from kenobot.cognitive.control.forget import is_said_only_by

        return is_said_only_by(connection, record, author)
