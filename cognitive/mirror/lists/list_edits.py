"""Say what a list file should show, and let memory follow a person's edit of it. Runs inside a transaction.

The table of list files says what a file held when it was last written or read. A file that holds something else, and
not what it would be written as now, was edited: a new line is the owner's word, a changed one takes the old one's
place, a missing one is forgotten. What memory refuses stays in the file, as the person's own text.
"""

import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.control import missing_files, revived_lines
from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.control.revived_lines import RevivedLine
from kenobot.cognitive.mirror import paths
from kenobot.cognitive.mirror.file_sync import FileView
from kenobot.cognitive.mirror.lists import list_layout, memory_md
from kenobot.cognitive.mirror.lists.line_pairs import FileLines, LineEdits
from kenobot.cognitive.mirror.lists.list_layout import FileBlock, ShownRecord
from kenobot.cognitive.mirror.paths import FileRole
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, list_file_rows
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store import tiers as decay_store
from kenobot.cognitive.store.change import ColumnValue, change, tombstone_time
from kenobot.cognitive.text.calendar import local_day, local_time
from kenobot.cognitive.text.fingerprint import key_of
from kenobot.cognitive.text.quoting import QuoteMark, quote_mark
from kenobot.ports.identity import OWNER_SCOPE, QUOTED_TRUST
from kenobot.ports.memory import Candidate, Form
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

_CATEGORIES = {"preferences": "preference", "week": "week", "session": "session"}
_SLEEP, _OWNER = "sleep", "owner"  # the actors of what sleep does, and of edits
_LINES = ("note", "episode")  # forms of what is one line among others
_ERASED = 0  # stands for the record of a line that says what was erased: it goes
_ON_A_PAGE = 500  # facts about one subject, the newest
Blocks = Sequence[FileBlock]
CURSOR = "mirror:event"  # state key: the last event whose records all stand in their files


@dataclass(slots=True)
class ListFile:
    """A list file as it was noted, inside a transaction. role: what it holds today."""

    connection: Connection
    path: str
    role: FileRole
    zone: ZoneInfo
    reach: tuple[str, ...] = field(init=False)
    noted_text: str | None = field(init=False)
    _noted: Sequence[str | int] = field(init=False)
    _blocks: list[FileBlock] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.reach = (self.role.scope,)
        row = list_file_rows.list_file(self.connection, self.path)
        self.noted_text, self._noted = row if row else (None, ())

    @property
    def noted_blocks(self) -> list[FileBlock]:
        """The blocks that were noted; cutting a large file takes its time, so only where they are asked for."""
        if self._blocks is None:
            self._blocks = list_layout.decode_blocks(self.role.kind, self.noted_text or "", self._noted)
        return self._blocks

    def view(self, found: str | None, *, is_watched: bool = False) -> FileView[Blocks]:
        """Say how the file should be, given that it holds `found` (None: is not there).

        is_watched: nothing but what is noted has been written there, so what differs is a person's edit, even if it is
        what would be written now.
        """
        blocks = self._arranged(self._inherited())
        text = list_layout.join_blocks(blocks)
        is_noted = self.noted_text == text and self.noted_blocks == blocks
        ours = (self.noted_text,) if is_watched else (text, self.noted_text)
        return FileView(text, blocks, found is not None and found not in ours, is_noted)

    def lines(self, found: str) -> FileLines:
        """Read the lines of the file, as noted and as they stand in `found`."""
        kind = self.role.kind
        texts = (list_layout.fact_text(kind, block.raw) for block in self.noted_blocks)
        old = [(block.record, text) for block, text in zip(self.noted_blocks, texts, strict=True) if text is not None]
        chunks = list_layout.split(kind, found)
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

    def shows(self, record: store.Record) -> bool:
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

    def _inherited(self) -> list[FileBlock]:
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

    def _own_records(self, text: str) -> list[store.Record]:
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
                return decay_store.archived_day_records(connection, role.scope, role.detail)
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
                return store.newest_about(connection, role.scope, self.subject(text), _ON_A_PAGE)

    def _arranged(self, blocks: list[FileBlock]) -> list[FileBlock]:
        """Arrange the file anew: `blocks` with what has changed in memory since."""
        kind, text, leaves = self.role.kind, list_layout.join_blocks(blocks), self._leaves()
        home = {record.id: record for record in self._own_records(text)}
        others = [block.record for block in blocks if block.record is not None and block.record not in home]
        records = store.by_ids(self.connection, others, self.reach)
        if kind == "preferences":  # only added to, but for what its owner wants forgotten or erased
            kept = {number for number, record in records.items() if record.status != "forgotten"}
            blocks = [block for block in blocks if block.record not in others or block.record in kept]
        guests = {number: self._item(record) for number, record in records.items() if self._may_stay(record, leaves)}
        heirs: dict[int, int] = {}
        for number in others:
            ended = number in records and records[number].status != "active"
            heir = store.successor(self.connection, number, self.reach) if ended else None
            if heir is not None and kind == "topic":
                guests[heir.id] = self._item(heir)
            if heir is not None and (heir.id in home or heir.id in guests):
                heirs[number] = heir.id
        items = [self._item(record) for record in home.values()]
        if kind == "core":
            moved = decay_store.last_tier_movers(self.connection, home).items()
            nights = {n: local_day(datetime.fromisoformat(at), self.zone) for n, (by, at) in moved if by == _SLEEP}
            refs = decay_store.ref_file_counts(self.connection, self.role.scope)
            return memory_md.arrange_memory_md(blocks, items, guests, heirs, nights, refs)
        heading = self.role.detail if kind == "ref" else self.subject(text) if kind == "entity" else None
        header = "" if heading is None else f"# {heading}\n\n"
        arranged = list_layout.arrange(kind, blocks, items, guests, heirs, header)
        return [] if leaves and self._is_empty(arranged) else arranged

    def _leaves(self) -> bool:
        """Tell whether the file's day is over, and the archive has the file where it is kept there."""
        role = self.role
        stays = role.keeps_archive and not role.archived
        archived = paths.ARCHIVE + self.path
        return role.is_expired and not (stays and list_file_rows.list_file(self.connection, archived) is None)

    def _may_stay(self, record: store.Record, leaves: bool) -> bool:
        """Tell whether a record that belongs elsewhere may go on standing where a person put it, or once stood."""
        if record.status != "active" or self.role.stays_empty:
            return False
        if self.role.kind in ("core", "ref"):  # what was moved has moved
            return False
        if self.role.kind != "daily":
            return True
        if self.role.archived:
            return record.tier != decay_store.DAILY
        return not leaves and record.tier != decay_store.ARCHIVE

    def _is_empty(self, blocks: Blocks) -> bool:
        """Tell whether no record stands in a log, and the archive has its owner's text."""
        if self.role.kind != "daily" or self.role.archived or any(block.record is not None for block in blocks):
            return False
        row = list_file_rows.list_file(self.connection, paths.ARCHIVE + self.path)
        text = row[0] if row else ""
        return not self.role.keeps_archive or all(block.raw.strip() in text for block in blocks)

    def _item(self, record: store.Record) -> ShownRecord:
        time = local_time(datetime.fromisoformat(record.created), self.zone)
        return ShownRecord(record.id, record.text, time, quote_mark(record.trust, record.scope, record.by))


def find_copies(connection: Connection, files: Iterable[FileLines]) -> dict[int, list[str]]:
    """Find the records of these files that their owner put into several, with the files.

    What memory shows twice by itself, such as a fact in its log that sleep has promoted, is one line in two places.
    """
    numbers = {(record, file.scope) for file in files for record, _ in file.old if record is not None}
    found: dict[int, list[str]] = {}
    shared = list_file_rows.shared_records(connection, {record for record, _ in numbers})
    movers = decay_store.last_tier_movers(connection, shared)
    scopes = dict(numbers)
    for number, places in shared.items():
        record = store.get(connection, number, (scopes[number],))
        lists = [path for path in places if (role := paths.role_of(path)) is not None and role.kind != "entity"]
        if record is None or len(lists) < 2:
            continue
        tiers = {record.tier, *decay_store.tiers_left_by_sleep(connection, number, 0)}
        shown = {paths.path_of(record._replace(tier=tier)) for tier in tiers}
        if movers.get(number, ("", ""))[0] == _OWNER or not shown.issuperset(lists):
            found[number] = lists
    return found


class ListFileEdit(ListFile):
    """One person's edit of a list file, which `apply` lets memory follow.

    edits: what became of its lines. spared: records that nothing in this edit ends, because their owner has just
    written or left them elsewhere; those that this edit touches are added.
    """

    def __init__(
        self,
        connection: Connection,
        path: str,
        role: FileRole,
        zone: ZoneInfo,
        context: AdmitContext,
        edits: LineEdits,
        spared: set[int],
    ) -> None:
        super().__init__(connection, path, role, zone)
        self._context = replace(context, spared=spared)
        self._edits = edits
        self._spared = spared
        self._subject = ""  # of an entity's page
        # bounded: the lines of one file; turn
        self._forgotten: list[int] = []  # events of what was taken out

    def apply(self, found: str, lines: FileLines) -> Generator[None, None, int]:
        """Let memory follow the edit that left `found`, cut into `lines`, in the file; how many facts it touched.

        A transaction may end at each yield. What is noted of the file is brought up to `found` in the last one, so that
        an edit that was broken off is found again: what was taken in of it stands there as known.
        """
        if found == self.noted_text:
            return 0
        blocks = yield from self._follow(found, lines)
        connection, context = self.connection, self._context
        if len(self._forgotten) >= context.policy.files.announce_from:
            first, count = self._forgotten[0], len(self._forgotten)
            missing_files.record_mass_forget(connection, context.at, self.path, count, first)
        if self.role.kind == "core":  # its headings and prose are shown too, and they are no records
            event = events.add_event(connection, context.at, context.actor, "edited", data={"path": self.path})
            write_state(connection, f"edited:{self.role.scope}", str(event))
        list_file_rows.save_list_file(connection, self.path, found, list_layout.encode_blocks(blocks))
        return self._edits.touched

    def _follow(self, found: str, lines: FileLines) -> Generator[None, None, list[FileBlock]]:
        """Let memory follow every line; what stands where then."""
        if self.role.kind == "entity":
            self._subject = self.subject(found)
        chunks = lines.chunks
        standing: dict[int, int | None] = {}
        self._spared.update(self._edits.left)
        for line, (at, text) in enumerate(zip(lines.places, lines.new, strict=True)):
            how, was = self._edits.origins.get(line, ("added", None))
            mark = list_layout.fact_mark(self.role.kind, chunks[at])
            if how == "kept":
                standing[at] = was
                if was is not None and was in lines.marked and mark is None:
                    self._vouched(was)
                continue
            if how == "moved" and was is not None:
                standing[at] = self._moved(was)
            elif how in ("changed", "rewritten") and was is not None:
                standing[at] = self._changed(was, text, mark, stays=how == "changed")
            else:
                standing[at] = self._added(text, mark, list_layout.entry_time(chunks[at]))
            self._spared.update(record for record in (standing[at],) if record is not None)
            yield
        here = set(standing.values())
        for record in self._edits.removed:
            if record not in here:
                self._removed(record)
                yield
        for record, path in self._edits.left.items():
            self._left(record, path)
            yield
        return [FileBlock(chunk, standing.get(at)) for at, chunk in enumerate(chunks)]

    def _candidate(self, text: str, mark: QuoteMark | None = None) -> Candidate:
        """Propose a line: the owner's word, but for what its mark says others wrote."""
        role = self.role
        form: Form = "note"
        if role.kind == "slot":
            form = paths.slot_form(role.detail)
        elif role.kind in ("daily", "topic") and role.scope.startswith("chat:"):
            form = "episode"
        return Candidate(
            form=form,
            scope=role.scope,
            text=text,
            subject=self._subject,
            category=_CATEGORIES.get(role.detail.partition(":")[0] if role.kind == "slot" else role.kind, "fact"),
            source="edit",
            trust="owner" if mark is None else mark.trust,
            slot=role.detail if role.kind == "slot" else "",
            tier="core" if role.kind == "core" else "daily",
        )

    def _added(self, text: str, mark: QuoteMark | None, time: str | None = None) -> int | None:
        """Find or make the record that says `text`; None when memory refuses it."""
        candidate = self._candidate(text, mark)
        known = None if candidate.slot else self._known(text)
        if known is None:
            context = self._context if mark is None else replace(self._context, speaker_name=mark.by)
            context = replace(context, said_at=self._moment(time)) if time else context
            record = self._our_own(text) or self._revived(text)
            if record is None:
                record = admit(self.connection, candidate, context).record
            self._file(record)
            return record
        return self._known_here(known, candidate)

    def _revived(self, text: str) -> int | None:
        """Find what was forgotten or erased and stands here again; None: there is no such thing.

        Cut from another file a while ago, it has moved. Else its owner is asked, and the line goes for now.
        """
        if self.role.kind == "slot":
            return None
        key, scope = key_of(text), self.role.scope
        ended = next((r for r in store.ended_with_key(self.connection, scope, key, 1) if r.form in _LINES), None)
        if ended is None or ended.status != "forgotten":
            if tombstone_time(self.connection, scope, key) is None:
                return None
            revived_lines.hold_line(self.connection, self._context.at, self.path, RevivedLine(scope, 0, text))
            return _ERASED
        if self._was_cut(ended) and revived_lines.restore(self.connection, ended, self._context):
            return self._moved(ended.id)
        revived_lines.hold_line(self.connection, self._context.at, self.path, RevivedLine(scope, ended.id))
        return ended.id

    def _was_cut(self, record: store.Record) -> bool:
        """Tell whether a record was forgotten because its line was taken out of another file, lately."""
        last = events.last_of_kind(self.connection, record.id, "forgotten")
        if last is None or last.data.get("path") in (None, self.path):
            return False
        return self._context.at - datetime.fromisoformat(last.at) <= self._context.policy.files.cut_within

    def _known_here(self, known: store.Record, candidate: Candidate) -> int:
        """Let what is known stand here as well, by its owner's word; what others said stays what others said."""
        if self.shows(known):
            return known.id  # a line written twice, or our own that a crash kept us from noting down
        form: Form = "episode" if known.form == "episode" else "note"
        said = quote_mark(known.trust, known.scope, known.by)
        trust = candidate.trust if said is None else said.trust
        admit(self.connection, replace(candidate, form=form, trust=trust), self._context)
        self._file(known.id)
        if candidate.subject and known.subject != candidate.subject:
            self._put(known, "edited", {"subject": candidate.subject})
        return known.id

    def _moved(self, record: int) -> int:
        """Let a record belong here from now on, instead of where its line stood before."""
        known = store.get(self.connection, record, self.reach)
        if known is not None and known.status == "active":  # what the bot forgot meanwhile stays forgotten
            self._known_here(known, self._candidate(known.text))
            self._settle(record, self.role)
        return record

    def _vouched(self, record: int) -> None:
        """Take what others said for the owner's own word: its mark was taken off."""
        known = store.get(self.connection, record, self.reach)
        if known is not None and known.status == "active":
            form: Form = "episode" if known.form == "episode" else "note"
            vouched = replace(self._candidate(known.text), form=form, subject=known.subject)
            admit(self.connection, vouched, self._context)

    def _left(self, record: int, path: str) -> None:
        """Let a record that went from here belong where it still stands, by its owner's hand."""
        known, place = store.get(self.connection, record, self.reach), paths.role_of(path)
        if known is not None and known.status == "active" and place is not None and self.shows(known):
            self._settle(record, place)

    def _settle(self, record: int, place: FileRole) -> None:
        """Give a record the tier, day and category by which it stands in a file; on a page it is only shown."""
        known = store.require(self.connection, record, self.role.scope)
        values: dict[str, ColumnValue] = {}
        kind = "topic" if place.kind == "preferences" and known.trust in QUOTED_TRUST else place.kind
        match kind:  # preferences are shown as they stand, so what others said is none
            case "core":
                values["tier"] = decay_store.CORE
            case "ref":
                values["tier"] = f"{decay_store.REF}{place.detail}"
            case "daily":
                values = {"tier": decay_store.ARCHIVE if place.archived else decay_store.DAILY, "day": place.detail}
            case "preferences":
                values = {"tier": decay_store.DAILY, "category": "preference"}
        if values and known.category == "preference" and place.kind == "daily" and known.scope == OWNER_SCOPE:
            values["category"] = "fact"  # as a preference it would stand among them again
        if any(getattr(known, name) != value for name, value in values.items()):
            self._put(known, "promoted" if place.kind == "core" else "filed", values)

    def _moment(self, time: str) -> datetime | None:
        """Parse the time of an entry; None when that is no time, or still to come."""
        try:
            hour, minute = map(int, time.split(":"))
            day = date.fromisoformat(self.role.detail)
            said = datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.zone).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
        return said if said <= self._context.at else None

    def _changed(self, was: int, text: str, mark: QuoteMark | None, *, stays: bool) -> int | None:
        """Put a line in the place of what a record said. stays: it stood here and not in another file."""
        before = store.get(self.connection, was, self.reach)
        if before is None or before.status != "active":
            return was if before is not None and self._was_said(before, text) else self._added(text, mark)
        if self.role.kind == "slot":
            if events.was_previous_text(self.connection, before, text, self._cursor()):
                return was
            return self._refused(was, admit(self.connection, self._candidate(text), self._context).record)
        known = self._known(text)
        if known is None and key_of(text) != before.key and (revived := self._revived(text)) is not None:
            self._removed(was)  # the words that came back take no place
            return revived
        form: Form = "episode" if (known or before).form == "episode" else "note"
        is_core = self.role.kind == "core" or (before.tier == "core" and stays)
        candidate = replace(
            self._candidate(text, mark),
            form=form,
            category=before.category,
            tier="core" if is_core else "daily",
            subject="" if before.subject == "owner" else before.subject,
            tags=tuple(map(str, json.loads(before.tags))),
        )
        by = mark.by if mark is not None else ""
        context = replace(self._context, day=before.day if stays else self._context.day, speaker_name=by)
        decision = supersede(self.connection, was, candidate, context)
        if decision.record == was and before.text != text:
            self._put(before, "reworded", {"text": text})
        self._file(decision.record, before.tier if stays else "")
        if decision.record is not None and not stays:
            self._settle(decision.record, self.role)
        return self._refused(was, decision.record)

    def _refused(self, was: int, record: int | None) -> int | None:
        """Forget what the person wrote over, even when memory does not take what they wrote instead."""
        if record is None:
            forget(self.connection, was, self.reach, self._context)
        return record

    def _removed(self, record: int) -> None:
        """Forget what was taken out of the file it belongs in; elsewhere it was only shown."""
        known = store.get(self.connection, record, self.reach)
        if known is not None and (self.shows(known) or self._stood(known)):
            first = self._forgotten[0] if self._forgotten else None  # all of it is undone together
            hidden = forget(self.connection, record, self.reach, replace(self._context, part_of=first))
            if hidden is not None:
                self._forgotten.append(hidden.event)
                events.extend_event(self.connection, hidden.event, {"path": self.path})

    def _our_own(self, text: str) -> int | None:
        """Find a record that came and went since the files were last in step, if it said `text`.

        Then the line was ours: a crash kept us from noting that we had written it. It must not come back to life as
        a person's word.
        """
        slot = self.role.kind == "slot"
        key = f"slot:{self.role.detail}" if slot else key_of(text)
        found = events.dead_twin(self.connection, self.role.scope, key, self._cursor())
        record = store.get(self.connection, found, self.reach) if found is not None else None
        if record is None or not self.shows(record):
            return None
        return found if not slot or self._was_said(record, text) else None

    def _was_said(self, record: store.Record, text: str) -> bool:
        """Tell whether a slot's record that is over since the files were last in step said `text` by then."""
        if self.role.kind != "slot" or record.changed_event <= self._cursor():
            return False
        return record.text == text or events.was_previous_text(self.connection, record, text, self._cursor())

    def _stood(self, record: store.Record) -> bool:
        """Tell whether it belonged here when the file was last written, and sleep has moved it since."""
        tiers = decay_store.tiers_left_by_sleep(self.connection, record.id, self._cursor())
        return any(paths.path_of(record._replace(tier=tier)) == self.path for tier in tiers)

    def _cursor(self) -> int:
        return int(read_state(self.connection, CURSOR) or 0)

    def _known(self, text: str) -> store.Record | None:
        """Query the live record of this scope that says `text`."""
        key = key_of(text)
        forms = ("note", "episode")
        found = (store.by_key(self.connection, self.role.scope, form, key) for form in forms)
        return next((record for record in found if record is not None), None)

    def _file(self, record: int | None, before: str = "") -> None:
        """Let what a person writes into MEMORY.md, a ref file or an archived log belong there from now on.

        before: the tier of what it took the place of, which it keeps unless the file says otherwise.
        """
        role = self.role
        tier = before if before.startswith(decay_store.REF) or before == decay_store.ARCHIVE else ""
        if role.kind == "core":
            tier = decay_store.CORE
        elif role.kind == "ref":
            tier = f"{decay_store.REF}{role.detail}"
        known = store.get(self.connection, record, self.reach) if record is not None else None
        if known is None or known.form not in ("note", "episode"):
            return
        if role.archived and (known.tier, known.day) == (decay_store.DAILY, role.detail):
            tier = decay_store.ARCHIVE
        if tier and known.tier != tier:
            self._put(known, "promoted" if tier == decay_store.CORE else "filed", {"tier": tier})

    def _put(self, record: store.Record, kind: str, values: Mapping[str, ColumnValue]) -> None:
        stamped = {**values, "updated": store.stamp(self._context.at)}
        change(self.connection, record, kind, stamped, self._context.change_context(f"the owner edited {self.path}"))
