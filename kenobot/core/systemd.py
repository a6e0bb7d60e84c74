"""Tell systemd how the process is; see sd_notify(3). Without systemd nothing is told."""

import asyncio
import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

_log = logging.getLogger(__name__)

_EXTEND_SECONDS = 10.0
_LONGEST_START = 1800.0
_BEATS = 4  # within the time after which systemd gives up


def notify_systemd(state: str) -> None:
    """Send "READY=1", "STOPPING=1" and the like to systemd, where it asks for them (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
        link.connect(address)
        link.sendall(state.encode())


@contextlib.contextmanager
def start_extended(patience: float = _LONGEST_START) -> Iterator[None]:
    """Ask systemd for more time while the block runs, such as a migration of a large database: at most `patience`."""
    over = threading.Event()

    def extend() -> None:
        ends = time.monotonic() + patience
        while time.monotonic() < ends:
            notify_systemd(f"EXTEND_TIMEOUT_USEC={round(3 * _EXTEND_SECONDS * 1_000_000)}")
            if over.wait(_EXTEND_SECONDS):
                return

    thread = threading.Thread(target=extend, name="start", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.asynccontextmanager
async def watchdog_answered(check: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """Tell systemd's watchdog meanwhile that the process is alive, where it asks: after each `check` that succeeds.

    A check that raises, hangs, or never comes to its turn is silence, and systemd starts the service anew.
    """
    seconds = _watchdog_seconds()
    if not seconds:
        yield
        return
    answering = asyncio.create_task(_answer(check, seconds / _BEATS), name="watchdog")
    try:
        yield
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)


async def _answer(check: Callable[[], Awaitable[object]], seconds: float) -> None:
    while True:
        try:
            async with asyncio.timeout(seconds):
                await check()
        except Exception as error:
            _log.warning("the watchdog gets no answer: %s: %s", type(error).__name__, error)
        else:
            notify_systemd("WATCHDOG=1")
        await asyncio.sleep(seconds)


def _watchdog_seconds() -> float:
    """Return how long systemd waits for an answer; 0 when it does not, or asks another process."""
    if os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return 0.0
    try:
        return max(0.0, int(os.environ.get("WATCHDOG_USEC") or 0) / 1_000_000)
    except ValueError:
        return 0.0
