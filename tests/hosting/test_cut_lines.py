"""A line to PostgreSQL that breaks at the worst moment: a commit is done or not done, and the worker knows which."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kenobot.ports.errors import ConfigError, StoreError
from kenobot.storage.connection import connect
from kenobot.storage.keeper import use_keepers
from kenobot.storage.migrate import migrate
from kenobot_host import connections, home_rows
from kenobot_host.connections import Connections
from kenobot_host.home_rows import settle_push
from kenobot_host.home_store import HomeLost, HomeStore
from kenobot_host.keeper import PostgresKeeper
from kenobot_host.working_copies import WorkingCopies
from tests.hosting.cell import Cell, read_truth
from tests.hosting.proxy import Proxy, once
from tests.hosting.server import PostgresServer
from tests.scene import Scene

pytestmark = pytest.mark.no_replay("keepers of its own take the changes of its connections")


@pytest.fixture
def proxy(database_url: str) -> Iterator[Proxy]:
    made = Proxy(database_url)
    yield made
    made.close()


class Copy:
    """A working copy that is committed to through a proxy."""

    def __init__(self, cell: Cell, folder: Path, url: str, patience: float = 20.0) -> None:
        migrate(folder / "new.db", folder / "backups")
        self.cell, self.path, self.again = cell, folder / "copy.db", folder / "again.db"
        self.home = cell.store.add("ana", folder / "new.db")
        self.held = cell.take(self.home)
        cell.store.load(self.home, self.path)
        self._lines = Connections(url).open()
        self.connection = connect(self.path)
        self.keeper = PostgresKeeper(HomeStore(self._lines, patience), self.held)
        self.keeper.watch(self.connection)

    def commit(self, number: int) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            self.connection.execute("INSERT INTO author VALUES (?, 'x')", (number,))
            self.keeper.keep(self.connection)
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def check(self, *numbers: int) -> None:
        """Check that these rows are there, in the copy and in PostgreSQL."""
        self.cell.store.load(self.home, self.again)
        truth = read_truth(self.path)
        assert read_truth(self.again) == truth
        assert [row[0] for row in truth[0]["author"]] == [*numbers]

    def close(self) -> None:
        self.connection.close()
        self._lines.close()


@pytest.fixture
def copy(cell: Cell, tmp_path: Path, proxy: Proxy) -> Iterator[Copy]:
    made = Copy(cell, tmp_path, proxy.url)
    yield made
    made.close()


def test_a_commit_whose_answer_was_lost_is_not_made_twice(copy: Copy, proxy: Proxy) -> None:
    """It happened, and the worker finds that out: the copy has it too."""
    copy.commit(1)
    proxy.after = once()
    copy.commit(2)
    copy.commit(3)
    copy.check(1, 2, 3)
    assert copy.cell.execute("SELECT version FROM kenobot.home") == [(4,)]


def test_a_commit_that_never_arrived_is_made_again(copy: Copy, proxy: Proxy) -> None:
    """It cannot happen later any more, and is sent once more upon another version."""
    proxy.before = once()
    copy.commit(1)
    copy.commit(2)
    copy.check(1, 2)
    assert copy.cell.execute("SELECT version FROM kenobot.home") == [(5,)]


def test_the_question_what_became_of_it_may_break_too(copy: Copy, proxy: Proxy) -> None:
    """It is asked until there is an answer, and each time means the same."""
    answers = iter([True, True, True])
    proxy.after = lambda: next(answers, False)
    copy.commit(1)
    copy.check(1)
    proxy.before, proxy.after = once(), once()
    copy.commit(2)
    copy.check(1, 2)


def test_a_commit_that_comes_late_finds_the_version_moved_on(copy: Copy) -> None:
    """Such as one that lay in the network while the worker was told that it had not happened."""
    with psycopg.connect(copy.cell.url, autocommit=True) as line:
        late = (copy.home, 1, "{}", copy.held.job, copy.held.worker, copy.held.attempts)
        assert settle_push(line, copy.held, 1) == 3
        with pytest.raises(psycopg.Error, match="not at version 1"):
            line.execute("SELECT kenobot.begin_push(%s, %s, %s::jsonb, %s, %s, %s)", late)


def test_a_worker_that_was_fenced_meanwhile_does_not_take_it_for_done(
    copy: Copy, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That its commit happened is the next holder's to see: it tells nobody."""

    def settle_late(connection: psycopg.Connection, held: home_rows.Holder, version: int) -> int:
        copy.cell.hand_on(copy.held)
        return settle_push(connection, held, version)

    monkeypatch.setattr(home_rows, "settle_push", settle_late)
    copy.commit(1)
    proxy.after = once()
    with pytest.raises(HomeLost, match="another worker"):
        copy.commit(2)
    with pytest.raises(HomeLost):
        copy.commit(3)
    copy.cell.store.load(copy.home, copy.again)
    assert [row[0] for row in read_truth(copy.again)[0]["author"]] == [1, 2]


def test_a_server_that_is_away_for_good_is_an_error_in_time(cell: Cell, tmp_path: Path, proxy: Proxy) -> None:
    """Nothing was begun: the worker keeps the home, and goes on once the server is back."""
    copy = Copy(cell, tmp_path, proxy.url, patience=1.0)
    target = dict(proxy._target)
    proxy._target["host"] = str(tmp_path)
    began = time.monotonic()
    with pytest.raises(StoreError) as raised:
        copy.commit(1)
    assert type(raised.value) is StoreError
    assert time.monotonic() - began < 60
    proxy._target.update(target)
    copy.commit(2)
    copy.check(2)
    copy.close()


def test_a_line_that_falls_silent_is_given_up(
    cell: Cell, tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits longer than a statement may take; the home is dropped, since the commit may have happened."""
    monkeypatch.setattr(connections.TimedConnection, "seconds", 0.2)
    monkeypatch.setattr(connections, "_GRACE_SECONDS", 0.2)
    copy = Copy(cell, tmp_path, proxy.url, patience=2.0)
    copy.commit(1)

    def fall_silent() -> bool:
        proxy.silent = True
        return False

    proxy.after = fall_silent  # in the moment of the commit
    began = time.monotonic()
    with pytest.raises(HomeLost):
        copy.commit(2)
    assert time.monotonic() - began < 60
    proxy.silent, proxy.after = False, lambda: False
    with pytest.raises(HomeLost):
        copy.commit(3)
    copy.close()


def test_a_pool_gives_back_what_a_borrower_took(cell: Cell) -> None:
    """Session locks, settings and channels do not stay with a connection for its next borrower."""
    lines = Connections(cell.url, most=1).open()
    with lines.borrow() as first:
        first.execute("SELECT pg_advisory_lock(7)")
        first.execute("SET search_path = nowhere")
        first.execute("LISTEN told")
        number = first.info.backend_pid
    with lines.borrow() as second:
        assert second.info.backend_pid == number
        row = second.execute(
            "SELECT current_setting('search_path'), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), "
            "(SELECT count(*) FROM pg_listening_channels())"
        ).fetchone()
    assert row == ('"$user", public', 0, 0)
    lines.close()


async def test_turns_go_on_when_postgres_is_killed_and_started_again(
    own_postgres: PostgresServer, tmp_path: Path
) -> None:
    """In the middle of turns: each is answered once, and the copy equals PostgreSQL."""
    cell = Cell(own_postgres.url)
    migrate(tmp_path / "new.db", tmp_path / "backups")
    home, copies = cell.store.add("ana", tmp_path / "new.db"), WorkingCopies(cell.store, None)
    scene, held = Scene(tmp_path / "one", ["as you say"]), cell.take(home)
    copies.bring_up(held, scene.home)

    def restart() -> None:
        for _ in range(3):
            time.sleep(0.3)
            own_postgres.kill()
            own_postgres.start()

    with use_keepers(lambda path: copies.build_keeper(held) if path == scene.home.database else None):
        async with scene:
            trouble = threading.Thread(target=restart)
            trouble.start()
            told = 0
            while trouble.is_alive() or told < 5:
                await scene.say(f"number {told}")
                told += 1
            trouble.join()
            assert scene.texts == ["as you say"] * told
    cell.store.load(home, tmp_path / "again.db")
    truth = read_truth(scene.home.database)
    assert read_truth(tmp_path / "again.db") == truth
    assert len([row for row in truth[0]["message"] if "user" in row]) == told
    cell.close()


def test_errors_do_not_say_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where nobody listens, nor where the address is none."""
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.3)
    with pytest.raises(ConfigError) as refused:
        Connections("postgresql://kai:hunter2@host:port:more/%")
    assert "hunter2" not in str(refused.value)
    url = "postgresql://kai:hunter2@127.0.0.1:1/nowhere"
    lines = Connections(url).open()
    with pytest.raises(StoreError) as raised:
        HomeStore(lines).find("ana")
    assert "hunter2" not in str(raised.value)
    lines.close()
