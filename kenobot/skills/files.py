"""Read the files of a skill whole, within bounds and without following any link, and hash them."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

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
        raise UnusableSkill(f"The path {path[:80]!r} is not one that a skill may have.")
    return "/".join(parts)


def stamp(folder: Path) -> Stamp:
    """Return what tells whether a skill's files were changed. Raises UnusableSkill."""
    return tuple(
        (path, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns) for path, found, *_ in _walk(folder)
    )


def read(folder: Path, left_out: frozenset[str] = frozenset()) -> SkillFiles:
    """Read a skill whole. left_out: names of files and folders that are passed over. Raises UnusableSkill."""
    contents: dict[str, bytes] = {}
    room = MOST_BYTES
    for path, _, name, parent in _walk(folder, left_out):
        contents[path] = _read_file(path, name, parent, room)
        room -= len(contents[path])
    return SkillFiles(dict(sorted(contents.items())))


def _walk(folder: Path, left_out: frozenset[str] = frozenset()) -> Iterator[tuple[str, os.stat_result, str, int]]:
    """Iterate over the files below a folder: path, state, name, and the descriptor of the folder that it is in."""
    if folder.is_symlink() or not folder.is_dir():
        raise UnusableSkill(f"{folder.name} is no folder of its own: a link is not followed.")
    count = 0
    try:
        for root, folders, names, parent in os.fwalk(folder, onerror=_raise):
            below = Path(root).relative_to(folder)
            folders[:] = sorted(name for name in folders if name not in left_out)
            for name in sorted((*folders, *names)):
                if name in left_out:
                    continue
                path = check_path(str(below / name))
                found = os.stat(name, dir_fd=parent, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    continue
                if not stat.S_ISREG(found.st_mode):
                    raise UnusableSkill(f"{path} is a link or a device, which a skill may not hold.")
                count += 1
                if count > MOST_FILES:
                    raise UnusableSkill(f"It has more than {MOST_FILES} files.")
                yield path, found, name, parent
    except OSError as error:
        raise UnusableSkill(f"Its files cannot be read: {error.strerror or error}.") from error


def _read_file(path: str, name: str, parent: int, room: int) -> bytes:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnusableSkill(f"{path} is a link or a device, which a skill may not hold.")
        content = file.read(room + 1)
    if len(content) > room:
        raise UnusableSkill(f"Its files hold more than {MOST_BYTES // 1_000_000} MB.")
    return content


def _raise(error: OSError) -> None:
    raise error
