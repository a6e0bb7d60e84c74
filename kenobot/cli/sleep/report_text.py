"""Write the report of a night as Markdown, in the terminal's language and the owner's time zone."""

from collections.abc import Iterator, Mapping, Sequence
from zoneinfo import ZoneInfo

from kenobot.cli.language import quote, say, translate
from kenobot.ports.nights import ChangeReport, NightReport, PassReport

_STATES: Mapping[str, str] = {"running": "not finished", "undone": "taken back"}
_BOOKKEEPING = ("judged",)  # says how far a pass has read


def as_markdown(report: NightReport, zone: ZoneInfo, *, dry_run: bool = False) -> str:
    """Write a report. dry_run: nothing of it has happened."""
    run = report.run
    title = say("What a night would do") if dry_run else say("Night {number}", number=run.id)
    lines = [f"# {title}, {run.at.astimezone(zone):%Y-%m-%d %H:%M}", "", _summary(report, dry_run)]
    for large in report.large_passes:
        many = "**Many at once:** {name} changed {changed} of {live} memories."
        lines.append("\n" + say(many, name=large.name, changed=large.changed_records, live=large.live_records))
    phase = ""
    for one in report.passes:
        if _is_quiet(one):
            continue
        if one.result.phase != phase:
            phase = one.result.phase
            lines += ["", f"## {say(phase)}"]
        lines += _section(one, dry_run)
    if _decisions(report) and not dry_run and run.state == "finished":
        lines += ["", say("`kenobot sleep undo {number}` takes all of it back.", number=run.id)]
    return "\n".join(lines)


def _is_quiet(report: PassReport) -> bool:
    return not (_select_changes(report) or report.omitted or report.result.trouble)


def _select_changes(report: PassReport) -> Sequence[ChangeReport]:
    return [change for change in report.shown_changes if change.kind not in _BOOKKEEPING or change.is_change]


def _decisions(report: NightReport) -> int:
    return sum(len(_select_changes(one)) + one.omitted for one in report.passes)


def _summary(report: NightReport, dry_run: bool) -> str:
    quiet, count = sum(map(_is_quiet, report.passes)), _decisions(report)
    decisions = {0: "nothing had to change", 1: "1 decision"}.get(count, "{count} decisions")
    parts = (
        "" if dry_run else say(_STATES.get(report.run.state, report.run.state)),
        say(decisions, count=count),
        say("{count} passes found nothing to do", count=quiet) if quiet and count else "",
        say("{count} passes still to do", count=report.passes_left) if report.passes_left else "",
        say("{count} tokens used", count=report.tokens) if report.tokens else "",
    )
    told = " · ".join(filter(None, parts))
    return f"{told[:1].upper()}{told[1:]}."


def _section(report: PassReport, dry_run: bool) -> Iterator[str]:
    result = report.result
    about = translate(report.description).rstrip(".")
    yield f"\n### {about[:1].upper()}{about[1:]} ({result.name})\n" if about else f"\n### {result.name}\n"
    if result.trouble:
        yield f"**{say('Trouble:')}** {translate(result.trouble)}\n"
    for change in _select_changes(report):
        yield _line(change, dry_run)
    if report.omitted:
        more = "- … and {count} more" if dry_run else "- … and {count} more: `kenobot memory log` has them all"
        yield say(more, count=report.omitted)
    if result.skipped:
        skipped = "- {count} more were planned and left, because memory had changed or you had taken them back"
        yield say(skipped, count=result.skipped)


def _line(change: ChangeReport, dry_run: bool) -> str:
    about = f" #{change.record}" if change.record is not None else ""
    text = f" {quote(change.text)}" if change.text else ""
    changes = "; ".join(f"{say(name)}: {before} → {after}" for name, before, after in change.changes)
    others = say(", and {count} more memories", count=change.other_records) if change.other_records else ""
    why = say(". Why: {reason}", reason=translate(change.reason).rstrip(".")) if change.reason else ""
    end = "" if dry_run or change.undone or not change.is_change else f" [`kenobot memory undo {change.event}`]"
    since = say("taken back since, so it does not hold: ") if change.undone else ""
    return f"- {since}{say(change.kind)}{about}{text}{f' ({changes})' if changes else ''}{others}{why}.{end}"
