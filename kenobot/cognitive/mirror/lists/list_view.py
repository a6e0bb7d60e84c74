"""Say what a list file should show: what is noted of it, and what has changed in memory since. Reads the database only.

The table of list files says what a file held when it was last written or read. A file that holds something else was
edited by a person, unless it is what it would be written as now.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror import paths
from kenobot.cognitive.mirror.file_sync import FileView
from kenobot.cognitive.mirror.paths import FileRole
from kenobot.cognitive.store import list_file_rows
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store import tiers as decay_store
from kenobot.language.calendar import local_day, local_time
from kenobot.language.fingerprint import key_of
from kenobot.language.line_pairs import FileLines
from kenobot.language.markdown import list_layout, memory_md
from kenobot.language.markdown.list_layout import FileBlock, ShownRecord
from kenobot.language.markdown.log_additions import split_log
from kenobot.language.quoting import quote_mark
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection

_SLEEP, _OWNER = "sleep", "owner"  # the actors of what sleep does, and of edits
_ON_A_PAGE = 500  # facts about one subject, the newest
Blocks = Sequence[FileBlock]
CURSOR = "mirror:event"  # state key: the last event whose records all stand in their files


@dataclass(slots=True)
class ListFile:
    """A list file as it was noted, inside a transaction. role: what it holds today.

    noted_ids: its blocks as they are stored, the number of a record or literal text.
    """

    connection: Connection
    path: str
    role: FileRole
    zone: ZoneInfo
    reach: tuple[str, ...] = field(init=False)
    noted_text: str | None = field(init=False)
    noted_ids: Sequence[str | int] = field(init=False)
    _blocks: list[FileBlock] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.reach = (self.role.scope,)
        row = list_file_rows.list_file(self.connection, self.path)
        self.noted_text, self.noted_ids = row if row else (None, ())

    @property
    def noted_blocks(self) -> list[FileBlock]:
        """The blocks that were noted; cutting a large file takes its time, so only where they are asked for."""
        if self._blocks is None:
            self._blocks = list_layout.decode_blocks(self.role.kind, self.noted_text or "", self.noted_ids)
        return self._blocks

    def view(self, found: str | None, *, is_watched: bool = False) -> FileView[Blocks]:
        """Say how the file should be, given that it holds `found` (None: is not there).

        is_watched: nothing but what is noted has been written there, so what differs is a person's edit, even if it is
        what would be written now.
        """
        blocks = self._arrange(self._inherit_log())
        text = list_layout.join_blocks(blocks)
        is_noted = self.noted_text == text and self.noted_blocks == blocks
        ours = (self.noted_text,) if is_watched else (text, self.noted_text)
        is_torn = not is_watched and found is not None and self._is_torn_append(found, text)
        return FileView(text, blocks, found is not None and found not in ours and not is_torn, is_noted)

    def _is_torn_append(self, found: str, text: str) -> bool:
        """Return whether a log holds what was noted and a part of what was being appended: nobody wrote that."""
        noted = self.noted_text
        return noted is not None and self.role.kind == "daily" and found.startswith(noted) and text.startswith(found)

    def lines(self, found: str) -> FileLines:
        """Read the lines of the file, as noted and as they stand in `found`."""
        kind = self.role.kind
        texts = (list_layout.fact_text(kind, block.raw) for block in self.noted_blocks)
        old = [(block.record, text) for block, text in zip(self.noted_blocks, texts, strict=True) if text is not None]
        noted = (block.raw for block in self.noted_blocks if block.record is not None)
        chunks = split_log(found, noted) if kind == "daily" else list_layout.split(kind, found)
        new = list_layout.fact_lines(kind, chunks)
        return FileLines(
            self.path,
            self.role.scope,
            old,
            [text for _, text in new],
            whole=kind == "slot",
            chunks=chunks,
            places=[at for at, _ in new],
            marked={
                block.record
                for block in self.noted_blocks
                if block.record is not None and list_layout.fact_mark(kind, block.raw) is not None
            },
        )

    def last_records(self) -> tuple[int, ...]:
        """Query the live records that belong into the file and stood there when it was last written or read."""
        numbers = [block.record for block in self.noted_blocks if block.record is not None]
        found = store.by_ids(self.connection, numbers, self.reach).values()
        return tuple(record.id for record in found if record.status == "active" and self.shows(record))

    def shows(self, record: Record) -> bool:
        """Tell whether a record belongs in this file."""
        return self.path in (paths.path_of(record), paths.entity_page_of(record))

    def subject(self, text: str) -> str:
        """Name whom or what an entity's page is about.

        A name that keeps only a part of the subject is looked up in the heading of the page's `text`, and then among
        the subjects there are.
        """
        name = self.role.detail
        if (subject := paths.subject_of(name)) is not None:
            return subject
        heading = text.partition("\n")[0].removeprefix("# ").strip()
        if paths.page_name(heading) == name:
            return heading
        subjects = store.subjects(self.connection, self.role.scope)
        return next((subject for subject in subjects if paths.page_name(subject) == name), name)

    def _inherit_log(self) -> list[FileBlock]:
        """Begin an archived log as it was in the hot tree, with its owner's own text."""
        role, noted = self.role, self.noted_blocks
        if not (role.archived and role.is_expired and role.kind == "daily") or role.stays_empty:
            return noted
        row = list_file_rows.list_file(self.connection, self.path.removeprefix(paths.ARCHIVE))
        if row is None or store.daily_records(self.connection, role.scope, role.detail):
            return noted  # it has left already, or not yet
        log = list_layout.decode_blocks(role.kind, *row)
        if not noted:
            return log
        text = list_layout.join_blocks(noted)
        own = [block for block in log if block.record is None and block.raw.strip() not in text]
        return list_layout.normalize_blocks(role.kind, [*own, *noted]) if own else noted

    def _own_records(self, text: str) -> list[Record]:
        """Query the live records that belong in the file, in the order they came. text: what stands in it."""
        connection, role = self.connection, self.role
        match role.kind:
            case "core":
                return decay_store.in_tier(connection, role.scope, decay_store.CORE)
            case "ref":
                return decay_store.in_tier(connection, role.scope, f"{decay_store.REF}{role.detail}")
            case "topic":
                return []  # what stands there has its home in the log of its day
            case _ if role.stays_empty:
                return []
            case "preferences":
                return store.preference_records(connection, role.scope)
            case "daily" if role.archived:
                return decay_store.list_archived_day(connection, role.scope, role.detail)
            case "daily":
                records = store.daily_records(connection, role.scope, role.detail)
                if role.scope != OWNER_SCOPE:  # only the owner has a preferences.md
                    preferences = store.preference_records(connection, role.scope)
                    records += [record for record in preferences if record.day == role.detail]
                return sorted(records, key=lambda record: record.id)
            case "slot":
                record = store.slot_record(connection, role.scope, paths.slot_form(role.detail), role.detail)
                archived = record is not None and (paths.path_of(record) or "").startswith(paths.ARCHIVE)
                return [record] if record is not None and archived == role.archived else []
            case "entity":
                return store.list_newest_about(connection, role.scope, self.subject(text), _ON_A_PAGE)

    def _arrange(self, blocks: list[FileBlock]) -> list[FileBlock]:
        """Arrange the file anew: `blocks` with what has changed in memory since."""
        kind, text, leaves = self.role.kind, list_layout.join_blocks(blocks), self._leaves()
        home = {record.id: record for record in self._own_records(text)}
        others = [block.record for block in blocks if block.record is not None and block.record not in home]
        records = store.by_ids(self.connection, others, self.reach)
        if kind == "preferences":
            blocks = [block for block in blocks if not self._is_left_over(block)]
        guests = {number: self.item(record) for number, record in records.items() if self._may_stay(record, leaves)}
        heirs: dict[int, int] = {}
        for number in others:
            ended = number in records and records[number].status != "active"
            heir = store.successor(self.connection, number, self.reach) if ended else None
            if heir is not None and kind == "topic":
                guests[heir.id] = self.item(heir)
            if heir is not None and (heir.id in home or heir.id in guests):
                heirs[number] = heir.id
        items = [self.item(record) for record in home.values()]
        if kind == "core":
            moved = decay_store.last_tier_movers(self.connection, home).items()
            nights = {n: local_day(datetime.fromisoformat(at), self.zone) for n, (by, at) in moved if by == _SLEEP}
            refs = decay_store.ref_file_counts(self.connection, self.role.scope)
            return memory_md.arrange_memory_md(blocks, items, guests, heirs, nights, refs)
        heading = self.role.detail if kind == "ref" else self.subject(text) if kind == "entity" else None
        header = "" if heading is None else f"# {heading}\n\n"
        arranged = list_layout.arrange(kind, blocks, items, guests, heirs, header)
        return [] if leaves and self._is_empty(arranged) else arranged

    def _is_left_over(self, block: FileBlock) -> bool:
        """Tell whether a learned line without a record says what memory has ended, as older versions left it there."""
        text = list_layout.fact_text("preferences", block.raw) if block.record is None else None
        return text is not None and bool(store.list_ended_with_key(self.connection, self.role.scope, key_of(text), 1))

    def _leaves(self) -> bool:
        """Tell whether the file's day is over, and the archive has the file where it is kept there."""
        role = self.role
        stays = role.keeps_archive and not role.archived
        archived = paths.ARCHIVE + self.path
        return role.is_expired and not (stays and list_file_rows.list_file(self.connection, archived) is None)

    def _may_stay(self, record: Record, leaves: bool) -> bool:
        """Tell whether a record that belongs elsewhere may go on standing where a person put it, or once stood."""
        if record.status != "active" or self.role.stays_empty:
            return False
        if self.role.kind in ("core", "ref"):  # what was moved has moved
            return False
        if self.role.kind != "daily":
            return True
        other_day = record.day != self.role.detail  # one of this day leaves the hot log for the archive, or comes back
        if self.role.archived:
            return other_day or record.tier != decay_store.DAILY
        return not leaves and (other_day or record.tier != decay_store.ARCHIVE)

    def _is_empty(self, blocks: Blocks) -> bool:
        """Tell whether no record stands in a log, and the archive has its owner's text."""
        if self.role.kind != "daily" or self.role.archived or any(block.record is not None for block in blocks):
            return False
        row = list_file_rows.list_file(self.connection, paths.ARCHIVE + self.path)
        text = row[0] if row else ""
        return not self.role.keeps_archive or all(block.raw.strip() in text for block in blocks)

    def item(self, record: Record) -> ShownRecord:
        """Return a record as the file shows it."""
        time = local_time(datetime.fromisoformat(record.created), self.zone)
        return ShownRecord(record.id, record.text, time, quote_mark(record.trust, record.scope, record.by))


def find_copies(connection: Connection, files: Iterable[FileLines]) -> dict[int, list[str]]:
    """Find the records of these files that their owner put into several, with the files.

    What memory shows twice by itself, such as a fact in its log that sleep has promoted or that its owner wrote into a
    topic file, is one line in two places.
    """
    numbers = {(record, file.scope) for file in files for record, _ in file.old if record is not None}
    found: dict[int, list[str]] = {}
    shared = list_file_rows.map_shared_records(connection, {record for record, _ in numbers})
    movers = decay_store.last_tier_movers(connection, shared)
    scopes = dict(numbers)
    for number, places in shared.items():
        record = store.get(connection, number, (scopes[number],))
        kinds = {path: role.kind for path in places if (role := paths.role_of(path)) is not None}
        lists = [path for path, kind in kinds.items() if kind != "entity"]
        if record is None or len(lists) < 2:
            continue
        topics = [path for path in lists if kinds[path] == "topic"]
        others = [path for path in lists if path not in topics]
        tiers = {record.tier, *decay_store.tiers_left_by_sleep(connection, number, 0)}
        shown = {paths.path_of(record._replace(tier=tier)) for tier in tiers}
        by_hand = movers.get(number, ("", ""))[0] == _OWNER and [kinds[path] for path in others] != ["daily"]
        if by_hand or len(topics) > 1 or not shown.issuperset(others):
            found[number] = lists
    return found


# ── a log that grows ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class TouchedRecords:
    """Records that events after `cursor` speak of, or that were to be written before and were not."""

    cursor: int
    ids: Collection[int]


@dataclass(frozen=True, slots=True)
class LogAppend:
    """Append to a log: the text and the records, as `list_layout.encode_blocks` has them."""

    text: str
    blocks: Sequence[str | int]


def plan_append(file: ListFile, touched: TouchedRecords) -> LogAppend | None:
    """Plan what to append to a log that is as it was noted; None where it has to be laid out anew.

    It grows only where the whole layout would give the same: nothing that stands in it has changed, and what is new
    comes after it.
    """
    noted = file.noted_text
    if noted is None or (noted and not noted.endswith("\n\n")) or file.role.stays_empty:
        return None
    standing = {block for block in file.noted_ids if isinstance(block, int)}
    found = store.by_ids(file.connection, [*touched.ids], file.reach)
    if any(number in standing and number not in found for number in touched.ids):
        return None
    new: list[Record] = []
    for record in found.values():
        if record.id not in standing:
            new += [record] if record.status == "active" and file.shows(record) else []
        elif record.changed_event > touched.cursor or record.status != "active" or not file.shows(record):
            return None
    items = [file.item(record) for record in sorted(new, key=lambda record: record.id)]
    chunks = [list_layout.render("daily", item) for item in items]
    literal = {list_layout.fact_text("daily", block) for block in _literals(file.noted_ids)} if items else set()
    text = "".join(chunks)
    if any(item.text.strip() in literal for item in items) or list_layout.split("daily", text) != chunks:
        return None
    return LogAppend(text, [*file.noted_ids, *(item.id for item in items)])


def _literals(blocks: Sequence[str | int]) -> Iterator[str]:
    return (block for block in blocks if isinstance(block, str))
