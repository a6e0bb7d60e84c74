"""Move a home between two cells by processes that are killed: `python -m tests.hosting.killed_moves HERE THERE STRIDE`.

Each move is killed before its n-th exchange with a server, then run again; then the home moves back the same way.
Prints how many moves were killed, and ends with 1 where the home was not in one cell alone, or not as before.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from signal import SIGKILL
from typing import Any

import psycopg

NAME = "ana"


def run_apart(work: Callable[[], object]) -> int:
    """Do work in a process of its own; returns its exit status, negative for the signal that killed it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def move(here: str, there: str, deadline: int = 0) -> None:
    """Move the home. deadline: the exchange with a server before which the process is killed; 0 for none."""
    from kenobot_host import connections, moves
    from kenobot_host.home_store import HomeStore

    count = 0
    wait = connections.TimedConnection.wait

    def wait_or_die(*args: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == deadline:
            os.kill(os.getpid(), SIGKILL)
        return wait(*args, **options)

    connections.TimedConnection.wait = wait_or_die  # type: ignore[method-assign]
    moves.move(HomeStore(connections.Connections(here)), HomeStore(connections.Connections(there)), [NAME])


def read_cell(url: str) -> list[tuple[object, ...]]:
    """All rows of a cell that belong to a home, but for the numbers of homes and when they were written."""
    found: list[tuple[object, ...]] = []
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'kenobot_home' ORDER BY 1")
        queries = [f"SELECT to_jsonb(row) - 'home' FROM kenobot_home.{name} AS row" for (name,) in tables.fetchall()]
        queries += [
            f"SELECT to_jsonb(row) - 'home' - 'added' - 'changed' FROM kenobot.{name} AS row"
            for name in ("home", "file", "bot", "route", "mail", "activity", "departure")
        ]
        queries.append("SELECT queueing_lock LIKE 'home:%' FROM procrastinate_jobs WHERE status = 'todo'")
        for query in queries:
            found += [(query, *row) for row in sorted(connection.execute(query).fetchall(), key=repr)]
    return found


def may_be_opened(url: str) -> bool:
    """Return whether the home may be opened in a cell."""
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT 1 FROM kenobot.home WHERE is_here").fetchone() is not None


def main() -> int:
    """Move to and fro until a move ends before its kill."""
    here, there, stride = sys.argv[1], sys.argv[2], int(sys.argv[3])
    from kenobot_host import moves  # noqa: F401 - once, before the processes part

    run_apart(partial(move, here, there))
    run_apart(partial(move, there, here))  # from then on its activation waits, as after each move
    whole, killed = read_cell(here), 0
    for deadline in range(1, 10_000, stride):
        ended = run_apart(partial(move, here, there, deadline))
        if ended == -SIGKILL:
            killed += 1
            if may_be_opened(here) and may_be_opened(there):
                print(f"killed before exchange {deadline}, the home is in both cells")
                return 1
            if run_apart(partial(move, here, there)):
                print(f"killed before exchange {deadline}, the same again does not end it")
                return 1
        elif ended:
            return 1
        if read_cell(there) != whole or any("kenobot_home" in str(row[0]) for row in read_cell(here)):
            print(f"killed before exchange {deadline}, something is lost or left behind")
            return 1
        if ended == 0:
            print(killed)
            return 0
        here, there = there, here
    return 1


if __name__ == "__main__":
    sys.exit(main())
