"""`kenobot sleep`: have memory looked after now, see what that came to, and take it back."""

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

from kenobot.cli import options
from kenobot.cli.memory_options import examples_epilog
from kenobot.cli.options import clock_of, home_of

if TYPE_CHECKING:
    from kenobot.cognitive.policy.sleep import Phase
    from kenobot.cognitive.sleep.report import NightReport
    from kenobot.cognitive.sleep.run_rows import SleepRun
    from kenobot.core.settings.home import Home
    from kenobot.core.settings.load import ResolvedSettings
    from kenobot.ports.clock import Clock
    from kenobot.storage.connection import Connection

_FAILED = 1
_PHASES: "tuple[Phase, ...]" = ("consolidate", "errors", "prune", "improve")
_night = options.id_number("no number of a night: `kenobot sleep status` shows the last one")
_NEVER = "It has not slept here yet: `kenobot sleep run` has it do so now."


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "sleep",
        parents=[home],
        help="look after memory: gather, merge, tidy; and take it back",
        description="What the bot does by itself once a day: gather what matters, merge what repeats itself, clear "
        "away what is over. Works while the bot runs and while it does not.",
    )
    parts = parser.add_subparsers(metavar="WHAT", required=True)
    _add_run(parts, home)
    state = parts.add_parser(
        "status",
        parents=[home],
        help="when it slept last, and when it will again",
        description="When it slept last, what that came to, and when it will again.",
        **examples_epilog("kenobot sleep status", "kenobot sleep status --json"),
    )
    options.add_json(state)
    state.set_defaults(command=status)
    told = parts.add_parser(
        "report",
        parents=[home],
        help="what a night changed, why, and how to take it back",
        description="What a night changed, why, and how to take each change back, as Markdown.",
        **examples_epilog("kenobot sleep report", "kenobot sleep report 12 --json"),
    )
    told.add_argument("run", metavar="NIGHT", nargs="?", type=_night, help="its number; without it the last one")
    options.add_json(told)
    told.set_defaults(command=report)
    back = parts.add_parser(
        "undo",
        parents=[home],
        help="take back all that a night changed",
        description="Take back all that a night changed, the newest change first. What memory has built on since is "
        "left and named. Sleep does not decide the same again.",
        **examples_epilog("kenobot sleep undo", "kenobot sleep undo 12"),
    )
    back.add_argument("run", metavar="NIGHT", nargs="?", type=_night, help="its number; without it the last one")
    options.add_json(back)
    back.set_defaults(command=undo)


def _add_run(parts: Any, home: argparse.ArgumentParser) -> None:
    now = parts.add_parser(
        "run",
        parents=[home],
        help="sleep now",
        description="Sleep now. A night that was cut short is gone on with. Ctrl-C breaks off; nothing is lost by it.",
        **examples_epilog(
            "kenobot sleep run", "kenobot sleep run --dry-run", "kenobot sleep run --phase prune --phase errors"
        ),
    )
    now.add_argument("--dry-run", action="store_true", help="only say what would be changed, by rules, without a model")
    now.add_argument("--phase", action="append", choices=_PHASES, help="only this phase; may be given several times")
    options.add_json(now)
    now.set_defaults(command=run)


# ── the commands ─────────────────────────────────────────────────────────────────────────────────────────────────


def run(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    import asyncio

    from kenobot.cli import sleep_run
    from kenobot.core import log
    from kenobot.core.settings.home import AlreadyLocked
    from kenobot.core.settings.load import load_settings

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    options.require_database(home)
    log.configure("warning", loaded.settings.log.format, loaded.secrets())
    phases = tuple(phase for phase in _PHASES if phase in (arguments.phase or _PHASES))
    night = sleep_run.dry_run if arguments.dry_run else sleep_run.run_sleep
    try:
        done = asyncio.run(night(home, loaded, clock_of(clock), phases))
    except AlreadyLocked as error:
        return options.print_failure(f"{error} `kenobot sleep status` shows how far it is.", _FAILED)
    return _show(arguments, loaded, done)


def status(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.cognitive.sleep import run_rows
    from kenobot.cognitive.store import sleep_plans
    from kenobot.core.settings.load import load_settings

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    with db_read.open_readonly(home) as connection:
        connection.row_factory = None
        numbers = sleep_plans.newest_nights(connection, 1)
        last = run_rows.get_run(connection, numbers[0]) if numbers else None
        if last is None:
            return options.print_failure(_NEVER)
        row = _status(connection, home, loaded, clock_of(clock), last)
    return options.print_rows([row], arguments.json, _status_lines, "")


def report(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.agent.background.sleep import sleep_policy
    from kenobot.cli import db_read
    from kenobot.cognitive.sleep import run_rows
    from kenobot.cognitive.sleep.night import NIGHT
    from kenobot.cognitive.sleep.report import build_report
    from kenobot.cognitive.store import sleep_plans
    from kenobot.core.settings.load import load_settings

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    with db_read.open_readonly(home) as connection:
        connection.row_factory = None
        connection.execute("BEGIN")
        numbers = [arguments.run] if arguments.run is not None else sleep_plans.newest_nights(connection, 1)
        night = run_rows.get_run(connection, numbers[0]) if numbers else None
        if night is None:
            return options.print_failure(_NEVER if arguments.run is None else f"There is no night {arguments.run}.")
        done = build_report(connection, night, NIGHT, sleep_policy(loaded.settings.sleep).sleep)
    return _show(arguments, loaded, done)


def undo(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import sleep_run
    from kenobot.cli.memory_options import sync_files
    from kenobot.core.settings.home import AlreadyLocked
    from kenobot.core.settings.load import load_settings

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    try:
        back = sleep_run.undo_sleep_run(home, loaded, clock_of(clock), arguments.run)
    except sleep_run.NoSuchSleepRun as error:
        return options.print_failure(str(error))
    except AlreadyLocked as error:
        return options.print_failure(str(error), _FAILED)
    if back.undone:
        sync_files(home, loaded, clock)
    row: dict[str, Any] = {"run": back.run, "undone": [*back.undone], "unchanged": back.unchanged}
    row["kept"] = [{"event": kept.event, "what": kept.kind, "why": kept.reason} for kept in back.conflicts]
    if arguments.json:
        print(json.dumps(row))
        return 0
    print(f"Night {back.run}: {len(back.undone)} decisions were taken back.")
    if back.unchanged:
        print(f"{back.unchanged} more changed no memory: links, notes and proposals.")
    if back.conflicts:
        from kenobot.core.terminal import one_line

        print(f"{len(back.conflicts)} could not be taken back:")
        for kept in back.conflicts:
            print(f"  {kept.event:>6}  {one_line(kept.kind)}: {one_line(kept.reason)}")
    return 0


# ── how it is shown ──────────────────────────────────────────────────────────────────────────────────────────────


def _show(arguments: argparse.Namespace, loaded: "ResolvedSettings", done: "NightReport") -> int:
    from zoneinfo import ZoneInfo

    from kenobot.cognitive.sleep.report import as_json, as_markdown
    from kenobot.core.terminal import escape_controls

    rehearsed = getattr(arguments, "dry_run", False)
    if arguments.json:
        print(json.dumps(as_json(done) | {"dry_run": rehearsed}))
    else:
        print(escape_controls(as_markdown(done, ZoneInfo(loaded.settings.bot.timezone), dry_run=rehearsed)))
    return 0


def _status(
    connection: "Connection", home: "Home", loaded: "ResolvedSettings", clock: "Clock", last: "SleepRun"
) -> dict[str, Any]:
    from kenobot.agent.background.sleep import next_sleep_time, sleep_policy
    from kenobot.cli.sleep_run import is_asleep
    from kenobot.cognitive.sleep import run_rows
    from kenobot.cognitive.sleep.report import is_large
    from kenobot.cognitive.store import sleep_plans

    policy = sleep_policy(loaded.settings.sleep).sleep
    open_ = run_rows.last_run(connection, "running")
    passed = run_rows.pass_results(connection, last.id)
    due = next_sleep_time(
        loaded.settings.sleep, sleep_plans.last_full_night_at(connection), clock.now(), loaded.settings.bot.timezone
    )
    return {
        "state": "awake" if open_ is None else "asleep" if is_asleep(home) else "cut short",
        "run": last.id,
        "at": last.at.isoformat(),
        "finished": last.finished.isoformat() if last.finished else None,
        "cause": last.cause,
        "night": last.state,
        "passes": len(passed),
        "decisions": sum(each.done for each in passed),
        "tokens": sleep_plans.tokens_used(connection, last.id),
        "large": [each.name for each in passed if is_large(each, policy)],
        "trouble": {each.name: each.trouble for each in passed if each.trouble},
        "enabled": loaded.settings.sleep.enabled,
        "next": due.isoformat() if due else None,
    }


def _status_lines(row: Any) -> str:
    from kenobot.core.terminal import one_line

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
