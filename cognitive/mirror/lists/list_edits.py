"""Say what a list file should show, and let memory follow a person's edit of it. Runs inside a transaction.

The table of list files says what a file held when it was last written or read. A file that holds something else, and
not what it would be written as now, was edited: a new line is the owner's word, a changed one takes the old one's
place, a missing one is forgotten. What memory refuses stays in the file, as the person's own text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.cognitive.control import missing_files
from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.mirror.file_sync import FileView
from kenobot.cognitive.mirror.lists import list_layout, memory_md
from kenobot.cognitive.mirror.lists.list_layout import FileBlock, ShownRecord
from kenobot.cognitive.mirror.paths import (
    FileRole,
    archive_path,
    entity_page_of,
    is_archived,
    page_name,
    path_of,
    slot_form,
    subject_of,
)
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, list_file_rows
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store import tiers as decay_store
from kenobot.cognitive.store.change import ColumnValue, change
from kenobot.cognitive.text.calendar import local_day, local_time
from kenobot.cognitive.text.fingerprint import key_of
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate, Form
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

_CATEGORIES = {"preferences": "preference", "week": "week", "session": "session"}
_SLEEP = "sleep"  # the actor of what sleep does
_ON_A_PAGE = 500  # facts about one subject, the newest
Blocks = Sequence[FileBlock]
CURSOR = "mirror:event"  # state key: the last event whose records all stand in their files


def view_file(
    connection: Connection, path: str, place: FileRole, zone: ZoneInfo, found: str | None
) -> FileView[Blocks]:
    """Say how the file at `path` should be, given that it holds `found` (None: is not there)."""
    row = list_file_rows.list_file(connection, path)
    before = list_layout.decode_blocks(place.kind, *row) if row else []
    before = _inherited(connection, path, place, before)
    blocks = _arranged(connection, path, before, place, zone)
    text = list_layout.join_blocks(blocks)
    is_edited = found is not None and found not in (text, row[0] if row else None)
    return FileView(text, blocks, is_edited, is_noted=row == (text, list_layout.encode_blocks(blocks)))


def apply_edit(
    connection: Connection, path: str, place: FileRole, zone: ZoneInfo, found: str, occasion: AdmitContext
) -> tuple[int, FileView[Blocks]]:
    """Let memory follow the person's edit that left `found` in the file; returns how many facts it touched.

    Looks again first: what was read outside of this transaction may have changed. The row of the mirror table is
    brought up to `found` in the same transaction, so that the edit counts once.
    """
    view = view_file(connection, path, place, zone, found)
    if not view.edited:
        return 0, view
    edit = _Edit(connection, path, place, zone, occasion)
    touched = edit.apply(found)
    if len(edit.forgotten) >= occasion.policy.files.announce_from:
        missing_files.record_mass_forget(connection, occasion.at, path, len(edit.forgotten), edit.forgotten[0])
    if place.kind == "core":  # its headings and prose are shown too, and they are no records
        event = events.add_event(connection, occasion.at, occasion.actor, "edited", data={"path": path})
        write_state(connection, f"edited:{place.scope}", str(event))
    list_file_rows.save_list_file(connection, path, found, list_layout.encode_blocks(edit.blocks))
    blocks = _arranged(connection, path, edit.blocks, place, zone)
    return touched, FileView(list_layout.join_blocks(blocks), blocks)


def _inherited(connection: Connection, path: str, place: FileRole, before: list[FileBlock]) -> list[FileBlock]:
    """Begin an archived log as it was in the hot tree, with its owner's own text."""
    if not (place.archived and place.is_expired and place.kind == "daily") or place.stays_empty:
        return before
    row = list_file_rows.list_file(connection, path.removeprefix(archive_path("")))
    if row is None or store.daily_records(connection, place.scope, place.detail):
        return before  # it has left already, or not yet
    log = list_layout.decode_blocks(place.kind, *row)
    if not before:
        return log
    held = list_layout.join_blocks(before)
    own = [block for block in log if block.record is None and block.raw.strip() not in held]
    return list_layout.normalize_blocks(place.kind, [*own, *before]) if own else before


def records_of_file(connection: Connection, place: FileRole, text: str = "") -> list[store.Record]:
    """Query the live records that belong in a file, in the order they came. text: what stands in it."""
    match place.kind:
        case "core":
            return decay_store.in_tier(connection, place.scope, decay_store.CORE)
        case "ref":
            return decay_store.in_tier(connection, place.scope, f"{decay_store.REF}{place.detail}")
        case "topic":
            return []  # what stands there has its home in the log of its day
        case _ if place.stays_empty:
            return []
        case "preferences":
            return store.preference_records(connection, place.scope)
        case "daily" if place.archived:
            return decay_store.archived_day_records(connection, place.scope, place.detail)
        case "daily":
            records = store.daily_records(connection, place.scope, place.detail)
            if place.scope != OWNER_SCOPE:  # only the owner has a preferences.md
                records += [r for r in store.preference_records(connection, place.scope) if r.day == place.detail]
            return sorted(records, key=lambda record: record.id)
        case "slot":
            record = store.slot_record(connection, place.scope, slot_form(place.detail), place.detail)
            away = record is not None and is_archived(record)
            return [record] if record and away == place.archived else []
        case "entity":
            return store.newest_about(connection, place.scope, page_subject(connection, place, text), _ON_A_PAGE)


def records_last_in(connection: Connection, path: str, place: FileRole) -> tuple[int, ...]:
    """Query the live records that belong into a file and stood there when it was last written or read."""
    row = list_file_rows.list_file(connection, path)
    blocks = list_layout.decode_blocks(place.kind, *row) if row else []
    numbers = [block.record for block in blocks if block.record is not None]
    found = store.by_ids(connection, numbers, (place.scope,)).values()
    return tuple(each.id for each in found if each.status == "active" and path in (path_of(each), entity_page_of(each)))


def page_subject(connection: Connection, place: FileRole, text: str) -> str:
    """Whom or what an entity's page is about.

    A name that keeps only a part of the subject is looked up in the heading of the page's `text`, and then among the
    subjects there are.
    """
    if (subject := subject_of(place.detail)) is not None:
        return subject
    heading = text.partition("\n")[0].removeprefix("# ").strip()
    if page_name(heading) == place.detail:
        return heading
    known = store.subjects(connection, place.scope)
    return next((subject for subject in known if page_name(subject) == place.detail), place.detail)


def _arranged(
    connection: Connection, path: str, blocks: list[FileBlock], place: FileRole, zone: ZoneInfo
) -> list[FileBlock]:
    text = list_layout.join_blocks(blocks)
    if (
        place.is_expired
        and place.keeps_archive
        and not place.archived
        and list_file_rows.list_file(connection, archive_path(path)) is None
    ):
        place = replace(place, is_expired=False)  # it leaves when the archive has it
    home = {record.id: record for record in records_of_file(connection, place, text)}
    others = [block.record for block in blocks if block.record is not None and block.record not in home]
    records = store.by_ids(connection, others, (place.scope,))
    if place.kind == "preferences":  # only added to, but for what its owner wants forgotten or erased
        blocks = [block for block in blocks if block.record not in others or _is_kept(records.get(block.record or 0))]
    guests = {number: _item(record, zone) for number, record in records.items() if _may_stay(record, place)}
    heirs: dict[int, int] = {}
    for number in others:
        ended = number in records and records[number].status != "active"
        heir = store.successor(connection, number, (place.scope,)) if ended else None
        if heir is not None and place.kind == "topic":
            guests[heir.id] = _item(heir, zone)
        if heir is not None and (heir.id in home or heir.id in guests):
            heirs[number] = heir.id
    items = [_item(record, zone) for record in home.values()]
    if place.kind == "core":
        moved = decay_store.last_tier_movers(connection, home).items()
        nights = {number: local_day(datetime.fromisoformat(at), zone) for number, (by, at) in moved if by == _SLEEP}
        return memory_md.arrange_memory_md(
            blocks, items, guests, heirs, nights, decay_store.ref_file_counts(connection, place.scope)
        )
    arranged = list_layout.arrange(place.kind, blocks, items, guests, heirs, _header(connection, place, text))
    return [] if _has_left(connection, path, place, arranged) else arranged


def _header(connection: Connection, place: FileRole, text: str) -> str:
    if place.kind == "ref":
        return f"# {place.detail}\n\n"
    return f"# {page_subject(connection, place, text)}\n\n" if place.kind == "entity" else ""


def _may_stay(record: store.Record, place: FileRole) -> bool:
    """Tell whether a record that belongs elsewhere may go on standing where a person put it, or where it once was."""
    if record.status != "active" or place.stays_empty:
        return False
    if place.kind in ("core", "ref"):  # what was moved has moved
        return False
    if place.kind != "daily":
        return True
    return (
        record.tier != decay_store.DAILY
        if place.archived
        else not (place.is_expired or record.tier == decay_store.ARCHIVE)
    )


def _has_left(connection: Connection, path: str, place: FileRole, blocks: list[FileBlock]) -> bool:
    """Tell whether a log whose day is over goes: no record stands in it, and the archive has its owner's text."""
    if (
        place.kind != "daily"
        or place.archived
        or not place.is_expired
        or any(block.record is not None for block in blocks)
    ):
        return False
    row = list_file_rows.list_file(connection, archive_path(path))
    held = row[0] if row else ""
    return not place.keeps_archive or all(block.raw.strip() in held for block in blocks)


def _is_kept(record: store.Record | None) -> bool:
    return record is not None and record.status != "forgotten"


def _item(record: store.Record, zone: ZoneInfo) -> ShownRecord:
    return ShownRecord(record.id, record.text, local_time(datetime.fromisoformat(record.created), zone))


class _Edit:
    """One person's edit of one file. `apply` leaves in `blocks` what stands where."""

    def __init__(
        self, connection: Connection, path: str, place: FileRole, zone: ZoneInfo, occasion: AdmitContext
    ) -> None:
        self._connection = connection
        self._path = path
        self._place = place
        self._zone = zone
        self._occasion = occasion
        self._reach = (place.scope,)
        self._subject = ""  # of an entity's page
        self.blocks: list[FileBlock] = []  # bounded: one file of at most 5 MB; turn
        # bounded: the lines of one file; turn
        self.forgotten: list[int] = []  # events of what was taken out

    def apply(self, found: str) -> int:
        kind = self._place.kind
        if self._place.kind == "entity":
            self._subject = page_subject(self._connection, self._place, found)
        row = list_file_rows.list_file(self._connection, self._path)
        before = list_layout.decode_blocks(kind, *row) if row else []
        old = [(block.record, text) for block in before if (text := list_layout.fact_text(kind, block.raw)) is not None]
        chunks = list_layout.split(kind, found)
        new = [
            (at, text) for at, chunk in enumerate(chunks) if (text := list_layout.fact_text(kind, chunk)) is not None
        ]
        edits = list_layout.diff([text for _, text in old], [text for _, text in new])

        standing: dict[int, int | None] = {new[j][0]: old[i][0] for i, j in edits.kept}
        still = set(standing.values())
        for i, j in edits.changed:
            at, text = new[j]
            was = old[i][0]
            standing[at] = self._changed(was, text) if was is not None and was not in still else self._added(text)
        for j in edits.added:
            at, text = new[j]
            standing[at] = self._added(text, list_layout.entry_time(chunks[at]))
        gone = [old[i][0] for i in edits.removed]
        for record in dict.fromkeys(gone):
            if record is not None and record not in standing.values():
                self._removed(record)
        self.blocks = [FileBlock(chunk, standing.get(at)) for at, chunk in enumerate(chunks)]
        return len(edits.changed) + len(edits.added) + len(edits.removed)

    def _candidate(self, text: str) -> Candidate:
        place = self._place
        form: Form = "note"
        if place.kind == "slot":
            form = slot_form(place.detail)
        elif place.kind in ("daily", "topic") and place.scope.startswith("chat:"):
            form = "episode"
        return Candidate(
            form=form,
            scope=place.scope,
            text=text,
            subject=self._subject,
            category=_CATEGORIES.get(place.detail.partition(":")[0] if place.kind == "slot" else place.kind, "fact"),
            source="edit",
            trust="owner",
            slot=place.detail if place.kind == "slot" else "",
            tier="core" if place.kind == "core" else "daily",
        )

    def _added(self, text: str, time: str | None = None) -> int | None:
        """Find or make the record that says `text`; None when memory refuses it."""
        candidate = self._candidate(text)
        known = None if candidate.slot else self._known(text)
        if known is None:
            occasion = replace(self._occasion, said_at=self._moment(time)) if time else self._occasion
            record = self._our_own(text) or admit(self._connection, candidate, occasion).record
            self._file(record)
            return record
        if self._stands(known):
            return known.id  # a line written twice, or our own that a crash kept us from noting down
        form: Form = "episode" if known.form == "episode" else "note"
        admit(self._connection, replace(candidate, form=form), self._occasion)
        self._file(known.id)
        if candidate.subject and known.subject != candidate.subject:
            self._put(known, "edited", {"subject": candidate.subject})
        return known.id

    def _moment(self, time: str) -> datetime | None:
        """Parse the time of an entry; None when that is no time, or still to come."""
        try:
            hour, minute = map(int, time.split(":"))
            day = date.fromisoformat(self._place.detail)
            said = datetime(day.year, day.month, day.day, hour, minute, tzinfo=self._zone).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
        return said if said <= self._occasion.at else None

    def _changed(self, was: int, text: str) -> int | None:
        before = store.get(self._connection, was, self._reach)
        if before is None or before.status != "active":
            return was if before is not None and self._was_said(before, text) else self._added(text)
        if self._place.kind == "slot":
            if events.was_previous_text(self._connection, before, text, self._cursor()):
                return was
            return self._refused(was, admit(self._connection, self._candidate(text), self._occasion).record)
        known = self._known(text)
        form: Form = "episode" if (known or before).form == "episode" else "note"
        tier: Literal["core", "daily"] = "core" if "core" in (self._place.kind, before.tier) else "daily"
        candidate = replace(
            self._candidate(text),
            form=form,
            category=before.category,
            tier=tier,
            subject="" if before.subject == "owner" else before.subject,
            tags=tuple(map(str, json.loads(before.tags))),
        )
        decision = supersede(self._connection, was, candidate, replace(self._occasion, day=before.day))
        if decision.record == was and before.text != text:
            self._put(before, "reworded", {"text": text})
        self._file(decision.record, before.tier)
        return self._refused(was, decision.record)

    def _refused(self, was: int, record: int | None) -> int | None:
        """Forget what the person wrote over, even when memory does not take what they wrote instead."""
        if record is None:
            forget(self._connection, was, self._reach, self._occasion)
        return record

    def _removed(self, record: int) -> None:
        """Forget what was taken out of the file it belongs in; elsewhere it was only shown."""
        known = store.get(self._connection, record, self._reach)
        if known is not None and (self._stands(known) or self._stood(known)):
            first = self.forgotten[0] if self.forgotten else None  # all of it is undone together
            hidden = forget(self._connection, record, self._reach, replace(self._occasion, part_of=first))
            self.forgotten += [hidden.event] if hidden is not None else []

    def _our_own(self, text: str) -> int | None:
        """Find a record that came and went since the files were last in step, if it said `text`.

        Then the line was ours: a crash kept us from noting that we had written it. It must not come back to life as
        a person's word.
        """
        slot = self._place.kind == "slot"
        key = f"slot:{self._place.detail}" if slot else key_of(text)
        found = events.dead_twin(self._connection, self._place.scope, key, self._cursor())
        record = store.get(self._connection, found, self._reach) if found is not None else None
        if record is None or not self._stands(record):
            return None
        return found if not slot or self._was_said(record, text) else None

    def _was_said(self, record: store.Record, text: str) -> bool:
        """Tell whether a slot's record that is over since the files were last in step said `text` by then."""
        if self._place.kind != "slot" or record.changed_event <= self._cursor():
            return False
        return record.text == text or events.was_previous_text(self._connection, record, text, self._cursor())

    def _stands(self, record: store.Record) -> bool:
        return self._path in (path_of(record), entity_page_of(record))

    def _stood(self, record: store.Record) -> bool:
        """Tell whether it belonged here when the file was last written, and sleep has moved it since."""
        tiers = decay_store.tiers_left_by_sleep(self._connection, record.id, self._cursor())
        return any(path_of(record._replace(tier=tier)) == self._path for tier in tiers)

    def _cursor(self) -> int:
        return int(read_state(self._connection, CURSOR) or 0)

    def _known(self, text: str) -> store.Record | None:
        """Query the live record of this scope that says `text`."""
        key = key_of(text)
        forms = ("note", "episode")
        found = (store.by_key(self._connection, self._place.scope, form, key) for form in forms)
        return next((record for record in found if record is not None), None)

    def _file(self, record: int | None, before: str = "") -> None:
        """Let what a person writes into MEMORY.md, a ref file or an archived log belong there from now on.

        before: the tier of what it took the place of, which it keeps unless the file says otherwise.
        """
        place = self._place
        tier = before if before.startswith(decay_store.REF) or before == decay_store.ARCHIVE else ""
        if place.kind == "core":
            tier = decay_store.CORE
        elif place.kind == "ref":
            tier = f"{decay_store.REF}{place.detail}"
        known = store.get(self._connection, record, self._reach) if record is not None else None
        if known is None or known.form not in ("note", "episode"):
            return
        if place.archived and (known.tier, known.day) == (decay_store.DAILY, place.detail):
            tier = decay_store.ARCHIVE
        if tier and known.tier != tier:
            self._put(known, "promoted" if tier == decay_store.CORE else "filed", {"tier": tier})

    def _put(self, record: store.Record, kind: str, values: Mapping[str, ColumnValue]) -> None:
        stamped = {**values, "updated": store.stamp(self._occasion.at)}
        change(self._connection, record, kind, stamped, self._occasion.change_context(f"the owner edited {self._path}"))
