"""Bind and connect the Unix socket of a home, which serves processes of its owner alone."""

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

LONGEST_FRAME = 8_000_000
"""Bytes of a line; the longest answer of a model is a million characters."""
_LONGEST_ADDRESS = 103  # bytes: what every system takes; Linux would take 107
_WAITING = 16  # connections that nobody has accepted yet
_BSD_LEVEL, _BSD_PEER, _BSD_SIZE = 0, 1, 76  # SOL_LOCAL, LOCAL_PEERCRED, and the size of its `struct xucred`


def listen(path: Path) -> socket.socket:
    """Bind a socket at `path`, in the place of one that a crash left behind. Raises OSError.

    Call only while holding the lock of the home: then no other process can be listening there.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise FileExistsError(f"{path} is no socket: move it away")
        path.unlink()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _shorten_path(path) as address:
            server.bind(address)
        path.chmod(0o600)
        server.listen(_WAITING)
        server.setblocking(False)
    except BaseException:
        server.close()
        raise
    return server


def connect(path: Path, timeout: float) -> socket.socket | None:
    """Connect to the process that listens at `path`; None when none does, or when it is another user's."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(timeout)
    try:
        with _shorten_path(path) as address:
            link.connect(address)
        if is_own(link):
            return link
    except OSError:  # no file, a stale one, or a listener whose queue is full
        pass
    link.close()
    return None


def is_own(link: socket.socket) -> bool:
    """Return whether the process at the other end belongs to the user of this one."""
    try:
        return _peer_user(link) == os.geteuid()
    except OSError:
        return False


def _peer_user(link: socket.socket) -> int:
    option = getattr(socket, "SO_PEERCRED", None)
    if option is not None:
        return int(struct.unpack("=iII", link.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("=iII")))[1])
    return int(struct.unpack_from("=II", link.getsockopt(_BSD_LEVEL, _BSD_PEER, _BSD_SIZE))[1])


@contextlib.contextmanager
def _shorten_path(path: Path) -> Iterator[str]:
    """Name `path` so that it fits into a socket's address, on Linux by way of its open folder."""
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
