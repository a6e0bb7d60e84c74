"""Read the files of a skill whole, within bounds and without following any link, and hash them."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from kenobot.ports.frozen import dataclass
from kenobot.skills.front_matter import UnusableSkill

MOST_FILES, MOST_BYTES, DEEPEST = 200, 4_000_000, 6
LEFT_OUT = frozenset({".git", "__MACOSX", "__pycache__", ".DS_Store"})
"""What adding a skill leaves behind."""

Stamp = tuple[tuple[str, int, int, int, int], ...]
"""Path, size, inode and times of each file: as long as these stay, so do the contents."""


@dataclass(frozen=True, slots=True)
class SkillFiles:
    """The files of a skill by their paths below its folder, sorted."""

    contents: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """The SHA-256 over paths and contents, each with its length in front so that none can pass for another."""
        digest = hashlib.sha256()
        for path, content in sorted(self.contents.items()):
            name = path.encode()
            digest.update(b"%d:%s%d:" % (len(name), name, len(content)))
            digest.update(content)
        return digest.hexdigest()

    def text(self, path: str) -> str | None:
        """Return a file's text; None for one that is not there or no text."""
        content = self.contents.get(path)
        if content is None or b"\0" in content:
            return None
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            return None


def check_path(path: str) -> str:
    """Return the relative path of a file of a skill. Raises UnusableSkill for one that leads elsewhere or is odd."""
    parts = PurePosixPath(path).parts
    plain = bool(parts) and not path.startswith("/") and "\\" not in path and path.isprintable()
    if not plain or any(part == ".." or len(part.encode()) > 255 for part in parts) or len(parts) > DEEPEST:
        raise UnusableSkill("skills.bad_path", path=repr(path[:80]))
    return "/".join(parts)


def is_same(path: str, before: Stamp) -> bool:
    """Return whether one file is as it was when the whole was stamped."""
    try:
        return _seal(path, os.lstat(path)) in before
    except OSError:
        return False


def _seal(path: str, seen: os.stat_result) -> tuple[str, int, int, int, int]:
    return path, seen.st_size, seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns


def stamp(folder: Path) -> Stamp:
    """Return what tells whether a skill's files were changed, without a look into them. Raises UnusableSkill."""
    _require_folder(folder)
    found: list[tuple[str, int, int, int, int]] = []
    waiting, count = [str(folder)], 0
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count = _count_file(count)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        found.append(_seal(entry.path, entry.stat(follow_symlinks=False)))
    except OSError as error:
        raise _report_unreadable(error) from error
    return tuple(sorted(found))


def read(folder: Path, left_out: frozenset[str] = frozenset()) -> SkillFiles:
    """Read a skill whole. left_out: names of files and folders that are passed over. Raises UnusableSkill."""
    _require_folder(folder)
    contents: dict[str, bytes] = {}
    room, count = MOST_BYTES, 0
    try:
        for path, name, parent in _walk(folder, left_out):
            count = _count_file(count)
            mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
            if stat.S_ISREG(mode):
                contents[path] = _read_file(name, parent, room)
                room -= len(contents[path])
            elif not stat.S_ISDIR(mode):
                raise UnusableSkill("skills.link", path=path)
    except OSError as error:
        raise _report_unreadable(error) from error
    return SkillFiles(dict(sorted(contents.items())))


def _walk(folder: Path, left_out: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    """Iterate over what is below a folder: path, name, and the descriptor of the folder that it is in."""
    for root, folders, names, parent in os.fwalk(folder, onerror=_raise):
        below = Path(root).relative_to(folder)
        folders[:] = sorted(name for name in folders if name not in left_out)
        for name in sorted((*folders, *(name for name in names if name not in left_out))):
            yield check_path(str(below / name)), name, parent


def _require_folder(folder: Path) -> None:
    if folder.is_symlink() or not folder.is_dir():
        raise UnusableSkill("skills.not_a_folder", name=folder.name)


def _count_file(count: int) -> int:
    if count == MOST_FILES:
        raise UnusableSkill("skills.too_many_files", most=MOST_FILES)
    return count + 1


def _report_unreadable(error: OSError) -> UnusableSkill:
    return UnusableSkill("skills.unreadable", reason=error)


def _read_file(name: str, parent: int, room: int) -> bytes:
    """Read a file that nothing else may have taken the place of since it was looked at."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(room + 1)
    if len(content) > room:
        raise UnusableSkill("skills.too_large", most=MOST_BYTES // 1000000)
    return content


def _raise(error: OSError) -> None:
    raise error
