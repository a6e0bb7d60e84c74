"""`kenobot import`: import the memories of another agent, after showing a plan."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.importers import origins
from kenobot.cli.importers.apply_plan import FileResult, ImportReport, apply_plan
from kenobot.cli.importers.folder import SourceFolder
from kenobot.cli.importers.plan import ImportContext, ImportPlan
from kenobot.core.settings.home import Home
from kenobot.core.terminal import one_line
from kenobot.ports.errors import ConfigError
from kenobot.ports.identity import session_id
from kenobot.storage import database as db
from kenobot.storage import migrate


def import_agent(context: CommandContext) -> int:
    args, home = context.args, context.home
    about = _import_context(context)
    plan = _plan(context, about)
    if not plan.files and not plan.manual_files:
        return options.print_failure(f"There is nothing to take in: {_shown(args.path)} holds no memories.")
    if args.dry_run or not args.yes:
        report = _rehearse(home, plan, about)
        _print(plan, report, args.json, done=False)
        if args.dry_run or not report.new:
            return 0
        if not options.confirm(
            f"Take {report.new} in? / ¿Tomarlas? [y/N] ", "kenobot: nobody is here to agree: add --yes to do it."
        ):
            return options.print_failure("kenobot: nothing was taken in.")
    report = _take_in(home, plan, about)
    _print(plan, report, args.json, done=True)
    return 0


def _import_context(context: CommandContext) -> ImportContext:
    own = {
        session_id(name, str(owner))
        for name, table in context.loaded.settings.plugin_tables("kenobot.channels").items()
        if isinstance(owners := table.get("owners"), list | tuple)
        for owner in owners
    }
    return ImportContext(context.now, context.zone, frozenset(own))


def _plan(context: CommandContext, about: ImportContext) -> ImportPlan:
    home = context.home

    path = Path(context.args.path).expanduser()
    if not path.is_dir():
        raise ConfigError(f"{_shown(path)} is no folder: name the home or the workspace of the other agent.")
    folder = SourceFolder(path)
    if folder.root in (home.path.resolve(), home.memory.resolve()):
        raise ConfigError(
            f"{_shown(path)} is this very home: what people write into its files is taken in by itself. "
            "To make it a home of this KenoBot, start the bot with it."
        )
    if (folder.root / home.database.name).exists() and context.args.origin == "auto":
        raise ConfigError(
            f"{_shown(path)} is a home of this kind of KenoBot: move all it knows with `kenobot memory export` and "
            "`kenobot memory import`, or use it as it is with --home."
        )
    origin = origins.detect_origin(folder) if context.args.origin == "auto" else context.args.origin
    if origin is None:
        raise ConfigError(
            f"{_shown(path)} looks like none of {', '.join(origins.READERS)}: name the folder that holds `memory/`, "
            "or say with --from what it is."
        )
    return origins.read_plan(folder, origin, about)


def _rehearse(home: Home, plan: ImportPlan, about: ImportContext) -> ImportReport:
    """What taking in `plan` would do, found out on a copy of the database."""
    with tempfile.TemporaryDirectory(prefix="kenobot-import-") as folder:
        copy = Path(folder) / "kenobot.db"
        _copy(home, copy)
        return _written(copy, plan, about)


def _copy(home: Home, copy: Path) -> None:
    """The database as it is now, brought up to date; an empty one when there is none yet."""
    if home.database.exists():
        migrate.check(home.database)
        try:
            with closing(db.connect(home.database, readonly=True)) as held, closing(sqlite3.connect(copy)) as other:
                held.backup(other)
        except sqlite3.Error as error:
            raise db.to_store_error(error) from error
    migrate.migrate(copy, copy.with_name("backups"))


def _take_in(home: Home, plan: ImportPlan, about: ImportContext) -> ImportReport:
    """Do it, in one transaction. Raises ConfigError when the bot runs: it would wait for all of this."""
    home.prepare()
    with home.lock():
        home.seed_identity()
        migrate.migrate(home.database, home.backups)
        return _written(home.database, plan, about)


def _written(database: Path, plan: ImportPlan, about: ImportContext) -> ImportReport:
    try:
        with closing(db.connect(database)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            report = apply_plan(connection, plan, about)
            connection.execute("COMMIT")
            return report
    except sqlite3.Error as error:
        raise db.to_store_error(error) from error


# ── as text ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _print(plan: ImportPlan, report: ImportReport, as_json: bool, *, done: bool) -> None:
    rows = _rows(plan, report, done)
    if as_json:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
        return
    print(f"From {plan.origin}, {'taken in' if done else 'to be taken in'}:")
    for outcome in report.outcomes:
        for line in _lines(outcome):
            print(line)
    for offer in plan.manual_files:
        print(f"  {_shown(offer.path)} · left to you: {offer.advice}")
    known = f", {report.known} known already" if report.known else ""
    secrets = f", {report.secrets} refused as secrets" if report.secrets else ""
    left = f", {report.skipped} left alone" if report.skipped else ""
    print(f"{report.new} new{known}{secrets}{left}.")


def _rows(plan: ImportPlan, report: ImportReport, done: bool) -> Iterator[dict[str, object]]:
    for outcome in report.outcomes:
        yield {
            "path": outcome.path,
            "kind": outcome.kind,
            "new": outcome.new,
            "known": outcome.known,
            "secrets": dict(outcome.secrets),
            "skipped": dict(outcome.skipped),
            "note": outcome.note,
        }
    for offer in plan.manual_files:
        yield {"path": offer.path, "kind": "offer", "advice": offer.advice}
    yield {
        "from": plan.origin,
        "done": done,
        "new": report.new,
        "known": report.known,
        "secrets": report.secrets,
        "skipped": report.skipped,
        "event": report.event if done else None,
    }


def _lines(outcome: FileResult) -> Iterator[str]:
    counts = [f"{outcome.new} new"] if outcome.new else []
    counts += [f"{outcome.known} known already"] if outcome.known else []
    note = f" ({outcome.note})" if outcome.note else ""
    yield f"  {_shown(outcome.path)} · {outcome.kind}: {', '.join(counts) or 'nothing'}{note}"
    for why, count in outcome.secrets.items():
        yield f"      {count} refused: it looks like {why}"
    for why, count in outcome.skipped.items():
        yield f"      {count} left alone: {one_line(why)}"


def _shown(path: object) -> str:
    return one_line(str(path))
