"""Name record files and find them on the disk. Disk work is for threads.

The folder says whose a record is: the owner's stand below the memory folder itself, a chat's and a guest's below their
own. What is no longer believed stands in the archive of the same folder.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from kenobot.cognitive.mirror.lists.list_paths import is_day
from kenobot.cognitive.mirror.names import scope_folder, slug
from kenobot.cognitive.store.records import Record
from kenobot.ports.identity import OWNER_SCOPE, is_session_id
from kenobot.storage.disk import FileStamp, peek, subfolders

Area = Literal["facts", "boxes", "artifacts"]

_AREAS: tuple[Area, ...] = ("facts", "boxes", "artifacts")


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
    archive = "" if record.status == "active" else "archive/"
    day = record.day if is_day(record.day) else "undated"
    return f"{scope_folder(record.scope)}{archive}{area or area_of(record)}/{day}"


def name_of(record: Record, salt: str = "") -> str:
    """Name a new file. salt: makes another name, where that is taken."""
    if record.form == "box" and not salt:
        return f"box-{record.id}.md"
    try:
        moment = f"{datetime.fromisoformat(record.created):%Y%m%dT%H%M%SZ}"
    except ValueError:
        moment = "undated"
    digest = hashlib.sha256(f"{record.id}\0{record.scope}\0{record.created}\0{salt}".encode()).hexdigest()
    return f"{slug(record.category) or 'fact'}-{moment}-{digest[:10]}.md"


def location_of(folder: str) -> FileLocation | None:
    """Parse what a folder, relative to the memory folder, is for; None when no record files belong there."""
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
    """Tell whether files of `record` may stand in this folder: of which day it is is the person's business."""
    here = location_of(folder)
    there = location_of(folder_of(record, area))
    if here is None or there is None:
        return False
    return (here.scope, here.area, here.archived) == (there.scope, there.area, there.archived)


def recent_folders(scopes: Iterable[str], days: Sequence[str]) -> list[str]:
    """List the folders whose files people and this chat are likeliest to change."""
    return [f"{scope_folder(scope)}facts/{day}" for scope in scopes for day in days]


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def find_folders(root: Path) -> list[str]:
    """List every folder of record files, in alphabetical order. Links are not followed."""
    homes = ["", *(f"{group}/{name}/" for group in ("chats", "users") for name in subfolders(root / group))]
    found = []
    for home in homes:
        for archive in ("", "archive/"):
            if archive and (root / home / "archive").is_symlink():
                continue
            for area in _AREAS:
                days = subfolders(root / home / archive / area)
                found += [path for day in days if location_of(path := f"{home}{archive}{area}/{day}") is not None]
    return sorted(found)


def list_markdown(root: Path, folder: str) -> dict[str, FileStamp] | None:
    """Stat the Markdown files of a folder, by name; None when the folder itself is not there.

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
    found: dict[str, FileStamp] = {}
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.name.endswith(".md") and not entry.name.startswith("."):
                with contextlib.suppress(OSError):  # gone between the listing and the look
                    seen = entry.stat(follow_symlinks=False)
                    found[entry.name] = FileStamp.of(seen)
    return found


def scan_folders(root: Path, folders: Iterable[str]) -> dict[str, tuple[FileStamp | None, dict[str, FileStamp] | None]]:
    """Each folder's own mark, from before it was read, and what `list_markdown` finds in it."""
    return {folder: (peek(f"{root}/{folder}"), list_markdown(root, folder)) for folder in folders}
