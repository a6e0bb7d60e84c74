"""What a night came to, for the owner: each change with what, why and how to take it back, in bounded length.

It is read from what happened, not from what was meant, so that it also tells what was taken back since, and shows
nothing that has been erased.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from kenobot.cognitive.control import history
from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.sleep import sleep_store
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.sleep_store import Passed, Run
from kenobot.cognitive.store import history as hands_store
from kenobot.cognitive.store import records, sleep_plans
from kenobot.cognitive.store.history import Happening
from kenobot.cognitive.store.records import Json
from kenobot.cognitive.store.scopes import WHOLE_HOME
from kenobot.storage.connection import Connection

_SHOWN = 100  # characters of a memory
_VALUE = 40  # characters of a value


@dataclass(frozen=True, slots=True)
class Deed:
    """One decision. record: what it is mainly about. changes: column, before, after. others: records it changed too."""

    event: int
    kind: str
    why: str
    record: int | None
    text: str
    changes: tuple[tuple[str, str, str], ...]
    others: int
    undone: bool

    @property
    def is_change(self) -> bool:
        """Whether it changed memory: it may also only have noted, linked or proposed something."""
        return bool(self.changes or self.others) or self.record is not None


@dataclass(frozen=True, slots=True)
class Account:
    """What a pass did. deeds: the first of its decisions. large: it changed so much that the owner is told."""

    passed: Passed
    about: str
    large: bool
    deeds: tuple[Deed, ...]

    @property
    def more(self) -> int:
        """How many decisions are not among `deeds`."""
        return max(0, self.passed.done - len(self.deeds))


@dataclass(frozen=True, slots=True)
class Report:
    """A night. tokens: what a model used. waiting: passes that it has still to do."""

    run: Run
    tokens: int
    accounts: tuple[Account, ...]
    waiting: int = 0

    @property
    def large(self) -> tuple[Passed, ...]:
        """The passes of which the owner is told."""
        return tuple(account.passed for account in self.accounts if account.large)

    @property
    def done(self) -> int:
        """Decisions in all."""
        return sum(account.passed.done for account in self.accounts)


def is_large(passed: Passed, policy: SleepPolicy) -> bool:
    """Whether a pass changed so much that the owner should be told."""
    return passed.touched >= policy.large_least and passed.touched > policy.large * passed.live


def build(connection: Connection, run: Run, night: Sequence[Pass], policy: SleepPolicy) -> Report:
    """The report of a night, finished or not."""
    about = {one.name: one.about for one in night}
    accounts = tuple(
        Account(
            passed,
            about.get(passed.name, ""),
            is_large(passed, policy),
            tuple(_deeds(connection, run.id, passed.name, policy.reported)),
        )
        for passed in sleep_store.passed(connection, run.id)
    )
    names = {account.passed.name for account in accounts}
    waiting = [one for one in night if one.phase in run.phases and one.name not in names]
    left = len(waiting) if run.finished is None else 0
    return Report(run, sleep_plans.tokens(connection, run.id), accounts, left)


def _deeds(connection: Connection, run: int, name: str, limit: int) -> Iterator[Deed]:
    for event in sleep_plans.decisions(connection, run, name, limit):
        happenings = hands_store.decision(connection, event)
        root = happenings[0]
        changed = [each for each in happenings if each.record is not None]
        record = root.record if root.record is not None else next((each.record for each in changed), None)
        known = records.get(connection, record, WHOLE_HOME) if record is not None else None
        yield Deed(
            event=event,
            kind=root.kind,
            why=str(root.data.get("reason") or ""),
            record=record,
            text=_short(known.text, _SHOWN) if known is not None else "",
            changes=tuple(_changes(connection, record, happenings)),
            others=len({each.record for each in changed} - {record}),
            undone=hands_store.undone_by(connection, event) is not None,
        )


def _changes(
    connection: Connection, record: int | None, happenings: Sequence[Happening]
) -> Iterator[tuple[str, str, str]]:
    """What a decision changed of the record that it is about, bookkeeping aside."""
    ours = {each.id for each in happenings if each.record == record}
    if record is not None and ours:
        for step in reversed(history.history(connection, record, WHOLE_HOME)):
            if step.event in ours:
                for name, before, after in step.changes:
                    yield name, _short(str(before), _VALUE), _short(str(after), _VALUE)


def _short(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(report: Report) -> dict[str, Json]:
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
        "done": report.done,
        "waiting": report.waiting,
        "passes": [_account(account) for account in report.accounts],
    }


def _account(account: Account) -> dict[str, Json]:
    passed = account.passed
    return {
        "pass": passed.name,
        "phase": passed.phase,
        "live": passed.live,
        "touched": passed.touched,
        "done": passed.done,
        "skipped": passed.skipped,
        "trouble": passed.trouble,
        "large": account.large,
        "changes": [_deed(deed, passed) for deed in account.deeds],
        "more": account.more,
    }


def _deed(deed: Deed, passed: Passed) -> dict[str, Json]:
    return {
        "event": deed.event,
        "what": deed.kind,
        "why": deed.why,
        "pass": passed.name,
        "record": deed.record,
        "text": deed.text,
        "changes": [[*change] for change in deed.changes],
        "others": deed.others,
        "undone": deed.undone,
        "undo": f"kenobot memory undo {deed.event}" if deed.is_change else None,
    }


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────

_ENDED: Mapping[str, str] = {"running": "not finished", "undone": "taken back", "finished": "finished"}


def as_markdown(report: Report, zone: ZoneInfo, *, rehearsed: bool = False) -> str:
    """The report as Markdown, times in the owner's zone. rehearsed: nothing of it has happened."""
    run = report.run
    head = "What a night would do" if rehearsed else f"Night {run.id}"
    lines = [f"# {head}, {run.at.astimezone(zone):%Y-%m-%d %H:%M}", "", _summary(report, rehearsed=rehearsed)]
    lines += [
        f"\n**Many at once:** {each.name} changed {each.touched} of {each.live} memories." for each in report.large
    ]
    phase = ""
    for account in report.accounts:
        if not (account.passed.done or account.passed.trouble):
            continue
        if account.passed.phase != phase:
            phase = account.passed.phase
            lines += ["", f"## {phase}"]
        lines += _section(account, rehearsed=rehearsed)
    if report.done and not rehearsed and run.state == "finished":
        lines += ["", f"`kenobot sleep undo {run.id}` takes all of it back."]
    return "\n".join(lines)


def _summary(report: Report, *, rehearsed: bool) -> str:
    quiet = sum(not (each.passed.done or each.passed.trouble) for each in report.accounts)
    told = [] if rehearsed else [_ENDED.get(report.run.state, report.run.state)]
    told.append("1 decision" if report.done == 1 else f"{report.done} decisions")
    if quiet:
        told.append(f"{quiet} passes found nothing to do")
    if report.waiting:
        told.append(f"{report.waiting} passes still to do")
    if report.tokens:
        told.append(f"{report.tokens} tokens used")
    return f"{' · '.join(told)}."


def _section(account: Account, *, rehearsed: bool) -> Iterator[str]:
    passed = account.passed
    about = f": {account.about.rstrip('.')}" if account.about else ""
    yield f"\n### {passed.name}{about}\n"
    if passed.trouble:
        yield f"**Trouble:** {passed.trouble}\n"
    for deed in account.deeds:
        yield _line(deed, rehearsed=rehearsed)
    if account.more:
        yield f"- … and {account.more} more{'' if rehearsed else ': `kenobot memory log` has them all'}"
    if passed.skipped:
        yield f"- {passed.skipped} more were planned and left, because memory had changed or you had taken them back"


def _line(deed: Deed, *, rehearsed: bool) -> str:
    about = f" #{deed.record}" if deed.record is not None else ""
    text = f" “{deed.text}”" if deed.text else ""
    changes = "; ".join(f"{name}: {before} → {after}" for name, before, after in deed.changes)
    others = f", and {deed.others} more memories" if deed.others else ""
    why = f". Why: {deed.why.rstrip('.')}" if deed.why else ""
    undo = "taken back" if deed.undone else f"`kenobot memory undo {deed.event}`"
    end = "" if rehearsed or not deed.is_change else f" [{undo}]"
    return f"- {deed.kind}{about}{text}{f' ({changes})' if changes else ''}{others}{why}.{end}"
