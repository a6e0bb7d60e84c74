"""An entry of an agenda or of a log: a reminder, a memory of a day, or what somebody said."""

from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.store.records import Record

EntryKind = Literal["reminder", "memory", "message"]
Mark = Literal["done", "told", "paused", "confided", "of_others"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry. day: YYYY-MM-DD where its person is, "" for none. time: HH:MM, "" where unknown.

    rule: of a reminder that comes again, in words. record: the memory that it is.
    """

    kind: EntryKind
    text: str
    day: str = ""
    time: str = ""
    marks: tuple[Mark, ...] = ()
    rule: str = ""
    record: Record | None = None


def in_order(entries: list[Entry]) -> list[Entry]:
    """Sort entries by day and time; those without a time come first on their day, those without a day last."""
    return sorted(entries, key=lambda each: (not each.day, each.day, each.time))
