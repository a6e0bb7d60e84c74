"""An update that is cut off at any of its changes to the disk leaves a version that can run, and every message."""

import argparse
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kenobot.cli.context import CommandContext
from kenobot.core.settings.home import Home
from kenobot.ports.errors import StoreError
from kenobot.storage.backup.put_back import put_back
from kenobot.storage.updates import Environments, Side, Update, Verdict
from kenobot_deploy.update.programs import UpdateFailed
from kenobot_deploy.update.switch import Switch
from kenobot_deploy.update.unfinished import finish_return
from tests.integration.update.samples import FIRST, LATER, NEWEST, make_home, migrate_further, state, store_message

pytestmark = pytest.mark.long

_MOST = 80


Cut = Callable[[Home, int], int]


@pytest.fixture
def cut() -> Iterator[Cut]:
    """Updates a home up to its n-th change to the disk; returns the exit code, of 9 where it was cut off."""
    command = [sys.executable, "-m", "tests.integration.update.cut"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        lines, codes = process.stdin, process.stdout
        assert lines is not None
        assert codes is not None

        def update(home: Home, last: int) -> int:
            print(last, home.path, file=lines, flush=True)
            return int(codes.readline())

        yield update
        lines.close()


@pytest.mark.crash
def test_killed_at_any_change_either_version_is_whole(tmp_path: Path, cut: Cut) -> None:
    """No old version stands before a newer schema, what came in is there once; the next start has the old one back, and
    the next update goes through.
    """
    made = Home(tmp_path / "made")
    make_home(made)
    seen = set()
    for last in range(1, _MOST):
        home = Home(tmp_path / str(last) / "home")
        shutil.copytree(made.path, home.path)
        make_environment(home.path.parent / "old")
        code = cut(home, last)
        current = Environments(home).current()
        schema, messages = state(home)
        used = current.name if current is not None else "old"
        assert (used, schema) != ("old", NEWEST + 1), last
        assert messages in ([FIRST], [FIRST, LATER]), last
        seen.add((used, schema))
        if code == 0:
            break
        assert code == 9, last
        finish_return(start_of(home))
        current = Environments(home).current()
        assert (current.name if current is not None else "old", state(home)) == ("old", (NEWEST, messages)), last
        assert cut(home, 0) == 0, last
        schema, messages = state(home)
        current = Environments(home).current()
        assert current is not None
        assert (current.name, schema) != ("old", NEWEST + 1), last
        assert messages == [FIRST, LATER], last
    else:
        pytest.fail("it never came to its end")
    assert seen == {("old", NEWEST), ("new", NEWEST), ("new", NEWEST + 1)}


def test_a_version_that_said_that_it_is_well_stays(tmp_path: Path) -> None:
    """Whatever has cut its update off."""
    home = Home(tmp_path / "home")
    make_home(home)
    update, environments = update_of(home, "trial"), Environments(home)
    environments.switch(update.new.environment)
    environments.write(update)
    environments.write_verdict(Verdict(trial=update.trial))
    finish_return(start_of(home))
    assert environments.current() == update.new.environment
    environments.write_verdict(Verdict(trial=update.trial, problem="the channel telegram does not run"))
    finish_return(start_of(home))
    assert environments.current() == update.old.environment
    after = environments.read()
    assert after is not None
    assert (after.phase, after.reason, after.told) == ("returned", "the channel telegram does not run", False)


def test_a_return_is_left_to_whoever_is_at_it(tmp_path: Path) -> None:
    """A start beside the command, or beside the bot that runs, changes nothing."""
    home = Home(tmp_path / "home")
    make_home(home)
    update, environments = update_of(home, "returning"), Environments(home)
    environments.switch(update.new.environment)
    environments.write(update)
    for lock in (home.update_lock, home.lock):
        with lock():
            finish_return(start_of(home))
        assert environments.read() == update


def test_a_return_from_a_trial_is_noted_before_the_bot_is_stopped(tmp_path: Path) -> None:
    """A kill right after that leaves a return to be finished; that of a version in use is noted once it is stopped."""
    home = Home(tmp_path / "home")
    make_home(home)
    for phase, then in (("trial", "returning"), ("taken", "taken")):
        update, environments = update_of(home, phase), Environments(home)
        environments.write(update)
        with pytest.raises(KeyboardInterrupt):
            Switch(start_of(home), Stubborn(KeyboardInterrupt()), 5.0).go_back(update, "it ended at once")
        after = environments.read()
        assert after is not None
        assert after.phase == then


def test_a_return_that_cannot_stop_the_bot_leaves_it_running(tmp_path: Path) -> None:
    """Also one that is interrupted again while it waits for that."""
    home = Home(tmp_path / "home")
    make_home(home)
    update = update_of(home, "taken")
    for failure in (KeyboardInterrupt(), UpdateFailed("The bot does not end.")):
        runner = Stubborn(failure)
        with pytest.raises(type(failure)):
            Switch(start_of(home), runner, 5.0).go_back(update, "its owner returned")
        assert runner.runs


def start_of(home: Home) -> CommandContext:
    return CommandContext(argparse.Namespace(home=str(home.path), typed=["run"]))


def make_environment(folder: Path) -> None:
    """Make what can be taken for the environment of a version."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)


def update_of(home: Home, phase: str) -> Update:
    old, new = (Side(version=name, environment=home.versions / name) for name in ("0.1.0", "0.2.0"))
    if not old.environment.exists():
        make_environment(old.environment)
    stored = {"trial": "ab", "phase": phase, "old": old, "new": new, "schema_version": NEWEST}
    return Update.model_validate({**stored, "began": datetime.now(UTC)})


class Stubborn:
    """A bot that may have ended or not when its end could not be waited for."""

    def __init__(self, failure: BaseException) -> None:
        self._failure = failure
        self.runs = True

    def restart(self, environment: Path) -> None: ...

    def stop(self) -> None:
        self.runs = False
        raise self._failure

    def has_ended(self) -> bool:
        return False

    def go_on(self) -> None:
        self.runs = True


def test_messages_come_along_and_the_newer_database_is_kept(tmp_path: Path) -> None:
    """The copy of before takes the place; done twice it changes nothing more."""
    home, began = Home(tmp_path / "home"), datetime.now(UTC) - timedelta(seconds=1)
    make_home(home)
    migrate_further(home)
    store_message(home, LATER)
    kept = put_back(home, NEWEST, began, began)
    assert kept is not None
    assert state(home) == (NEWEST, [FIRST, LATER])
    assert state(Home(kept)) == (NEWEST + 1, [FIRST, LATER])
    assert put_back(home, NEWEST, began, began) is None


def test_what_was_answered_and_sent_since_is_not_answered_or_sent_again(tmp_path: Path) -> None:
    """An owner who returns after days gets no second answer to what waited when the copy was made."""
    home, began = Home(tmp_path / "home"), datetime.now(UTC) - timedelta(seconds=1)
    make_home(home)
    with closing(sqlite3.connect(home.database)) as connection:
        for text in ("sent since", "waits", "forgotten since"):
            connection.execute(
                "INSERT INTO outbox (inbox_id, part, channel, chat, text, trace, created_at) "
                "VALUES (NULL, 0, 'fake', 'c', ?, 't', '2026-01-01')",
                (text,),
            )
        connection.commit()
    migrate_further(home)
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("UPDATE inbox SET state = 'answered', done_at = '2026-01-02'")
        connection.execute("UPDATE outbox SET state = 'sent' WHERE text = 'sent since'")
        connection.execute("DELETE FROM outbox WHERE text = 'forgotten since'")
        connection.commit()
    assert put_back(home, NEWEST, began, began) is not None
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT text, state FROM inbox").fetchall() == [(FIRST, "answered")]
        assert connection.execute("SELECT text, state FROM outbox ORDER BY id").fetchall() == [
            ("sent since", "sent"),
            ("waits", "pending"),
        ]


def test_a_copy_of_another_update_is_not_put_back(tmp_path: Path) -> None:
    """It would lose what was said in between."""
    home = Home(tmp_path / "home")
    make_home(home)
    migrate_further(home)
    with pytest.raises(StoreError, match="no copy of the database"):
        put_back(home, NEWEST, datetime.now(UTC) + timedelta(hours=1), datetime.now(UTC))
    assert state(home)[0] == NEWEST + 1
