"""Run the programs of an update, and end them before they take the last room on the disk from the bot that runs."""

import contextlib
import errno
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kenobot.app.watch.machine_room import disk_room
from kenobot.ports.errors import KenobotError

_LOOK_SECONDS = 0.1
_TOLD = 300  # characters of what a program said last
_MEGA = 1_000_000
_NOTES_BYTES = 1_000_000  # for what is written down of an update
_FULL = (errno.ENOSPC, errno.EDQUOT)
_SAID_FULL = re.compile(r"(?i)no space left on device|os error 28|disk quota exceeded|disk (of .+ )?(is )?full")


class UpdateFailed(KenobotError):
    """The new version could not be installed, or did not pass. The one in use was left alone."""


@dataclass(frozen=True, slots=True)
class DiskGuard:
    """Watches the disk of `folder`. least: bytes that stay free for the bot that runs meanwhile."""

    folder: Path
    least: int

    def require(self, more: int = 0) -> None:
        """Raise UpdateFailed where `more` bytes cannot be taken, and OSError."""
        needed = self.least + more
        if needed and (free := disk_room(self.folder).free) < needed:
            raise UpdateFailed("update.no_room", folder=self.folder, free=free // _MEGA, needed=-(-needed // _MEGA))

    @contextlib.contextmanager
    def hold(self, size: int) -> Iterator[Callable[[], None]]:
        """Take bytes of the disk until the end, or until what this yields is called; a kill frees them as well.

        Raises UpdateFailed where they are not there, and OSError.
        """
        size += _NOTES_BYTES
        self.require(size)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            if hasattr(os, "posix_fallocate"):  # not on macOS
                os.posix_fallocate(file.fileno(), 0, size)
            yield file.close

    def full(self) -> UpdateFailed:
        """Return what to tell when something found a disk full: this one, or that of temporary files."""
        places = {folder.stat().st_dev: folder for folder in (Path(tempfile.gettempdir()), self.folder)}
        left = ", ".join(f"{place}: {disk_room(place).free // _MEGA} MB" for place in reversed(places.values()))
        return UpdateFailed("update.disk_full", room=left)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Treat SIGTERM, and the end of the terminal, as Ctrl-C meanwhile: what was begun is cleared away."""
    # One that is ignored stays so: `nohup` did it on purpose.
    signals = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) != signal.SIG_IGN]
    before = {number: signal.signal(number, signal.default_int_handler) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_full(error: OSError) -> bool:
    """Return whether an error says that a disk has no room."""
    return error.errno in _FULL


def said_full(text: str) -> bool:
    """Return whether what a program said is that a disk has no room."""
    return _SAID_FULL.search(text) is not None


def last_words(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the last line of what a program that failed said."""
    lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
    errors = [line for line in lines if line.startswith(("ERROR", "error", "  ×"))] or lines
    return errors[-1].strip()[:_TOLD]


def run(
    command: Sequence[str],
    seconds: float,
    *,
    stdin: str = "",
    environ: Mapping[str, str] | None = None,
    guard: DiskGuard | None = None,
) -> str:
    """Run a program and return what it printed; see `run_quietly`. Raises UpdateFailed, also when it fails."""
    done = run_quietly(command, seconds, stdin=stdin, environ=environ, guard=guard)
    if done.returncode:
        if guard is not None and said_full(done.stderr + done.stdout):
            raise guard.full()
        raise UpdateFailed("update.program_failed", name=Path(command[0]).name, words=last_words(done))
    return done.stdout


def run_quietly(
    command: Sequence[str],
    seconds: float,
    *,
    stdin: str = "",
    environ: Mapping[str, str] | None = None,
    guard: DiskGuard | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run a program without this terminal. environ: set beside this process's own. Raises UpdateFailed.

    guard: ends it, with all that it began, when too little room is left.
    """
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "LC_ALL": "C.UTF-8"}
    try:
        # A program of this environment, or of the one that was made beside it.
        process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **quiet, **(environ or {})},
            start_new_session=True,
        )
    except OSError as error:
        raise UpdateFailed("update.program_missing", command=command[0], reason=error) from error
    with process:
        try:
            return _wait(process, seconds, stdin, guard)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise


def _wait(
    process: "subprocess.Popen[str]", seconds: float, stdin: str, guard: DiskGuard | None
) -> "subprocess.CompletedProcess[str]":
    """Wait until a program ends; see `run_quietly`."""
    told: str | None = stdin
    ends = time.monotonic() + seconds
    while True:
        try:
            out, errors = process.communicate(told, timeout=_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            told = None  # it goes on with what it was given
            if guard is not None:
                guard.require()
            if time.monotonic() >= ends:
                name = Path(str(process.args[0])).name  # type: ignore[index]
                raise UpdateFailed("update.program_late", name=name, seconds=f"{seconds:g}") from None
        else:
            return subprocess.CompletedProcess(process.args, process.returncode, out, errors)
