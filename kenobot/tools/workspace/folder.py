"""Read, list and write the files of a workspace, by descriptors of folders: no name is looked up twice.

Each folder is opened from the one before it, and no link is followed: neither a link nor a folder that is exchanged
meanwhile leads out. All of it blocks; callers run it in a thread.
"""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.workspace import Workspace
from kenobot.tools.workspace.paths import check_new_file, parse_path, show_path

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASSING: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_CHUNK: Final = 1 << 20
_MOST_SCANNED: Final = 20_000

FolderId = tuple[int, int]
"""The device and the number of a folder."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file, and its state when they were read."""

    data: bytes
    state: os.stat_result


@dataclass(frozen=True, slots=True)
class ListedFile:
    """An entry of a folder. kind: "file", "folder", "link" or "other"."""

    path: str
    kind: str
    size: int


class WorkspaceFolder:
    """A workspace on the disk. guarded: folders that none of its paths may lead into."""

    def __init__(self, workspace: Workspace, guarded: frozenset[FolderId] = frozenset()) -> None:
        self.workspace = workspace
        self._guarded = guarded

    def parse(self, path: str) -> tuple[str, ...]:
        """Return the names of a path, from the root of the workspace down. Raises ToolFailed."""
        return parse_path(path, str(self.workspace.path))

    def read(self, path: str, most: int) -> FileContent:
        """Return the bytes of a regular file of at most so many. Raises ToolFailed."""
        with _explain_errors(path), self._open_parent(self.parse(path)) as (folder, name):
            return self._read(folder, name, path, most)

    def write(self, path: str, data: bytes, *, replaces: bool, before: os.stat_result | None = None) -> bool:
        """Write a file as a whole or not at all, and return whether there was one. Raises ToolFailed.

        replaces: whether one that is there may be replaced. before: its state, which it must still have.
        """
        names = self.parse(path)
        self._require_writable(names)
        with _explain_errors(path), self._open_parent(names, make=True) as (folder, name):
            there = _state(folder, name)
            if there is not None:
                _require_regular(there, path)
                if not replaces:
                    raise ToolFailed(f"{show_path(path)} is there already. Edit it, or write it with replace = true.")
            if before is not None and (there is None or _version(there) != _version(before)):
                raise ToolFailed(f"{show_path(path)} has changed meanwhile. Read it again.")
            _replace(folder, name, data, there)
            return there is not None

    def list_entries(self, path: str, *, deep: bool) -> Iterator[ListedFile]:
        """Yield what is in a folder, by name; deep: and in the folders below it. Raises ToolFailed."""
        names = self.parse(path)
        with _explain_errors(path), self._open(names) as folder:
            yield from self._list(folder, "/".join((*names, "")), deep, [_MOST_SCANNED])

    def require_root(self) -> None:
        """Raise ToolFailed unless the folder of the workspace is there, and is what it was set to."""
        with _explain_errors(str(self.workspace.path)), self._open(()):
            pass

    # ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _open(self, names: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        """Open a folder, from the root of the disk to that of the workspace, and from there on its own disk alone."""
        *above, root = ("/", *self.workspace.path.parts[1:])
        current = self._root(above, root)
        try:
            device = os.fstat(current).st_dev
            for name in names:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, 0o777, dir_fd=current)
                inner = os.open(name, _FOLDER, dir_fd=current)
                os.close(current)
                current = inner
                self._require_own(current, device)
            yield current
        finally:
            os.close(current)

    def _root(self, above: list[str], root: str) -> int:
        """Open the root of the workspace. It is absolute, and was without links when the settings were read."""
        current: int | None = None
        try:
            for name in above:
                inner = os.open(name, _PASSING, dir_fd=current)
                if current is not None:
                    os.close(current)
                current = inner
            opened = os.open(root, _FOLDER, dir_fd=current)
        except OSError as error:
            name = self.workspace.name
            raise ToolFailed(f'The folder of the workspace "{name}" cannot be opened: {error.strerror}.') from None
        finally:
            if current is not None:
                os.close(current)
        try:
            self._require_own(opened, os.fstat(opened).st_dev)
        except ToolFailed:
            os.close(opened)
            raise
        return opened

    def _require_own(self, folder: int, device: int) -> None:
        state = os.fstat(folder)
        if (state.st_dev, state.st_ino) in self._guarded:
            raise ToolFailed("The bot's own files are no part of a workspace.")
        if state.st_dev != device:
            raise ToolFailed("That folder is on another disk than the workspace: it is a part of none.")

    @contextmanager
    def _open_parent(self, names: tuple[str, ...], *, make: bool = False) -> Iterator[tuple[int, str]]:
        if not names:
            raise ToolFailed("That is the workspace itself. Name a file in it.")
        with self._open(names[:-1], make=make) as folder:
            yield folder, names[-1]

    def _require_writable(self, names: tuple[str, ...]) -> None:
        if self.workspace.read_only:
            raise ToolFailed(f'The workspace "{self.workspace.name}" is for reading only.')
        check_new_file(names)

    # ── files ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, folder: int, name: str, path: str, most: int) -> FileContent:
        """Read a file that is regular before it is opened, which may do something to a device, and after that."""
        seen = _state(folder, name)
        if seen is None:
            raise FileNotFoundError
        _require_regular(seen, path)
        file = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
        try:
            state = os.fstat(file)
            _require_regular(state, path)
            if state.st_dev != os.fstat(folder).st_dev:
                raise ToolFailed(f"{show_path(path)} is on another disk than the workspace.")
            if state.st_nlink > 1:
                raise ToolFailed(f"{show_path(path)} has a second name (a hard link), maybe outside: it is not read.")
            data = bytearray()
            while len(data) <= most and (chunk := os.read(file, min(_CHUNK, most + 1 - len(data)))):
                data += chunk
        finally:
            os.close(file)
        if len(data) > most:
            raise ToolFailed(f"{show_path(path)} has more than {most // 1_000_000} MB, which is too much to be read.")
        return FileContent(bytes(data), state)

    def _list(self, folder: int, prefix: str, deep: bool, left: list[int]) -> Iterator[ListedFile]:
        device = os.fstat(folder).st_dev
        with os.scandir(folder) as entries:
            found = list[tuple[str, os.stat_result]]()
            for entry in entries:
                left[0] -= 1
                if left[0] < 0:
                    raise ToolFailed(f"There are more than {_MOST_SCANNED} files there. List a folder further down.")
                with suppress(OSError):  # gone meanwhile
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
        for name, state in sorted(found, key=lambda each: (each[0].casefold(), each[0])):
            path, is_folder = prefix + name, stat.S_ISDIR(state.st_mode)
            yield ListedFile(path, _kind(state), state.st_size)
            if deep and is_folder and state.st_dev == device and name != ".git" and path.count("/") < 32:
                with suppress(OSError):
                    inner = os.open(name, _FOLDER, dir_fd=folder)
                    try:
                        self._require_own(inner, device)
                        yield from self._list(inner, f"{path}/", deep, left)
                    finally:
                        os.close(inner)


@contextmanager
def _explain_errors(path: str) -> Iterator[None]:
    """Word what the disk answers for the model."""
    try:
        yield
    except FileNotFoundError:
        raise ToolFailed(f"There is no {show_path(path)}. List the folder to see what there is.") from None
    except NotADirectoryError:
        raise ToolFailed(f"A part of {show_path(path)} is no folder, or a link, and none is followed.") from None
    except OSError as error:
        raise ToolFailed(f"{show_path(path)}: {error.strerror or error}.") from None


def _state(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _kind(state: os.stat_result) -> str:
    mode = state.st_mode
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "other"


def _require_regular(state: os.stat_result, path: str) -> None:
    kind = _kind(state)
    if kind == "folder":
        raise ToolFailed(f"{show_path(path)} is a folder.")
    if kind == "link":
        raise ToolFailed(f"{show_path(path)} is a link, and none is followed.")
    if kind != "file":
        raise ToolFailed(f"{show_path(path)} is no file, but a pipe, a socket or a device.")


def _version(state: os.stat_result) -> tuple[int, int, int]:
    return state.st_ino, state.st_size, state.st_mtime_ns


def _replace(folder: int, name: str, data: bytes, before: os.stat_result | None) -> None:
    """Write a new file beside the old one, and move it to its place once it is on the disk."""
    new = f".kenobot-{secrets.token_hex(8)}.part"
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o600 if before else 0o666, dir_fd=folder)
    try:
        try:
            if before is not None:
                with suppress(OSError):  # it belongs to another, who cannot be given it back
                    os.fchown(file, before.st_uid, before.st_gid)
                os.fchmod(file, stat.S_IMODE(before.st_mode) & 0o777)
            view = memoryview(data)
            while view:
                view = view[os.write(file, view) :]
            os.fsync(file)
        finally:
            os.close(file)
        os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(new, dir_fd=folder)
        raise
    os.fsync(folder)
