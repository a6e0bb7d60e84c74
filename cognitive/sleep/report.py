"""What a night came to, for the owner: each change with what, why and how to take it back, in bounded length.

It is read from what happened, not from what was meant, so that it also tells what was taken back since, and shows
nothing that has been erased.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from kenobot.cognitive.control import history
from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.run_rows import PassResult, SleepRun
from kenobot.cognitive.store import events, records, sleep_plans
from kenobot.cognitive.store.events import EventRow
from kenobot.cognitive.store.records import Json
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.storage.connection import Connection

_SHOWN = 100  # characters of a memory
_VALUE = 40  # characters of a value


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """One decision. record: what it is mainly about. changes: column, before, after.

    other_records: records it changed too.
    """

    event: int
    kind: str
    reason: str
    record: int | None
    text: str
    changes: tuple[tuple[str, str, str], ...]
    other_records: int
    undone: bool

    @property
    def is_change(self) -> bool:
        """Whether it changed memory: it may also only have noted, linked or proposed something."""
        return bool(self.changes or self.other_records) or self.record is not None


@dataclass(frozen=True, slots=True)
class PassReport:
    """What a pass did. shown_changes: the first of its decisions.

    is_large: it changed so much that the owner is told.
    """

    result: PassResult
    description: str
    is_large: bool
    shown_changes: tuple[ChangeReport, ...]

    @property
    def omitted(self) -> int:
        """How many decisions are not among `deeds`."""
        return max(0, self.result.done - len(self.shown_changes))


@dataclass(frozen=True, slots=True)
class NightReport:
    """A night. tokens: what a model used. passes_left: passes that it has still to do."""

    run: SleepRun
    tokens: int
    passes: tuple[PassReport, ...]
    passes_left: int = 0

    @property
    def large_passes(self) -> tuple[PassResult, ...]:
        """The passes of which the owner is told."""
        return tuple(account.result for account in self.passes if account.is_large)

    @property
    def decisions(self) -> int:
        """Decisions in all."""
        return sum(account.result.done for account in self.passes)


def is_large(passed: PassResult, policy: SleepPolicy) -> bool:
    """Whether a pass changed so much that the owner should be told."""
    return (
        passed.changed_records >= policy.large_from_records
        and passed.changed_records > policy.large_above_share * passed.live_records
    )


def build_report(connection: Connection, run: SleepRun, night: Sequence[Pass], policy: SleepPolicy) -> NightReport:
    """The report of a night, finished or not."""
    about = {one.name: one.description for one in night}
    accounts = tuple(
        PassReport(
            passed,
            about.get(passed.name, ""),
            is_large(passed, policy),
            tuple(_deeds(connection, run.id, passed.name, policy.max_reported)),
        )
        for passed in run_rows.pass_results(connection, run.id)
    )
    names = {account.result.name for account in accounts}
    waiting = [one for one in night if one.phase in run.phases and one.name not in names]
    left = len(waiting) if run.finished is None else 0
    return NightReport(run, sleep_plans.tokens_used(connection, run.id), accounts, left)


def _deeds(connection: Connection, run: int, name: str, limit: int) -> Iterator[ChangeReport]:
    for event in sleep_plans.pass_decisions(connection, run, name, limit):
        happenings = events.decision_events(connection, event)
        root = happenings[0]
        changed = [each for each in happenings if each.record is not None]
        record = root.record if root.record is not None else next((each.record for each in changed), None)
        known = records.get(connection, record, ALL_SCOPES) if record is not None else None
        yield ChangeReport(
            event=event,
            kind=root.kind,
            reason=str(root.data.get("reason") or ""),
            record=record,
            text=_short(known.text, _SHOWN) if known is not None else "",
            changes=tuple(_changes(connection, record, happenings)),
            other_records=len({each.record for each in changed} - {record}),
            undone=events.undone_by(connection, event) is not None,
        )


def _changes(
    connection: Connection, record: int | None, happenings: Sequence[EventRow]
) -> Iterator[tuple[str, str, str]]:
    """What a decision changed of the record that it is about, bookkeeping aside."""
    ours = {each.id for each in happenings if each.record == record}
    if record is not None and ours:
        for step in reversed(history.history(connection, record, ALL_SCOPES)):
            if step.event in ours:
                for name, before, after in step.changes:
                    yield name, _short(str(before), _VALUE), _short(str(after), _VALUE)


def _short(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(report: NightReport) -> dict[str, Json]:
    """The report as JSON."""
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
        "passes": [_account(account) for account in report.passes],
    }


def _account(account: PassReport) -> dict[str, Json]:
    passed = account.result
    return {
        "pass": passed.name,
        "phase": passed.phase,
        "live": passed.live_records,
        "touched": passed.changed_records,
        "done": passed.done,
        "skipped": passed.skipped,
        "trouble": passed.trouble,
        "large": account.is_large,
        "changes": [_deed(deed, passed) for deed in account.shown_changes],
        "more": account.omitted,
    }


def _deed(deed: ChangeReport, passed: PassResult) -> dict[str, Json]:
    return {
        "event": deed.event,
        "what": deed.kind,
        "why": deed.reason,
        "pass": passed.name,
        "record": deed.record,
        "text": deed.text,
        "changes": [[*change] for change in deed.changes],
        "others": deed.other_records,
        "undone": deed.undone,
        "undo": f"kenobot memory undo {deed.event}" if deed.is_change else None,
    }


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────

_ENDED: Mapping[str, str] = {"running": "not finished", "undone": "taken back", "finished": "finished"}


def as_markdown(report: NightReport, zone: ZoneInfo, *, dry_run: bool = False) -> str:
    """The report as Markdown, times in the owner's zone. dry_run: nothing of it has happened."""
    run = report.run
    head = "What a night would do" if dry_run else f"Night {run.id}"
    lines = [f"# {head}, {run.at.astimezone(zone):%Y-%m-%d %H:%M}", "", _summary(report, rehearsed=dry_run)]
    lines += [
        f"\n**Many at once:** {each.name} changed {each.changed_records} of {each.live_records} memories."
        for each in report.large_passes
    ]
    phase = ""
    for account in report.passes:
        if not (account.result.done or account.result.trouble):
            continue
        if account.result.phase != phase:
            phase = account.result.phase
            lines += ["", f"## {phase}"]
        lines += _section(account, rehearsed=dry_run)
    if report.decisions and not dry_run and run.state == "finished":
        lines += ["", f"`kenobot sleep undo {run.id}` takes all of it back."]
    return "\n".join(lines)


def _summary(report: NightReport, *, rehearsed: bool) -> str:
    quiet = sum(not (each.result.done or each.result.trouble) for each in report.passes)
    told = [] if rehearsed else [_ENDED.get(report.run.state, report.run.state)]
    told.append("1 decision" if report.decisions == 1 else f"{report.decisions} decisions")
    if quiet:
        told.append(f"{quiet} passes found nothing to do")
    if report.passes_left:
        told.append(f"{report.passes_left} passes still to do")
    if report.tokens:
        told.append(f"{report.tokens} tokens used")
    return f"{' · '.join(told)}."


def _section(account: PassReport, *, rehearsed: bool) -> Iterator[str]:
    passed = account.result
    about = f": {account.description.rstrip('.')}" if account.description else ""
    yield f"\n### {passed.name}{about}\n"
    if passed.trouble:
        yield f"**Trouble:** {passed.trouble}\n"
    for deed in account.shown_changes:
        yield _line(deed, rehearsed=rehearsed)
    if account.omitted:
        yield f"- … and {account.omitted} more{'' if rehearsed else ': `kenobot memory log` has them all'}"
    if passed.skipped:
        yield f"- {passed.skipped} more were planned and left, because memory had changed or you had taken them back"


def _line(deed: ChangeReport, *, rehearsed: bool) -> str:
    about = f" #{deed.record}" if deed.record is not None else ""
    text = f" “{deed.text}”" if deed.text else ""
    changes = "; ".join(f"{name}: {before} → {after}" for name, before, after in deed.changes)
    others = f", and {deed.other_records} more memories" if deed.other_records else ""
    why = f". Why: {deed.reason.rstrip('.')}" if deed.reason else ""
    undo = "taken back" if deed.undone else f"`kenobot memory undo {deed.event}`"
    end = "" if rehearsed or not deed.is_change else f" [{undo}]"
    return f"- {deed.kind}{about}{text}{f' ({changes})' if changes else ''}{others}{why}.{end}"
