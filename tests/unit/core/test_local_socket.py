"""The socket of a home: private, in its place after a crash, and found however long the home's path is."""

import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from kenobot.core import local_socket


def _talk(path: Path) -> bytes:
    """What a process that connects is sent by the one that listens."""
    with local_socket.listen(path) as server:
        link = local_socket.connect(path, 5)
        assert link is not None
        server.setblocking(True)
        other, _ = server.accept()
        with link, other:
            assert local_socket.is_own(other)
            other.sendall(b"hello")
            return link.recv(10)


def test_two_processes_of_one_owner_talk(tmp_path: Path) -> None:
    """Both see that the other is of the same user."""
    assert _talk(tmp_path / "kenobot.sock") == b"hello"


def test_only_the_owner_may_open_it(tmp_path: Path) -> None:
    """Whatever the umask of the process."""
    path, mask = tmp_path / "kenobot.sock", os.umask(0)
    try:
        with local_socket.listen(path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(mask)


def test_one_that_a_crash_left_is_taken_for_nobody_and_replaced(tmp_path: Path) -> None:
    """A socket file without a listener neither answers nor hinders the next listener."""
    path = tmp_path / "kenobot.sock"
    local_socket.listen(path).close()
    assert path.exists()
    assert local_socket.connect(path, 5) is None
    assert _talk(path) == b"hello"


def test_a_file_of_that_name_is_left_alone(tmp_path: Path) -> None:
    """It may be somebody's."""
    path = tmp_path / "kenobot.sock"
    path.write_text("mine")
    with pytest.raises(OSError, match="no socket"):
        local_socket.listen(path)
    assert path.read_text() == "mine"


def test_where_there_is_no_socket_nobody_listens(tmp_path: Path) -> None:
    """Nor in a folder that does not exist."""
    assert local_socket.connect(tmp_path / "kenobot.sock", 5) is None
    assert local_socket.connect(tmp_path / "nowhere" / ("x" * 120) / "kenobot.sock", 5) is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a long path has no short name")
def test_a_home_may_lie_deep(tmp_path: Path) -> None:
    """An address of a socket holds about a hundred bytes, a path many more."""
    deep = tmp_path / ("ñ" * 60) / ("x" * 100)
    deep.mkdir(parents=True)
    assert _talk(deep / "kenobot.sock") == b"hello"


def test_a_listener_of_another_user_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said to it."""
    path = tmp_path / "kenobot.sock"
    with local_socket.listen(path):
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert local_socket.connect(path, 5) is None


def test_an_end_without_credentials_is_not_of_the_owner() -> None:
    """Such as a connection by TCP."""
    with socket.socket(socket.AF_INET) as other:
        assert not local_socket.is_own(other) or os.geteuid() == 0
