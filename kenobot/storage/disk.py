"""Read, compare and atomically replace files that people edit too.

Everything here blocks, for worker threads, but for `read` and `replace`. Paths are put together as text: what
a thread does beside turns holds them up.
"""

import asyncio
import codecs
import contextlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kenobot.ports.frozen import dataclass

MAX_FILE_BYTES = 5_000_000

_TEMPORARY = re.compile(r"\.kenobot-[0-9a-f]{16}\.tmp")
_RACY_NS = 10_000_000
_TRIES = 3


class FileStamp(NamedTuple):
    """Tell whether a file is still the one that was seen."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> "FileStamp":
        return cls(found.st_mtime_ns, found.st_size, found.st_ino)


UNKNOWN = FileStamp(0, 0, 0)
"""The stamp of a file that cannot be looked at."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A file as it was read. No stamp: there is none. No text: it is there, but `problem` says why it is left alone.

    before_half: of a file that ends in half a character, what stands before that; an append was cut off there, perhaps.
    """

    stamp: FileStamp | None = None
    text: str | None = None
    problem: str = ""
    before_half: str | None = None


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A text to be written in the place of the file that `expected` describes, None: of no file.

    appends: put it at the end of that file instead. A crash may then leave a part of it there.
    """

    path: str
    text: str
    expected: FileStamp | None
    appends: bool = False


# ── comparing ────────────────────────────────────────────────────────────────────────────────────────────────────


def stamp_of(path: Path | str) -> FileStamp | None:
    """Stat a file without following links, None when it is not there. Raises OSError when that cannot be known."""
    try:
        return FileStamp.of(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def peek(path: str) -> FileStamp | None:
    """Stat a file without following links, None when it is not there or cannot be looked at."""
    try:
        return FileStamp.of(os.lstat(path))
    except OSError:
        return None


def any_changed(root: str, seen: Mapping[str, FileStamp | None]) -> bool:
    """Return whether any of these files is not as it was seen, None for not there."""
    for path, stamp in seen.items():
        try:
            found = os.lstat(f"{root}/{path}")
        except OSError:
            if stamp is not None:
                return True
        else:
            if (found.st_mtime_ns, found.st_size, found.st_ino) != stamp:
                return True
    return False


def entries(folder: Path | str) -> list[os.DirEntry[str]]:
    """List a folder; nothing of one that is a link, is not there or cannot be read."""
    try:
        if stat.S_ISLNK(os.lstat(folder).st_mode):
            return []
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def subfolders(folder: Path | str) -> list[str]:
    """Name the folders within a folder. Links are not followed."""
    return sorted([entry.name for entry in entries(folder) if entry.is_dir(follow_symlinks=False)])


def remove_leftovers(root: Path, folders: Iterable[str]) -> None:
    """Remove the temporary files that a crash left in folders."""
    for folder in folders:
        for entry in entries(root / folder):
            if _TEMPORARY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def read(root: Path, path: str) -> ReadResult:
    """Read a file in a thread while nobody changes it. A byte-order mark is dropped. Raises nothing of the disk's."""
    return await asyncio.to_thread(_read, root, path)


def _read(root: Path, path: str) -> ReadResult:
    for _ in range(_TRIES):
        try:
            before = _look(root, path)
            if before is None:
                return ReadResult()
            stamp = FileStamp.of(before)
            if not stat.S_ISREG(before.st_mode):
                return ReadResult(stamp, problem=f"{path} is not a plain file: it is left alone.")
            if before.st_size > MAX_FILE_BYTES:
                return ReadResult(stamp, problem=f"{path} is larger than 5 MB: it is left alone.")
            raw = (root / path).read_bytes()
            after = _look(root, path)
        except OSError as error:
            return ReadResult(UNKNOWN, problem=f"{path} cannot be read ({error.strerror}): it is left alone.")
        if after is not None and FileStamp.of(after) == stamp:
            return _decode(path, stamp, raw)
    return ReadResult(UNKNOWN, problem=f"{path} does not stop changing: it is left alone for now.")


def read_still(root: Path, path: str) -> tuple[FileStamp, str] | None:
    """Read a plain UTF-8 file of usual size with its stamp; None for any other, and for one that somebody changes."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        descriptor = os.open(f"{root}/{path}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode) or before.st_size > MAX_FILE_BYTES:
                return None
            text, stamp = file.read().decode("utf-8"), FileStamp.of(before)
            if FileStamp.of(os.fstat(descriptor)) == stamp == peek(f"{root}/{path}"):
                return stamp, text
    return None


def _decode(path: str, stamp: FileStamp, raw: bytes) -> ReadResult:
    problem = f"{path} is not UTF-8 text: it is left alone."
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        text = decoder.decode(raw)
    except UnicodeDecodeError:
        return ReadResult(stamp, problem=problem)
    if "\0" in text:  # a disk that failed leaves such files: nobody wrote that
        return ReadResult(stamp, problem=problem)
    has_half = bool(decoder.getstate()[0])
    return ReadResult(stamp, problem=problem, before_half=text) if has_half else ReadResult(stamp, text)


def _look(root: Path, path: str) -> os.stat_result | None:
    """Stat a file, None when it is not there. Raises OSError when a folder on the way is a link."""
    place = str(root)
    *folders, name = path.split("/")
    for folder in folders:
        place = f"{place}/{folder}"
        _require_no_link(place)
    try:
        return os.lstat(f"{place}/{name}")
    except FileNotFoundError:
        return None


def _require_no_link(folder: str) -> None:
    """Raise OSError where a folder is a link."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISLNK(os.lstat(folder).st_mode):
            raise OSError(0, "its folder is a link to somewhere else")


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def replace(root: Path, path: str, text: str, expected: FileStamp | None) -> FileStamp | None:
    """Write one file in a thread; see `write`. Cancelled, it ends the file before it gives way. Raises OSError."""
    work = asyncio.ensure_future(asyncio.to_thread(write, root, [PendingFile(path, text, expected)]))
    try:
        outcome = (await asyncio.shield(work))[path]
    except asyncio.CancelledError:
        await asyncio.gather(work, return_exceptions=True)
        raise
    if isinstance(outcome, OSError):
        raise outcome
    return outcome


def write(root: Path, files: Sequence[PendingFile]) -> dict[str, FileStamp | OSError | None]:
    """Write files, each all or nothing; they and their names are on the disk when this returns.

    By path: the new file's stamp, None when somebody changed the file meanwhile, or what went wrong with the disk.
    """
    done: dict[str, FileStamp | OSError | None] = {}
    touched: set[str] = set()
    ready: set[str] = set()
    for file in files:
        folder = f"{root}/{file.path}".rpartition("/")[0]
        try:
            if folder not in ready:
                touched |= _make_folder(str(root), file.path)
                ready.add(folder)
            stamp = _write_one(f"{root}/{file.path}", file)
            if stamp is not None and not file.appends:
                touched.add(folder)
            done[file.path] = stamp
        except OSError as error:
            done[file.path] = error
    for folder in touched:
        try:
            fsync_folder(folder)
        except OSError as error:
            done.update({path: error for path in done if f"{root}/{path}".rpartition("/")[0] == folder})
    return done


def _write_one(target: str, file: PendingFile) -> FileStamp | None:
    if file.appends:
        return _append_if(target, file.text.encode("utf-8"), file.expected)
    return write_if(target, file.text, lambda: stamp_of(target) == file.expected)


def write_if(target: Path | str, text: str, is_unchanged: Callable[[], bool], mode: int = 0o600) -> FileStamp | None:
    """Put a text in the place of a file unless somebody has changed that meanwhile: then None. Raises OSError."""
    folder = str(target).rpartition("/")[0] or "/"
    temporary = f"{folder}/.kenobot-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    replaced = False
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fchmod(descriptor, mode)
            _look_older(descriptor)
            os.fsync(descriptor)
            stamp = FileStamp.of(os.fstat(descriptor))
        if not is_unchanged():
            return None
        Path(temporary).replace(target)
        replaced = True
        return stamp
    finally:
        if not replaced:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def _append_if(target: str, text: bytes, expected: FileStamp | None) -> FileStamp | None:
    """Put a text at the end of a file unless somebody has changed that, also meanwhile: then None. Raises OSError."""
    descriptor = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "ab") as file:
        before = FileStamp.of(os.fstat(descriptor))
        if before != expected:
            return None
        file.write(text)
        file.flush()
        _look_older(descriptor)
        os.fsync(descriptor)
        stamp = FileStamp.of(os.fstat(descriptor))
    return stamp if stamp.size == before.size + len(text) and stamp_of(target) == stamp else None


def _look_older(descriptor: int) -> None:
    """Make a file look a little older than it is.

    A person who saves in the same tick of the clock, as many bytes as these, must still be seen.
    """
    now = os.fstat(descriptor)
    os.utime(descriptor, ns=(now.st_atime_ns, now.st_mtime_ns - _RACY_NS))


def replace_text(path: Path, text: str) -> None:
    """Put a text in the place of a file, or of the one that a link leads to, whatever it held. Raises OSError."""
    write_if(path.resolve(), text, lambda: True)


def load_json(path: Path, most_bytes: int) -> object:
    """Load a small file of JSON; None where there is none, or it is larger. Raises OSError and ValueError."""
    try:
        if path.stat().st_size > most_bytes:
            return None
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def remove(root: Path, path: str, expected: FileStamp | None, *, prune: bool = False) -> bool:
    """Delete a file unless somebody has changed it: then False. expected: None for any. prune: its empty folder, too.

    Raises OSError.
    """
    target = root / path
    found = stamp_of(target)
    if found is None:
        return True
    if expected is not None and found != expected:
        return False
    target.unlink()
    fsync_folder(target.parent)
    if prune:
        with contextlib.suppress(OSError):
            target.parent.rmdir()
    return True


def fsync_folder(folder: Path | str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_folder(root: str, path: str) -> set[str]:
    """Make the folder of a file for the owner's eyes only, and return those in which names were made."""
    made: set[str] = set()
    place = root
    for name in ("", *path.split("/")[:-1]):
        above, place = place, f"{place}/{name}" if name else place
        if name:
            _require_no_link(place)
        if peek(place) is None:
            Path(place).mkdir(mode=0o700, parents=True, exist_ok=True)
            made.add(above if name else root.rpartition("/")[0])
    return made
