"""What workers of a host cost: threads, descriptors, memory and rest of homes that are open, and turns a second.

Workers are `kenobot host run worker`, the database is the server of the tests (without fsync), and the model and
Telegram are stand-ins that answer at once, in the process of the bench. Mail is put into the table as an ingress does.
All of them share this machine's cores: with more workers than cores, turns a second say what these have left for them.
"""

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import psycopg

from bench import report
from bench.report import Report
from kenobot.ports.json_value import Json
from kenobot_host.cell_address import VARIABLE
from tests.crash.world import Model
from tests.hosting.many import ManyHomes
from tests.hosting.server import PostgresServer, run_server
from tests.integration.stand_in import KEY, Telegram

_SETTLE_SECONDS = 15.0  # for what works behind the turns of a home
_REST_AFTER_SECONDS = 75.0  # until what nobody uses is closed, and memory given back
_REST_SECONDS = 20.0  # in which homes that nobody talks to are watched
_AT_ONCE = 20  # homes that are opened at a time
_HOMES_OF_A_BOT = 4  # a bot may send thirty messages a second: a single one would be what is measured
_STILL_SECONDS = 120.0
_COMMITS, _ROWS = 7.5, 37.5  # a turn: half of what was measured before changes were captured
_WORDS = "I met Ana at the harbour today, and she told me about her new bicycle."


@dataclass(frozen=True, slots=True)
class Usage:
    """Processor seconds, threads, descriptors and bytes of a process."""

    seconds: float
    threads: int
    descriptors: int
    bytes: int

    @classmethod
    def of(cls, pid: int) -> "Usage":
        folder = Path(f"/proc/{pid}")
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        memory = next(line for line in (folder / "smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
        ticks = os.sysconf("SC_CLK_TCK")
        return cls(
            (int(fields[11]) + int(fields[12])) / ticks,
            len(list((folder / "task").iterdir())),
            len(list((folder / "fd").iterdir())),
            int(memory.split()[1]) * 1024,
        )


@dataclass(frozen=True, slots=True)
class Warm:
    """A worker with so many open homes, beside what it has with one of them.

    rest_cpu: processor seconds a second while nobody talks. rest_transactions: of the database a second, meanwhile.
    away_*: once all are put away.
    """

    homes: int
    threads: int
    descriptors: int
    megabytes: float
    home_threads: float
    home_descriptors: float
    home_kilobytes: float
    rest_cpu: float
    rest_transactions: float
    away_cpu: float
    away_transactions: float
    away_threads: int
    away_descriptors: int
    away_megabytes: float


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns of so many workers, and what one of them takes.

    worker_ms, database_ms: processor time. commits, rows: of homes. wal_kilobytes: of the whole database.
    """

    workers: int
    turns: int
    per_second: float
    worker_ms: float
    database_ms: float
    commits: float
    rows: float
    wal_kilobytes: float


class Worker:
    """A process of `kenobot host run worker`. lines: what it logged."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.lines: list[str] = []
        self._ready = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, *words: str, environ: Mapping[str, str]) -> "Worker":
        """Start one, and wait until it is ready."""
        command = (sys.executable, "-m", "kenobot", "host", "run", "worker", *words)
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        worker = cls(await asyncio.create_subprocess_exec(*command, env=environ, stderr=pipe, stdout=nothing))
        async with asyncio.timeout(_STILL_SECONDS):
            await worker._ready.wait()
        return worker

    @property
    def usage(self) -> Usage:
        """Return what it uses."""
        return Usage.of(self._process.pid)

    async def end(self) -> None:
        """End it."""
        if self._process.returncode is None:
            self._process.terminate()
        await self._process.wait()
        await self._reading

    async def _read(self) -> None:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self.lines.append(line.decode("utf-8", "replace"))
            if "ready: " in self.lines[-1]:
                self._ready.set()


class Stage:
    """Homes of some bots, their workers, and the stand-ins that they talk to."""

    def __init__(self, homes: ManyHomes, telegram: Telegram, server: PostgresServer, folder: Path) -> None:
        self._homes, self._telegram, self._server, self._folder = homes, telegram, server, folder
        self._workers: list[Worker] = []

    async def start_worker(self, homes: int, idle_minutes: int = 60) -> Worker:
        """Start a worker."""
        environ = {**os.environ, VARIABLE: self._homes.url, "ANTHROPIC_API_KEY": KEY, "LANG": "C"}
        folder = str(self._folder / f"worker-{len(self._workers)}")
        words = ("--folder", folder, "--homes", str(homes), "--idle-minutes", str(idle_minutes))
        worker = await Worker.start(*words, environ=environ)
        self._workers.append(worker)
        return worker

    async def end(self) -> None:
        """End all workers."""
        await asyncio.gather(*(worker.end() for worker in self._workers))

    async def say(self, homes: Sequence[int], times: int = 1) -> None:
        """Say something in homes, each as many times, and wait until all is answered."""
        before = len(self._telegram.sent)
        for _ in range(times):
            await self._homes.say(homes, _WORDS)
        wanted, seen, since = before + len(homes) * times, before, time.monotonic()
        while (count := len(self._telegram.sent)) < wanted:
            if count != seen:
                seen, since = count, time.monotonic()
            if time.monotonic() - since > _STILL_SECONDS:
                log = "".join(line for worker in self._workers for line in worker.lines[-30:])
                sys.exit(f"{wanted - count} of {wanted - before} answers did not come:\n{log}")
            await asyncio.sleep(0.01)

    def count_transactions(self) -> int:
        """Count the transactions of the database so far."""
        return self._ask(
            "SELECT pg_stat_force_next_flush(), xact_commit + xact_rollback FROM pg_stat_database "
            "WHERE datname = current_database()"
        )[1]

    def count_writes(self) -> tuple[int, int, int]:
        """Count commits of homes, rows that these wrote, and bytes of write-ahead log."""
        (commits,) = self._ask("SELECT sum(version)::bigint FROM kenobot.home")
        (rows,) = self._ask(
            "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM pg_stat_user_tables "
            "WHERE schemaname = 'kenobot_home'"
        )
        (log,) = self._ask("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")
        return commits, rows, log

    def count_seconds(self) -> tuple[float, float]:
        """Count the processor seconds of the workers, and of the server with all its processes."""
        server = int((self._server.data / "postmaster.pid").read_text().splitlines()[0])
        return sum(worker.usage.seconds for worker in self._workers), _count_family(server)

    def _ask(self, sql: str) -> tuple[int, ...]:
        with psycopg.connect(self._homes.url, autocommit=True) as connection:
            row = connection.execute(sql).fetchone()
        assert row is not None
        return tuple(row)


def _count_family(pid: int) -> float:
    """Count the processor seconds of a process, its children, and those of them that have ended."""
    folder = Path(f"/proc/{pid}")
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    children = (folder / "task" / str(pid) / "children").read_text().split()
    return seconds + sum(_count_family(int(child)) for child in children)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, return 1 where a turn writes more than it may."""
    parser = report.make_parser("workers", __doc__ or "", plot=False)
    parser.add_argument("--warm", type=int, nargs="*", default=[], metavar="N", help="a worker with so many open homes")
    parser.add_argument("--workers", type=int, nargs="*", default=[], metavar="N", help="turns of so many workers")
    parser.add_argument("--homes", type=int, default=40, metavar="N", help="that turns are spread over (40)")
    parser.add_argument("--turns", type=int, default=20, metavar="N", help="of each of them (20)")
    return report.run(parser, argv, lambda args: (asyncio.run(_report(args)), None))


async def _report(args: argparse.Namespace) -> Report:
    warm = [await _measure_warm(count) for count in args.warm]
    turns = [await _measure_turns(count, args.homes, args.turns) for count in args.workers]
    failures = [
        f"A turn takes {each.commits:.1f} commits and {each.rows:.1f} rows: at most {_COMMITS} and {_ROWS}."
        for each in turns
        if each.commits > _COMMITS or each.rows > _ROWS
    ]
    columns = [*map(asdict, warm), *map(asdict, turns)]
    heads = ["", *(f"{each.homes} homes" for each in warm), *(f"{each.workers} workers" for each in turns)]
    labels = {**(_WARM if warm else {}), **(_TURNS if turns else {})}
    rows = [[label, *(_show(each.get(name)) for each in columns)] for name, label in labels.items()]
    records: list[dict[str, Json]] = [*columns]
    return Report(heads, rows, failures, records, names_first=True)


def _show(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


_WARM = {
    "threads": "threads",
    "descriptors": "descriptors",
    "megabytes": "memory, MB",
    "home_threads": "threads of each home",
    "home_descriptors": "descriptors of each home",
    "home_kilobytes": "memory of each home, KB",
    "rest_cpu": "processor at rest, seconds a second",
    "rest_transactions": "transactions at rest, a second",
    "away_cpu": "processor with all of them put away, seconds a second",
    "away_transactions": "transactions then, a second",
    "away_threads": "threads then",
    "away_descriptors": "descriptors then",
    "away_megabytes": "memory then, MB",
}
_TURNS = {
    "turns": "turns",
    "per_second": "turns a second",
    "worker_ms": "processor time of the workers a turn, ms",
    "database_ms": "processor time of PostgreSQL a turn, ms",
    "commits": "commits of a turn",
    "rows": "rows of a turn",
    "wal_kilobytes": "write-ahead log of a turn, KB",
}


async def _measure_warm(count: int) -> Warm:
    async with _set_stage(count) as stage:
        worker = await stage.start_worker(count, idle_minutes=2 + count // 60)
        await stage.say([0])
        await asyncio.sleep(_SETTLE_SECONDS)
        one = worker.usage
        for start in range(1, count, _AT_ONCE):
            await stage.say(range(start, min(count, start + _AT_ONCE)))
        await asyncio.sleep(_REST_AFTER_SECONDS)
        many = worker.usage
        rest = await _watch(stage, worker)
        while sum(" is put away" in line for line in worker.lines) < count:
            await asyncio.sleep(1.0)
        await asyncio.sleep(_REST_AFTER_SECONDS)
        away, left = await _watch(stage, worker), worker.usage
    more = max(1, count - 1)
    return Warm(
        homes=count,
        threads=many.threads,
        descriptors=many.descriptors,
        megabytes=many.bytes / 1e6,
        home_threads=(many.threads - one.threads) / more,
        home_descriptors=(many.descriptors - one.descriptors) / more,
        home_kilobytes=(many.bytes - one.bytes) / more / 1e3,
        rest_cpu=rest[0],
        rest_transactions=rest[1],
        away_cpu=away[0],
        away_transactions=away[1],
        away_threads=left.threads,
        away_descriptors=left.descriptors,
        away_megabytes=left.bytes / 1e6,
    )


async def _watch(stage: Stage, worker: Worker) -> tuple[float, float]:
    """Return processor seconds and transactions a second while nobody talks."""
    usage, transactions, began = worker.usage, stage.count_transactions(), time.monotonic()
    await asyncio.sleep(_REST_SECONDS)
    passed = time.monotonic() - began
    return (
        (worker.usage.seconds - usage.seconds) / passed,
        (stage.count_transactions() - transactions - 2) / passed,  # two of our own
    )


async def _measure_turns(workers: int, homes: int, times: int) -> Turns:
    async with _set_stage(homes) as stage:
        for _ in range(workers):
            await stage.start_worker(-(-homes // workers))
        for start in range(0, homes, _AT_ONCE):
            await stage.say(range(start, min(homes, start + _AT_ONCE)))
        await asyncio.sleep(_SETTLE_SECONDS)
        before, used, began = stage.count_writes(), stage.count_seconds(), time.monotonic()
        await stage.say(range(homes), times)
        seconds = time.monotonic() - began
        await asyncio.sleep(_SETTLE_SECONDS)  # what turns leave to the background is theirs as well
        after, used_then, turns = stage.count_writes(), stage.count_seconds(), homes * times
    commits, rows, log = (now - then for then, now in zip(before, after, strict=True))
    worker, database = (1000 * (now - then) / turns for then, now in zip(used, used_then, strict=True))
    return Turns(workers, turns, turns / seconds, worker, database, commits / turns, rows / turns, log / turns / 1e3)


@contextlib.asynccontextmanager
async def _set_stage(homes: int) -> AsyncIterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="kenobot-workers-") as folder, run_server() as server:
        async with Telegram() as telegram, Model() as model:
            build = partial(ManyHomes.build, server.url, homes, Path(folder), telegram.base_url, model.url)
            bots = -(-homes // _HOMES_OF_A_BOT)
            stage = Stage(await asyncio.to_thread(build, bots), telegram, server, Path(folder))
            try:
                yield stage
            finally:
                await stage.end()


if __name__ == "__main__":
    sys.exit(main())
