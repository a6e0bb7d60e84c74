"""Memories with a day: what is planned, what is overdue, and whether it was done."""

from datetime import datetime

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events
from kenobot.cognitive.store.change import change
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection


class Promises:
    """Find the memories that have a day, and note what became of them; inside a transaction of the caller."""

    list_planned = staticmethod(recall_rows.list_planned)
    """List what is planned for the days from `first` to `last`. undated: what has no day as well."""

    list_overdue = staticmethod(recall_rows.list_overdue)
    """List what was due before a day."""

    list_told = staticmethod(recall_rows.list_occurrences_between)
    """List the memories that were told from a day to another."""

    list_naming = staticmethod(recall_rows.naming_number)
    """List the memories whose text names a day of the month, told after a day."""

    due_on = staticmethod(lifecycle.due_on)
    """Return the day on which a memory is due."""

    find_resolution_day = staticmethod(lifecycle.find_resolution_day)
    """Return the day on which what was due was done; None while it is open."""

    @staticmethod
    def resolve(connection: Connection, record: Record, day: str, occasion: AdmitContext, reason: str) -> int:
        """Note the day on which it was done; return the event that an undo takes back."""
        values = {"attributes": lifecycle.note_resolved(record, day)}
        return change(connection, record, "resolved", values, occasion.change_context(reason))

    @staticmethod
    def note(connection: Connection, record: Record, kind: str, at: datetime, actor: str, session: str) -> None:
        """Note an event about a promise, such as that its person was asked."""
        events.add_event(connection, at, actor, kind, session=session, record=record.id)
