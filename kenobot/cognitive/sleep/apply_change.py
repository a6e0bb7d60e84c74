"""Apply planned changes, each whole or not at all, and only where memory is still as the pass read it; undo a night."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs.links import strengthen_link
from kenobot.cognitive.control import undo
from kenobot.cognitive.control.forget import Actor
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember import derived_texts
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.conflicts import end_record
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.plan import changes
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change, ChangePart, UpdateRecord
from kenobot.cognitive.store import events, links, sleep_plans
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import change
from kenobot.language.calendar import local_day
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.memory import CONFIDED, Form
from kenobot.ports.memory_changes import ChangeContext, UndoError
from kenobot.ports.nights import NightUndo, UndoConflict
from kenobot.ports.records import HEARSAY, Record
from kenobot.storage.connection import Connection, savepoint
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp

ACTOR = "sleep"


@dataclass(frozen=True, slots=True)
class PassContext:
    """The run and the pass that a change belongs to. at: the run's own moment."""

    run: int
    pass_name: str
    at: datetime
    zone: ZoneInfo
    policy: Policy = DEFAULT


class _NothingToDo(Exception):
    """A change that changes nothing."""


def apply_change(connection: Connection, planned: Change, context: PassContext) -> int | None:
    """Apply a change, inside a transaction; returns its event.

    None when it was done before, or memory is no longer as the pass read it.
    """
    try:
        with savepoint(connection, "change"):
            return _apply(connection, planned, context)
    except _NothingToDo:
        return None


def _apply(connection: Connection, planned: Change, context: PassContext) -> int:
    updates = [part for part in planned.parts if isinstance(part, UpdateRecord)]
    records = {part.record: _as_expected(connection, part) for part in updates}
    data: dict[str, Json] = {"night": context.run, "pass": context.pass_name}
    by_sleep = ChangeContext(context.at, ACTOR, planned.reason)
    if len(planned.parts) == 1 and updates:
        event = _update(connection, updates[0], records, planned.kind, by_sleep, data)
        if event is None:
            raise _NothingToDo
        _let_follow(connection, updates, records, by_sleep)
        return event
    data |= {"reason": planned.reason, **_action(planned)}
    root = events.add_event(connection, context.at, ACTOR, planned.kind, record=planned.record, data=data)
    by_sleep = ChangeContext(context.at, ACTOR, planned.reason, part_of=root)
    if not [part for part in planned.parts if _apply_part(connection, part, records, planned.kind, context, by_sleep)]:
        raise _NothingToDo
    _let_follow(connection, updates, records, by_sleep)
    return root


def _let_follow(
    connection: Connection, updates: Sequence[UpdateRecord], records: dict[int, Record], by_sleep: ChangeContext
) -> None:
    """Let texts that were made of records which have ended follow what took their place."""
    for part in updates:
        if part.values.get("status") in ("superseded", "invalidated"):
            current = store.successor(connection, part.record, (records[part.record].scope,))
            derived_texts.follow_change(connection, records[part.record], current, by_sleep)


def _action(planned: Change) -> dict[str, Json]:
    """Name the action of a decision that sums several records up, or only links some, as admission names its own."""
    admitted = [part for part in planned.parts if isinstance(part, AdmitRecord) and part.candidate.form != "question"]
    if any(len(part.derived_from) > 1 for part in admitted):
        return {"action": "summarize_node"}
    linked = bool(planned.parts) and all(isinstance(part, changes.AddLink) for part in planned.parts)
    return {"action": "link_graph"} if linked else {}


def _apply_part(
    connection: Connection,
    part: ChangePart,
    records: dict[int, Record],
    kind: str,
    context: PassContext,
    by_sleep: ChangeContext,
) -> bool:
    """Apply one part of several; False when it changed nothing."""
    match part:
        case UpdateRecord():
            return _update(connection, part, records, kind, by_sleep, {}) is not None
        case AdmitRecord():
            return _admit(connection, part, context, by_sleep)
        case changes.AddLink(type="supersedes"):
            links.add_supersedes_link(connection, part.src, part.dst, stamp(by_sleep.at), by_sleep.actor)
        case changes.AddLink():
            strengthen_link(connection, part.src, part.dst, part.type, by_sleep.at, part.why, weight=part.weight)
        case changes.ProposeChange():
            return run_rows.insert_proposal(connection, part, context.run, context.at)
        case changes.LogEvent():
            data = {**part.data, "reason": by_sleep.reason, "part_of": by_sleep.part_of}
            events.add_event(connection, by_sleep.at, ACTOR, kind, data=data)
    return True


def _as_expected(connection: Connection, part: UpdateRecord) -> Record:
    """Return the record of an update. Raises _NothingToDo when it is not as the pass read it."""
    record = store.get(connection, part.record, ALL_SCOPES)
    if record is None or not _holds(connection, record, {"status": "active", **part.expects}):
        raise _NothingToDo
    return record


def _holds(connection: Connection, record: Record, values: changes.ColumnValues) -> bool:
    names = sorted(values)
    return store.column_values(connection, record, names) == tuple(values[name] for name in names)


def _update(
    connection: Connection,
    part: UpdateRecord,
    records: dict[int, Record],
    kind: str,
    by_sleep: ChangeContext,
    data: dict[str, Json],
) -> int | None:
    record = records[part.record]
    if _holds(connection, record, part.values):
        return None
    return change(connection, record, kind, part.values, by_sleep, shown=part.shown, data=data)


def _admit(connection: Connection, part: AdmitRecord, context: PassContext, by_sleep: ChangeContext) -> bool:
    day = part.day or local_day(context.at, context.zone)
    admission = AdmitContext(context.at, day, ACTOR, policy=context.policy, part_of=by_sleep.part_of)
    sources = store.by_ids(connection, (*part.derived_from, *part.supersedes), (part.candidate.scope,)).values()
    candidate = replace(part.candidate, tags=(*part.candidate.tags, *_inherit_tags(part.candidate.form, sources)))
    decision = admit(connection, candidate, admission)
    if decision.record is None:
        return False
    for source in part.derived_from:
        if source != decision.record:
            strengthen_link(connection, decision.record, source, "derived", by_sleep.at, by_sleep.reason)
    if part.values and decision.action == "created":
        created = store.require(connection, decision.record, part.candidate.scope)
        change(connection, created, "set", part.values, by_sleep, shown=False)
    for old in part.supersedes:
        record = store.get(connection, old, (part.candidate.scope,))
        if record is not None and record.id != decision.record and record.status == "active":
            end_record(connection, record, "superseded", by_sleep, by=decision.record)
    return True


def _inherit_tags(form: Form, sources: Collection[Record]) -> Iterator[str]:
    """Yield the marks that what is made of records has from them."""
    if any(record.is_confided for record in sources):
        yield CONFIDED
    if form != "summary" and any(record.is_hearsay for record in sources):  # a summary quotes each of them
        yield HEARSAY


# ── undone ───────────────────────────────────────────────────────────────────────────────────────────────────────


def undo_decisions(connection: Connection, outcome: NightUndo, before: int, limit: int, actor: Actor) -> int:
    """Undo the newest `limit` decisions of a night before event `before`, inside a transaction.

    Returns the oldest of them; 0 when none was left.
    """
    last = 0
    for last in sleep_plans.night_decisions(connection, outcome.run, before, limit):
        steps = events.decision_events(connection, last)
        if events.find_undo(connection, last) is not None:
            continue
        if not any(step.previous_values or step.kind == "created" for step in steps):
            outcome.unchanged += 1
            continue
        try:
            undo.undo(connection, last, ALL_SCOPES, actor)
        except UndoError as error:
            outcome.conflicts.append(UndoConflict(last, steps[0].kind, str(error)))
        else:
            outcome.undone.append(last)
    return last
