"""What an import would do: per file what is asked of memory, and what is left alone and why. Nothing is done yet."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.cli.importers.folder import SkippedFile, TextFile
from kenobot.ports.memory import Candidate
from kenobot.ports.provider import Role

Origin = Literal["kenobot-js", "openclaw", "nanobot"]
MOST_ITEMS = 50_000


@dataclass(frozen=True, slots=True)
class ImportContext:
    """What a reader has to know of the home that takes things in.

    owner_sessions: sessions in which the owner talks alone.
    """

    now: datetime
    zone: ZoneInfo
    owner_sessions: frozenset[str] = frozenset()

    def utc_moment(self, day: date, at: time = time(0), zone: ZoneInfo | None = None) -> datetime | None:
        """A time of day in `zone` (the owner's own, unless given) in UTC; None when it is still to come."""
        try:
            said = datetime.combine(day, at, tzinfo=zone or self.zone).astimezone(UTC)
        except OverflowError:
            return None
        return said if said <= self.now else None


@dataclass(frozen=True, slots=True)
class ImportItem:
    """Something that asks to be remembered, and when it was said; None where nothing tells."""

    candidate: Candidate
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message of an old conversation."""

    role: Role
    text: str
    at: datetime


@dataclass(slots=True)
class FilePlan:
    """One file. kind: what it is, in words. session: whose conversation `messages` is.

    skipped: reasons and how often.
    """

    path: str
    kind: str
    items: list[ImportItem] = field(default_factory=list)
    session: str = ""
    messages: list[ImportedMessage] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    note: str = ""


@dataclass(frozen=True, slots=True)
class ManualFile:
    """A file that belongs to people and is not taken in: what a person may want to do with it."""

    path: str
    advice: str


@dataclass(slots=True)
class ImportPlan:
    """Everything that one folder holds, for `take_in`."""

    origin: Origin
    files: list[FilePlan] = field(default_factory=list)
    manual_files: list[ManualFile] = field(default_factory=list)

    def add_file(self, found: TextFile | SkippedFile | None, kind: str) -> FilePlan | None:
        """The sheet of a file that was found, noted in the plan; None when there is nothing in it to read."""
        if found is None:
            return None
        sheet = FilePlan(found.path, kind)
        self.files.append(sheet)
        if isinstance(found, SkippedFile):
            sheet.skipped[found.why] += 1
            return None
        sheet.note = found.note
        return sheet

    def skip_file(self, path: str, kind: str, why: str) -> None:
        """Note a file that is left alone."""
        self.files.append(FilePlan(path, kind, skipped=Counter({why: 1})))

    def limit_items(self) -> None:
        """Keep the first `MOST_ITEMS` items, and say of the rest that they were too many."""
        left = MOST_ITEMS
        for sheet in self.files:
            if len(sheet.items) > left:
                sheet.skipped[f"more than {MOST_ITEMS} memories in one import"] += len(sheet.items) - left
                del sheet.items[left:]
            left -= len(sheet.items)

    def items(self) -> Iterator[tuple[FilePlan, ImportItem]]:
        """All that asks to be remembered, in the order in which it was said, so that what is newer comes later."""
        everything = [(sheet, item) for sheet in self.files for item in sheet.items]
        return iter(sorted(everything, key=lambda pair: pair[1].said_at or _LATEST))


_LATEST = datetime.max.replace(tzinfo=UTC)
