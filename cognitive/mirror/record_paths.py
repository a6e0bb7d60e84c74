"""Where cards stand, what their files are called, and how they are looked at and written. Disk work is for threads.

The folder says whose a card is: the owner's cards stand below the memory folder itself, a chat's and a guest's below
their own. What is no longer believed stands in the archive of the same folder.
"""

import contextlib
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from kenobot.cognitive.mirror.disk import FileStamp, fsync_folder
from kenobot.cognitive.mirror.list_paths import is_day
from kenobot.cognitive.mirror.names import scope_folder, slug
from kenobot.cognitive.store.records import Record
from kenobot.ports.identity import OWNER_SCOPE, is_session_id

Area = Literal["facts", "boxes", "artifacts"]
StampTuple = tuple[int, int, int]
"""A file's time of change in ns, size and inode: a plain `FileStamp`, for where there are very many."""

_AREAS: tuple[Area, ...] = ("facts", "boxes", "artifacts")
_TEMPORARY = re.compile(r"\.kenobot-[0-9a-f]{16}\.tmp")
_RACY_NS = 10_000_000


@dataclass(frozen=True, slots=True)
class FileLocation:
    """What a folder of cards is for."""

    scope: str
    area: Area
    day: str
    archived: bool


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def area_of(record: Record) -> Area:
    return "boxes" if record.form == "box" else "facts"


def folder_of(record: Record, area: Area | None = None) -> str:
    """The folder in which `record` belongs."""
    archive = "" if record.status == "active" else "archive/"
    day = record.day if is_day(record.day) else "undated"
    return f"{scope_folder(record.scope)}{archive}{area or area_of(record)}/{day}"


def name_of(record: Record, salt: str = "") -> str:
    """The file name of a new card. salt: makes another one, where that is taken."""
    if record.form == "box" and not salt:
        return f"box-{record.id}.md"
    try:
        moment = f"{datetime.fromisoformat(record.created):%Y%m%dT%H%M%SZ}"
    except ValueError:
        moment = "undated"
    digest = hashlib.sha256(f"{record.id}\0{record.scope}\0{record.created}\0{salt}".encode()).hexdigest()
    return f"{slug(record.category) or 'fact'}-{moment}-{digest[:10]}.md"


def location_of(folder: str) -> FileLocation | None:
    """What the folder, relative to the memory folder, is for; None when no cards belong there."""
    parts = folder.split("/")
    scope = OWNER_SCOPE
    if parts[0] in ("chats", "users") and len(parts) > 2 and is_session_id(parts[1]):
        scope = f"{parts[0].removesuffix('s')}:{parts[1]}"
        parts = parts[2:]
    archived = parts[0] == "archive"
    match parts[1:] if archived else parts:
        case [("facts" | "boxes" | "artifacts") as area, day] if is_day(day) or day == "undated":
            return FileLocation(scope, area, day, archived)
        case _:
            return None


def is_right_folder(folder: str, record: Record, area: Area | None = None) -> bool:
    """Whether files of `record` may stand in this folder: of which day it is is the person's business."""
    here = location_of(folder)
    there = location_of(folder_of(record, area))
    if here is None or there is None:
        return False
    return (here.scope, here.area, here.archived) == (there.scope, there.area, there.archived)


def recent_folders(scopes: Iterable[str], days: Sequence[str]) -> list[str]:
    """The folders whose cards people and this chat are likeliest to change."""
    return [f"{scope_folder(scope)}facts/{day}" for scope in scopes for day in days]


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def find_folders(root: Path) -> list[str]:
    """Every folder of cards that is there, in alphabetical order. Links are not followed."""
    homes = ["", *(f"{group}/{name}/" for group in ("chats", "users") for name in _names(root / group))]
    found = []
    for home in homes:
        for archive in ("", "archive/"):
            if archive and not _is_folder(root / home / "archive"):
                continue
            for area in _AREAS:
                days = _names(root / home / archive / area)
                found += [path for day in days if location_of(path := f"{home}{archive}{area}/{day}") is not None]
    return sorted(found)


def list_markdown(root: Path, folder: str) -> dict[str, StampTuple] | None:
    """The Markdown files of a folder, by name; None when the folder itself is not there.

    This runs over all cards again and again, so nothing is made of a file but its mark.
    """
    path = str(root)
    for part in folder.split("/"):
        path = f"{path}/{part}"
        try:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                return None
        except OSError:
            return None
    found: dict[str, StampTuple] = {}
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.name.endswith(".md") and not entry.name.startswith("."):
                with contextlib.suppress(OSError):  # gone between the listing and the look
                    seen = entry.stat(follow_symlinks=False)
                    found[entry.name] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
    return found


def scan_folders(
    root: Path, folders: Iterable[str]
) -> dict[str, tuple[StampTuple | None, dict[str, StampTuple] | None]]:
    """Each folder's own mark, from before it was read, and what `listing` finds in it."""
    return {folder: (stamp_tuple_of(f"{root}/{folder}"), list_markdown(root, folder)) for folder in folders}


def stamp_tuple_of(path: str) -> StampTuple | None:
    """The time, size and inode of what stands at `path`, None when nothing does."""
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def existing_paths(root: Path, paths: Iterable[str]) -> set[str]:
    """Those of `paths` where something stands, whatever it is."""
    return {path for path in paths if os.path.lexists(root / path)}


def stamp_of(path: Path) -> FileStamp | None:
    """The file's own stamp, None when it is not there. Raises OSError when it cannot be known."""
    try:
        return FileStamp.of(path.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return None


def remove_leftovers(root: Path, folders: Iterable[str]) -> None:
    """Remove what a crash left half-written in folders."""
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(root / folder) as entries:
            for entry in entries:
                if _TEMPORARY.fullmatch(entry.name):
                    with contextlib.suppress(OSError):
                        Path(entry.path).unlink()


def _names(folder: Path) -> list[str]:
    if not _is_folder(folder):
        return []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    return []


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A file to be written in the place of the one that `expected` describes, None: of no file."""

    path: str
    text: str
    expected: FileStamp | None


def write(root: Path, drafts: Sequence[PendingFile]) -> dict[str, FileStamp | OSError | None]:
    """Write files, each all or nothing; they and their names are on the disk when this returns.

    By path: the new file's stamp, None when somebody changed the file meanwhile, or what went wrong with the disk.
    """
    done: dict[str, FileStamp | OSError | None] = {}
    touched: set[Path] = set()
    for draft in drafts:
        try:
            made = make_folder(root, (root / draft.path).parent)
            stamp = _write(root / draft.path, draft)
            touched |= made if stamp is None else {*made, (root / draft.path).parent}
            done[draft.path] = stamp
        except OSError as error:
            done[draft.path] = error
    for folder in touched:
        try:
            fsync_folder(folder)
        except OSError as error:
            done.update({path: error for path in done if (root / path).parent == folder})
    return done


def _write(target: Path, draft: PendingFile) -> FileStamp | None:
    temporary = target.with_name(f".kenobot-{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(draft.text.encode("utf-8"))
            file.flush()
            # A person who saves in the same tick of the clock, as many bytes as these, must still be seen.
            now = os.fstat(file.fileno())
            os.utime(file.fileno(), ns=(now.st_atime_ns, now.st_mtime_ns - _RACY_NS))
            os.fsync(file.fileno())
            stamp = FileStamp.of(os.fstat(file.fileno()))
        if stamp_of(target) != draft.expected:
            return None
        temporary.replace(target)
        return stamp
    finally:
        temporary.unlink(missing_ok=True)


def remove(root: Path, path: str, expected: FileStamp | None) -> bool:
    """Delete a file, and its folder if that was the last; False when it is not the expected one any more."""
    target = root / path
    found = stamp_of(target)
    if found is None:
        return True
    if expected is not None and found != expected:
        return False
    target.unlink()
    fsync_folder(target.parent)
    with contextlib.suppress(OSError):
        target.parent.rmdir()
    return True


def make_folder(root: Path, folder: Path) -> set[Path]:
    """Make a folder for the owner's eyes only, and return those in which names were made."""
    chain = [folder, *folder.parents]
    made: set[Path] = set()
    for each in reversed(chain[: chain.index(root) + 1]):
        if each != root and each.is_symlink():
            raise OSError(0, "its folder is a link to somewhere else")
        if not each.exists():
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
            made.add(each.parent)
    return made
