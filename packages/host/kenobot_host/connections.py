"""Open connections to PostgreSQL on which every wait has an end, and share them between the homes of a process.

What a connection sets, it sets for one transaction; but statements are prepared for a session, and the engine listens
in one, so a pooler that gives each transaction another session is refused.
"""

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg import Connection
from psycopg.abc import PQGen
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from kenobot.ports.errors import ConfigError, StoreError

T = TypeVar("T")

CONNECT_SECONDS = 5
ANSWER_SECONDS = 10.0
"""How long a statement may take, and the wait for its answer a little longer: a cut line tells nobody."""

_GRACE_SECONDS = 2.0
_PROBES = 5
_LOOK_SECONDS = 0.5
LONG_SECONDS = 600.0  # of a transaction that moves a whole home
_RESET = "SELECT pg_advisory_unlock_all(); RESET ALL; UNLISTEN *; CLOSE ALL; DISCARD TEMP"
_LINE: dict[str, str | int] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds in which what was sent must arrive
    "application_name": "kenobot",
}


class TimedConnection(Connection):
    """A connection that waits for each answer as long as a statement may take, and then gives up the line."""

    seconds = ANSWER_SECONDS

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Wait for an answer. Raises OperationalError, and the connection is closed, when none comes."""
        try:
            return super().wait(gen, interval, self.seconds + _GRACE_SECONDS if timeout is None else timeout)
        except psycopg.OperationalError as error:
            if error.sqlstate is None and not isinstance(error, psycopg.errors.PipelineAborted):
                self.pgconn.finish()  # whatever is under way on it, nobody hears how it ended
            raise


class Connections:
    """Connections of a process to one database. May be used from any thread."""

    def __init__(self, url: str, most: int = 8) -> None:
        """Open no connection yet. most: connections at a time. Raises ConfigError for an address that is none."""
        try:
            self._line = make_conninfo(url, **_LINE)
        except psycopg.ProgrammingError:  # its text may hold the password
            raise ConfigError("host.bad_url") from None
        self._pool = ConnectionPool(
            self._line,
            connection_class=TimedConnection,
            kwargs={"autocommit": True},
            min_size=0,
            max_size=most,
            open=False,
            reset=_reset,
            timeout=ANSWER_SECONDS,
            reconnect_timeout=0.0,  # `lend` asks again, without the pauses of a pool, which double
        )

    def open(self) -> "Connections":
        """Begin to lend connections."""
        self._pool.open()
        return self

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    @contextmanager
    def borrow(self) -> Iterator[TimedConnection]:
        """Lend a connection in autocommit mode for a block. Raises psycopg.OperationalError when none is to be had."""
        connection = self.lend(time.monotonic() + ANSWER_SECONDS)
        try:
            yield connection
        finally:
            self.take_back(connection)

    def lend(self, deadline: float) -> TimedConnection:
        """Lend a connection in autocommit mode. Raises psycopg.OperationalError when there is none until `deadline`."""
        while True:
            left = deadline - time.monotonic()
            try:
                return self._pool.getconn(max(0.1, min(_LOOK_SECONDS, left)))
            except PoolTimeout:
                if left <= _LOOK_SECONDS:
                    raise
            self._pool.check()  # a pool that gave up begins to connect again

    def take_back(self, connection: TimedConnection) -> None:
        """Return a connection; what is open on it is rolled back."""
        connection.seconds = type(connection).seconds
        if connection.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            with contextlib.suppress(psycopg.Error):
                connection.rollback()
        self._pool.putconn(connection)

    def forget_broken(self) -> None:
        """Drop the connections that broke while nobody used them, such as all of them when the server was restarted."""
        self._pool.check()

    def require_sessions(self) -> None:
        """Raise ConfigError where a pooler gives each transaction another session, and StoreError."""
        with self.open_long() as one, self.open_long() as two:
            for _ in range(_PROBES):
                mine = _read_session(one)
                with two.transaction():  # what such a pooler gave to the first goes to whoever comes next
                    if mine == _read_session(two) or mine != _read_session(one):
                        raise ConfigError("host.pooled")

    @contextmanager
    def open_long(self) -> Iterator[TimedConnection]:
        """Open a connection of its own for work on a whole home. Raises StoreError."""
        with translate_errors(), TimedConnection.connect(self._line, autocommit=True) as connection:
            connection.seconds = LONG_SECONDS
            yield connection


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise StoreError for an error of PostgreSQL. What it says of rows stays out: it may quote what a person said."""
    try:
        yield
    except psycopg.OperationalError as error:
        raise StoreError("host.unreachable", reason=tell(error)) from error
    except psycopg.Error as error:
        raise StoreError("host.failed", reason=tell(error)) from error


def tell(error: psycopg.Error) -> str:
    """Tell what is wrong in the server's words, without the rows and the address that they may name."""
    return error.diag.message_primary or str(error).partition("\n")[0] or type(error).__name__


def limit_statements(connection: Connection, seconds: float) -> None:
    """Let no statement of the open transaction take longer, nor the transaction wait as long for the next one."""
    limit = round(seconds * 1000)
    connection.execute(f"SET LOCAL statement_timeout = {limit}")
    connection.execute(f"SET LOCAL idle_in_transaction_session_timeout = {limit}")


def _read_session(connection: Connection) -> int:
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    return int(row[0])


def _reset(connection: Connection) -> None:
    """Take back what a borrower set for more than a transaction; statements that are prepared stay."""
    connection.execute(_RESET)
