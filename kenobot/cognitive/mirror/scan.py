"""Find memory's files on the disk. Blocks, for threads; links are not followed."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from kenobot.cognitive.mirror.paths import ARCHIVE, AREAS, GROUPS, location_of, role_of
from kenobot.storage.disk import FileStamp, peek, subfolders

_ARCHIVE = ARCHIVE.rstrip("/")

# ── list files ───────────────────────────────────────────────────────────────────────────────────────────────────


def list_files(root: Path, seen: Mapping[str, FileStamp], *, archive: bool = True) -> dict[str, FileStamp]:
    """Stat every list file, by path; `archive`: those in there, too. Links, backups and others' files are left out.

    This runs over all of memory again and again, so no path that was `seen` is parsed anew.
    """
    found = stat_paths(root, ["identity/preferences.md"])
    for folder in list_folders(root, archive=archive):
        below = f"{folder}/" if folder else ""

        def is_list_file(entry: os.DirEntry[str], below: str = below) -> bool:
            path = below + entry.name
            return (path in seen or role_of(path) is not None) and entry.is_file(follow_symlinks=False)

        stamps = _stamps(root, folder, is_list_file) or {}
        found.update((below + name, stamp) for name, stamp in stamps.items())
    return found


def list_folders(root: Path, *, archive: bool = True) -> list[str]:
    """List the folders in which list files may stand."""
    own = [f"{group}/{name}" for group in GROUPS for name in subfolders(f"{root}/{group}")]
    found = ["", "working", "entities", *own, *(f"{folder}/entities" for folder in own)]
    if archive and not (root / ARCHIVE).is_symlink():
        kept = [f"{ARCHIVE}{group}/{name}" for group in GROUPS for name in subfolders(f"{root}/{ARCHIVE}{group}")]
        found += [_ARCHIVE, *kept]
    return found


def peek_at_folders(root: Path) -> dict[str, FileStamp | None]:
    """Stat, before they are listed, the folders whose own stamps tell whether list files came, went or were replaced.

    None for those that are not there. The archive is none of them.
    """
    return {folder: peek(f"{root}/{folder}") for folder in (*GROUPS, "identity", *list_folders(root, archive=False))}


def stat_paths(root: Path, paths: Iterable[str]) -> dict[str, FileStamp]:
    """Stat those of `paths` that are plain files."""
    found: dict[str, FileStamp] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            now = (root / path).lstat()
            if stat.S_ISREG(now.st_mode):
                found[path] = FileStamp.of(now)
    return found


# ── record files ─────────────────────────────────────────────────────────────────────────────────────────────────


def record_folders(root: Path) -> list[str]:
    """List every folder of record files, in alphabetical order."""
    homes = ["", *(f"{group}/{name}/" for group in GROUPS for name in subfolders(f"{root}/{group}"))]
    found = []
    for home in homes:
        areas = subfolders(f"{root}/{home}")
        kept = subfolders(f"{root}/{home}{_ARCHIVE}") if _ARCHIVE in areas else []
        for place, there in (("", areas), (ARCHIVE, kept)):
            for area in there:
                if area in AREAS:
                    folder = f"{home}{place}{area}"
                    found += [path for day in subfolders(f"{root}/{folder}") if location_of(path := f"{folder}/{day}")]
    return sorted(found)


def record_files(root: Path, folder: str) -> dict[str, FileStamp] | None:
    """Stat the Markdown files of a folder, by name; None when the folder itself is not there.

    This runs over all record files again and again, so nothing is made of a file but its stamp.
    """
    return _stamps(root, folder, lambda entry: entry.name.endswith(".md") and not entry.name.startswith("."))


def folder_and_files(root: Path, folder: str) -> tuple[FileStamp | None, dict[str, FileStamp] | None]:
    """Stat a folder itself, before it is read, and what `record_files` finds in it."""
    return peek(f"{root}/{folder}"), record_files(root, folder)


def _stamps(root: Path, folder: str, is_wanted: Callable[[os.DirEntry[str]], bool]) -> dict[str, FileStamp] | None:
    """Stat the wanted files of a folder, by name; None when there is no such folder, or a link is on the way to it."""
    path = str(root)
    try:
        for part in folder.split("/"):
            path = f"{path}/{part}"
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                return None
    except OSError:
        return None
    found: dict[str, FileStamp] = {}
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if is_wanted(entry):
                try:
                    found[entry.name] = FileStamp.of(entry.stat(follow_symlinks=False))
                except OSError:  # gone between the listing and the look
                    continue
    return found
