"""Write the report of a night as Markdown, in the terminal's language and the owner's time zone."""

from collections.abc import Iterator, Mapping
from zoneinfo import ZoneInfo

from kenobot.cli.language import say, translate
from kenobot.cognitive.sleep.report import ChangeReport, NightReport, PassReport

_STATES: Mapping[str, str] = {"running": "not finished", "undone": "taken back"}


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
    if report.decisions and not dry_run and run.state == "finished":
        lines += ["", say("`kenobot sleep undo {number}` takes all of it back.", number=run.id)]
    return "\n".join(lines)


def _is_quiet(report: PassReport) -> bool:
    return not (report.result.done or report.result.trouble)


def _summary(report: NightReport, dry_run: bool) -> str:
    quiet = sum(map(_is_quiet, report.passes))
    decisions = "1 decision" if report.decisions == 1 else "{count} decisions"
    parts = (
        "" if dry_run else say(_STATES.get(report.run.state, report.run.state)),
        say(decisions, count=report.decisions),
        say("{count} passes found nothing to do", count=quiet) if quiet else "",
        say("{count} passes still to do", count=report.passes_left) if report.passes_left else "",
        say("{count} tokens used", count=report.tokens) if report.tokens else "",
    )
    return f"{' · '.join(filter(None, parts))}."


def _section(report: PassReport, dry_run: bool) -> Iterator[str]:
    result = report.result
    about = f": {translate(report.description.rstrip('.'))}" if report.description else ""
    yield f"\n### {result.name}{about}\n"
    if result.trouble:
        yield f"**{say('Trouble:')}** {translate(result.trouble)}\n"
    for change in report.shown_changes:
        yield _line(change, dry_run)
    if report.omitted:
        more = "- … and {count} more" if dry_run else "- … and {count} more: `kenobot memory log` has them all"
        yield say(more, count=report.omitted)
    if result.skipped:
        skipped = "- {count} more were planned and left, because memory had changed or you had taken them back"
        yield say(skipped, count=result.skipped)


def _line(change: ChangeReport, dry_run: bool) -> str:
    about = f" #{change.record}" if change.record is not None else ""
    text = f" “{change.text}”" if change.text else ""
    changes = "; ".join(f"{say(name)}: {before} → {after}" for name, before, after in change.changes)
    others = say(", and {count} more memories", count=change.other_records) if change.other_records else ""
    why = say(". Why: {reason}", reason=translate(change.reason.rstrip("."))) if change.reason else ""
    end = "" if dry_run or change.undone or not change.is_change else f" [`kenobot memory undo {change.event}`]"
    since = say("taken back since, so it does not hold: ") if change.undone else ""
    return f"- {since}{say(change.kind)}{about}{text}{f' ({changes})' if changes else ''}{others}{why}.{end}"
