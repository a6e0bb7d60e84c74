"""Start real servers for tests, and stop them."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest


def program(name: str, variable: str = "") -> str:
    """Find a server's program, by an environment variable or on the PATH; skip the test where there is none."""
    found = os.environ.get(variable) if variable else None
    path = found or shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if path is None or not Path(path).exists():
        pytest.skip(f"{name} is not installed here" + (f" and {variable} does not name it" if variable else ""))
    return path


def free_port() -> int:
    """Find a port of this machine that nothing listens on."""
    with socket.socket() as link:
        link.bind(("127.0.0.1", 0))
        port: int = link.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Return whether something listens on a port of this machine."""
    with socket.socket() as link:
        return link.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(command: Sequence[str], folder: Path, ready: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server, from when it is ready, to the end of the block. Its output goes into `folder`."""
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        until = time.monotonic() + 120
        while not ready():
            if process.poll() is not None or time.monotonic() > until:
                pytest.fail(f"{command[0]} did not start: {log.read_text('utf-8', 'replace')[-2000:]}")
            time.sleep(0.01)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
