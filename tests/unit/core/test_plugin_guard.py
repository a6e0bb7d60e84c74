"""Whatever a plugin does while it is loaded costs only the plugin."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kenobot.core.plugin_guard import PluginGuard
from kenobot.core.time_limit import TookTooLong, time_limit
from kenobot.ports.errors import ConfigError, PluginError

KEY = "channel.irc"


def exit_process() -> None:
    raise SystemExit(3)


def hang() -> None:
    while True:
        try:
            signal.pause()
        except Exception:
            continue


def complain() -> None:
    raise ConfigError("it needs a token.")


def recurse() -> None:
    recurse()


@pytest.mark.parametrize(
    ("work", "reason"),
    [(exit_process, "SystemExit: 3"), (hang, "within"), (complain, "it needs a token"), (recurse, "RecursionError")],
)
def test_it_becomes_an_error_that_names_the_plugin(tmp_path: Path, work: object, reason: str) -> None:
    """And leaves no marker."""
    guard = PluginGuard(tmp_path / "markers", seconds=0.05 if work is hang else 60.0)
    assert callable(work)
    with pytest.raises(PluginError, match=f"The channel.*{reason}"), guard.watch(KEY, 'The channel "irc"'):
        work()
    assert not guard.was_fatal(KEY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("death", ["os._exit(9)", "os.kill(os.getpid(), 9)"])
def test_a_plugin_that_ended_the_process_is_off_until_it_is_tried_again(tmp_path: Path, death: str) -> None:
    """Its marker is left over; another plugin is loaded all the same."""
    code = (
        "import os; from pathlib import Path; from kenobot.core.plugin_guard import PluginGuard\n"
        f"with PluginGuard(Path({str(tmp_path / 'markers')!r})).watch({KEY!r}, 'it'): {death}"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode in (9, -9)
    guard = PluginGuard(tmp_path / "markers")
    with pytest.raises(PluginError, match="kenobot plugins retry irc"), guard.watch(KEY, 'The channel "irc"'):
        raise AssertionError("it was run")
    with guard.watch("channel.other", "it"):
        pass
    assert guard.forgive("irc")
    with guard.watch(KEY, "it"):
        pass


def test_a_plugin_that_another_process_loads_right_now_is_not_blamed(tmp_path: Path) -> None:
    """A command beside the bot."""
    markers = tmp_path / "markers"
    markers.mkdir()
    (markers / f"{KEY}.{os.getppid()}").touch()
    assert not PluginGuard(markers).was_fatal(KEY)


def test_sigterm_ends_the_process_and_blames_nobody(tmp_path: Path) -> None:
    """A service that is stopped while it starts."""
    guard = PluginGuard(tmp_path / "markers")
    with pytest.raises(SystemExit), guard.watch(KEY, "it"):
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    assert not guard.was_fatal(KEY)


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """`kenobot config` changes nothing on disk."""
    with PluginGuard(tmp_path / "home" / "markers").watch(KEY, "it"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_code_that_ends_in_time_is_left_alone() -> None:
    """The alarm is taken back."""
    with time_limit(30):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with pytest.raises(TookTooLong), time_limit(0.01):
        signal.pause()
