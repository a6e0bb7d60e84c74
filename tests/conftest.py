"""What all tests share: no network but this machine's own, a clock that stands still, a database of one's own."""

import contextlib
import gc
import ipaddress
import os
import socket
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from kenobot.storage.database import Database
from kenobot.storage.migrate import migrate
from kenobot_testing.clock import ManualClock
from tests.replay import replay_all

# As the product has it, before a test's module loads numpy: the threads of OpenBLAS spin, and take the cores of others.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# One authority is enough: for all those of a machine, each client of HTTP takes twenty milliseconds, twice.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "data" / "authority.pem")

# Output that no terminal reads is whole, also where the tests run within one that says how wide it is.
os.environ.pop("COLUMNS", None)

# The same examples each time, however busy the machine is; new ones, and many more, by `make fuzz`.
settings.register_profile("house", deadline=None, print_blob=True, derandomize=True, max_examples=50)
settings.register_profile(
    "fuzz", deadline=None, print_blob=True, derandomize=False, max_examples=300, stateful_step_count=40
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "house")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while thousands of tests are collected, of which none is: a fifth of that time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Refuse every connection that would leave this machine, so that no test depends on somebody else's."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        yield


def _guarded(original: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
    def guard(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _stays_here(address[0]):
            raise OSError(f"A test wanted to connect to {address[0]!r}: only this machine may be talked to in tests.")
        return original(self, address)

    return guard


def _stays_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The content of a migrated database without rows, made once a worker."""
    template = tmp_path_factory.mktemp("schema") / "kenobot.db"
    migrate(template, template.parent)
    return template.read_bytes()


@pytest.fixture(scope="session", autouse=True)
def one_schema(empty_database: bytes) -> Iterator[None]:
    """Begin each new database of `Database.open`, and of commands that make a home, with a copy of a migrated one."""

    def from_template(path: Path, backups: Path) -> None:
        if not os.path.lexists(path) and not os.path.lexists(f"{path}-wal"):
            with contextlib.suppress(OSError):  # what the real one then tells in its own words
                path.write_bytes(empty_database)
        migrate(path, backups)

    with pytest.MonkeyPatch.context() as patch:
        for opener in ("kenobot.storage.database", "kenobot.cli.context"):
            patch.setattr(f"{opener}.migrate", from_template)
        yield


@pytest.fixture(autouse=True)
def replay(request: pytest.FixtureRequest) -> Iterator[None]:
    """With KENOBOT_TEST_REPLAY=1, let a copy follow each database that the test writes to, and compare them."""
    if os.environ.get("KENOBOT_TEST_REPLAY") != "1" or request.node.get_closest_marker("no_replay"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch, replay_all() as differences:
        patch.delenv("KENOBOT_TEST_REPLAY")  # or a bot would take it for a setting
        yield
    assert differences == []


@pytest.fixture
def clock() -> ManualClock:
    """A clock that moves only when told to."""
    return ManualClock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A new database, closed after the test."""
    opened = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    yield opened
    await opened.close()
