"""What systemd is told of the process: that it is ready, needs more time, is alive, or ends."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.core import systemd
from kenobot.core.systemd import notify_systemd, start_extended, watchdog_answered


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool) -> None:
    """Over the socket it named, in the file system or in the abstract name space."""
    address = f"@{tmp_path}/notify" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(f"\0{address[1:]}" if abstract else address)
        server.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notify_systemd("READY=1")
        notify_systemd("STOPPING=1")
        assert [server.recv(100), server.recv(100)] == [b"READY=1", b"STOPPING=1"]


def test_a_start_that_lasts_asks_systemd_for_more_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """While it lasts and no longer, and only for so long: what hangs is ended."""
    monkeypatch.setattr(systemd, "_EXTEND_SECONDS", 0.01)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(tmp_path / "notify"))
        server.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        with start_extended():
            assert {server.recv(100) for _ in range(3)} == {b"EXTEND_TIMEOUT_USEC=30000"}
        notify_systemd("READY=1")
        while (told := server.recv(100)) != b"READY=1":
            assert told == b"EXTEND_TIMEOUT_USEC=30000"
        server.setblocking(False)
        with start_extended(patience=0.0), pytest.raises(BlockingIOError):
            server.recv(100)


def test_without_systemd_nobody_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No socket, an empty name or one that nobody listens to: nothing happens."""
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify_systemd("READY=1")
    for address in ("", str(tmp_path / "nobody"), "@nobody listens here", "x" * 500):
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notify_systemd("READY=1")


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[socket.socket]:
    """systemd's end of the link, with a watchdog that waits for 40 ms."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(tmp_path / "notify"))
        server.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "40000")
        yield server


async def test_the_watchdog_hears_of_a_process_whose_check_succeeds(link: socket.socket) -> None:
    async with watchdog_answered(lambda: asyncio.sleep(0)):
        for _ in range(3):
            assert await asyncio.get_running_loop().sock_recv(link, 100) == b"WATCHDOG=1"


async def test_a_check_that_hangs_or_fails_is_silence(link: socket.socket, caplog: pytest.LogCaptureFixture) -> None:
    failed = asyncio.Event()
    calls = 0

    async def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await asyncio.sleep(3600)
        if calls == 3:
            failed.set()
        raise OSError("no disk")

    async with watchdog_answered(check):
        await failed.wait()
    with pytest.raises(BlockingIOError):
        link.recv(100)
    assert "TimeoutError" in caplog.text
    assert "no disk" in caplog.text


@pytest.mark.parametrize(("seconds", "process"), [("", ""), ("0", ""), ("often", ""), ("40000", "1")])
async def test_without_a_watchdog_nothing_is_checked(
    link: socket.socket, monkeypatch: pytest.MonkeyPatch, seconds: str, process: str
) -> None:
    """None, one that is none, or that of another process."""
    monkeypatch.setenv("WATCHDOG_USEC", seconds)
    monkeypatch.setenv("WATCHDOG_PID", process or str(os.getpid()))

    async def check() -> None:
        raise AssertionError("checked")

    async with watchdog_answered(check):
        for _ in range(10):
            await asyncio.sleep(0)
    with pytest.raises(BlockingIOError):
        link.recv(100)
