"""Keep what a database commits in a second place first: the seam for a truth that is elsewhere than in its file.

A writing connection asks for the keeper of its path. There is none unless `use_keepers` says so, and a database without
one costs nothing more.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol


class Keeper(Protocol):
    """Keep the changes of one writing connection. All calls come from the thread that writes.

    One that was not told to watch, or whose schema changed meanwhile, may have changed anything.
    """

    def watch(self, connection: sqlite3.Connection) -> None:
        """Begin to note what the connection changes, before its first transaction."""

    def keep(self, connection: sqlite3.Connection) -> None:
        """Make durable what the open transaction changed; it is committed here only after that.

        Raises StoreError when it is not durable: the transaction is rolled back. A keeper that cannot find out whether
        it is refuses all that follows, for the database may then be behind.
        """

    def close(self) -> None:
        """End with the connection, which is still open."""


Keepers = Callable[[Path], Keeper | None]
"""Makes the keeper of a connection that is to write to the database at a path; None where it needs none."""


_in_use: list[Keepers] = []  # bounded: the blocks that are open; test_a_database_without_a_keeper_has_none


def open_keeper(path: Path) -> Keeper | None:
    """Make the keeper of a connection that is to write to the database at `path`, None where it needs none."""
    return _in_use[-1](path) if _in_use else None


@contextmanager
def use_keepers(keepers: Keepers) -> Iterator[None]:
    """Give every writing connection that this process opens within the block the keeper that `keepers` makes."""
    _in_use.append(keepers)
    try:
        yield
    finally:
        _in_use.remove(keepers)
