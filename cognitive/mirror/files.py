"""The files of the mirror: which record stands in which, and how they are found, read and replaced.

Disk work runs in threads, never on the event loop.
"""

import asyncio
import contextlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import aiofiles

from kenobot.cognitive.mirror.layout import Kind
from kenobot.cognitive.mirror.names import home_of, page_name
from kenobot.cognitive.store import Record
from kenobot.ports import OWNER_SCOPE, is_session_id

LARGEST = 5_000_000

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TEMPORARY = re.compile(r"\.kenobot-[0-9a-f]{16}\.tmp")
_RACY_NS = 10_000_000
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Place:
    """What a file of the mirror holds. `detail`: the day of a log, or the slot's name."""

    scope: str
    kind: Kind
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells that a file is still the one that was seen."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> "Stamp":
        return cls(found.st_mtime_ns, found.st_size, found.st_ino)


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it was read. No stamp: there is none. No text: it is there, but `problem` says why it is left alone."""

    stamp: Stamp | None = None
    text: str | None = None
    problem: str = ""


# ── where things stand ───────────────────────────────────────────────────────────────────────────────────────────

ELSEWHERE = ("import", "sleep")  # sources of what was not learned on that day: it has its card, and stands in no log
SLOT_FORMS = {"context": "profile", "working": "scratchpad"}


def path_of(record: Record) -> str | None:
    """The file in which `record` stands, relative to the memory folder; None when it stands in none."""
    kind, _, name = record.scope.partition(":")
    if record.form == "scratchpad":
        return f"working/{name}.md" if kind == "chat" else None
    folder = home_of(record.scope)
    if record.form == "profile":
        return f"{folder}context.md" if folder else None
    if record.form not in ("note", "episode"):
        return None
    if record.tier == "core":
        return f"{folder}MEMORY.md"
    if record.category == "preference" and record.scope == OWNER_SCOPE:
        return "identity/preferences.md"
    if record.source in ELSEWHERE:
        return None
    return f"{folder}{record.day}.md"


def page_of(record: Record) -> str | None:
    """The page about whom or what `record` is about; None when that is the person whose scope it is."""
    if record.form not in ("note", "episode") or record.subject.casefold() in ("", "owner"):
        return None
    return f"{home_of(record.scope)}entities/{page_name(record.subject)}.md"


def place_of(path: str) -> Place | None:
    """What the file at `path`, relative to the memory folder, holds; None when it is none of the mirror's."""
    if path == "identity/preferences.md":
        return Place(OWNER_SCOPE, "preferences")
    *folders, name = path.split("/")
    stem = name.removesuffix(".md")
    if stem == name:
        return None
    match folders:
        case []:
            return _in_folder(OWNER_SCOPE, stem)
        case ["entities"] if stem:
            return Place(OWNER_SCOPE, "entity", stem)
        case ["chats" | "users" as group, member, "entities"] if is_session_id(member) and stem:
            return Place(f"{group.removesuffix('s')}:{member}", "entity", stem)
        case ["working"] if is_session_id(stem):
            return Place(f"chat:{stem}", "slot", "working")
        case ["chats" | "users" as group, member] if is_session_id(member):
            scope = f"{group.removesuffix('s')}:{member}"
            return Place(scope, "slot", "context") if stem == "context" else _in_folder(scope, stem)
        case _:
            return None


def _in_folder(scope: str, stem: str) -> Place | None:
    if stem == "MEMORY":
        return Place(scope, "core")
    if _DAY.fullmatch(stem) and _is_day(stem):
        return Place(scope, "daily", stem)
    return None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def scan(root: Path, seen: Mapping[str, Stamp]) -> dict[str, Stamp]:
    """Every file of the mirror that is there, by path. Links, backups and strangers' files are passed over.

    A file that is as it was `seen` costs little more than its lstat: this runs over all of memory again and again.
    """
    found = dict(_walk(root, "", seen))
    own = [f"{group}/{name}" for group in ("chats", "users") for name in _folders(root / group)]
    for folder in ("working", "entities", *own, *(f"{folder}/entities" for folder in own)):
        found.update(_walk(root, f"{folder}/", seen))
    found.update(probe(root, ["identity/preferences.md"]))
    return found


def probe(root: Path, paths: Iterable[str]) -> dict[str, Stamp]:
    """Those of `paths` that are there."""
    found: dict[str, Stamp] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            seen = (root / path).lstat()
            if stat.S_ISREG(seen.st_mode):
                found[path] = Stamp.of(seen)
    return found


def differ(root: str, seen: Mapping[str, Stamp | None]) -> bool:
    """Whether any of these files is not as it was seen, None for not there. `root` ends in a slash."""
    for path, stamp in seen.items():
        try:
            found = os.lstat(root + path)
        except OSError:
            if stamp is not None:
                return True
        else:
            if stamp is None or found.st_mtime_ns != stamp.mtime_ns or Stamp.of(found) != stamp:
                return True
    return False


def _walk(root: Path, folder: str, seen: Mapping[str, Stamp]) -> Iterator[tuple[str, Stamp]]:
    for entry in _entries(root / folder):
        path = folder + entry.name
        before = seen.get(path)
        if before is None and place_of(path) is None:
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
                yield path, Stamp.of(now)


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


def sweep(root: Path) -> None:
    """Remove what a crash left half-written."""
    folders = [root, root / "identity", root / "working", root / "entities"]
    own = [root / group / name for group in ("chats", "users") for name in _folders(root / group)]
    folders += [*own, *(folder / "entities" for folder in own)]
    for folder in folders:
        for entry in _entries(folder):
            if _TEMPORARY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()


# ── reading and replacing ────────────────────────────────────────────────────────────────────────────────────────


async def read(root: Path, path: str) -> Found:
    """The file at `path`, read while nobody changed it. A byte-order mark is dropped. Raises nothing of the disk's."""
    for _ in range(_TRIES):
        try:
            before = await asyncio.to_thread(_look, root, path)
            if before is None:
                return Found()
            if not stat.S_ISREG(before.st_mode):
                return Found(Stamp.of(before), problem=f"{path} is not a plain file: it is left alone.")
            if before.st_size > LARGEST:
                return Found(Stamp.of(before), problem=f"{path} is larger than 5 MB: it is left alone.")
            async with aiofiles.open(root / path, "rb") as file:
                raw = await file.read()
            after = await asyncio.to_thread(_look, root, path)
        except OSError as error:
            return Found(Stamp(0, 0, 0), problem=f"{path} cannot be read ({error.strerror}): it is left alone.")
        if after is not None and Stamp.of(after) == Stamp.of(before):
            try:
                return Found(Stamp.of(before), raw.decode("utf-8-sig"))
            except UnicodeDecodeError:
                return Found(Stamp.of(before), problem=f"{path} is not UTF-8 text: it is left alone.")
    return Found(Stamp(0, 0, 0), problem=f"{path} does not stop changing: it is left alone for now.")


def _look(root: Path, path: str) -> os.stat_result | None:
    """The file's own stat, None when it is not there. Raises OSError when a folder on the way is a link."""
    for part in list(Path(path).parents)[:-1]:
        if (root / part).is_symlink():
            raise OSError(0, "its folder is a link to somewhere else")
    try:
        return (root / path).lstat()
    except FileNotFoundError:
        return None


async def replace(root: Path, path: str, text: str, expected: Stamp | None) -> Stamp | None:
    """Put `text` in the place of the file that `expected` describes (None: of no file), all of it or nothing.

    Returns the new file's stamp, or None when somebody changed the file meanwhile: then it is as they left it.
    Raises OSError when the disk fails.
    """
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


async def remove(root: Path, path: str, expected: Stamp | None) -> bool:
    """Delete the file that `expected` describes; False when somebody changed it meanwhile."""
    return await asyncio.to_thread(_if_unchanged, root / path, expected, (root / path).unlink)


def _swap(temporary: Path, target: Path, expected: Stamp | None) -> Stamp | None:
    # A person who saves in the same tick of the clock, as many bytes as these, must still be seen: so this file is
    # made to look a little older than it is.
    written = temporary.stat()
    os.utime(temporary, ns=(written.st_atime_ns, written.st_mtime_ns - _RACY_NS))
    stamp = Stamp.of(temporary.stat())
    if not _if_unchanged(target, expected, lambda: temporary.replace(target)):
        return None
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return stamp


def _if_unchanged(target: Path, expected: Stamp | None, act: Callable[[], object]) -> bool:
    try:
        present: Stamp | None = Stamp.of(target.lstat())
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
