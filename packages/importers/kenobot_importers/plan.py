"""Plan an import: per file what is asked of memory, and what is left alone and why. Nothing is done yet."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.ports.memory import Candidate
from kenobot.ports.provider import Role
from kenobot_importers import markdown
from kenobot_importers.folder import SourceFolder
from kenobot_importers.markdown import MarkdownFact
from kenobot_importers.talk import TalkFormat, TalkRecord, TalkSummary

Origin = Literal[
    "files",
    "notes",
    "whatsapp",
    "telegram",
    "chatgpt",
    "claude",
    "hermes",
    "letta",
    "openclaw",
    "nanobot",
    "kenobot-js",
]
_MOST_ITEMS = 50_000


@dataclass(frozen=True, slots=True)
class ImportContext:
    """Home that an import reads into.

    owner_sessions: sessions in which the owner talks alone. owner_names: folded names of the owner as a speaker.
    day_first: see `talk.TalkOptions`.
    """

    now: datetime
    zone: ZoneInfo
    owner_sessions: frozenset[str] = frozenset()
    owner_names: frozenset[str] = frozenset()
    day_first: bool | None = None

    def utc_moment(self, day: date, at: time = time(0), zone: ZoneInfo | None = None) -> datetime | None:
        """Return a time of day in `zone` (the owner's own, unless given) in UTC; None when it is still to come."""
        try:
            said = datetime.combine(day, at, tzinfo=zone or self.zone).astimezone(UTC)
        except OverflowError:
            return None
        return said if said <= self.now else None


@dataclass(frozen=True, slots=True)
class ImportItem:
    """Something that asks to be remembered, and when it was said."""

    candidate: Candidate
    said_at: datetime


@dataclass(frozen=True, slots=True)
class TalkSource:
    """Talk in a file, and what it holds. read: from its beginning; raises OSError."""

    form: TalkFormat
    summary: TalkSummary
    read: Callable[[], Iterator[TalkRecord]]


@dataclass(slots=True)
class FilePlan:
    """One file.

    kind: what it is, in words.
    modified: its last change, never in the future.
    session: whose conversation `messages` is, each with its role and time.
    origin: what it is of, where the files of a folder differ.
    talk: what was said elsewhere, for conversations of its own.
    skipped: reasons and how often.
    lines: its lines or messages by kind, each once; nothing where they are not counted. unclear: those of which nothing
    was made, by number.
    """

    path: str
    kind: str
    modified: datetime
    text: str = ""
    note: str = ""
    items: list[ImportItem] = field(default_factory=list)
    session: str = ""
    messages: list[tuple[Role, str, datetime]] = field(default_factory=list)
    origin: str = ""
    talk: TalkSource | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    unclear: list[tuple[int, str]] = field(default_factory=list)

    def add(self, candidate: Candidate, said_at: datetime | None = None) -> None:
        """Add an item; without a time it is of the file's last change."""
        self.items.append(ImportItem(candidate, said_at or self.modified))

    def markdown_facts(self, text: str, *, choices: bool = False, bare: bool = False) -> list[MarkdownFact]:
        """Return the facts of a Markdown text of the file. choices, bare: as `markdown.read` has them."""
        facts, unfilled = markdown.read(text, choices=choices, bare=bare)
        if unfilled:
            self.skipped["template text that nobody filled in"] += unfilled
        return facts


@dataclass(slots=True)
class ImportPlan:
    """Everything that one folder holds, for `apply_plan`.

    manual_files: by path, what a person may want to do with a file that belongs to people and is not taken in.
    source: what tells where it comes from, for an import that goes on after a stop.
    """

    origin: Origin
    folder: SourceFolder
    about: ImportContext
    files: list[FilePlan] = field(default_factory=list)
    manual_files: dict[str, str] = field(default_factory=dict)
    source: str = ""

    def open(self, path: str, kind: str) -> FilePlan | None:
        """Read a file and note it in the plan; None when there is nothing in it to read."""
        source = self.folder.read(path)
        if source is None:
            return None
        if source.text is None:
            self.skip_file(path, kind, source.note)
            return None
        sheet = FilePlan(path, kind, min(source.modified, self.about.now), source.text, source.note)
        self.files.append(sheet)
        return sheet

    def skip_file(self, path: str, kind: str, why: str) -> None:
        """Note a file that is left alone."""
        self.files.append(FilePlan(path, kind, self.about.now, skipped=Counter({why: 1})))

    @property
    def size(self) -> int:
        """Count the memories and messages that ask to be taken in."""
        return sum(len(sheet.items) + (sheet.talk.summary.messages if sheet.talk else 0) for sheet in self.files)

    def limit_items(self) -> None:
        """Keep the first `_MOST_ITEMS` items, and say of the rest that they were too many."""
        left = _MOST_ITEMS
        for sheet in self.files:
            if len(sheet.items) > left:
                sheet.skipped[f"more than {_MOST_ITEMS} memories in one import"] += len(sheet.items) - left
                del sheet.items[left:]
            left -= len(sheet.items)

    def items(self) -> Iterator[tuple[FilePlan, ImportItem]]:
        """List all that asks to be remembered, in the order in which it was said, so that what is newer comes later."""
        everything = [(sheet, item) for sheet in self.files for item in sheet.items]
        return iter(sorted(everything, key=lambda pair: pair[1].said_at))
