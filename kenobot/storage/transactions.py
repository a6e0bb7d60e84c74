"""Write to a database beside the bot: a transaction, or several, each shown to its keeper before its commit."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from kenobot.storage.connection import Connection, connect, translate_sqlite
from kenobot.storage.keeper import open_keeper


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Write what the block changes, whole or not at all. Raises StoreError when it is not kept, and sqlite3.Error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.commit()
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def write_once(path: Path) -> Iterator[Connection]:
    """Open a database and write to it in one transaction. Raises StoreError."""
    with _writer(path) as connection, transaction(connection):
        yield connection


@contextmanager
def write_in_steps(path: Path, longest: float, rest: float = 0.0) -> Iterator[tuple[Connection, Callable[[], None]]]:
    """Open a database and write in transactions, one after the other; call the function where one may end.

    It ends there when it took `longest` seconds; others may write for `rest` times as long. What was written stays when
    a later one fails. Raises StoreError.
    """
    with _writer(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        began = time.monotonic()

        def end_transaction() -> None:
            nonlocal began
            if (elapsed := time.monotonic() - began) < longest:
                return
            connection.commit()
            time.sleep(rest * elapsed)
            connection.execute("BEGIN IMMEDIATE")
            began = time.monotonic()

        yield connection, end_transaction
        connection.commit()


@contextmanager
def hold_writers(path: Path) -> Iterator[None]:
    """Keep everybody else from writing for the block, and write nothing. Raises sqlite3.Error."""
    with closing(connect(path, is_watched=False)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


def keep_whole(path: Path) -> None:
    """Show the keeper, if there is one, a database that was put in another's place. Raises StoreError."""
    keeper = open_keeper(path)
    if keeper is None:
        return
    keeper.close()
    with _writer(path, is_watched=False) as connection, transaction(connection):
        pass


@contextmanager
def _writer(path: Path, *, is_watched: bool = True) -> Iterator[Connection]:
    with translate_sqlite(), closing(connect(path, is_watched=is_watched)) as connection:
        yield connection
