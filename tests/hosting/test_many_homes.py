"""Activation beside very many homes: what a fetch reads does not grow with those that have nothing to do."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from kenobot_host.schema_rows import upgrade_schema

_TIMERS = 20_000
_OPEN = 200
_TRIES = 40

Rows = psycopg.Connection[Any]


@pytest.fixture
def connection(database_url: str) -> Iterator[Rows]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        upgrade_schema(connection)
        yield connection


def _defer(connection: Rows, count: int, task: str, lock: str, due: str) -> None:
    job = f"ROW('homes', '{task}', 0, {lock}, NULL, '{{}}', {due})::procrastinate_job_to_defer_v1"
    connection.execute(f"SELECT procrastinate_defer_jobs_v1(array_agg({job})) FROM generate_series(1, {count}) AS n")


def _count_pages(connection: Rows) -> int:
    """Count the pages that one fetch reads."""
    connection.execute("VACUUM ANALYZE procrastinate_jobs")
    (worker,) = connection.execute("SELECT worker_id FROM procrastinate_register_worker_v1()").fetchone() or (0,)
    fetch = f"SELECT id FROM procrastinate_fetch_job_v2('{{homes,homes 28}}', {worker})"
    asked = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {fetch}"
    ((plans,),) = connection.execute(asked).fetchall()
    plan = plans[0]["Plan"]
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


def test_a_fetch_reads_little_beside_many_homes(connection: Rows) -> None:
    """A home that is to be opened is found beside open ones and timers for later without reading all of these."""
    _defer(connection, _OPEN, "activate", "'home:' || n", "NULL")
    connection.execute("UPDATE procrastinate_jobs SET status = 'doing'")
    _defer(connection, _TIMERS, "wake", "NULL", "now() + interval '1 day'")
    _defer(connection, _TRIES, "activate", "'home:new' || n", "NULL")
    pages = _count_pages(connection)
    print(f"pages of a fetch beside {_OPEN} open homes and {_TIMERS} timers: {pages}")
    assert pages < _TIMERS / 10
