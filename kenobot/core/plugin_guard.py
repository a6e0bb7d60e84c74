"""Contain the import and the construction of plugins that do not ship with KenoBot.

A marker file stands in the home meanwhile. One that is left over names a plugin that ended the process: it stays off
until its owner has it tried again.
"""

import contextlib
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from kenobot.core.time_limit import TookTooLong, time_limit
from kenobot.ports.errors import KenobotError, PluginError

_SECONDS = 15.0  # for the import of an SDK on a slow machine
_FROZEN_SECONDS = 45.0  # after which nothing but the end of the process helps


class _AskedToStop(BaseException):
    """SIGTERM came while a plugin was loaded."""


class PluginGuard:
    """Watch code of plugins. folder: of the markers, made when there is one to write; None: no markers."""

    def __init__(self, folder: Path | None = None, seconds: float = _SECONDS) -> None:
        self._folder = folder
        self._seconds = seconds

    @contextmanager
    def watch(self, key: str, described: str) -> Iterator[None]:
        """Run a plugin's code in the block: whatever it does there is a PluginError that begins with `described`.

        key: the plugin's, such as "channel.irc".
        """
        if self.was_fatal(key):
            raise PluginError("plugins.fatal", described=described, name=key.partition(".")[2])
        try:
            with self._mark(key), _end_when_frozen(), _stoppable(), time_limit(self._seconds):
                yield
        except TookTooLong:
            raise PluginError("plugins.loaded_late", described=described, seconds=self._seconds) from None
        except _AskedToStop:
            raise SystemExit(128 + signal.SIGTERM) from None
        except KeyboardInterrupt:
            raise
        except KenobotError as error:
            raise PluginError("plugins.unusable", described=described, reason=error) from error
        except BaseException as error:  # somebody else's code: SystemExit is one of the things that it may raise
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            raise PluginError("plugins.unloadable", described=described, text=text) from error

    def was_fatal(self, key: str) -> bool:
        """Return whether a process ended while it loaded the plugin."""
        return any(not _lives(_process(path)) for path in self._markers(key))

    def forgive(self, name: str) -> bool:
        """Release plugins of a name; return whether any was held back."""
        found = [path for path in self._markers() if path.name.partition(".")[2].rpartition(".")[0] == name]
        for path in found:
            path.unlink(missing_ok=True)
        return bool(found)

    def _markers(self, key: str = "") -> list[Path]:
        if self._folder is None:
            return []
        with contextlib.suppress(OSError):
            return sorted(self._folder.glob(f"{key or '*'}.[0-9]*"))
        return []

    @contextmanager
    def _mark(self, key: str) -> Iterator[None]:
        """Keep a marker while the block runs, where the home can hold one."""
        marker = None if self._folder is None else self._folder / f"{key}.{os.getpid()}"
        if marker is not None:
            try:
                if marker.parent.parent.is_dir():  # a home that is only looked at is not made
                    marker.parent.mkdir(mode=0o700, exist_ok=True)
                    marker.touch(mode=0o600)
            except OSError:
                marker = None
        try:
            yield
        finally:
            if marker is not None:
                with contextlib.suppress(OSError):
                    marker.unlink(missing_ok=True)
                    marker.parent.rmdir()  # unless another is in it


def _process(marker: Path) -> int:
    number = marker.name.rpartition(".")[2]
    return int(number) if number.isascii() and number.isdecimal() else 0


def _lives(process: int) -> bool:
    """Return whether another process of this number runs. A marker with our own number is of an earlier process."""
    if process in (0, os.getpid()):
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def _end_when_frozen() -> Iterator[None]:
    """End the process when nothing can interrupt the block: then the marker tells the next start whose code it was."""
    if threading.current_thread() is not threading.main_thread() or sys.__stderr__ is None:
        yield
        return
    with contextlib.suppress(OSError, ValueError):  # an stderr without a file behind it
        faulthandler.dump_traceback_later(_FROZEN_SECONDS, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM end the block instead of the process: a marker left by it would blame the plugin."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _AskedToStop

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
