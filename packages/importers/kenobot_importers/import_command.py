"""`kenobot import`: import the memories of other agents, exports of talk, and notes, after showing a plan."""

import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.memory.sync_files import make_home, sync_files
from kenobot.core.redaction import one_line
from kenobot.core.settings.home import AlreadyLocked
from kenobot.language.words import fold
from kenobot.ports.errors import ConfigError
from kenobot.ports.identity import session_id
from kenobot.storage import migrate
from kenobot.storage.stepped_work import run_steps
from kenobot.storage.transactions import write_in_steps
from kenobot_importers import agent_memories, kenobot_js, workspaces
from kenobot_importers.apply_plan import ImportReport, apply_plan
from kenobot_importers.archive import UNREADABLE, SourceArchive
from kenobot_importers.exports import EXPORTS, read_exports
from kenobot_importers.folder import SourceFolder
from kenobot_importers.plan import ImportContext, ImportPlan, Origin
from kenobot_importers.preview import print_report, write_report
from kenobot_importers.talk import AmbiguousDates

# In this order: a workspace of OpenClaw may have files of the other kinds besides, not the other way round.
_HOMES: dict[Origin, tuple[Callable[[SourceFolder], bool], Callable[[ImportPlan], None]]] = {
    "kenobot-js": (kenobot_js.is_kenobot_js, kenobot_js.read_kenobot_js),
    "hermes": (agent_memories.is_hermes, agent_memories.read_hermes),
    "openclaw": (workspaces.is_openclaw, workspaces.read_openclaw),
    "nanobot": (workspaces.is_nanobot, workspaces.read_nanobot),
}
_SECONDS = 0.25  # of a transaction, where nothing else writes
_TOLD_EVERY = 2.0  # seconds between two lines that tell how far it is


def import_agent(context: CommandContext) -> int:
    try:
        return _import(context)
    except BrokenPipeError:
        raise
    except OSError as error:  # a file that went away, or a report that cannot be written
        raise ConfigError("files.unreadable", path=_name(error.filename or context.args.path), reason=error) from error


def _import(context: CommandContext) -> int:
    args, home = context.args, context.home
    plan = _plan(context)
    if not plan.files and not plan.manual_files:
        return options.print_failure(
            say("There is nothing to take in: {path} holds no memories.", path=_name(args.path))
        )
    if args.report:
        write_report(Path(args.report).expanduser(), plan)
    if args.dry_run or not args.yes:
        report = _rehearse(context, plan)
        print_report(plan, report, args.json, done=False)
        new = report.totals["new"]
        if args.dry_run or not new:
            return 0
        if not options.confirm(
            say("Take {count} in? [y/N] ", count=new), "Nobody is here to agree: add --yes to do it."
        ):
            return options.print_failure(ConfigError("importers.nothing_taken"))
    make_home(context)
    progress = Progress(plan.size)
    try:
        with home.lock():
            migrate.migrate(home.database, home.backups)
            report = _apply(home.database, plan, progress)
    except AlreadyLocked:  # by a bot, which would have to wait for a long transaction
        with context.write_in_steps() as (connection, next_transaction):
            report = run_steps(apply_plan(connection, plan, tell=progress), next_transaction)
    sync_files(context)
    print_report(plan, report, args.json, done=True)
    return 0


def _plan(context: CommandContext) -> ImportPlan:
    """Read what the arguments name. Raises ConfigError."""
    home, path = context.home, Path(context.args.path).expanduser()
    own = {
        session_id(name, str(owner))
        for name, table in context.loaded.settings.plugin_tables("kenobot.channels").items()
        if isinstance(owners := table.get("owners"), list | tuple)
        for owner in owners
    }
    names = frozenset(fold(name) for name in context.args.me)
    day_first = context.args.first == "day" if context.args.first else None
    about = ImportContext(context.now, context.zone, frozenset(own), names, day_first)
    folder = _open_source(path)
    if folder.root in (home.path.resolve(), home.memory.resolve()):
        raise ConfigError("importers.own_home", path=_name(path))
    if context.args.origin == "auto" and path.is_dir() and (folder.root / home.database.name).exists():
        raise ConfigError("importers.not_that_home", path=_name(path))
    try:
        return _read(context, path, folder, about)
    except AmbiguousDates as error:
        answer = _ask_day_first(error.example)
        return _read(context, path, folder, replace(about, day_first=answer))


def _open_source(path: Path) -> SourceFolder:
    """Open a folder, an archive, or the folder of a file. Raises ConfigError."""
    if path.is_dir():
        return SourceFolder(path)
    if not path.is_file():
        raise ConfigError("importers.not_that_export", path=_name(path))
    try:
        return SourceArchive(path) if zipfile.is_zipfile(path) else SourceFolder(path.parent)
    except UNREADABLE as error:
        raise ConfigError("files.unreadable", path=_name(path), reason=error) from error


def _read(context: CommandContext, path: Path, folder: SourceFolder, about: ImportContext) -> ImportPlan:
    """Plan the import of a folder, an archive or a file. Raises ConfigError, AmbiguousDates."""
    named: Origin | None = None if context.args.origin == "auto" else context.args.origin
    is_single = path.is_file() and not isinstance(folder, SourceArchive)
    homes = () if is_single else _HOMES.items()
    found: Iterator[Origin] = (each for each, (fits, _) in homes if fits(folder))
    origin: Origin = "files" if named is None else named
    origin = next(found, origin) if named is None else origin
    plan = ImportPlan(origin, folder, about, source=f"{origin}:{path.resolve()}")
    if is_single:
        read_exports(plan, [path.name])
    elif origin in _HOMES:
        _HOMES[origin][1](plan)
    else:
        read_exports(plan)
    kinds = {sheet.origin for sheet in plan.files if sheet.origin}
    if origin == "files" and not kinds:
        raise ConfigError("importers.unknown_kind", path=_name(path), kinds=", ".join((*_HOMES, *EXPORTS)))
    if origin == "files" and len(kinds) == 1:
        plan.origin = cast("Origin", kinds.pop())
    plan.limit_items()
    return plan


def _ask_day_first(example: str) -> bool:
    """Ask whether the day comes first in a date. Raises ConfigError where nobody is to be asked."""
    if not sys.stdin.isatty():
        raise ConfigError("importers.ambiguous_dates", example=example)
    question = say("In {example}, which comes first: the day or the month? [d/m] ", example=example)
    try:
        while (answer := input(question).strip().lower()[:1]) not in ("d", "m"):
            pass
    except EOFError:
        raise ConfigError("importers.nothing_taken") from None
    return answer == "d"


def _rehearse(context: CommandContext, plan: ImportPlan) -> ImportReport:
    """Return what taking in `plan` would do, found out on a copy of the database.

    On an empty one when there is none yet.
    """
    with tempfile.TemporaryDirectory(prefix="kenobot-import-") as folder:
        copy = Path(folder) / "kenobot.db"
        if context.home.database.exists():
            context.copy_database(copy)
        migrate.migrate(copy, copy.with_name("backups"))
        return _apply(copy, plan, lambda _: None)


def _apply(database: Path, plan: ImportPlan, tell: Callable[[int], None]) -> ImportReport:
    """Take in the plan, in transactions of which each leaves what a later run goes on with."""
    with write_in_steps(database, _SECONDS) as (connection, next_transaction):
        return run_steps(apply_plan(connection, plan, tell=tell), next_transaction)


class Progress:
    """Tell on stderr how far an import is, where it takes longer than a moment."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._told = time.monotonic()

    def __call__(self, done: int) -> None:
        if time.monotonic() - self._told < _TOLD_EVERY:
            return
        self._told = time.monotonic()
        print(say("{done} of {size} …", done=done, size=self._size), file=sys.stderr, flush=True)


def _name(path: object) -> str:
    return one_line(str(path))
