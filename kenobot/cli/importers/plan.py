"""What an import would do: per file what is asked of memory, and what is left alone and why. Nothing is done yet."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.cli.importers.folder import Text, Unread
from kenobot.ports.memory import Candidate
from kenobot.ports.provider import Role

Origin = Literal["kenobot-js", "openclaw", "nanobot"]
MOST_ITEMS = 50_000


@dataclass(frozen=True, slots=True)
class About:
    """What a reader has to know of the home that takes things in. own: sessions in which the owner talks alone."""

    now: datetime
    zone: ZoneInfo
    own: frozenset[str] = frozenset()

    def moment(self, day: date, at: time = time(0), zone: ZoneInfo | None = None) -> datetime | None:
        """A time of day in `zone` (the owner's own, unless given) in UTC; None when it is still to come."""
        try:
            said = datetime.combine(day, at, tzinfo=zone or self.zone).astimezone(UTC)
        except OverflowError:
            return None
        return said if said <= self.now else None


@dataclass(frozen=True, slots=True)
class Item:
    """Something that asks to be remembered, and when it was said; None where nothing tells."""

    candidate: Candidate
    told: datetime | None


@dataclass(frozen=True, slots=True)
class Said:
    """A message of an old conversation."""

    role: Role
    text: str
    at: datetime


@dataclass(slots=True)
class Sheet:
    """One file. kind: what it is, in words. session: whose conversation `said` is. skipped: reasons and how often."""

    path: str
    kind: str
    items: list[Item] = field(default_factory=list)
    session: str = ""
    said: list[Said] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A file that belongs to people and is not taken in: what a person may want to do with it."""

    path: str
    advice: str


@dataclass(slots=True)
class Plan:
    """Everything that one folder holds, for `take_in`."""

    origin: Origin
    sheets: list[Sheet] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)

    def open(self, found: Text | Unread | None, kind: str) -> Sheet | None:
        """The sheet of a file that was found, noted in the plan; None when there is nothing in it to read."""
        if found is None:
            return None
        sheet = Sheet(found.path, kind)
        self.sheets.append(sheet)
        if isinstance(found, Unread):
            sheet.skipped[found.why] += 1
            return None
        sheet.note = found.note
        return sheet

    def leave(self, path: str, kind: str, why: str) -> None:
        """Note a file that is left alone."""
        self.sheets.append(Sheet(path, kind, skipped=Counter({why: 1})))

    def bounded(self) -> None:
        """Keep the first `MOST_ITEMS` items, and say of the rest that they were too many."""
        left = MOST_ITEMS
        for sheet in self.sheets:
            if len(sheet.items) > left:
                sheet.skipped[f"more than {MOST_ITEMS} memories in one import"] += len(sheet.items) - left
                del sheet.items[left:]
            left -= len(sheet.items)

    def items(self) -> Iterator[tuple[Sheet, Item]]:
        """All that asks to be remembered, in the order in which it was said, so that what is newer comes later."""
        everything = [(sheet, item) for sheet in self.sheets for item in sheet.items]
        return iter(sorted(everything, key=lambda pair: pair[1].told or _LATEST))


_LATEST = datetime.max.replace(tzinfo=UTC)
