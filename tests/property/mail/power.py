"""A process that dies in the middle of its work, as its disk would show it.

Nothing of the product is replaced. The writer thread's commits are counted, and at the one that was asked for a copy
is made of the database and its write-ahead log as they stand: before that commit, after it, or with only a part of it
on disk. The copy is all that a next life gets to see. What the dead process still does, nobody looks at.
"""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import strategies as st

from kenobot.ports.errors import StoreError
from kenobot.storage.database import Database


@dataclass(frozen=True, slots=True)
class Crash:
    """writes: how many more the process gets done. share: how much of the torn commit is on disk, 0 to 1."""

    writes: int
    moment: Literal["before", "torn", "after"]
    share: float = 0.5


CRASHES = st.builds(
    Crash, st.integers(0, 8), st.sampled_from(["after", "torn", "before"]), st.sampled_from([0.0, 0.3, 0.9, 1.0])
)
Commit = Callable[[sqlite3.Connection, list[Any]], None]

AT_ONCE = Crash(0, "before")
NEVER = 1_000_000  # writes


class Power:
    """What keeps a process alive. `cut` says when it fails; `dead` is set when it has.

    lives_on: whether a dead process's writes go on, into files that nobody reads any more; else they fail.
    """

    def __init__(self, *, lives_on: bool) -> None:
        self.dead = threading.Event()
        self._lives_on = lives_on
        self._crash: Crash | None = None
        self._done = 0
        self._into = Path()
        self._tell: Callable[[], object] = lambda: None
        self._patch = pytest.MonkeyPatch()
        commit = Database._commit

        def counted(database: Database, connection: sqlite3.Connection, group: list[Any]) -> None:
            self._counted(partial(commit, database), connection, group)

        self._patch.setattr(Database, "_commit", counted)

    def cut(self, crash: Crash, into: Path, tell: Callable[[], object] = lambda: None) -> None:
        """Let the process die as `crash` says and leave what is on its disk in the database file `into`.

        tell: called in the writer thread once it is dead.
        """
        self._crash, self._done, self._into, self._tell = crash, 0, into, tell

    def restore(self) -> None:
        """A new process."""
        self._crash = None
        self.dead.clear()

    def close(self) -> None:
        self._patch.undo()

    def _counted(self, commit: Commit, connection: sqlite3.Connection, group: list[Any]) -> None:
        if self.dead.is_set() and not self._lives_on:
            for job in group:
                job.error = StoreError("This process is dead.")
            return
        self._done += len(group)
        if self._crash is None or self.dead.is_set() or self._done <= self._crash.writes:
            commit(connection, group)
            return
        self._die(commit, connection, group, self._crash)

    def _die(self, commit: Commit, connection: sqlite3.Connection, group: list[Any], crash: Crash) -> None:
        path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
        before = _on_disk(path)
        commit(connection, group)
        left = before if crash.moment == "before" else _on_disk(path)
        if crash.moment == "torn" and left[0] == before[0] and left[1].startswith(before[1]):
            fresh = len(left[1]) - len(before[1])
            left = (left[0], left[1][: len(before[1]) + int(crash.share * fresh)])
        self._into.parent.mkdir(parents=True, exist_ok=True)
        for suffix, content in zip(("", "-wal"), left, strict=True):
            self._into.with_name(self._into.name + suffix).write_bytes(content)
        self.dead.set()
        if not self._lives_on:
            for job in group:
                job.error = StoreError("This process is dead.")
        self._tell()


def _on_disk(path: Path) -> tuple[bytes, bytes]:
    log = path.with_name(f"{path.name}-wal")
    return path.read_bytes(), log.read_bytes() if log.exists() else b""


def ordered(numbers: Sequence[int]) -> bool:
    """Whether each is greater than the one before."""
    return all(one < other for one, other in pairwise(numbers))
