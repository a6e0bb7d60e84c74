"""The log in files is whole, bounded and private, and whoever follows it misses nothing."""

import errno
import logging
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from kenobot.core import log
from kenobot.core.log_file import NAME, LogFile, LogLimits, follow, last_lines, list_ended_files

SECRET = "hunter2hunter2"


class Machine:
    """A log, and a clock that stands still until it is moved."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.handler: LogFile | None = None

    def open(self, **limits: int) -> LogFile:
        """Open it, as a start does."""
        self.handler = LogFile(self.folder, LogLimits(**limits), lambda: self.now)
        log.write_to(self.handler, instead=True)
        return self.handler

    def say(self, *texts: str) -> None:
        """Log each text."""
        for text in texts:
            logging.getLogger("test").info(text)

    def texts(self) -> list[str]:
        """Return what all files say, in order."""
        return [line.rpartition(": ")[2] for line in last_lines(self.folder, 10_000, lambda lines: lines)]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    log.configure("info", "plain", [SECRET])
    made = Machine(tmp_path / "logs")
    yield made
    if made.handler is not None:
        made.handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_only_its_owner_reads_it_and_no_secret_is_in_it(machine: Machine) -> None:
    """The folder and the file are closed to others, and text is redacted as on standard error."""
    machine.open()
    machine.say(f"the key is {SECRET}")
    log.redact_also(["another-secret"])
    machine.say("and another-secret")
    assert stat.S_IMODE(machine.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((machine.folder / NAME).stat().st_mode) == 0o600
    written = (machine.folder / NAME).read_text()
    assert written.count("[secret]") == 2
    assert SECRET not in written
    assert "another-secret" not in written


def test_a_full_file_is_ended_and_nothing_is_lost(machine: Machine) -> None:
    """Each file stays below its size, and together they say everything in its order."""
    machine.open(max_bytes=400, keep_files=100)
    said = [f"line {number}" for number in range(60)]
    for text in said:
        machine.say(text)
        machine.now += timedelta(seconds=1)
    assert len(list_ended_files(machine.folder)) > 5
    assert all(path.stat().st_size <= 400 for path in machine.folder.iterdir())
    assert machine.texts() == said


def test_files_that_end_in_one_moment_have_names_of_their_own(machine: Machine) -> None:
    """A clock that stands still overwrites nothing."""
    machine.open(max_bytes=1, keep_files=100)
    machine.say("one", "two", "three", "four")
    assert machine.texts() == ["one", "two", "three", "four"]


def test_a_day_has_a_file_of_its_own_also_after_a_restart(machine: Machine) -> None:
    """What was written yesterday is ended by the first line of today."""
    machine.open().close()
    machine.say("before midnight")
    yesterday = machine.now.timestamp()
    os.utime(machine.folder / NAME, (yesterday, yesterday))
    machine.handler.close() if machine.handler else None
    machine.now += timedelta(days=1)
    machine.open()
    machine.say("after midnight")
    assert [path.name for path in list_ended_files(machine.folder)] == ["kenobot-20260302T120000000000Z.log"]
    assert "after midnight" in (machine.folder / NAME).read_text()
    assert machine.texts()[0] == "before midnight"


def test_what_is_too_many_or_too_old_is_deleted(machine: Machine) -> None:
    """And nothing else that lies in the folder."""
    machine.open(max_bytes=1, keep_files=3, keep_days=2)
    machine.say("first")
    (machine.folder / "kenobot-notes.log").write_text("mine")
    for number in range(6):
        machine.say(f"line {number}")
        machine.now += timedelta(hours=1)
    assert len(list_ended_files(machine.folder)) == 3
    machine.now += timedelta(days=3)
    machine.say("later")
    assert len(list_ended_files(machine.folder)) == 1  # the one that has just ended
    assert (machine.folder / "kenobot-notes.log").read_text() == "mine"


def test_while_the_disk_is_full_lines_go_to_standard_error(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bot goes on, half a line is taken back, and the file says how many are missing once it can."""
    machine.open()
    machine.say("whole")
    write, room = os.write, [10]

    def full(file: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[: room.pop()])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        machine.say("half", f"none, {SECRET}")
    machine.say("again")
    told = capsys.readouterr().err
    assert told.count("cannot be written: No space left on device") == 1
    assert "half" in told
    assert SECRET not in told
    assert machine.texts() == ["whole", "they went to standard error", "again"]
    assert "2 lines are missing here" in (machine.folder / NAME).read_text()


def test_a_file_that_somebody_moved_or_deleted_is_made_anew(machine: Machine) -> None:
    """Also with its folder: what is said next is in the file of that name."""
    machine.open()
    machine.say("one")
    (machine.folder / NAME).rename(machine.folder / "mine.log")
    machine.say("two")
    (machine.folder / NAME).unlink()
    machine.say("three")
    assert machine.texts() == ["three"]
    assert "one" in (machine.folder / "mine.log").read_text()


def test_it_is_not_written_through_a_link(machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody else's file is not appended to."""
    machine.folder.mkdir()
    other = tmp_path / "other"
    other.write_text("")
    (machine.folder / NAME).symlink_to(other)
    machine.open()
    machine.say("hello")
    assert other.read_text() == ""
    assert "hello" in capsys.readouterr().err


class EnoughError(Exception):
    """Ends a test that would wait on."""


def _followed(machine: Machine, waits: Sequence[Callable[[], object]]) -> list[str]:
    """Follow the log; whenever it waits, the next step happens."""

    steps = list(waits)

    def wait() -> None:
        if not steps:
            raise EnoughError
        steps.pop(0)()

    seen: list[str] = []
    with pytest.raises(EnoughError):
        seen.extend(line.rpartition(": ")[2] for line in follow(machine.folder, wait))
    return seen


def test_who_follows_sees_each_line_once_across_files(machine: Machine) -> None:
    """Lines from before are not shown; several files may end between two looks."""
    machine.open(max_bytes=120, keep_files=100)
    machine.say("before")
    said = [f"line {number}" for number in range(30)]
    batches = [partial(machine.say, *said[at : at + 7]) for at in range(0, len(said), 7)]
    assert _followed(machine, batches) == said
    assert len(list_ended_files(machine.folder)) > 10


def test_who_follows_before_there_is_a_log_sees_it_begin(machine: Machine) -> None:
    """And one that is deleted and made anew goes on."""
    machine.open()
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: machine.say("first"),
        (machine.folder / NAME).unlink,
        lambda: machine.say("second"),
        lambda: None,
    ]
    assert _followed(machine, steps) == ["first", "second"]


def test_the_last_lines_are_those_that_fit(machine: Machine) -> None:
    """Of earlier files only as many are read as it takes."""
    machine.open(max_bytes=1, keep_files=100)
    machine.say(*(f"line {number}" for number in range(10)))
    for path in list_ended_files(machine.folder)[:5]:
        path.chmod(0)
        path.unlink()
        path.mkdir()  # would fail if it were read
    last = last_lines(machine.folder, 3, lambda lines: (line for line in lines if not line.endswith("8")))
    assert [line.rpartition(": ")[2] for line in last] == ["line 6", "line 7", "line 9"]
    assert list(islice(last, 3)) == last
