"""Parse paths that a model writes into names from the root of a workspace down. Pure."""

import unicodedata
from typing import Final

from kenobot.core.redaction import one_line
from kenobot.ports.errors import ToolFailed
from kenobot.ports.workspace import SANDBOX_ROOT

_LONGEST_NAME: Final = 255  # bytes
_DEEPEST: Final = 64
_MISLEADING: Final = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_GIT_FOLDERS: Final = frozenset((".git", "git~1"))


def parse_path(path: str, root: str) -> tuple[str, ...]:
    """Return the names that a path stands for, from `root` down; none for the root itself. Raises ToolFailed.

    `..` takes away the name before it: no link is ever followed, so that no other folder can be meant.
    """
    names = list[str]()
    for name in _relative(path, root).split("/"):
        if name == "..":
            if not names:
                raise ToolFailed(f"{show_path(path)} leads out of the workspace. Give a path in it, as notes/today.md.")
            names.pop()
        elif name not in ("", "."):
            names.append(_check_name(name))
    if len(names) > _DEEPEST:
        raise ToolFailed(f"That path is more than {_DEEPEST} folders deep.")
    return tuple(names)


def check_new_path(names: tuple[str, ...]) -> None:
    """Refuse names that would mislead a person who reads them, and the files by which git runs programs."""
    for name in names:
        if any(unicodedata.category(each) == "Cc" or each in _MISLEADING for each in name):
            raise ToolFailed(f"{show_path(name)} holds characters that no name of a file should have.")
        if _is_git_folder(name):
            raise ToolFailed("Files of git's own are written by git alone.")


def check_new_file(names: tuple[str, ...]) -> None:
    """Refuse what `check_new_path` does, and the file that makes a folder a repository without `.git`."""
    check_new_path(names)
    if names and _fold_name(names[-1]) == "head":
        raise ToolFailed("Files of git's own are written by git alone.")


def show_path(path: str) -> str:
    """Word a path for a message: on one line, and without what would show it otherwise than it is."""
    shown = one_line(path.encode("utf-8", "backslashreplace").decode()).replace("`", "'")
    return f"`{shown if len(shown) <= 200 else shown[:199] + '…'}`"


def _relative(path: str, root: str) -> str:
    if not path.startswith("/"):
        return path
    for base in (root.rstrip("/"), SANDBOX_ROOT):
        if path == base or path.startswith(f"{base}/"):
            return path[len(base) :]
    raise ToolFailed(f"{show_path(path)} is outside of the workspace. Give a path in it, as notes/today.md.")


def _check_name(name: str) -> str:
    if "\0" in name or len(name.encode()) > _LONGEST_NAME:
        raise ToolFailed(f"{show_path(name)} is no name of a file.")
    return name


def _is_git_folder(name: str) -> bool:
    return _fold_name(name) in _GIT_FOLDERS


def _fold_name(name: str) -> str:
    """Return a name as some file system takes it: by case, by letters that it ignores, by what it cuts."""
    seen = "".join(each for each in unicodedata.normalize("NFKC", name) if unicodedata.category(each) != "Cf")
    return seen.partition(":")[0].casefold().rstrip(" .")
