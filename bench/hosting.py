"""What one PostgreSQL costs with many homes: the size of a home, a commit, a working copy, and fetching who is next.

A home that has had ten messages is taken in and copied as often as --homes says, each with a timer for tomorrow. Then
single ones are used among all the others. The server is the one of the tests, without fsync, on this machine: what
counts is how the figures grow with the number of homes, so a small number is measured first.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from bench import report
from bench.report import Report
from kenobot.ports.json_value import Json
from kenobot.storage.connection import connect
from kenobot_host.keeper import PostgresKeeper
from kenobot_host.schema_rows import ROWS
from tests.hosting.cell import Cell, Held
from tests.hosting.server import run_server

_SAID = (
    "I live in Ghent.",
    "My sister Ana is a nurse.",
    "I am allergic to nuts.",
    "Remind me tomorrow at 9 to call the dentist.",
    "I prefer tea in the morning.",
    "Where do I live?",
    "My bike is red.",
    "Our team meets on Tuesdays.",
    "The cabin has no heating.",
    "What is my sister?",
)
_TRIES = 30
_FEW = 1000  # homes that are measured first
_GROWTH = 4.0  # times what it costs with few homes
_NOISE_MS = 1.0  # below which growth is not judged
_WAITING = "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args, scheduled_at) "


@dataclass(frozen=True, slots=True)
class Figures:
    """What a PostgreSQL with so many homes costs: bytes of a home, and medians in milliseconds.

    fetch_ms: of an activation, beside a timer of each home. burst_fetch_ms: of one while all homes wait for theirs.
    """

    homes: int
    home_bytes: float
    commit_ms: float
    copy_ms: float
    fetch_ms: float
    burst_fetch_ms: float


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, return 1 where a figure grows with the number of homes."""
    parser = report.make_parser("hosting", __doc__ or "", plot=False)
    parser.add_argument("--homes", type=int, default=100_000, metavar="N", help="so many homes (100000)")
    return report.run(parser, argv, lambda args: (_report(args), None))


def _report(args: argparse.Namespace) -> Report:
    with tempfile.TemporaryDirectory() as folder, _start_cell() as cell:
        template = _make_home(Path(folder))
        figures = [_measure(cell, template, count, Path(folder)) for count in sorted({_FEW, args.homes})]
    return _describe(figures)


def _describe(figures: Sequence[Figures]) -> Report:
    few, many = asdict(figures[0]), asdict(figures[-1])
    failures = [
        f"{_NAMES[name]} grows with the number of homes: {few[name]:.2f} and {many[name]:.2f}."
        for name in ("commit_ms", "copy_ms", "fetch_ms")
        if many[name] > few[name] * _GROWTH and many[name] - few[name] > _NOISE_MS
    ]
    rows = [[label, *(f"{asdict(figure)[name]:,.2f}" for figure in figures)] for name, label in _NAMES.items()]
    records: list[dict[str, Json]] = [asdict(figure) for figure in figures]
    return Report(["", *(f"{figure.homes:,} homes" for figure in figures)], rows, failures, records, names_first=True)


_NAMES = {
    "home_bytes": "rows and indexes of a home, bytes",
    "commit_ms": "a commit of a working copy, p50, ms",
    "copy_ms": "a working copy of a home, p50, ms",
    "fetch_ms": "fetching an activation beside a timer of each home, p50, ms",
    "burst_fetch_ms": "fetching one while every home waits, p50, ms",
}


@contextmanager
def _start_cell() -> Iterator[Cell]:
    with run_server() as server, closing(Cell(server.url)) as cell:
        yield cell


def _make_home(folder: Path) -> Path:
    """Talk to a bot without a model; return its database."""
    command = [sys.executable, "-m", "kenobot", "--home", str(folder / "home"), "chat"]
    talk = "\n".join(_SAID)
    subprocess.run(command, input=talk, text=True, capture_output=True, check=True, timeout=120, env=os.environ)
    return folder / "home" / "kenobot.db"


def _measure(cell: Cell, template: Path, count: int, folder: Path) -> Figures:
    _fill(cell, template, count)
    ((size,),) = cell.execute(
        "SELECT sum(pg_total_relation_size(format('%%I.%%I', schemaname, tablename)::regclass))::bigint FROM pg_tables "
        "WHERE schemaname = %s",
        ROWS,
    )
    assert isinstance(size, int)
    held = cell.take(count // 2)
    copy = folder / f"copy-{count}.db"
    copies = [_time(lambda: cell.store.load(count // 3, folder / "other.db")) for _ in range(_TRIES)]
    cell.store.load(held.home, copy)
    commits = _commit(cell, held, copy)
    fetches = _fetch(cell, [f"home:{number}" for number in range(1, _TRIES + 1)])
    cell.execute(
        _WAITING + "SELECT 'homes', 'activate', 'home:' || home, 'home:' || home, '{}', NULL FROM kenobot.home"
    )
    cell.execute("ANALYZE procrastinate_jobs")
    burst = _fetch(cell, [])
    cell.execute("TRUNCATE procrastinate_jobs, procrastinate_events CASCADE")
    medians = (statistics.median(times) * 1000 for times in (commits, copies, fetches, burst))
    return Figures(count, size / count, *medians)


def _fill(cell: Cell, template: Path, count: int) -> None:
    """Have `count` homes with the same rows, numbered from 1, each with a timer for tomorrow."""
    if not cell.execute("SELECT 1 FROM kenobot.home"):
        cell.store.add("home-1", template)
    ((there,),) = cell.execute("SELECT max(home) FROM kenobot.home")
    assert isinstance(there, int)
    columns = "name, schema, version, sequences"
    with psycopg.connect(cell.url, autocommit=True) as connection:
        connection.execute(
            f"INSERT INTO kenobot.home (home, {columns}) SELECT n, 'home-' || n, schema, version, sequences "
            "FROM kenobot.home, generate_series(%s::bigint, %s) AS n WHERE home = 1",
            (there + 1, count),
        )
        asked = (
            "SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position) FROM information_schema.columns "
            "WHERE table_schema = %s AND column_name <> 'home' GROUP BY 1"
        )
        for table, names in connection.execute(asked, (ROWS,)).fetchall():
            connection.execute(
                SQL(
                    "INSERT INTO {0} (home, {1}) "
                    "SELECT n, {1} FROM {0}, generate_series(%s::bigint, %s) AS n WHERE home = 1"
                ).format(Identifier(ROWS, table), SQL(", ").join(map(Identifier, names))),
                (there + 1, count),
            )
        connection.execute(
            _WAITING
            + "SELECT 'timers', 'wake', NULL, 'timer:' || home, '{}', now() + interval '1 day' FROM kenobot.home"
        )
        connection.execute("ANALYZE")


def _commit(cell: Cell, held: Held, copy: Path) -> list[float]:
    """Commit small changes of a working copy, as a turn's are; return the seconds of each."""
    times = []
    with closing(connect(copy)) as connection:
        keeper = PostgresKeeper(cell.store, held)
        keeper.watch(connection)
        for number in range(_TRIES):
            connection.execute("BEGIN IMMEDIATE")
            for part in range(8):
                connection.execute("INSERT OR REPLACE INTO key_value VALUES (?, ?)", (f"part {part}", str(number)))
            times.append(_time(lambda: keeper.keep(connection)))
            connection.execute("COMMIT")
        keeper.close()
    return times


def _fetch(cell: Cell, locks: Sequence[str]) -> list[float]:
    """Have activations wait, and fetch some; return the seconds of each."""
    times = []
    with psycopg.connect(cell.url, autocommit=True) as connection:
        row = connection.execute("SELECT worker_id FROM procrastinate_register_worker_v1()").fetchone()
        assert row is not None
        for lock in locks:
            connection.execute(_WAITING + "VALUES ('homes', 'activate', %s, %s, '{}', NULL)", (lock, lock))
        for _ in range(_TRIES):
            began = time.monotonic()
            job = connection.execute("SELECT id FROM procrastinate_fetch_job_v2('{homes}', %s)", row).fetchone()
            times.append(time.monotonic() - began)
            assert job is not None
            assert job[0] is not None
            connection.execute("SELECT procrastinate_finish_job_v1(%s, 'succeeded', true)", job)
    return times


def _time(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
