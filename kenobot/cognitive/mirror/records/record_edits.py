"""Let memory follow a person's edits and deletions of record files. Runs inside a transaction.

An edit is what differs from what the file said when it was written: the events since then tell that, so a change of
memory's own is never taken for the person's. Another text supersedes the old one; another subject, category, tag or pin
is set as the owner's word; a file that is gone is forgotten, reversibly.
"""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from kenobot.cognitive.control import missing_files, revived_lines
from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.mirror.paths import Area, FileLocation, is_right_folder, location_of, slug
from kenobot.cognitive.mirror.records import record_file_rows
from kenobot.cognitive.mirror.records.record_file_rows import EditOutcome, RecordFileRow
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import change, tombstone_time
from kenobot.language.fingerprint import key_of
from kenobot.language.markdown.record_format import RecordFile
from kenobot.language.sanitize import sanitize
from kenobot.ports.identity import QUOTED_TRUST, parse_trust
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.memory_files import RevivedLine
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp

_SETTABLE = ("active", "forgotten", "archived")
_RESTORABLE = ("forgotten", "archived", "expired")


def _context_of(spot: FileLocation, context: AdmitContext) -> AdmitContext:
    """Fit a context to a folder: what is written into that of an older day belongs to that day."""
    day = spot.day if spot.area == "facts" and spot.day != "undated" else context.day
    session = spot.scope.removeprefix("chat:") if spot.scope.startswith("chat:") else ""
    return replace(context, day=day, session=session)


# ── edits ────────────────────────────────────────────────────────────────────────────────────────────────────────


def absorb_edit(
    connection: Connection, root: Path, seen: RecordFileRow, card: RecordFile, context: AdmitContext
) -> EditOutcome:
    """Take in a file that is not as it was noted, and note it as it was `seen`, in the same transaction."""
    spot = location_of(seen.folder)
    if spot is None:
        return EditOutcome(0, None)
    context = _context_of(spot, context)
    row = record_file_rows.row_at(connection, seen.path)
    if spot.area == "artifacts":
        return _quotation(connection, spot, row, seen, card)
    owner = row.record if row is not None else None
    if (
        owner is not None
        and records.get(connection, owner, (spot.scope,)) is None
        and record_file_rows.is_purged(connection, owner)
    ):
        return EditOutcome(0, None, leftover=seen)  # what is erased is erased in any wording
    if row is None and _came_back(connection, spot, seen, card, context):
        return EditOutcome(0, None, rewrite=frozenset({card.id or 0}), leftover=seen)
    outdated: RecordFileRow | None = None
    if row is None and card.id is not None and (record := records.get(connection, card.id, (spot.scope,))) is not None:
        current = _standing(connection, root, record)
        if current is None or (not is_right_folder(current.folder, record) and is_right_folder(seen.folder, record)):
            owner, outdated = record.id, current
            if current is None:
                _follow_move(connection, record, spot, context)
        elif card.is_unedited and not is_right_folder(seen.folder, record):
            return EditOutcome(0, None, leftover=seen)
        elif card.is_unedited:
            record_file_rows.save_row(connection, seen)
            return EditOutcome(0, None, "it is a copy of another file, so it changes nothing in memory")
    if card.is_unedited and owner is not None:
        record_file_rows.save_row(connection, replace(seen, record=owner))
        return EditOutcome(0, owner, rewrite=frozenset({owner}), leftover=outdated)
    if card.is_unedited and card.id is not None and record_file_rows.is_purged(connection, card.id):
        if tombstone_time(connection, spot.scope, key_of(card.text or "")) is not None:
            return EditOutcome(0, None, leftover=seen)  # the very words: a crash kept it from going with the others
        record_file_rows.save_row(connection, seen)
        return EditOutcome(0, None, "what it says was erased from memory: delete this file, too")
    outcome = _follow(connection, spot, card, owner, context)
    record_file_rows.save_row(connection, replace(seen, record=outcome.record))
    rewrite = frozenset(number for number in (outcome.record, owner) if number is not None)
    return replace(outcome, rewrite=rewrite, leftover=outdated)


def _came_back(
    connection: Connection, spot: FileLocation, seen: RecordFileRow, card: RecordFile, context: AdmitContext
) -> bool:
    """Ask about the file of a forgotten record that says it was believed: it is older than the forgetting.

    A file that was moved out of the archive says that its record was forgotten: that is a wish.
    """
    record = records.get(connection, card.id, (spot.scope,)) if card.id is not None else None
    if record is None or record.status != "forgotten" or spot.archived or card.values.get("status") == "forgotten":
        return False
    if card.is_unedited:
        revived_lines.hold_line(connection, context.at, seen.path, RevivedLine(spot.scope, record.id))
    return card.is_unedited


def _follow(
    connection: Connection, spot: FileLocation, card: RecordFile, owner: int | None, context: AdmitContext
) -> EditOutcome:
    """Let memory follow a person's edit of the file of a record, or take in one that they wrote themselves."""
    record = records.get(connection, owner, (spot.scope,)) if owner is not None else None
    if record is None:
        return _new(connection, spot, card, context)
    if record.form == "box":
        return EditOutcome(0, owner, "the bot writes it of what lies in the box: an edit of it is not taken in")
    return _Edit(connection, record, card, context).apply()


def _standing(connection: Connection, root: Path, record: Record) -> RecordFileRow | None:
    """Find the noted file of a record, if it is on the disk."""
    row = record_file_rows.card_of(connection, record.id)
    return row if row is not None and os.path.lexists(root / row.path) else None


def _follow_move(connection: Connection, record: Record, spot: FileLocation, context: AdmitContext) -> None:
    """Follow a person who moved a card into the archive, or out of it."""
    row = record_file_rows.card_of(connection, record.id)
    before = location_of(row.folder) if row is not None else None
    if before is None or before.archived == spot.archived or record.form == "box":
        return
    if spot.archived or record.status in _RESTORABLE:
        _set_status(connection, record, "archived" if spot.archived else "active", context)


def _quotation(
    connection: Connection, spot: FileLocation, row: RecordFileRow | None, seen: RecordFileRow, card: RecordFile
) -> EditOutcome:
    """Take in an artifact that is not as it was noted: ours, or a person's own from now on."""
    ours = card.is_unedited and (row is None or row.digest == seen.digest)
    owner = row.record if row is not None and ours else None
    if row is None and ours and card.id is not None and records.get(connection, card.id, (spot.scope,)) is not None:
        taken = any(each.kind == "artifact" for each in record_file_rows.rows_of_record(connection, card.id))
        owner = None if taken else card.id
    record_file_rows.save_row(connection, replace(seen, kind="artifact", record=owner))
    return EditOutcome(0, owner, "" if ours else "it quotes what was said, so an edit of it changes nothing in memory")


def _set_status(connection: Connection, record: Record, status: str, context: AdmitContext) -> int:
    """Give a record the status that a person wished; 0 when that is not possible."""
    act = context.change_context(Sentence("reasons.owner_wished"))
    if status == "forgotten":
        return int(forget(connection, record.id, (record.scope,), context) is not None)
    values: dict[str, ColumnValue] = {"status": status, "updated": stamp(context.at)}
    if status == "active":
        if records.by_key(connection, record.scope, record.form, record.key) is not None:
            return 0
        change(connection, record, "restored", {**values, "valid_to": None}, act)
    elif record.status == "active":
        change(connection, record, "archived", values, act)
    else:
        return 0
    return 1


def _new(connection: Connection, spot: FileLocation, card: RecordFile, context: AdmitContext) -> EditOutcome:
    """Take in a file that no record has: written by a person, or by us before the database was lost."""
    if card.text is None:
        return EditOutcome(0, None)
    values: Mapping[str, Any] = card.values
    trust = values.get("trust") if card.is_unedited else "owner"
    form = values.get("form")
    candidate = Candidate(
        form=cast("Form", form) if form in ("note", "episode", "procedure") else "note",
        scope=spot.scope,
        text=card.text,
        category=slug(str(values.get("category", ""))) or "fact",
        source="edit",
        trust=parse_trust(str(trust), "tool"),
        subject=_subject(values.get("subject")),
        attributes=_pairs(values.get("attributes")),
        tags=_tags(values.get("tags")),
        confidence=values.get("confidence"),
        importance=values.get("importance"),
    )
    decision = admit(connection, candidate, context)
    if decision.record is None:
        return EditOutcome(0, None, f"memory does not take it in: {decision.reason}")
    if decision.action == "reinforced" and record_file_rows.card_of(connection, decision.record) is not None:
        return EditOutcome(1, None)
    record = records.get(connection, decision.record, (spot.scope,))
    if record is not None and values.get("pinned"):
        act = context.change_context(Sentence("reasons.owner_pinned"))
        change(connection, record, "pinned", {"policy_class": "protected"}, act)
    return EditOutcome(1, decision.record)


class _Edit:
    """One person's edit of one record's card."""

    def __init__(self, connection: Connection, record: Record, card: RecordFile, context: AdmitContext) -> None:
        self._connection = connection
        self._record = record
        self._card = card
        self._context = context
        self._act: ChangeContext = context.change_context(Sentence("reasons.owner_edited_card"))
        was = record_file_rows.values_after(connection, record, card.revision)
        self._base = record._replace(**{name: value for name, value in was.items() if name in _COLUMNS})  # type: ignore[arg-type]

    def apply(self) -> EditOutcome:
        status = self._card.values.get("status")
        touched = 0
        if status != self._base.status and status in _SETTABLE:
            touched += _set_status(self._connection, self._record, str(status), self._context)
            self._record = records.get(self._connection, self._record.id, (self._record.scope,)) or self._record
        text = sanitize(self._card.text or "", self._context.policy.max_text_chars)
        front = self._front()
        if text == self._base.text:
            return EditOutcome(touched + self._set(front), self._record.id)
        if not text:
            forgotten = forget(self._connection, self._record.id, (self._record.scope,), self._context)
            return EditOutcome(touched + int(forgotten is not None), self._record.id)
        return self._reword(text, front, touched)

    def _front(self) -> dict[str, ColumnValue]:
        """Select what the person set in the front matter, by column."""
        values: Mapping[str, Any] = self._card.values
        base = self._base
        changes: dict[str, ColumnValue] = {}
        if (category := slug(str(values.get("category", "")))) and category != slug(base.category):
            changes["category"] = category
        if "subject" in values and (subject := _subject(values["subject"]) or "owner") != base.subject:
            changes["subject"] = subject
        if "tags" in values and list(_tags(values["tags"])) != json.loads(base.tags):
            changes["tags"] = json.dumps(_tags(values["tags"]), ensure_ascii=False)
        if "attributes" in values:
            attributes = json.loads(base.attributes)
            speaker = {"by": by} if (by := attributes.pop("by", None)) else {}
            if values["attributes"] != attributes:
                changes["attributes"] = json.dumps(values["attributes"] | speaker, ensure_ascii=False)
        if "pinned" in values and values["pinned"] != (base.policy_class == "protected"):
            changes["policy_class"] = "protected" if values["pinned"] else "durable"
        for name in ("confidence", "importance"):
            if name in values and values[name] != getattr(base, name):
                changes[name] = values[name]
        if changes.get("category") == "preference" and self._record.trust in QUOTED_TRUST:
            changes["trust"] = "owner"  # preferences are shown as they stand: so the owner vouches for it
        return changes

    def _set(self, changes: dict[str, ColumnValue]) -> int:
        if not changes:
            return 0
        self._change("edited", changes)
        return 1

    def _reword(self, text: str, front: dict[str, ColumnValue], touched: int) -> EditOutcome:
        """Put the person's text in the old one's place; where another has taken it meanwhile, both live."""
        record = self._record
        slot = record.key.removeprefix("slot:") if record.key.startswith("slot:") else ""
        values: Mapping[str, Any] = {**record._asdict(), **front}
        candidate = Candidate(
            form=cast("Form", record.form),
            scope=record.scope,
            text=text,
            category=values["category"],
            source="edit",
            trust="owner",
            slot=slot,
            tier="core" if record.tier == "core" else "daily",
            subject=_subject(values["subject"]),
            attributes=_pairs(self._card.values.get("attributes")) if "attributes" in front else (),
            tags=_tags(json.loads(values["tags"])),
            importance=values["importance"] if "importance" in front else None,
        )
        if slot or record.status != "active":
            context = self._context if slot else replace(self._context, day=record.day)
            decision = admit(self._connection, candidate, context)
        else:
            decision = supersede(
                self._connection,
                record.id,
                candidate,
                self._context,
                keeps_day=True,
                keeps_due="attributes" not in front,
            )
        if decision.record is None:
            forget(self._connection, record.id, (record.scope,), self._context)
            return EditOutcome(touched + 1, None, f"memory does not take it in: {decision.reason}")
        if decision.record == record.id:
            if record.text != text and not slot:
                self._change("reworded", {"text": text, "key": key_of(text)})
            self._set(front)
            return EditOutcome(touched + 1, record.id)
        heir = records.get(self._connection, decision.record, (record.scope,))
        assert heir is not None
        if record.tier not in ("core", "daily", heir.tier):  # what stood in a ref file or in the archive stays there
            change(self._connection, heir, "filed", {"tier": record.tier}, self._act)
        pin = values["policy_class"]
        if ("policy_class" in front or pin == "protected") and heir.policy_class != pin:
            change(self._connection, heir, "pinned", {"policy_class": pin}, self._act)
        return EditOutcome(touched + 1, heir.id)

    def _change(self, kind: str, values: dict[str, ColumnValue]) -> None:
        stamped = {**values, "updated": stamp(self._context.at)}
        change(self._connection, self._record, kind, stamped, self._act)


_COLUMNS = frozenset(
    "text category subject attributes tags trust confidence importance status policy_class tier day key".split()
)


def _subject(value: object) -> str:
    """Name a subject as a candidate does: "" for the person whose scope it is."""
    subject = " ".join(str(value or "").split())[:200]
    return "" if subject.casefold() == "owner" else subject


def _tags(value: object) -> tuple[str, ...]:
    return tuple(" ".join(str(tag).split())[:100] for tag in value) if isinstance(value, Sequence) else ()


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(said)) for name, said in value.items()) if isinstance(value, dict) else ()


# ── deletions ────────────────────────────────────────────────────────────────────────────────────────────────────


def unexpectedly_missing(connection: Connection, paths: Sequence[str]) -> frozenset[str]:
    """Select the missing files that should be there: none that a crash kept us from noting as moved or removed."""
    found = set()
    for path in paths:
        spot, row = location_of(path.rpartition("/")[0]), record_file_rows.row_at(connection, path)
        if spot is None or row is None:
            continue
        record = records.get(connection, row.record, (spot.scope,)) if row.record is not None else None
        area: Area | None = "artifacts" if row.kind == "artifact" else None
        if row.record is None or (record is not None and is_right_folder(row.folder, record, area)):
            found.add(path)
    return frozenset(found)


def record_loss(connection: Connection, paths: Collection[str], at: datetime) -> None:
    """Note the files that were lost, as far as a deletion would have forgotten what they say."""
    found: dict[int, str] = {}
    for path in sorted(paths, key=lambda path: path.rpartition("/")):
        row = record_file_rows.row_at(connection, path)
        if row is not None and row.record is not None and _deletion_forgets(row, archived=False):
            found[row.record] = row.folder
    if found:
        missing_files.record_loss(connection, at, next(iter(found.values())), tuple(found))


def absorb_deletions(
    connection: Connection, paths: Sequence[str], kept: Collection[str], context: AdmitContext
) -> tuple[list[int], set[int]]:
    """Follow the deletion of files: the events that forgot their facts, and the records whose files are to be written.

    kept: what is written again, and nothing of it forgotten.
    """
    events: list[int] = []
    rewrite: set[int] = set()
    for path in paths:
        row = record_file_rows.row_at(connection, path)
        if row is None or (spot := location_of(row.folder)) is None:
            continue  # it has been taken in as moved
        record_file_rows.drop_row(connection, path)
        if row.record is None:
            continue
        rewrite.add(row.record)
        if path in kept or not _deletion_forgets(row):
            continue
        hidden = forget(connection, row.record, (spot.scope,), _context_of(spot, context), line_only=True)
        events += [hidden.event] if hidden is not None and hidden.event else []
    return events, rewrite


def _deletion_forgets(row: RecordFileRow, *, archived: bool = True) -> bool:
    """Tell whether the deletion of a file forgets what it says. archived: one in the archive, too."""
    spot = location_of(row.folder)
    return row.kind == "card" and spot is not None and spot.area == "facts" and (archived or not spot.archived)
