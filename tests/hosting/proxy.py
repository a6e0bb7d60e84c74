"""A proxy between a worker and PostgreSQL that cuts or silences the line where a test wants it."""

import contextlib
import socket
import threading
from collections.abc import Callable

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_COMMIT = b"COMMIT\x00"


class Proxy:
    """Listens on this machine and passes on to the server of `url`.

    before, after: each is asked once, with a line whose client commits. True before: the line is cut without the bytes
    having come to the server. True after: the server gets them, and the client never hears what came of them.
    silent: nothing is passed back any more, while the line stays.
    """

    def __init__(self, url: str) -> None:
        self._target = conninfo_to_dict(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = make_conninfo(url, host="127.0.0.1", port=self.port, sslmode="disable", gssencmode="disable")
        self.before: Callable[[], bool] = lambda: False
        self.after: Callable[[], bool] = lambda: False
        self.silent = False
        self.is_open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.is_open = False
        self._listener.close()

    def _connect(self) -> socket.socket:
        host, port = str(self._target["host"]), self._target.get("port") or 5432
        if not host.startswith("/"):
            return socket.create_connection((host, int(port)))
        line = socket.socket(socket.AF_UNIX)
        try:
            line.connect(f"{host}/.s.PGSQL.{port}")
        except OSError:
            line.close()
            raise
        return line

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = self._connect()
            except OSError:
                client.close()
                continue
            cut = threading.Event()
            for run in (self._forward, self._answer):
                threading.Thread(target=run, args=(client, server, cut), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 20):
                if _COMMIT in data and self.before():
                    break
                if _COMMIT in data and self.after():
                    cut.set()
                server.sendall(data)
        if not cut.is_set():
            _close(client, server)

    def _answer(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 20):
                if cut.is_set():
                    break
                if not self.silent:
                    client.sendall(data)
        _close(client, server)


def _close(*lines: socket.socket) -> None:
    for line in lines:
        with contextlib.suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
        line.close()


def once() -> Callable[[], bool]:
    """Answer True the first time, then False."""
    answers = iter((True,))
    return lambda: next(answers, False)
