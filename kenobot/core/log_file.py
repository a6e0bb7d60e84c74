"""The log as files in the home: `logs/kenobot.log`, and those before it, which are let go by size, number and age.

A new file is begun when the present one is full or its day (UTC) is over. The one before is renamed by the moment at
which it ended, so that whoever follows the log finds its way from one to the next, and what is old is told by its name.
"""

import contextlib
import errno
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from kenobot.ports.frozen import dataclass

NAME = "kenobot.log"
_ENDED = re.compile(r"kenobot-([0-9]{8}T[0-9]{12})Z\.log")
_STAMP = "%Y%m%dT%H%M%S%f"


LineFilter = Callable[[Iterable[str]], Iterable[str]]


@dataclass(frozen=True, slots=True)
class LogLimits:
    """max_bytes: of one file. keep_files: those that ended, at most. keep_days: how long they are kept."""

    max_bytes: int = 10_000_000
    keep_files: int = 10
    keep_days: int = 30


class LogFile(logging.Handler):
    """Appends records to the present file of a log.

    now: the time in UTC.
    """

    def __init__(self, folder: Path, limits: LogLimits, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._folder, self._limits, self._now = folder, limits, now
        self._file, self._size, self._day = -1, 0, ""
        self._missing = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; to standard error while that cannot be done: the disk may be full, or the folder gone."""
        line = self.format(record)
        try:
            if self._missing:
                self._append(f"{self._gap()}\n{line}\n")
            else:
                self._append(f"{line}\n")
        except OSError as error:
            self._release()
            if not self._missing:
                sys.stderr.write(f"kenobot: {self._path} cannot be written: {os.strerror(error.errno or 0)}.\n")
            sys.stderr.write(f"{line}\n")
            self._missing += 1
        else:
            self._missing = 0

    def close(self) -> None:
        """Close the file."""
        self._release()
        super().close()

    def _gap(self) -> str:
        said = "%d lines are missing here: they went to standard error"
        return self.format(logging.LogRecord(__name__, logging.WARNING, "", 0, said, (self._missing,), None))

    def _append(self, text: str) -> None:
        """Write all of it or nothing. Raises OSError."""
        now, line = self._now(), text.encode("utf-8", "backslashreplace")
        if self._file < 0 or not self._is_there():
            self._release()
            self._open(now)
        if self._size and (self._size + len(line) > self._limits.max_bytes or f"{now:%Y%m%d}" != self._day):
            self._release()
            self._end_file(now)
            self._open(now)
        written = os.write(self._file, line)
        if written < len(line):  # the disk was full in the middle of it
            os.ftruncate(self._file, self._size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += written

    def _is_there(self) -> bool:
        """Return whether the file still has its name: somebody may have deleted or moved it."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.lstat())
        except OSError:
            return False

    @property
    def _path(self) -> Path:
        return self._folder / NAME

    def _open(self, now: datetime) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(self._path, flags, 0o600)
        found = os.fstat(self._file)
        self._size = found.st_size
        self._day = f"{datetime.fromtimestamp(found.st_mtime, UTC) if found.st_size else now:%Y%m%d}"

    def _release(self) -> None:
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1

    def _end_file(self, now: datetime) -> None:
        """Rename the present file, and delete those that are too many or too old."""
        while (ended := self._folder / f"kenobot-{now:{_STAMP}}Z.log").exists():
            now += timedelta(microseconds=1)
        self._path.rename(ended)
        oldest = now - timedelta(days=self._limits.keep_days)
        for number, path in enumerate(reversed(list_ended_files(self._folder))):
            if number >= self._limits.keep_files or _parse_end(path) < oldest:
                with contextlib.suppress(OSError):
                    path.unlink()


def list_ended_files(folder: Path) -> list[Path]:
    """List the files of a log that ended, the oldest first."""
    return sorted(path for path in folder.glob("kenobot-*.log") if _ENDED.fullmatch(path.name))


def last_lines(folder: Path, count: int, wanted: LineFilter) -> list[str]:
    """Return the last lines that are wanted, the oldest first; of earlier files only as many as it takes."""
    found: list[str] = []
    for path in (folder / NAME, *reversed(list_ended_files(folder))):
        if len(found) >= count:
            break
        try:
            text = path.read_text("utf-8", "replace")
        except FileNotFoundError:  # ended or deleted meanwhile
            continue
        found = [*wanted(text.splitlines()), *found]
    return found[-count:]


def follow(folder: Path, wait: Callable[[], None]) -> Iterator[str]:
    """Yield the lines that are written from now on, of each file in its order; `wait` is called where there is none."""
    reader = _Reader(folder)
    try:
        while True:
            lines = reader.read()
            yield from lines
            if not lines and not reader.go_on():
                wait()
    finally:
        reader.close()


class _Reader:
    """Reads on where it came to, also where that file has ended since."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = _open_log(folder / NAME)
        if self._file is not None:
            self._file.seek(0, os.SEEK_END)
        self._rest = b""
        self._has_ended = False

    def close(self) -> None:
        """Close the file that is open."""
        if self._file is not None:
            self._file.close()

    def read(self) -> Sequence[str]:
        """Read the whole lines that have been added."""
        if self._file is None:
            return ()
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]

    def go_on(self) -> bool:
        """Go on with the next file; False while the present one may still grow."""
        following = self._following()
        if following is None:
            return False
        if not self._has_ended:
            self._has_ended = True  # from now on nothing is added, but it may have been since the last look
            return True
        file = _open_log(following)
        if file is None:
            return False
        self.close()
        self._file, self._rest, self._has_ended = file, b"", False
        return True

    def _following(self) -> Path | None:
        """Return the file after the one that is open; None where that has not ended."""
        if self._file is None:
            return self._folder / NAME
        inode = os.fstat(self._file.fileno()).st_ino
        files = [*list_ended_files(self._folder), self._folder / NAME]
        for path, after in pairwise(files):
            if _inode(path) == inode:
                return after
        return None if _inode(files[-1]) == inode else files[-1]


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def _open_log(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def _parse_end(path: Path) -> datetime:
    match = _ENDED.fullmatch(path.name)
    assert match is not None
    return datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC)
