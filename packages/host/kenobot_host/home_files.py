"""Carry a home's files between its folder and PostgreSQL: settings, secrets, identity, skills, attachments.

The Markdown tree of memory is not among them: a home has none in a host, and gets it from the records when it leaves.
"""

import os
import shutil
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from kenobot.core.settings.home import REPLACED_PREFIX, Home
from kenobot.ports.errors import ConfigError, StoreError
from kenobot.ports.frozen import dataclass
from kenobot.storage.backup.snapshot import LOCKS, RESTORE_PREFIX, STAGING_PREFIX
from kenobot_host.file_rows import StoredFile
from kenobot_host.sealing import Sealer, is_secret

MOVED_IN = "moved-in-"
"""How the names of folders begin that hold the memory files with which a home was taken in: for its owner to keep."""

NOT_IN_COPIES = ("plugins/", MOVED_IN)
"""Files of homes that are never written into a working copy: a worker runs the code of no owner."""

_LOCAL = ("backups", "cache", "logs", "versions", ".plugins-loading", "memory", *LOCKS)
_DATABASES = ("kenobot.db", "index.db")
_UNFINISHED = (".kenobot-", ".part-", ".identity-")
_OWN = (STAGING_PREFIX, RESTORE_PREFIX, REPLACED_PREFIX)

Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """The files of a folder at a moment. media: when that of attachments changed last."""

    stamps: dict[str, Stamp]  # bounded: the files of a home; turn
    media: int = 0


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Files to be committed. seen: all files then."""

    files: list[StoredFile]  # bounded: the files of a home; turn
    seen: Seen


class FileWatch:
    """The files of a working copy, and which of them changed since they were committed last. Threads share one."""

    def __init__(self, home: Home, sealer: Sealer | None) -> None:
        """Take the files as they are now for what PostgreSQL has."""
        self._root, self._media, self._sealer = home.path, home.media, sealer
        self._lock = threading.Lock()
        self._seen = Seen({})
        self._seen = self._scan()

    def find_changed(self) -> FileChanges:
        """Find the files that are new, changed or gone. Raises ConfigError for a secret without a key, StoreError."""
        with self._lock:
            before, seen = self._seen.stamps, self._scan()
        changed = [path for path, each in seen.stamps.items() if before.get(path) != each]
        files = [pack_file(self._root, path, self._sealer) for path in changed]
        gone = sorted(before.keys() - seen.stamps.keys())
        return FileChanges([*files, *(StoredFile(path, 0, is_secret(path), None) for path in gone)], seen)

    def confirm(self, changes: FileChanges) -> None:
        """Take changes for committed."""
        with self._lock:
            self._seen = changes.seen

    def _scan(self) -> Seen:
        try:
            changed = self._media.stat().st_mtime_ns
        except OSError:
            changed = 0
        if not changed or changed != self._seen.media:
            return Seen({path: _stamp(each) for path, each in list_carried(self._root)}, changed)
        # Its files are never written again: what is in it changes with the folder.
        name = self._media.name
        found = {path: _stamp(each) for path, each in list_carried(self._root, but=(name,))}
        return Seen(
            found | {path: at for path, at in self._seen.stamps.items() if path.startswith(f"{name}/")}, changed
        )


def list_carried(root: Path, but: Iterable[str] = ()) -> Iterator[tuple[str, os.stat_result]]:
    """List the files of a folder that PostgreSQL keeps, with their states. but: folders at its top to leave out."""
    for entry in _entries(root):
        if entry.name not in (*_LOCAL, *but) and not entry.name.startswith((*_OWN, *_DATABASES)):
            yield from _walk(root, entry)
    identity = root / "memory" / "identity"
    for entry in _entries(identity):
        yield from _walk(root, entry)


def _walk(root: Path, entry: "os.DirEntry[str]") -> Iterator[tuple[str, os.stat_result]]:
    if entry.name.startswith(_UNFINISHED):
        return
    try:
        entry.name.encode()
        found = entry.stat(follow_symlinks=False)
    except (OSError, UnicodeEncodeError):  # removed meanwhile, or no name that PostgreSQL can keep
        return
    if stat.S_ISDIR(found.st_mode):
        for inner in _entries(Path(entry.path)):
            yield from _walk(root, inner)
    elif stat.S_ISREG(found.st_mode):
        yield Path(entry.path).relative_to(root).as_posix(), found


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode


def pack_file(root: Path, path: str, sealer: Sealer | None, as_path: str = "") -> StoredFile:
    """Read a file, sealed where it is a secret. as_path: its place in PostgreSQL, if another.

    Raises ConfigError for a secret without a key, and StoreError.
    """
    try:
        content, mode = (root / path).read_bytes(), (root / path).stat().st_mode & 0o777
    except FileNotFoundError:
        return StoredFile(as_path or path, 0, is_secret(path), None)
    except OSError as error:
        raise StoreError("files.unreadable", path=root / path, reason=error) from error
    if not is_secret(path):
        return StoredFile(as_path or path, mode, False, content)
    if sealer is None:
        raise ConfigError("host.key_missing")
    return StoredFile(as_path or path, mode, True, sealer.seal(content))


def write_file(root: Path, file: StoredFile, sealer: Sealer | None) -> None:
    """Write a file of PostgreSQL's. Raises ConfigError without the right key, StoreError."""
    parts = PurePosixPath(file.path)
    if parts.is_absolute() or ".." in parts.parts or not file.path or file.content is None:
        raise StoreError("files.unopenable", path=file.path, reason="no path within a home")
    content = file.content
    if file.sealed:
        if sealer is None:
            raise ConfigError("host.key_missing")
        content = sealer.open(file.path, content)
    target = root / file.path
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = target.with_name(f".part-{target.name}")
        descriptor = os.open(
            part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, file.mode & 0o700
        )
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        part.replace(target)
    except OSError as error:
        raise StoreError("files.unwritable", path=target, reason=error) from error


def list_memory_files(root: Path) -> Mapping[str, str]:
    """List the files of the memory tree but for identity; each path with the one that it has in a host."""
    tree = root / "memory"
    paths = (path.relative_to(root) for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink())
    return {
        path.as_posix(): path.relative_to("memory").as_posix()
        for path in paths
        if path.parts[1] != "identity" and not path.name.startswith(_UNFINISHED)
    }


def clear_copy(home: Home, *, database: bool) -> None:
    """Remove what PostgreSQL has as well from a working copy, but attachments, whose names say what they hold.

    database: with the database, and what is made from it.
    """
    for entry in _entries(home.path):
        is_media, is_made = entry.name == home.media.name, entry.name.startswith(_DATABASES)
        if entry.name == home.memory.name and not database:
            shutil.rmtree(home.identity, ignore_errors=True)
        elif not is_media and (database or not is_made):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                Path(entry.path).unlink(missing_ok=True)
