"""`kenobot sleep`: consolidate memory now, report on it, and undo it."""

import asyncio
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.memory.sync_files import BOT_IS_RUNNING, sync_files
from kenobot.cli.sleep import run_night
from kenobot.cli.sleep.report_text import as_markdown
from kenobot.cognitive.memory import Nights, Policy
from kenobot.core import log
from kenobot.core.redaction import one_line
from kenobot.core.settings.home import AlreadyLocked
from kenobot.ports.nights import PHASES, NightReport, Phase, SleepRun
from kenobot.storage.connection import Connection

_NEVER = "There has been no run yet: `kenobot sleep run` starts one."


def run(context: CommandContext) -> int:
    phases = tuple(phase for phase in PHASES if phase in (context.args.phase or PHASES))
    return _sleep(context, phases, dry_run=context.args.dry_run)


def run_passes(context: CommandContext) -> int:
    """Run the passes of sleep that `kenobot memory merge`, `synthesize` or `prune` stands for."""
    command = context.args.command
    return _sleep(context, Nights.phases(Nights.passes(command)), command, dry_run=context.args.dry_run)


def reflect(context: CommandContext) -> int:
    return _sleep(context, PHASES, dry_run=True)


def backfill(context: CommandContext) -> int:
    _configure_log(context)
    try:
        with context.home.lock():
            extracted = asyncio.run(run_night.extract_pending(context))
    except AlreadyLocked:
        return options.print_row({"running": True}, context.args.json, translate(BOT_IS_RUNNING))
    text = say(
        "Turns read: {turns}. Turns that still wait: {waiting}.", turns=extracted.read, waiting=extracted.waiting
    )
    return options.print_row({"turns": extracted.read, "waiting": extracted.waiting}, context.args.json, text)


def _sleep(context: CommandContext, phases: tuple[Phase, ...], command: str = "", *, dry_run: bool) -> int:
    """Run passes of sleep, or only plan them, and print the report. Returns the exit code.

    command: its passes alone; "" for all. dry_run: plan only.
    """
    _configure_log(context)
    act = run_night.dry_run if dry_run else run_night.run_sleep
    try:
        finished = asyncio.run(act(context, phases, command))
    except AlreadyLocked as error:
        return options.print_failure(
            say("{reason} `kenobot sleep status` shows how far it is.", reason=error), options.FAILED
        )
    return _print_report(context, finished, dry_run=dry_run)


def _configure_log(context: CommandContext) -> None:
    loaded = context.loaded
    context.require_database()
    log.configure("warning", loaded.settings.log.format, loaded.secrets())


def status(context: CommandContext) -> int:
    with context.read() as connection:
        last = Nights.find(connection)
        if last is None:
            return options.print_failure(_NEVER)
        row = _status(context, connection, last)
    return options.print_rows([row], context.args.json, lambda row: _status_lines(context, row))


def report(context: CommandContext) -> int:
    number: int | None = context.args.run
    with context.read() as connection:
        chosen = Nights.find(connection, number)
        if chosen is None:
            return options.print_failure(
                _NEVER if number is None else say("There is no night {number}.", number=number)
            )
        finished = Nights.report(connection, chosen, Policy.of(context.loaded.settings.sleep))
    return _print_report(context, finished, dry_run=False)


def undo(context: CommandContext) -> int:
    try:
        undone = run_night.undo_sleep_run(context, context.args.run)
    except AlreadyLocked as error:
        return options.print_failure(error, options.FAILED)
    if undone.undone:
        sync_files(context)
    row: dict[str, Any] = {"run": undone.run, "undone": [*undone.undone], "unchanged": undone.unchanged}
    row["kept"] = [{"event": kept.event, "what": kept.kind, "why": kept.reason} for kept in undone.conflicts]
    lines = [say("Night {number}: {count} decisions were taken back.", number=undone.run, count=len(undone.undone))]
    if undone.unchanged:
        lines.append(say("{count} more changed no memory: links, notes and proposals.", count=undone.unchanged))
    if undone.conflicts:
        lines.append(say("{count} could not be taken back:", count=len(undone.conflicts)))
    lines += [
        f"  {kept.event:>6}  {one_line(say(kept.kind))}: {one_line(translate(kept.reason))}"
        for kept in undone.conflicts
    ]
    return options.print_row(row, context.args.json, "\n".join(lines))


# ── as text ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _print_report(context: CommandContext, finished: NightReport, *, dry_run: bool) -> int:
    row = Nights.as_json(finished) | {"dry_run": dry_run}
    return options.print_row(row, context.args.json, as_markdown(finished, context.zone, dry_run=dry_run))


def _status(context: CommandContext, connection: Connection, last: SleepRun) -> dict[str, Any]:
    settings = context.loaded.settings
    policy = Policy.of(settings.sleep)
    unfinished = Nights.find_unfinished(connection) is not None
    full = Nights.last_full_at(connection)
    due = Nights.next_time(settings.sleep, full, context.now, settings.bot.timezone)
    return {
        "state": "awake" if not unfinished else "asleep" if run_night.is_asleep(context.home) else "cut short",
        "run": last.id,
        "at": last.at.isoformat(),
        "finished": last.finished.isoformat() if last.finished else None,
        "cause": last.cause,
        "night": last.state,
        **Nights.count(connection, last, policy),
        "enabled": settings.sleep.enabled,
        "next": due.isoformat() if due else None,
    }


def _status_lines(context: CommandContext, row: Any) -> str:
    began = "{state}; night {number} began {at} ({cause}, {night})"
    words = {"state": say(row["state"]), "cause": say(row["cause"]), "night": say(row["night"])}
    lines = [say(began, number=row["run"], at=context.local_time(row["at"]), **words)]
    figures = "  {passes} passes, {decisions} decisions, {tokens} tokens"
    lines.append(say(figures, passes=row["passes"], decisions=row["decisions"], tokens=row["tokens"]))
    if row["large"]:
        lines.append(say("  many at once: {names}", names=", ".join(row["large"])))
    lines += [say("  trouble in {name}: {why}", name=name, why=translate(why)) for name, why in row["trouble"].items()]
    if row["state"] == "cut short":
        lines.append(say("  `kenobot sleep run` goes on with it; so does the bot, within an hour"))
    elif row["next"]:
        lines.append(say("  the next one is due {at}", at=context.local_time(row["next"])))
    else:
        lines.append(say("  it does not sleep by itself: `sleep.enabled` is false"))
    return "\n".join(map(one_line, lines))
