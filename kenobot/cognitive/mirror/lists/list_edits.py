"""Let memory follow a person's edit of a list file. Runs inside transactions.

A new line is the owner's word, unless its mark says that others wrote it; a changed one takes the old one's place, a
missing one is forgotten, and one that was forgotten before is asked about. What memory refuses stays in the file, as
the person's own text.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.control import missing_files, revived_lines
from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.mirror import paths
from kenobot.cognitive.mirror.lists.list_view import CURSOR, ListFile
from kenobot.cognitive.mirror.paths import FileRole
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, list_file_rows
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store import tiers as decay_store
from kenobot.cognitive.store.change import change, tombstone_time
from kenobot.language.fingerprint import key_of
from kenobot.language.line_pairs import FileLines, LineEdits
from kenobot.language.markdown import list_layout
from kenobot.language.markdown.list_layout import FileBlock
from kenobot.language.quoting import QuoteMark, quote_mark
from kenobot.ports.identity import OWNER_SCOPE, QUOTED_TRUST
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.memory_files import RevivedLine
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state
from kenobot.storage.times import stamp

_CATEGORIES = {"preferences": "preference", "week": "week", "session": "session"}
_LINES = ("note", "episode")  # forms of what is one line among others
_ERASED = 0  # stands for the record of a line that says what was erased: it goes


class ListFileEdit(ListFile):
    """One person's edit of a list file, which `follow` lets memory follow.

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

    @property
    def touched(self) -> int:
        """Count the facts that the edit touches."""
        return self._edits.touched

    def note(self, blocks: Sequence[FileBlock]) -> None:
        """Bring what is noted of the file up to the `blocks` that stand in it. Call it in one transaction a save.

        Until then an edit that was broken off is found again: what was taken in of it stands there as known.
        """
        connection, context = self.connection, self._context
        if len(self._forgotten) >= context.policy.files.announce_from:
            first, count = self._forgotten[0], len(self._forgotten)
            missing_files.record_mass_forget(connection, context.at, self.path, count, first)
        if self.role.kind == "core":  # its headings and prose are shown too, and they are no records
            event = events.add_event(connection, context.at, context.actor, "edited", data={"path": self.path})
            write_state(connection, f"edited:{self.role.scope}", str(event))
        list_file_rows.save_list_file(
            connection, self.path, list_layout.join_blocks(blocks), list_layout.encode_blocks(blocks)
        )

    def follow(self, found: str, lines: FileLines) -> Generator[None, None, list[FileBlock]]:
        """Let memory follow the edit that left `found`, cut into `lines`, in the file; what stands where then.

        A transaction may end at each yield.
        """
        if self.role.kind == "entity":
            self._subject = self.subject(found)
        chunks = lines.chunks
        standing: dict[int, int | None] = {}
        self._spared.update(self._edits.left)
        left = (was for how, was in self._edits.origins.values() if how in ("kept", "moved", "copied"))
        self._spared.update(was for was in left if was is not None)
        for line, (at, text) in enumerate(zip(lines.places, lines.new, strict=True)):
            how, was = self._edits.origins.get(line, ("added", None))
            mark = list_layout.fact_mark(self.role.kind, chunks[at])
            if how == "kept":
                standing[at] = was
                if was is not None and was in lines.marked and mark is None:
                    self._confirm_as_own(was)
                continue
            if how in ("moved", "copied") and was is not None:
                standing[at] = self._move_here(was, settles=how == "moved")
            elif how in ("changed", "rewritten") and was is not None:
                standing[at] = self._replace_line(
                    was, text, mark, stays=how == "changed" and not self._has_lost_home(was)
                )
            else:
                standing[at] = self._add_line(text, mark, list_layout.entry_time(chunks[at]))
            self._spared.update(record for record in (standing[at],) if record is not None)
            yield
        here = set(standing.values())
        for record in self._edits.removed:
            if record not in here:
                self._remove_line(record)
                yield
        for record, path in self._edits.left.items():
            self._settle_elsewhere(record, path)
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

    def _add_line(self, text: str, mark: QuoteMark | None, time: str | None = None) -> int | None:
        """Find or make the record that says `text`; None when memory refuses it."""
        candidate = self._candidate(text, mark)
        known = None if candidate.slot else self._find_known(text)
        if known is None:
            context = self._context if mark is None else replace(self._context, speaker_name=mark.by)
            context = replace(context, said_at=self._moment(time)) if time else context
            record = self._our_own(text) or self._revive_line(text)
            if record is None:
                record = admit(self.connection, candidate, context).record
            self._file(record)
            return record
        return self._settle_known(known, candidate)

    def _revive_line(self, text: str) -> int | None:
        """Find what was forgotten or erased and stands here again; None: there is no such thing.

        Cut from another file a while ago, it has moved; in an earlier wording it is the owner's word, as any correction
        is. Else its owner is asked, and the line goes for now.
        """
        if self.role.kind == "slot":
            return None
        key, scope = key_of(text), self.role.scope
        ended = self._find_forgotten(key)
        if ended is None:
            if tombstone_time(self.connection, scope, key) is None:
                return None
            revived_lines.hold_line(self.connection, self._context.at, self.path, RevivedLine(scope, 0, text))
            return _ERASED
        if self._was_cut(ended):
            if ended.key != key:
                return None
            if revived_lines.restore(self.connection, ended, self._context):
                return self._move_here(ended.id)
        revived_lines.hold_line(self.connection, self._context.at, self.path, RevivedLine(scope, ended.id))
        return ended.id

    def _find_forgotten(self, key: str) -> Record | None:
        """Query the record that was forgotten last with these words, or with others that took their place."""
        ended = store.list_ended_with_key(self.connection, self.role.scope, key, 1)
        if not ended or ended[0].form not in _LINES:
            return None
        if ended[0].status != "superseded":
            return ended[0] if ended[0].status == "forgotten" else None
        lives = store.successor(self.connection, ended[0].id, self.reach) is not None
        return None if lives else store.successor(self.connection, ended[0].id, self.reach, "forgotten")

    def _was_cut(self, record: Record) -> bool:
        """Tell whether a record was forgotten because its line was taken out of another file, lately."""
        last = events.last_of_kind(self.connection, record.id, "forgotten")
        if last is None or last.data.get("path") in (None, self.path):
            return False
        return self._context.at - datetime.fromisoformat(last.at) <= self._context.policy.files.cut_within

    def _settle_known(self, known: Record, candidate: Candidate) -> int:
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

    def _move_here(self, record: int, *, settles: bool = True) -> int:
        """Let a record stand here, instead of where its line stood before. settles: it belongs here from now on."""
        known = store.get(self.connection, record, self.reach)
        if known is not None and known.status == "active":  # what the bot forgot meanwhile stays forgotten
            self._settle_known(known, self._candidate(known.text))
            if settles:
                self._settle(record, self.role)
        return record

    def _confirm_as_own(self, record: int) -> None:
        """Admit a quoted record as the owner's word, after its quotation mark was removed from the file."""
        known = store.get(self.connection, record, self.reach)
        if known is not None and known.status == "active":
            form: Form = "episode" if known.form == "episode" else "note"
            vouched = replace(self._candidate(known.text), form=form, subject=known.subject)
            admit(self.connection, vouched, self._context)

    def _settle_elsewhere(self, record: int, path: str) -> None:
        """Settle a record, whose line was removed here, in another file that shows it."""
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

    def _replace_line(self, was: int, text: str, mark: QuoteMark | None, *, stays: bool) -> int | None:
        """Put a line in the place of what a record said. stays: it stood here, and where it belongs goes on."""
        before = store.get(self.connection, was, self.reach)
        if before is None or before.status != "active":
            return was if before is not None and self._was_said(before, text) else self._add_line(text, mark)
        if self.role.kind == "slot":
            if events.was_previous_text(self.connection, before, text, self._cursor()):
                return was
            return self._forget_overwritten(was, admit(self.connection, self._candidate(text), self._context).record)
        known = self._find_known(text)
        if known is None and key_of(text) != before.key and (revived := self._revive_line(text)) is not None:
            self._remove_line(was)  # the words that came back take no place
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
        context = replace(self._context, speaker_name=by)
        decision = supersede(self.connection, was, candidate, context, keeps_day=stays)
        if decision.record == was and before.text != text:
            self._put(before, "reworded", {"text": text})
        is_elsewhere = known is not None and known.id == decision.record != was  # and goes on standing there
        self._file(decision.record, before.tier if stays and not is_elsewhere else "")
        if decision.record is not None and not stays and not is_elsewhere:
            self._settle(decision.record, self.role)
        return self._forget_overwritten(was, decision.record)

    def _has_lost_home(self, record: int) -> bool:
        """Tell whether the file that a changed record belongs in, another than this, shows it no more."""
        known = store.get(self.connection, record, self.reach)
        home = paths.path_of(known) if known is not None else None
        return home != self.path and home in self._edits.gone_from.get(record, ())

    def _forget_overwritten(self, was: int, record: int | None) -> int | None:
        """Forget what the person wrote over, even when memory does not take what they wrote instead."""
        if record is None:
            forget(self.connection, was, self.reach, self._context, line_only=True)
        return record

    def _remove_line(self, record: int) -> None:
        """Forget what was taken out of the file it belongs in; elsewhere it was only shown."""
        known = store.get(self.connection, record, self.reach)
        if known is not None and (self.shows(known) or self._has_stood(known)):
            first = self._forgotten[0] if self._forgotten else None  # all of it is undone together
            context = replace(self._context, part_of=first)
            hidden = forget(self.connection, record, self.reach, context, line_only=True)
            if hidden is not None:
                self._forgotten.append(hidden.event)
                events.extend_event(self.connection, hidden.event, {"path": self.path})
                return
            last = events.last_of_kind(self.connection, record, "forgotten")
            if last is not None and last.data.get("path") == self.path:  # before this edit was broken off
                self._forgotten.append(last.id)

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

    def _was_said(self, record: Record, text: str) -> bool:
        """Tell whether a slot's record that is over since the files were last in step said `text` by then."""
        if self.role.kind != "slot" or record.changed_event <= self._cursor():
            return False
        return record.text == text or events.was_previous_text(self.connection, record, text, self._cursor())

    def _has_stood(self, record: Record) -> bool:
        """Tell whether it belonged here when the file was last written, and sleep has moved it since."""
        tiers = decay_store.tiers_left_by_sleep(self.connection, record.id, self._cursor())
        return any(paths.path_of(record._replace(tier=tier)) == self.path for tier in tiers)

    def _cursor(self) -> int:
        return int(read_state(self.connection, CURSOR) or 0)

    def _find_known(self, text: str) -> Record | None:
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

    def _put(self, record: Record, kind: str, values: Mapping[str, ColumnValue]) -> None:
        stamped = {**values, "updated": stamp(self._context.at)}
        act = self._context.change_context(Sentence("reasons.owner_edited", path=self.path))
        change(self.connection, record, kind, stamped, act)
