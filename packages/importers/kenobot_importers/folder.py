"""Read a foreign folder with care: nothing outside of it, nothing huge, nothing that is no text.

What is left alone is reported with the reason, never passed over in silence.
"""

import codecs
import errno
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from kenobot.ports.sentences import Sentence

LARGEST = 5_000_000  # bytes of a file that is read whole
LARGEST_TALK = 2_000_000_000  # bytes of one that is read line by line
MOST_FILES = 20_000
_MOST_READ = 200_000_000  # bytes of all files together that are read whole
_DEEPEST = 16
TOO_MUCH = Sentence("all that is read whole is more than {size} MB", size=_MOST_READ // 1_000_000)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file.

    text: None when it is left alone.
    note: the reason for that, or what the reader should be told.
    modified: when it last changed, by the disk.
    """

    path: str
    text: str | None
    note: str
    modified: datetime = _EPOCH


class SourceFolder:
    """A folder and what is below it. Paths are relative to it, with slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._read: set[Path] = set()
        self._left = _MOST_READ

    def has(self, path: str) -> bool:
        """Return whether there is something of this name, of whatever kind."""
        return os.path.lexists(self.root / path)

    def read(self, path: str) -> SourceFile | None:
        """Return the file at `path`.

        None when there is none, or when it is one that was read before under another name.
        """
        try:
            real = (self.root / path).resolve(strict=True)
            if not real.is_relative_to(self.root):
                return SourceFile(path, None, "it is a link to something outside of the folder")
            found = real.stat()
            if not stat.S_ISREG(found.st_mode):
                return None if stat.S_ISDIR(found.st_mode) else SourceFile(path, None, "it is no plain file")
            if found.st_size > LARGEST:
                return SourceFile(path, None, f"it is larger than {LARGEST // 1_000_000} MB")
            if real in self._read:
                return None
            self._read.add(real)
            self._left -= found.st_size
            if self._left < 0:
                return SourceFile(path, None, TOO_MUCH)
            with real.open("rb") as file:
                raw = file.read(LARGEST + 1)[:LARGEST]
            return SourceFile(path, *decode(raw), datetime.fromtimestamp(max(0.0, found.st_mtime), UTC))
        except FileNotFoundError:
            return SourceFile(path, None, "it is a link to nothing") if self.has(path) else None
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a ring, up to Python 3.12
            reason = error if isinstance(error, OSError) else OSError(errno.ELOOP, "links in a ring")
            return SourceFile(path, None, Sentence("it cannot be read: {reason}", reason=reason))

    def open(self, path: str) -> BinaryIO:
        """Open a file within the folder to be read in pieces. Raises OSError."""
        real = (self.root / path).resolve(strict=True)
        if not real.is_relative_to(self.root) or not real.is_file():
            raise OSError(Sentence("it is no file within the folder"))
        if real.stat().st_size > LARGEST_TALK:
            raise OSError(Sentence("it is larger than {size} MB", size=LARGEST_TALK // 1_000_000))
        return real.open("rb")

    def peek(self, path: str) -> str:
        """Read the beginning of a file, without counting it as read; "" where that cannot be."""
        try:
            with self.open(path) as stream:
                return stream.read(65536).decode("utf-8-sig", "replace")
        except OSError:
            return ""

    def get_modified(self, path: str) -> datetime:
        """Return when a file last changed, by the disk."""
        return datetime.fromtimestamp(max(0.0, (self.root / path).stat().st_mtime), UTC)

    def files(self, under: str, *endings: str) -> Iterator[str]:
        """Yield the files below a folder whose names end so, folder by folder in order; hidden ones are passed over.

        At most `MOST_FILES`, and none that lies deeper than sixteen folders.
        """
        left = MOST_FILES
        folders = [(under.strip("/"), 0)]
        while folders:
            folder, depth = folders.pop(0)
            for name in self._names(folder):
                path = str(PurePosixPath(folder, name)) if folder else name
                here = self.root / path
                if here.is_dir():
                    if depth < _DEEPEST and not here.is_symlink():
                        folders.append((path, depth + 1))
                elif name.endswith(endings):
                    if not left:
                        return
                    left -= 1
                    yield path

    def folders(self, under: str) -> list[str]:
        """Return the names of the folders right below one, links left out."""
        here = self.root / under
        return [name for name in self._names(under) if (here / name).is_dir() and not (here / name).is_symlink()]

    def _names(self, folder: str) -> list[str]:
        try:
            return sorted(item.name for item in (self.root / folder).iterdir() if not item.name.startswith("."))
        except OSError:
            return []


def decode(raw: bytes) -> tuple[str | None, str]:
    """Return bytes as text, with a note when that took a guess; None and the reason when they are no text."""
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            try:
                return raw.decode(encoding), ""
            except UnicodeDecodeError:
                return None, f"it begins like {encoding.upper()} and is not"
    if b"\0" in raw:
        return None, "it is no text"
    try:
        return raw.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace"), "it is not UTF-8 and was read as Windows-1252"


def json_lines(text: str) -> Iterator[dict[str, object] | None]:
    """Yield the JSON objects of a text, one a line; None for a damaged line."""
    for line in filter(str.strip, text.split("\n")):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        yield row if isinstance(row, dict) else None
