"""A cell for tests: a database with the tables of homes, leases of theirs, and copies to compare."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg

from kenobot.storage.capture import SqlValue, read_rows, read_sequences, read_tables
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.schema_rows import upgrade_schema

Rows = dict[str, list[tuple[SqlValue, ...]]]


@dataclass(frozen=True)
class Held:
    """A home that a job holds."""

    home: int
    job: int
    worker: int
    attempts: int


class Cell:
    """A database with the tables of homes. `take` and `hand_on` do as Procrastinate does when a job is fetched."""

    def __init__(self, url: str, patience: float = 20.0, *, through: str = "") -> None:
        self.url = url
        with psycopg.connect(url, autocommit=True) as connection:
            upgrade_schema(connection)
        self.connections = Connections(through or url).open()
        self.store = HomeStore(self.connections, patience)

    def execute(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    def _begin_worker(self) -> int:
        ((worker,),) = self.execute("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id")
        assert isinstance(worker, int)
        return worker

    def take(self, home: int) -> Held:
        """Hold a home by a job that has just been fetched."""
        worker = self._begin_worker()
        ((job,),) = self.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, status, worker_id, attempts) "
            "VALUES ('homes', 'activate', %s, %s, 'doing', %s, 1) RETURNING id",
            *(f"home:{home}", f"home:{home}", worker),
        )
        assert isinstance(job, int)
        return Held(home, job, worker, 1)

    def hand_on(self, held: Held) -> Held:
        """Have another worker hold the home by the same job, as after a rescue."""
        worker = self._begin_worker()
        self.execute(
            "UPDATE procrastinate_jobs SET worker_id = %s, attempts = attempts + 1 WHERE id = %s", worker, held.job
        )
        return replace(held, worker=worker, attempts=held.attempts + 1)

    def close(self) -> None:
        self.connections.close()


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection:
        yield connection


def read_truth(path: Path) -> tuple[Rows, dict[str, int]]:
    """All rows of a home's database that are kept, by table, and the last ids that were given."""
    with opened(path) as connection:
        rows = {table.name: list(read_rows(connection, table)) for table in read_tables(connection)}
        return rows, read_sequences(connection)
