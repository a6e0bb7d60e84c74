"""A pooler between workers and PostgreSQL: session mode serves, transaction mode is refused at the start."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from kenobot.cli import main
from kenobot_host.cell_address import VARIABLE

_SECONDS = 20.0


@pytest.fixture
def pool(database_url: str) -> Iterator[Callable[[str], str]]:
    """Start PgBouncer before the database, in a mode; gives its address."""
    found = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if found is None:
        pytest.skip("no PgBouncer: apt-get install pgbouncer")
    given = conninfo_to_dict(database_url)
    account = "nobody" if os.geteuid() == 0 else None
    running = []

    def start(mode: str) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        lines = [
            "[databases]",
            f"* = host={given['host']} port={given.get('port', 5432)} user={given['user']}",
            "[pgbouncer]",
            "listen_addr = 127.0.0.1",
            f"listen_port = {port}",
            "unix_socket_dir =",
            "auth_type = any",
            f"pool_mode = {mode}",
            "ignore_startup_parameters = extra_float_digits",
        ]
        folder = Path("/tmp") / f"keno-pool-{port}"
        folder.mkdir()
        (folder / "pool.ini").write_text("\n".join(lines))
        folder.chmod(0o755)
        (folder / "pool.ini").chmod(0o644)
        process = subprocess.Popen(
            [found, "-q", str(folder / "pool.ini")],
            user=account,
            group=pwd.getpwnam(account).pw_gid if account else None,
            extra_groups=[] if account else None,
            stderr=subprocess.DEVNULL,
        )
        running.append((process, folder))
        url = f"postgresql://{given['user']}@127.0.0.1:{port}/{given['dbname']}"
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                psycopg.connect(url, connect_timeout=5).close()
                return url
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    yield start
    for process, folder in running:
        process.terminate()
        process.wait(_SECONDS)
        shutil.rmtree(folder)


@pytest.mark.parametrize(("mode", "code", "told"), [("session", 2, "no home yet"), ("transaction", 78, "session mode")])
def test_a_pool_has_to_keep_sessions(
    pool: Callable[[str], str],
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mode: str,
    code: int,
    told: str,
) -> None:
    """Statements are prepared for a session, and the engine listens in one: without, mail would stay where it is."""
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv(VARIABLE, database_url)
    assert main(["host", "upgrade"]) == 0
    monkeypatch.setenv(VARIABLE, pool(mode))
    capsys.readouterr()
    assert main(["host", "status"]) == code
    assert told in capsys.readouterr().err
