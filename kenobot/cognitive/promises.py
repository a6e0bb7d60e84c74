"""Memories with a day: what is planned, what is overdue, and whether it was done."""

from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events
from kenobot.cognitive.store.change import change
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes


class Promises:
    """Find the memories that have a day, and note what became of them; inside a transaction of the caller."""

    @staticmethod
    def list_planned(
        connection: Connection, first: str, last: str, reach: Scopes, *, undated: bool = False
    ) -> list[Record]:
        """List what is planned for the days from `first` to `last`. undated: what has no day as well."""
        return recall_rows.planned(connection, first, last, reach, undated=undated)

    @staticmethod
    def list_overdue(connection: Connection, before: str, reach: Scopes) -> list[Record]:
        """List what was due before a day."""
        return recall_rows.overdue(connection, before, reach)

    @staticmethod
    def list_told(connection: Connection, first: str, last: str, reach: Scopes, *, limit: int) -> Sequence[Record]:
        """List the memories that were told from a day to another."""
        return recall_rows.list_occurrences_between(connection, first, last, reach, limit=limit)

    @staticmethod
    def list_naming(connection: Connection, number: int, *, after: str, reach: Scopes, limit: int) -> Sequence[Record]:
        """List the memories whose text names a day of the month, told after a day."""
        return recall_rows.naming_number(connection, number, after=after, reach=reach, limit=limit)

    @staticmethod
    def due_on(record: Record) -> date | None:
        """Return the day on which a memory is due."""
        return lifecycle.due_on(record)

    @staticmethod
    def resolved_on(record: Record, today: date, zone: ZoneInfo) -> date | None:
        """Return the day on which what was due was done; None while it is open."""
        return lifecycle.resolved_on(record, today, zone)

    @staticmethod
    def resolve(connection: Connection, record: Record, day: str, occasion: AdmitContext, reason: str) -> int:
        """Note the day on which it was done; return the event that an undo takes back."""
        values = {"attributes": lifecycle.note_resolved(record, day)}
        return change(connection, record, "resolved", values, occasion.change_context(reason))

    @staticmethod
    def note(connection: Connection, record: Record, kind: str, at: datetime, actor: str, session: str) -> None:
        """Note an event about a promise, such as that its person was asked."""
        events.add_event(connection, at, actor, kind, session=session, record=record.id)
