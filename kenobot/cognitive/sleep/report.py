"""Report a night to the owner: each change with its reason and how to undo it, in bounded length.

It is read from events, not from plans, so it also tells what was undone since, and shows nothing that was erased.
"""

from collections.abc import Iterator, Sequence

from kenobot.cognitive.control.history import history
from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.store import events as event_rows
from kenobot.cognitive.store import records, sleep_plans
from kenobot.ports.json_value import Json
from kenobot.ports.nights import ChangeReport, NightReport, PassReport, PassResult, SleepRun
from kenobot.ports.records import EventRow
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES

_SHOWN = 100  # characters of a memory
_VALUE = 40  # characters of a value
_WHOLE = 4000  # characters of either, in full


def is_large(result: PassResult, policy: SleepPolicy) -> bool:
    """Return whether a pass changed so much that the owner should be told."""
    share = policy.large_above_share * result.live_records
    return result.changed_records >= policy.large_from_records and result.changed_records > share


def build_report(
    connection: Connection, run: SleepRun, night: Sequence[Pass], policy: SleepPolicy, *, in_full: bool = False
) -> NightReport:
    """Report a night, finished or not. in_full: with whole texts, as a page has room for."""
    descriptions = {one.name: one.description for one in night}
    reports: dict[str, PassReport] = {}
    for result in run_rows.pass_results(connection, run.id):
        changes = tuple(_changes(connection, run.id, result.name, policy.max_reported, in_full=in_full))
        description = descriptions.get(result.name, "")
        reports[result.name] = PassReport(result, description, is_large(result, policy), changes)
    left = [one for one in night if run.finished is None and one.phase in run.phases and one.name not in reports]
    return NightReport(run, sleep_plans.tokens_used(connection, run.id), tuple(reports.values()), len(left))


def _changes(connection: Connection, run: int, name: str, limit: int, *, in_full: bool) -> Iterator[ChangeReport]:
    for number in sleep_plans.pass_decisions(connection, run, name, limit):
        events = event_rows.decision_events(connection, number)
        root = events[0]
        changed = [event.record for event in events if event.record is not None]
        about = root.record if root.record is not None else next(iter(changed), None)
        record = records.get(connection, about, ALL_SCOPES) if about is not None else None
        yield ChangeReport(
            event=number,
            kind=root.kind,
            reason=root.reason,
            record=about,
            text=_cut(record.text, _SHOWN, in_full=in_full) if record is not None else "",
            changes=tuple(_columns(connection, about, events, in_full=in_full)) if about is not None else (),
            other_records=len({*changed} - {about}),
            undone=event_rows.find_undo(connection, number) is not None,
        )


def _columns(
    connection: Connection, record: int, events: Sequence[EventRow], *, in_full: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield the columns that a decision changed of a record, bookkeeping aside."""
    ids = {event.id for event in events if event.record == record}
    for step in reversed(history(connection, record, ALL_SCOPES)) if ids else ():
        for name, before, after in step.changes if step.event in ids else ():
            was, now = (_cut(str(value), _VALUE, in_full=in_full) for value in (before, after))
            yield name, was, now


def _cut(text: str, longest: int, *, in_full: bool) -> str:
    if in_full:
        return text[:_WHOLE]
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(report: NightReport) -> dict[str, Json]:
    """Return the report as JSON."""
    run = report.run
    return {
        "run": run.id,
        "at": run.at.isoformat(),
        "finished": run.finished.isoformat() if run.finished else None,
        "state": run.state,
        "cause": run.cause,
        "phases": [*run.phases],
        "tokens": report.tokens,
        "done": report.decisions,
        "waiting": report.passes_left,
        "passes": [
            {
                "pass": one.result.name,
                "phase": one.result.phase,
                "live": one.result.live_records,
                "touched": one.result.changed_records,
                "done": one.result.done,
                "skipped": one.result.skipped,
                "trouble": one.result.trouble,
                "large": one.is_large,
                "changes": [_change_json(change, one.result.name) for change in one.shown_changes],
                "more": one.omitted,
            }
            for one in report.passes
        ],
    }


def _change_json(change: ChangeReport, name: str) -> dict[str, Json]:
    return {
        "event": change.event,
        "what": change.kind,
        "why": change.reason,
        "pass": name,
        "record": change.record,
        "text": change.text,
        "changes": [[*values] for values in change.changes],
        "others": change.other_records,
        "undone": change.undone,
        "undo": f"kenobot memory undo {change.event}" if change.is_change else None,
    }
