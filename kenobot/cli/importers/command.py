"""`kenobot import`: import the memories of another agent, after showing a plan."""

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.importers import kenobot_js, workspaces
from kenobot.cli.importers.apply_plan import FileResult, ImportReport, apply_plan
from kenobot.cli.importers.folder import SourceFolder
from kenobot.cli.importers.plan import ImportContext, ImportPlan, Origin
from kenobot.cli.language import say, translate
from kenobot.cli.memory.sync_files import make_home, sync_files
from kenobot.core.redaction import one_line
from kenobot.core.settings.home import AlreadyLocked
from kenobot.ports.errors import ConfigError
from kenobot.ports.identity import session_id
from kenobot.storage import migrate
from kenobot.storage.connection import connect, to_store_error
from kenobot.storage.database import run_steps

# In this order: a workspace of OpenClaw may have files of the other kinds besides, not the other way round.
_READERS: dict[Origin, tuple[Callable[[SourceFolder], bool], Callable[[ImportPlan], None]]] = {
    "kenobot-js": (kenobot_js.is_kenobot_js, kenobot_js.read_kenobot_js),
    "openclaw": (workspaces.is_openclaw, workspaces.read_openclaw),
    "nanobot": (workspaces.is_nanobot, workspaces.read_nanobot),
}


def import_agent(context: CommandContext) -> int:
    args, home = context.args, context.home
    plan = _plan(context)
    if not plan.files and not plan.manual_files:
        return options.print_failure(f"There is nothing to take in: {_shown(args.path)} holds no memories.")
    if args.dry_run or not args.yes:
        report = _rehearse(context, plan)
        _print(plan, report, args.json, done=False)
        new = report.totals["new"]
        if args.dry_run or not new:
            return 0
        if not options.confirm(
            say("Take {count} in? [y/N] ", count=new), "Nobody is here to agree: add --yes to do it."
        ):
            return options.print_failure("Nothing was taken in.")
    make_home(context)
    try:
        with home.lock():
            migrate.migrate(home.database, home.backups)
            report = _apply(home.database, plan)
    except AlreadyLocked:  # by a bot, which would have to wait for a long transaction
        with context.write_in_steps() as (connection, next_transaction):
            report = run_steps(apply_plan(connection, plan), next_transaction)
    sync_files(context)
    _print(plan, report, args.json, done=True)
    return 0


def _plan(context: CommandContext) -> ImportPlan:
    """Read the folder that the arguments name. Raises ConfigError."""
    home, path = context.home, Path(context.args.path).expanduser()
    own = {
        session_id(name, str(owner))
        for name, table in context.loaded.settings.plugin_tables("kenobot.channels").items()
        if isinstance(owners := table.get("owners"), list | tuple)
        for owner in owners
    }
    about = ImportContext(context.now, context.zone, frozenset(own))
    if not path.is_dir():
        raise ConfigError(f"{_shown(path)} is no folder: name the home or the workspace of the other agent.")
    folder = SourceFolder(path)
    if folder.root in (home.path.resolve(), home.memory.resolve()):
        raise ConfigError(
            f"{_shown(path)} is this very home: what people write into its files is taken in by itself. "
            "To make it a home of this KenoBot, start the bot with it."
        )
    origin: Origin | None = None if context.args.origin == "auto" else context.args.origin
    if origin is None and (folder.root / home.database.name).exists():
        raise ConfigError(
            f"{_shown(path)} is a home of this kind of KenoBot: move all it knows with `kenobot memory export` and "
            "`kenobot memory import`, or use it as it is with --home."
        )
    origin = origin or next((origin for origin, (fits, _) in _READERS.items() if fits(folder)), None)
    if origin is None:
        raise ConfigError(
            f"{_shown(path)} cannot be told to be one of {', '.join(_READERS)}: say with --from what it is, "
            "or name the folder that holds `memory/`."
        )
    plan = ImportPlan(origin, folder, about)
    _, read = _READERS[origin]
    read(plan)
    plan.limit_items()
    return plan


def _rehearse(context: CommandContext, plan: ImportPlan) -> ImportReport:
    """Return what taking in `plan` would do, found out on a copy of the database.

    On an empty one when there is none yet.
    """
    with tempfile.TemporaryDirectory(prefix="kenobot-import-") as folder:
        copy = Path(folder) / "kenobot.db"
        if context.home.database.exists():
            context.copy_database(copy)
        migrate.migrate(copy, copy.with_name("backups"))
        return _apply(copy, plan)


def _apply(database: Path, plan: ImportPlan) -> ImportReport:
    """Take in the plan, in one transaction."""
    try:
        with closing(connect(database)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            report = run_steps(apply_plan(connection, plan))
            connection.execute("COMMIT")
            return report
    except sqlite3.Error as error:
        raise to_store_error(error) from error


# ── as text ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _print(plan: ImportPlan, report: ImportReport, as_json: bool, *, done: bool) -> None:
    rows = _rows(plan, report, done)
    if as_json:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
        return
    print(say("From {origin}, taken in:" if done else "From {origin}, to be taken in:", origin=plan.origin))
    for result in report.results:
        for line in _lines(result):
            print(line)
    for path, advice in plan.manual_files.items():
        print(f"  {_shown(path)} · {say('left to you:')} {translate(advice)}")
    names = (("new", "new"), ("known", "known already"), ("secrets", "refused as secrets"), ("skipped", "left alone"))
    totals = report.totals
    counts = [f"{totals[key]} {say(name)}" for key, name in names if totals[key] or key == "new"]
    print(f"{', '.join(counts)}.")


def _rows(plan: ImportPlan, report: ImportReport, done: bool) -> Iterator[dict[str, object]]:
    yield from map(vars, report.results)
    for path, advice in plan.manual_files.items():
        yield {"path": path, "kind": "offer", "advice": advice}
    yield {"from": plan.origin, "done": done, **report.totals, "event": report.event if done else None}


def _lines(result: FileResult) -> Iterator[str]:
    counts = [f"{result.new} {say('new')}"] if result.new else []
    counts += [f"{result.known} {say('known already')}"] if result.known else []
    note = f" ({translate(result.note)})" if result.note else ""
    yield f"  {_shown(result.path)} · {say(result.kind)}: {', '.join(counts) or say('nothing')}{note}"
    for why, count in result.secrets.items():
        yield say("      {count} refused: it looks like {why}", count=count, why=translate(why))
    for why, count in result.skipped.items():
        yield say("      {count} left alone: {why}", count=count, why=one_line(translate(why)))


def _shown(path: object) -> str:
    return one_line(str(path))
