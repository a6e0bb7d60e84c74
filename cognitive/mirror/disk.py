"""The files of the mirror: how they are found, read and replaced. Disk work is for threads, not for the event loop."""

import asyncio
import contextlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import aiofiles

from kenobot.cognitive.mirror.list_paths import role_of

MAX_FILE_BYTES = 5_000_000

_TEMPORARY = re.compile(r"\.kenobot-[0-9a-f]{16}\.tmp")
_RACY_NS = 10_000_000
_TRIES = 3
_ARCHIVE = "archive"
_GROUPS = ("chats", "users")


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells that a file is still the one that was seen."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> "FileStamp":
        return cls(found.st_mtime_ns, found.st_size, found.st_ino)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A file as it was read. No stamp: there is none. No text: it is there, but `problem` says why it is left alone."""

    stamp: FileStamp | None = None
    text: str | None = None
    problem: str = ""


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def scan(root: Path, seen: Mapping[str, FileStamp], *, archive: bool = True) -> dict[str, FileStamp]:
    """Every file of the mirror that is there, by path. Links, backups and strangers' files are passed over.

    archive: also what stands in there.

    A file that is as it was `seen` costs little more than its lstat: this runs over all of memory again and again.
    """
    found = dict(_walk(root, "", seen))
    for folder in _places(root, archive=archive):
        found.update(_walk(root, f"{folder}/", seen))
    found.update(stat_paths(root, ["identity/preferences.md"]))
    return found


def _places(root: Path, *, archive: bool = True) -> list[str]:
    """The folders in which files of the mirror stand, but for the memory folder itself. Links are not followed."""
    own = [f"{group}/{name}" for group in _GROUPS for name in _folders(root / group)]
    found = ["working", "entities", *own, *(f"{folder}/entities" for folder in own)]
    if archive and not (root / _ARCHIVE).is_symlink():
        kept = [f"{_ARCHIVE}/{group}/{name}" for group in _GROUPS for name in _folders(root / _ARCHIVE / group)]
        found += [_ARCHIVE, *kept]
    return found


def stat_paths(root: Path, paths: Iterable[str]) -> dict[str, FileStamp]:
    """Those of `paths` that are there."""
    found: dict[str, FileStamp] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            seen = (root / path).lstat()
            if stat.S_ISREG(seen.st_mode):
                found[path] = FileStamp.of(seen)
    return found


def any_changed(root: str, seen: Mapping[str, FileStamp | None]) -> bool:
    """Whether any of these files is not as it was seen, None for not there. `root` ends in a slash."""
    for path, stamp in seen.items():
        try:
            found = os.lstat(root + path)
        except OSError:
            if stamp is not None:
                return True
        else:
            if stamp is None or found.st_mtime_ns != stamp.mtime_ns or FileStamp.of(found) != stamp:
                return True
    return False


def _walk(root: Path, folder: str, seen: Mapping[str, FileStamp]) -> Iterator[tuple[str, FileStamp]]:
    for entry in _entries(root / folder):
        path = folder + entry.name
        before = seen.get(path)
        if before is None and role_of(path) is None:
            continue
        with contextlib.suppress(OSError):  # gone between the listing and the look
            now = entry.stat(follow_symlinks=False)
            if before is not None and (now.st_mtime_ns, now.st_size, now.st_ino) == (
                before.mtime_ns,
                before.size,
                before.inode,
            ):
                yield path, before
            elif stat.S_ISREG(now.st_mode):
                yield path, FileStamp.of(now)


def _folders(folder: Path) -> list[str]:
    return [entry.name for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def remove_leftovers(root: Path) -> None:
    """Remove what a crash left half-written."""
    for folder in (root, root / "identity", *(root / place for place in _places(root))):
        for entry in _entries(folder):
            if _TEMPORARY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()


# ── reading and replacing ────────────────────────────────────────────────────────────────────────────────────────


async def read(root: Path, path: str) -> ReadResult:
    """The file at `path`, read while nobody changed it. A byte-order mark is dropped. Raises nothing of the disk's."""
    return await asyncio.to_thread(_read, root, path)


def _read(root: Path, path: str) -> ReadResult:
    for _ in range(_TRIES):
        try:
            before = _look(root, path)
            if before is None:
                return ReadResult()
            if not stat.S_ISREG(before.st_mode):
                return ReadResult(FileStamp.of(before), problem=f"{path} is not a plain file: it is left alone.")
            if before.st_size > MAX_FILE_BYTES:
                return ReadResult(FileStamp.of(before), problem=f"{path} is larger than 5 MB: it is left alone.")
            raw = (root / path).read_bytes()
            after = _look(root, path)
        except OSError as error:
            return ReadResult(
                FileStamp(0, 0, 0), problem=f"{path} cannot be read ({error.strerror}): it is left alone."
            )
        if after is not None and FileStamp.of(after) == FileStamp.of(before):
            try:
                return ReadResult(FileStamp.of(before), raw.decode("utf-8-sig"))
            except UnicodeDecodeError:
                return ReadResult(FileStamp.of(before), problem=f"{path} is not UTF-8 text: it is left alone.")
    return ReadResult(FileStamp(0, 0, 0), problem=f"{path} does not stop changing: it is left alone for now.")


def _look(root: Path, path: str) -> os.stat_result | None:
    """The file's own stat, None when it is not there. Raises OSError when a folder on the way is a link."""
    for part in list(Path(path).parents)[:-1]:
        if (root / part).is_symlink():
            raise OSError(0, "its folder is a link to somewhere else")
    try:
        return (root / path).lstat()
    except FileNotFoundError:
        return None


async def replace(root: Path, path: str, text: str, expected: FileStamp | None) -> FileStamp | None:
    """Put `text` in the place of the file that `expected` describes (None: of no file), all of it or nothing.

    Returns the new file's stamp, or None when somebody changed the file meanwhile: then it is as they left it.
    Cancelled, it still ends what it began before it gives way: no open file and no half of one is left behind.
    Raises OSError when the disk fails.
    """
    work = asyncio.create_task(_replace(root, path, text, expected), name=f"write {path}")
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.gather(work, return_exceptions=True)
        raise


async def _replace(root: Path, path: str, text: str, expected: FileStamp | None) -> FileStamp | None:
    target = root / path
    temporary = target.with_name(f".kenobot-{secrets.token_hex(8)}.tmp")
    await asyncio.to_thread(_make_folders, root, target.parent)
    try:
        async with aiofiles.open(temporary, "wb", opener=_private) as file:
            await file.write(text.encode("utf-8"))
            await file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        return await asyncio.to_thread(_swap, temporary, target, expected)
    finally:
        await asyncio.to_thread(temporary.unlink, missing_ok=True)


async def remove(root: Path, path: str, expected: FileStamp | None) -> bool:
    """Delete the file that `expected` describes; False when somebody changed it meanwhile."""
    return await asyncio.to_thread(_if_unchanged, root / path, expected, (root / path).unlink)


def _swap(temporary: Path, target: Path, expected: FileStamp | None) -> FileStamp | None:
    # A person who saves in the same tick of the clock, as many bytes as these, must still be seen: so this file is
    # made to look a little older than it is.
    written = temporary.stat()
    os.utime(temporary, ns=(written.st_atime_ns, written.st_mtime_ns - _RACY_NS))
    stamp = FileStamp.of(temporary.stat())
    if not _if_unchanged(target, expected, lambda: temporary.replace(target)):
        return None
    fsync_folder(target.parent)
    return stamp


def fsync_folder(folder: Path) -> None:
    """Have the disk hold the names that stand in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _if_unchanged(target: Path, expected: FileStamp | None, act: Callable[[], object]) -> bool:
    try:
        present: FileStamp | None = FileStamp.of(target.lstat())
    except FileNotFoundError:
        present = None
    if present != expected:
        return False
    act()
    return True


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _make_folders(root: Path, folder: Path) -> None:
    missing = [folder, *folder.parents]
    for each in reversed(missing[: missing.index(root) + 1]):
        if not each.exists():
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
