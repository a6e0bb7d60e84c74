"""`kenobot backup` and `kenobot restore`: a whole home as one file, and back."""

import errno
import subprocess
from pathlib import Path
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.table import print_table
from kenobot.core.settings.schema import BackupSettings
from kenobot.ports.errors import StoreError
from kenobot.ports.sentences import Sentence
from kenobot.storage.backup import archive as archives
from kenobot.storage.backup.archive import Manifest
from kenobot.storage.backup.backups import COMMAND_SECONDS, BackupPlan, FinishedBackup, make_backup
from kenobot.storage.backup.names import backup_folder, find_archives
from kenobot.storage.backup.restore import check_archive, restore

_MEGABYTE = 1_000_000
_QUESTION = "Put this backup into the home? What stands there is kept in a folder of it. [y/N] "


def backup(context: CommandContext) -> int:
    args, settings = context.args, context.loaded.settings.backup
    folder = Path(args.folder).expanduser().absolute() if args.folder else backup_folder(context.home, settings.folder)
    if args.new_key:
        return _new_key(Path(args.new_key))
    if args.list:
        return _list(context, folder)
    context.require_database()
    plan = BackupPlan(
        folder, args.credentials or settings.credentials, settings.recipients, settings.keep, settings.keep_days
    )
    with context.home.backup_lock():
        try:
            finished = make_backup(context.home, plan, context.now, _show_progress)
        except OSError as error:
            raise StoreError("backup.failed", reason=error) from error
        finally:
            options.show_progress()
        options.print_row(_row(finished), args.json, _render_made(finished))
        return _run_command(settings, finished.archive)


def restore_backup(context: CommandContext) -> int:
    args, home = context.args, context.home
    archive, key = Path(args.file), Path(args.key) if args.key else None
    try:
        if args.check:
            manifest = check_archive(archive, key, None)
            return options.print_row(_describe(archive, manifest), args.json, _render_checked(archive, manifest))
        archive.open("rb").close()  # nobody is asked about what is not there, or cannot be done
        if home.path.exists():
            with home.lock():
                pass
        if not args.yes and not options.confirm(_QUESTION, "Nobody is here to agree: add --yes if it is meant."):
            return options.print_failure("Nothing was restored.")
        home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with home.lock(), home.sleep_lock(), home.backup_lock():
            manifest, replaced = restore(home, archive, key, context.now)
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        where = error.filename or (home.path if is_full else archive)
        raise StoreError("backup.unusable_place", where=where, reason=error) from error
    row = _describe(archive, manifest) | {"home": str(home.path), "replaced": str(replaced) if replaced else None}
    lines = [say("Restored {home} as it was at {at}.", home=home.path, at=context.local_time(manifest.made_at))]
    if replaced is not None:
        lines.append(say("What stood there before is in {folder}: delete it when you miss nothing.", folder=replaced))
    if not manifest.credentials:
        lines.append(say("The backup holds no credentials: those of the home stay, or run `kenobot setup`."))
    return options.print_row(row, args.json, "\n".join(lines))


def _new_key(path: Path) -> int:
    try:
        recipient = archives.new_key(path)
    except OSError as error:
        return options.print_failure(StoreError("files.trouble", path=path, reason=error), options.FAILED)
    print(say("The secret key is in {file}. Without it the backups cannot be read: keep it elsewhere.", file=path))
    setting = f"kenobot config set backup.recipients '[\"{recipient}\"]'"
    print(say("To encrypt backups for it, run: {line}", line=setting))
    return 0


def _list(context: CommandContext, folder: Path) -> int:
    rows: list[dict[str, Any]] = [
        {"at": at.isoformat(), "size": path.stat().st_size, "file": str(path)} for at, path in find_archives(folder)
    ]
    if rows and not context.args.json:
        cells = [(context.local_time(row["at"]), _size(row["size"]), row["file"]) for row in rows]
        print_table(("time", "size", "file"), cells)
        return 0
    return options.print_rows(rows, context.args.json, str, say("There is no backup in {folder}.", folder=folder))


def _run_command(settings: BackupSettings, archive: Path) -> int:
    """Run the owner's own command on a new archive, such as one that copies it to another machine."""
    if not settings.command:
        return 0
    command = [*settings.command, str(archive)]
    try:
        # The owner's own, from the settings.
        ended = subprocess.run(  # noqa: S603
            command, timeout=COMMAND_SECONDS, stdout=2, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = error if isinstance(error, OSError) else Sentence("it took too long")
        return options.print_failure(
            say("The backup is made, but backup.command failed: {what}.", what=reason), options.FAILED
        )
    if ended.returncode:
        what = Sentence("exit code {code}", code=ended.returncode)
        return options.print_failure(
            say("The backup is made, but backup.command failed: {what}.", what=what), options.FAILED
        )
    return 0


def _row(finished: FinishedBackup) -> dict[str, Any]:
    removed = [str(path) for path in finished.removed]
    return _describe(finished.archive, finished.manifest) | {"skipped": list(finished.skipped), "removed": removed}


def _describe(archive: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "file": str(archive),
        "made_at": manifest.made_at.isoformat(),
        "kenobot": manifest.kenobot,
        "files": len(manifest.files),
        "bytes": manifest.size,
        "credentials": manifest.credentials,
    }


def _render_made(finished: FinishedBackup) -> str:
    manifest, archive = finished.manifest, finished.archive
    lines = [
        say("Backed up and read back: {file}", file=archive),
        say("{count} files, {size}.", count=len(manifest.files), size=_size(manifest.size)),
    ]
    if not manifest.credentials:
        lines.append(say("Without credentials: add --credentials, best to an encrypted backup."))
    left_out = "Left out, since it is a link or its name is no text: {path}"
    lines += [say(left_out, path=path) for path in finished.skipped]
    lines += [say("Removed: {path}", path=path) for path in finished.removed]
    return "\n".join(lines)


def _render_checked(archive: Path, manifest: Manifest) -> str:
    what = say("{file} is whole, and so is its database.", file=archive)
    return f"{what}\n{say('{count} files, {size}.', count=len(manifest.files), size=_size(manifest.size))}"


def _size(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB" if size >= _MEGABYTE else f"{-(-size // 1000)} kB"


def _show_progress(done: int, whole: int) -> None:
    options.show_progress(f"{done / _MEGABYTE:.0f} / {whole / _MEGABYTE:.0f} MB")
