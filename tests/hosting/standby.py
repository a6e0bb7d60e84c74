"""A standby of a server of the tests, which is promoted when that one is killed."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psycopg

from tests.hosting.server import _OPTIONS, PostgresServer

_SECONDS = 60.0


class Standby:
    """A hot standby to which each commit goes before it is answered for.

    url: of its database. both: names both servers; whoever connects by it reaches the one that takes changes.
    """

    def __init__(self, primary: PostgresServer) -> None:
        self._primary = primary
        self._data, self._socket = primary._folder / "standby", primary._folder / "second"
        self.url = primary.url.replace(f"host={primary._folder}", f"host={self._socket}")
        hosts = f"host={primary._folder},{self._socket} port=5432,5432"
        self.both = f"{hosts} user=postgres dbname=postgres target_session_attrs=read-write"
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = 0

    def start(self) -> None:
        """Copy the primary, follow it, and have its commits wait for this one."""
        primary = self._primary
        taken = primary._popen(
            *("pg_basebackup", "-h", str(primary._folder), "-p", "5432", "-U", "postgres", "-D", str(self._data)),
            *("-R", "-X", "stream", "-c", "fast", "--no-sync"),
        )
        assert taken.wait(_SECONDS) == 0, (primary._folder / "log").read_text()
        self._socket.mkdir()
        shutil.chown(self._socket, *_owner(primary._folder))
        options = _OPTIONS | {"synchronous_standby_names": ""}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        self._process = primary._popen("postgres", "-D", str(self._data), "-k", str(self._socket), *words)
        with psycopg.connect(primary.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
            deadline = time.monotonic() + _SECONDS
            while connection.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").fetchone() is None:
                assert time.monotonic() < deadline, (primary._folder / "log").read_text()
                time.sleep(0.05)

    def stop_following(self) -> None:
        """Stop what receives the primary's log, as a standby does whose line falls silent."""
        assert self._process is not None
        for child in Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split():
            if b"walreceiver" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGSTOP)
                self._stopped = int(child)

    def follow_again(self) -> None:
        """Go on with what receives the log."""
        os.kill(self._stopped, signal.SIGCONT)

    def promote(self) -> None:
        """Have it take changes from now on."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")

    def stop(self) -> None:
        """End it; its files go with the primary's."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_SECONDS)


def _owner(folder: Path) -> tuple[int, int]:
    return folder.stat().st_uid, folder.stat().st_gid
