"""The hand that carries out what passes plan: each change whole or not at all, and only where it still holds."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs.links import strengthen_link
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.conflicts import add_supersedes_link, end_record
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.plan.changes import (
    AddLink,
    AdmitRecord,
    Change,
    ChangePart,
    LogEvent,
    ProposeChange,
    UpdateRecord,
)
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ChangeContext, change
from kenobot.cognitive.store.records import Json, Record
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.cognitive.text.calendar import local_day
from kenobot.storage.connection import Connection, savepoint

ACTOR = "sleep"


@dataclass(frozen=True, slots=True)
class PassContext:
    """The run and the pass that a change belongs to. at: the run's own moment."""

    run: int
    pass_name: str
    at: datetime
    zone: ZoneInfo
    policy: Policy = DEFAULT


class _Idle(Exception):
    """A change that changes nothing."""


def apply_change(connection: Connection, wanted: Change, night: PassContext) -> int | None:
    """Carry out a change, inside a transaction; returns its event.

    None when there is nothing left to do: it was done before, or memory is no longer as the pass saw it.
    """
    try:
        with savepoint(connection, "change"):
            return _carry_out(connection, wanted, night)
    except _Idle:
        return None


def _carry_out(connection: Connection, wanted: Change, night: PassContext) -> int:
    edits = [part for part in wanted.parts if isinstance(part, UpdateRecord)]
    records = {edit.record: _as_expected(connection, edit) for edit in edits}
    told: dict[str, Json] = {"night": night.run, "pass": night.pass_name}
    if len(wanted.parts) == 1 and edits:
        return _edit(connection, edits[0], records, wanted.kind, ChangeContext(night.at, ACTOR, wanted.reason), told)
    told["reason"] = wanted.reason
    root = events.add_event(connection, night.at, ACTOR, wanted.kind, record=wanted.record, data=told)
    act = ChangeContext(night.at, ACTOR, wanted.reason, part_of=root)
    if not [part for part in wanted.parts if _done(connection, part, records, wanted, night, act)]:
        raise _Idle
    return root


def _done(
    connection: Connection,
    part: ChangePart,
    records: dict[int, Record],
    wanted: Change,
    night: PassContext,
    act: ChangeContext,
) -> bool:
    """Carry out one part of several; False when it changed nothing."""
    match part:
        case UpdateRecord():
            try:
                _edit(connection, part, records, wanted.kind, act, {})
            except _Idle:
                return False
            return True
        case AdmitRecord():
            return _learn(connection, part, night, act)
        case AddLink(type="supersedes"):
            add_supersedes_link(connection, part.src, part.dst, act)
            return True
        case AddLink():
            strengthen_link(connection, part.src, part.dst, part.type, act.at, part.why, weight=part.weight)
            return True
        case ProposeChange():
            return run_rows.insert_proposal(connection, part, night.run, night.at)
        case LogEvent():
            events.add_event(
                connection, act.at, ACTOR, wanted.kind, data={**part.data, "reason": act.reason, "part_of": act.part_of}
            )
            return True


def _as_expected(connection: Connection, edit: UpdateRecord) -> Record:
    """The record of an edit. Raises _Idle when it is not as the pass saw it."""
    record = store.get(connection, edit.record, ALL_SCOPES)
    expects = {"status": "active", **edit.expects}
    if record is None or store.column_values(connection, record, sorted(expects)) != tuple(
        expects[name] for name in sorted(expects)
    ):
        raise _Idle
    return record


def _edit(
    connection: Connection,
    edit: UpdateRecord,
    records: dict[int, Record],
    kind: str,
    act: ChangeContext,
    data: dict[str, Json],
) -> int:
    record = records[edit.record]
    names = sorted(edit.values)
    if store.column_values(connection, record, names) == tuple(edit.values[name] for name in names):
        raise _Idle
    return change(connection, record, kind, edit.values, act, shown=edit.shown, data=data)


def _learn(connection: Connection, part: AdmitRecord, night: PassContext, act: ChangeContext) -> bool:
    day = part.day or local_day(night.at, night.zone)
    occasion = AdmitContext(night.at, day, ACTOR, policy=night.policy, part_of=act.part_of)
    decision = admit(connection, part.candidate, occasion)
    if decision.record is None:
        return False
    for source in part.derived_from:
        if source != decision.record:
            strengthen_link(connection, decision.record, source, "derived", act.at, act.reason)
    if part.values and decision.action == "created":
        made = store.get(connection, decision.record, (part.candidate.scope,))
        assert made is not None
        change(connection, made, "set", part.values, act, shown=False)
    for old in part.supersedes:
        known = store.get(connection, old, (part.candidate.scope,))
        if known is None or known.id == decision.record or known.status != "active":
            continue
        end_record(connection, known, "superseded", act, by=decision.record)
        add_supersedes_link(connection, decision.record, old, act)
    return True
