"""An entry of an agenda or of a log: a reminder, a memory of a day, or what somebody said."""

from typing import Literal

from kenobot.agenda.job import Job
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record

EntryKind = Literal["reminder", "memory", "message"]
Mark = Literal["done", "maybe_over", "confided", "of_others"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry. day: YYYY-MM-DD where its person is, "" for none. time: HH:MM, "" where unknown.

    record, job: the memory, or the reminder, that it is.
    """

    kind: EntryKind
    text: str
    day: str = ""
    time: str = ""
    marks: tuple[Mark, ...] = ()
    record: Record | None = None
    job: Job | None = None

    @property
    def scope(self) -> str:
        """Return whose it is; "" where that is not known."""
        held = self.job or self.record
        return held.scope if held is not None else ""


def in_order(entries: list[Entry]) -> list[Entry]:
    """Sort entries by day and time; those without a time come first on their day, those without a day last."""
    return sorted(entries, key=lambda each: (not each.day, each.day, each.time))
