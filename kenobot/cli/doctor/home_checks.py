"""Check a home on disk: settings, rights, room, clock, database, index, memory files, messages, backups."""

import os
import shutil
import stat
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

from kenobot.agent.snapshot import take_snapshot
from kenobot.cli.context import CommandContext
from kenobot.cli.doctor.findings import Finding
from kenobot.cli.language import say, word_error
from kenobot.cli.setup.older_names import renew_names
from kenobot.core.settings.home import AlreadyLocked
from kenobot.ports.errors import KenobotError, StoreCorrupt
from kenobot.storage import diagnosis, erasure, migrate
from kenobot.storage.backup.backups import list_replaced_folders
from kenobot.storage.backup.names import backup_folder, find_archives

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LITTLE_ROOM, _NO_ROOM = 500_000_000, 50_000_000  # bytes
_CLOCK_SLACK = timedelta(minutes=5)
_LONGEST_WAIT = timedelta(hours=1)
_RECENT = timedelta(days=7)
_NAMED = 3  # files


def check_settings(context: CommandContext) -> Iterator[Finding]:
    """Yield the settings, as a start reads them."""
    try:
        context.loaded  # noqa: B018 - raises ConfigError
    except KenobotError as error:
        for line in word_error(error).splitlines():
            yield Finding("settings", "error", line, say("Correct it: `kenobot config` shows every setting."))
    else:
        yield Finding("settings", "ok", say("The settings are valid."))
        yield from _check_older(context)


def _check_older(context: CommandContext) -> Iterator[Finding]:
    """Yield the settings under names of older releases."""
    older = context.loaded.older
    if older:
        gone = sum(each.retired for each in older)
        text = say(
            "{count} settings have names of older releases; {gone} of them are no settings any more.",
            count=len(older),
            gone=gone,
        )
        advice = say(
            "`kenobot config` lists them with what holds now; `kenobot doctor --fix` brings the file up to date."
        )
        yield Finding("settings", "note", text, advice, partial(renew_names, context))


def check_rights(context: CommandContext) -> Iterator[Finding]:
    """Check who owns the home, and who else may look into it."""
    home = context.home
    found = home.path.stat()
    advice = say(
        "Run it as the account that owns the home, or give the home away: chown -R ACCOUNT {home}", home=home.path
    )
    is_closed = not os.access(home.path, os.W_OK | os.X_OK)
    if is_closed:
        yield Finding("rights", "error", say("{home} cannot be written to.", home=home.path), advice)
    if found.st_uid != os.geteuid():
        yield Finding("rights", "warning", say("{home} belongs to another account.", home=home.path), advice)
    open_paths = [path for path in (home.path, home.credentials, home.config_file, home.database) if _is_open(path)]
    for path in open_paths:
        text = say("Other accounts of this machine may read {path}.", path=path)
        yield Finding("rights", "error", text, say("Close it: chmod go-rwx {path}", path=path), partial(_close, path))
    if os.geteuid() == 0:
        text = say("The bot runs as root: a mistake of its own, or of a plugin, can then reach the whole machine.")
        yield Finding(
            "rights", "warning", text, say("Give it an account: `kenobot service install --machine --user NAME`.")
        )
    if not is_closed and not open_paths and found.st_uid == os.geteuid():
        yield Finding("rights", "ok", say("Only its owner can look into the home."))


def check_room(context: CommandContext) -> Iterator[Finding]:
    """Check the room on the home's disk."""
    free = shutil.disk_usage(context.home.path).free
    advice = say("Make room: `kenobot memory stats` shows what the home takes.")
    text = say("{size} are free on the home's disk.", size=f"{free / 1e9:.1f} GB")
    if free < _LITTLE_ROOM:
        yield Finding("disk", "error" if free < _NO_ROOM else "warning", text, advice)
    else:
        yield Finding("disk", "ok", text)


def check_database(context: CommandContext) -> Iterator[Finding]:
    """Yield the database: whether it can be used, is whole, is of this version, and stands in the past."""
    home = context.home
    restore = say("Put back a backup: `kenobot restore FILE`; `kenobot backup --list` shows them.")
    try:
        home.check_restored()
        migrate.check(home.database)
        with context.read() as connection:
            newest = diagnosis.newest_moment(connection)
            problems = diagnosis.integrity_problems(home.database)  # within this one, so as not to be the last to close
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            is_purging = erasure.is_purge_unfinished(connection)
    except KenobotError as error:
        needs_backup = isinstance(error, StoreCorrupt) or home.restore_mark.exists()
        advice = restore if needs_backup else say("Do what it says, then run `kenobot doctor` again.")
        yield Finding("database", "error", word_error(error), advice)
        return
    for problem in problems:
        yield Finding("database", "error", say("The database is damaged: {problem}", problem=problem), restore)
    if not problems:
        yield Finding("database", "ok", say("The database is whole."))
    if version < migrate.migrations()[-1][0]:
        text = say("The database is of an older KenoBot.")
        yield Finding(
            "database", "note", text, say("Nothing to do: the next start brings it up to date, after a copy.")
        )
    if newest is not None and newest > context.now + _CLOCK_SLACK:
        text = say("The clock of this machine stands before the last message ({at}).", at=context.local_time(newest))
        yield Finding("clock", "error", text, say("Set the clock: `timedatectl set-ntp true`."))
    if is_purging:
        text = say("What was purged may still stand in the database's free space.")
        yield Finding("database", "warning", text, say("Stop the bot, then run any `kenobot memory purge` again."))


def check_index(context: CommandContext) -> Iterator[Finding]:
    """Yield the search index, which can be made anew at any time."""
    index = context.home.index
    problem = diagnosis.index_problem(index)
    if not problem:
        yield Finding("index", "ok", say("The search index is whole."))
        return

    def remove() -> str:
        try:
            with context.home.lock():
                _remove_index(index)
        except AlreadyLocked:
            return say("The search index stays: stop the bot first.")
        return say("The search index was removed: the next start makes it anew.")

    text = say("The search index is damaged: {problem}", problem=problem)
    yield Finding("index", "warning", text, say("Stop the bot and delete {file}: it is made anew.", file=index), remove)


def check_files(context: CommandContext) -> Iterator[Finding]:
    """Yield the memory files beside the database."""
    with context.read() as connection:
        found = diagnosis.compare_files(connection, context.home.memory)
    if found.missing:
        text = say("Memory files are gone: {files}", files=_list_names(found.missing))
        advice = say(
            "Whoever deleted them forgets what is in them; else run `kenobot memory rebuild` before the next start."
        )
        yield Finding("files", "warning", text, advice)
    if found.edited:
        text = say("Memory files were edited and not read yet: {files}", files=_list_names(found.edited))
        yield Finding("files", "note", text, say("Nothing to do: the bot reads them, or run `kenobot memory sync`."))
    if not found.missing and not found.edited:
        yield Finding("files", "ok", say("Memory files and database agree."))


def check_messages(context: CommandContext) -> Iterator[Finding]:
    """Yield messages that wait, and that could not be answered."""
    with context.read() as connection:
        waiting = take_snapshot(connection, context.now).waiting_since
        ended = diagnosis.count_ended_letters(connection, context.now - _RECENT)
    if waiting is not None and context.now - waiting > _LONGEST_WAIT:
        text = say("A message waits since {at}.", at=context.local_time(waiting))
        yield Finding("messages", "warning", text, say("Is the bot running? Its log says what hinders it."))
    if ended:
        text = say("{count} messages of the last week could not be answered or sent.", count=ended)
        yield Finding("messages", "note", text, say("See them with `kenobot deadletter list`."))
    elif waiting is None or context.now - waiting <= _LONGEST_WAIT:
        yield Finding("messages", "ok", say("No message waits, and none of the last week failed."))


def check_backups(context: CommandContext) -> Iterator[Finding]:
    """Yield the age of the newest backup."""
    settings = context.loaded.settings.backup
    folder = backup_folder(context.home, settings.folder)
    archives = find_archives(folder)
    advice = say("Make one now with `kenobot backup`, and by schedule with backup.every_hours = 24.")
    if not archives:
        yield Finding("backups", "note", say("There is no backup in {folder}.", folder=folder), advice)
        return
    newest = archives[-1][0]
    text = say("The newest backup is of {at}.", at=context.local_time(newest))
    due = timedelta(hours=2 * settings.every_hours) if settings.every_hours else 4 * _RECENT
    if context.now - newest > due:
        yield Finding("backups", "warning", text, advice)
    else:
        yield Finding("backups", "ok", text)
    if folder == context.home.backups:
        text = say("Backups lie in the home itself: they end with its disk.")
        yield Finding(
            "backups", "note", text, say("Set backup.folder to another disk, or backup.command to bring them away.")
        )


def check_replaced(context: CommandContext) -> Iterator[Finding]:
    """Find what restored backups replaced, which only a person can know to be of no use any more."""
    folders = list_replaced_folders(context.home)
    if folders:
        files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
        size = f"{sum(path.lstat().st_size for path in files) / 1e6:.1f} MB"
        names = _list_names(tuple(folder.name for folder in folders))
        text = say("What restored backups replaced is still in the home: {size} in {names}.", size=size, names=names)
        yield Finding("replaced", "note", text, say("Delete it when you miss nothing."))


def _remove_index(index: Path) -> None:
    for path in (index, *(index.with_name(f"{index.name}-{end}") for end in ("wal", "shm"))):
        path.unlink(missing_ok=True)


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False


def _close(path: Path) -> str:
    path.chmod(path.stat().st_mode & ~_OTHERS)
    return say("Only its owner may read {path} now.", path=path)


def _list_names(files: tuple[str, ...]) -> str:
    more = f" (+{len(files) - _NAMED})" if len(files) > _NAMED else ""
    return ", ".join(files[:_NAMED]) + more
