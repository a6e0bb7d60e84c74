"""`kenobot sleep`: consolidate memory now, report on it, and undo it."""

import asyncio
from typing import Any

from kenobot.agent.background.sleep import next_sleep_time
from kenobot.app.wiring import sleep_policy
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.memory.sync_files import sync_files
from kenobot.cli.sleep import run_night
from kenobot.cognitive.policy.sleep import Phase
from kenobot.cognitive.sleep import night, run_rows
from kenobot.cognitive.sleep.report import NightReport, as_json, as_markdown, build_report, is_large
from kenobot.cognitive.sleep.run_rows import SleepRun
from kenobot.cognitive.store import sleep_plans
from kenobot.core import log
from kenobot.core.redaction import one_line
from kenobot.core.settings.home import AlreadyLocked
from kenobot.storage.connection import Connection

_PHASES: tuple[Phase, ...] = ("consolidate", "errors", "prune", "improve")
_NEVER = "There has been no run yet: `kenobot sleep run` starts one."


def run(context: CommandContext) -> int:
    loaded = context.loaded
    context.require_database()
    log.configure("warning", loaded.settings.log.format, loaded.secrets())
    phases = tuple(phase for phase in _PHASES if phase in (context.args.phase or _PHASES))
    act = run_night.dry_run if context.args.dry_run else run_night.run_sleep
    try:
        finished = asyncio.run(act(context, phases))
    except AlreadyLocked as error:
        return options.print_failure(f"{error} `kenobot sleep status` shows how far it is.", options.FAILED)
    return _print_report(context, finished, dry_run=context.args.dry_run)


def status(context: CommandContext) -> int:
    with context.read() as connection:
        numbers = sleep_plans.newest_nights(connection, 1)
        last = run_rows.get_run(connection, numbers[0]) if numbers else None
        if last is None:
            return options.print_failure(_NEVER)
        row = _status(context, connection, last)
    return options.print_rows([row], context.args.json, _status_lines)


def report(context: CommandContext) -> int:
    number: int | None = context.args.run
    with context.read() as connection:
        numbers = [number] if number is not None else sleep_plans.newest_nights(connection, 1)
        chosen = run_rows.get_run(connection, numbers[0]) if numbers else None
        if chosen is None:
            return options.print_failure(_NEVER if number is None else f"There is no night {number}.")
        finished = build_report(connection, chosen, night.NIGHT, sleep_policy(context.loaded.settings.sleep).sleep)
    return _print_report(context, finished, dry_run=False)


def undo(context: CommandContext) -> int:
    try:
        undone = run_night.undo_sleep_run(context, context.args.run)
    except AlreadyLocked as error:
        return options.print_failure(str(error), options.FAILED)
    if undone.undone:
        sync_files(context)
    row: dict[str, Any] = {"run": undone.run, "undone": [*undone.undone], "unchanged": undone.unchanged}
    row["kept"] = [{"event": kept.event, "what": kept.kind, "why": kept.reason} for kept in undone.conflicts]
    lines = [f"Night {undone.run}: {len(undone.undone)} decisions were taken back."]
    if undone.unchanged:
        lines.append(f"{undone.unchanged} more changed no memory: links, notes and proposals.")
    if undone.conflicts:
        lines.append(f"{len(undone.conflicts)} could not be taken back:")
    lines += [f"  {kept.event:>6}  {one_line(kept.kind)}: {one_line(kept.reason)}" for kept in undone.conflicts]
    return options.print_row(row, context.args.json, "\n".join(lines))


# ── as text ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _print_report(context: CommandContext, finished: NightReport, *, dry_run: bool) -> int:
    row = as_json(finished) | {"dry_run": dry_run}
    return options.print_row(row, context.args.json, as_markdown(finished, context.zone, dry_run=dry_run))


def _status(context: CommandContext, connection: Connection, last: SleepRun) -> dict[str, Any]:
    settings = context.loaded.settings
    policy = sleep_policy(settings.sleep).sleep
    unfinished = run_rows.last_run(connection, "running") is not None
    passes = run_rows.pass_results(connection, last.id)
    full = sleep_plans.last_full_night_at(connection)
    due = next_sleep_time(settings.sleep, policy, full, context.now, settings.bot.timezone)
    return {
        "state": "awake" if not unfinished else "asleep" if run_night.is_asleep(context.home) else "cut short",
        "run": last.id,
        "at": last.at.isoformat(),
        "finished": last.finished.isoformat() if last.finished else None,
        "cause": last.cause,
        "night": last.state,
        "passes": len(passes),
        "decisions": sum(each.done for each in passes),
        "tokens": sleep_plans.tokens_used(connection, last.id),
        "large": [each.name for each in passes if is_large(each, policy)],
        "trouble": {each.name: each.trouble for each in passes if each.trouble},
        "enabled": settings.sleep.enabled,
        "next": due.isoformat() if due else None,
    }


def _status_lines(row: Any) -> str:
    lines = [f"{row['state']}; night {row['run']} began {row['at'][:16]} UTC ({row['cause']}, {row['night']})"]
    lines.append(f"  {row['passes']} passes, {row['decisions']} decisions, {row['tokens']} tokens")
    if row["large"]:
        lines.append(f"  many at once: {', '.join(row['large'])}")
    lines += [f"  trouble in {name}: {why}" for name, why in row["trouble"].items()]
    if row["state"] == "cut short":
        lines.append("  `kenobot sleep run` goes on with it; so does the bot, within an hour")
    elif row["next"]:
        lines.append(f"  the next one is due {row['next'][:16]} UTC")
    else:
        lines.append("  it does not sleep by itself: `sleep.enabled` is false")
    return "\n".join(one_line(line) for line in lines)
