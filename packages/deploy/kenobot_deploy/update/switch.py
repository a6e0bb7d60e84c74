"""Put a new version in the place of the one in use, see whether it is well, and put the old one back when it is not."""

import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol

from kenobot.app.watch.machine_room import disk_room
from kenobot.cli.bot_link import ask
from kenobot.cli.context import CommandContext
from kenobot.core.frames import ChannelStates, ControlChannels, Stop
from kenobot.core.settings.home import AlreadyLocked, Home
from kenobot.ports.errors import KenobotError
from kenobot.ports.sentences import Sentence, word_system
from kenobot.storage import migrate
from kenobot.storage.backup.put_back import put_back
from kenobot.storage.updates import Environments, Side, Update
from kenobot_deploy.service import Manager, installed_service
from kenobot_deploy.update.environment import python_of
from kenobot_deploy.update.programs import UpdateFailed

_ANSWER_SECONDS = 5.0
_STOP_SECONDS = 30.0  # of the bot, which takes ten at most, and of systemd, which waits fifteen
_LOOK_SECONDS = 0.1
_FULL_BYTES = 1_000_000

FreeRoom = Callable[[], None]


class Runner(Protocol):
    """Starts and stops the bot of a home."""

    def restart(self, environment: Path) -> None:
        """Begin to start the version of an environment, in the place of what runs. Raises KenobotError."""
        ...

    def stop(self) -> None:
        """Stop what runs; the home is free then. Raises KenobotError."""
        ...

    def has_ended(self) -> bool:
        """Return whether what was started has given up."""
        ...

    def go_on(self) -> None:
        """Start the version in use, as far as that is this command's to do. Raises KenobotError."""
        ...


class ServiceRunner:
    """The bot as a service of systemd, which was running before."""

    def __init__(self, home: Home, manager: Manager) -> None:
        self._home = home
        self._manager = manager

    def restart(self, environment: Path) -> None:
        self._call_systemctl("restart", "--no-block")

    def stop(self) -> None:
        self._call_systemctl("stop")
        wait_free(self._home)

    def has_ended(self) -> bool:
        return self._manager.state() == "failed"

    def go_on(self) -> None:
        if self._manager.state() not in ("active", "activating", "reloading"):
            self._manager.call("reset-failed")
            self._call_systemctl("start", "--no-block")

    def _call_systemctl(self, *arguments: str) -> None:
        if self._manager.call(*arguments):
            raise UpdateFailed("update.systemctl_failed", action=arguments[0])


class OwnRunner:
    """The bot as a process of this command, for as long as the trial lasts: another program runs it otherwise."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None

    def restart(self, environment: Path) -> None:
        command = [str(python_of(environment)), "-P", "-m", "kenobot", "--home", str(self._home.path), "run"]
        self._process = subprocess.Popen(  # noqa: S603 - the version that was installed above
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        stop_bot(self._home)

    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None and is_free(self._home)

    def go_on(self) -> None:
        """Leave it to whoever started the bot: a supervisor has done so already, or a person will."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(_STOP_SECONDS)


class NoRunner:
    """No bot to start: no channel is enabled."""

    def restart(self, environment: Path) -> None: ...

    def stop(self) -> None: ...

    def has_ended(self) -> bool:
        return False

    def go_on(self) -> None: ...


def find_service(home: Home) -> Manager | None:
    """Return the service that runs this home; None when there is none, or it is stopped."""
    manager = installed_service()
    if manager is None or not manager.serves(home) or manager.state() not in ("active", "activating", "reloading"):
        return None
    return manager


def serving_channels(home: Home) -> tuple[str, ...]:
    """List the channels that the running bot serves, but for its terminal; none when no bot runs."""
    listed = ask(home, ControlChannels(action="list"), _ANSWER_SECONDS)
    rows = listed.channels if isinstance(listed, ChannelStates) else ()
    return tuple(row.name for row in rows if row.state == "serving" and row.name != "console")


class Switch:
    """One change from a version to another. Only a process that holds the home's update lock may make one."""

    def __init__(self, context: CommandContext, runner: Runner, deadline: float) -> None:
        self._home = context.home
        self._now: Callable[[], datetime] = context.clock.now
        self._environments = Environments(context.home)
        self._runner = runner
        self._deadline = deadline

    def try_out(self, old: Side, new: Side, channels: Sequence[str], free_room: FreeRoom) -> Update:
        """Put the new version in place and wait for its verdict; returns how it ended: taken, or returned.

        free_room: frees what was held of the disk, so that the old version can be put back for sure.
        Raises KenobotError when it could not be, and OSError.
        """
        update = Update(
            trial=secrets.token_hex(8),
            phase="trial",
            old=old,
            new=new,
            schema_version=_schema_version(self._home),
            began=self._now(),
            channels=tuple(channels),
        )
        try:
            if self._environments.current() is None:
                self._environments.switch(old.environment)
            self._environments.write(update)
            self._environments.switch(new.environment)
            self._runner.restart(new.environment)
            problem = self._wait_for_verdict(update)
        except KeyboardInterrupt:
            problem = Sentence("update.interrupted")
        except KenobotError as error:
            problem = str(error)
        except OSError as error:
            problem = word_system(error)
        if problem:
            return self.go_back(update, problem, free_room=free_room)
        free_room()
        update = update.model_copy(update={"phase": "taken"})
        self._environments.write(update)
        self._runner.go_on()
        return update

    def go_back(self, update: Update, reason: str, *, told: bool = False, free_room: FreeRoom = lambda: None) -> Update:
        """Put the old version back, and the database as it was when that cannot read it; messages stay.

        told: the owner need not be. Done once more after it was cut off, it comes to the same.
        Raises KenobotError and OSError.
        """
        is_on_trial = update.phase == "trial"
        update = update.model_copy(update={"phase": "returning", "reason": reason, "told": told})
        try:
            if is_on_trial:  # it answers nobody: from here on the return is finished, also by the next start
                with suppress(OSError):  # a full disk, of which something is held
                    self._environments.write(update)
            self._runner.stop()
            free_room()  # not before: what was running would take it
            self._environments.write(update)
            with _hold_lock(self._home):
                update = put_version_back(self._home, update, self._now())
        finally:  # whichever of them is in place: neither is half
            self._runner.go_on()
        return update

    def _wait_for_verdict(self, update: Update) -> str:
        """Wait for what the bot on trial says; returns what is wrong, "" when it is well."""
        if isinstance(self._runner, NoRunner):
            return ""
        ends = time.monotonic() + self._deadline
        while time.monotonic() < ends:
            verdict = self._environments.read_verdict()
            if verdict is not None and verdict.trial == update.trial:
                return verdict.problem
            if self._runner.has_ended():
                is_full = disk_room(self._home.path).free < _FULL_BYTES
                return Sentence("update.disk_filled" if is_full else "update.ended_at_once")
            time.sleep(_LOOK_SECONDS)
        return Sentence("update.not_well", seconds=self._deadline)


def put_version_back(home: Home, update: Update, at: datetime) -> Update:
    """Put back what a version may have changed, in a home that this process holds; returns the update, returned.

    Raises StoreError and OSError.
    """
    kept = None
    if home.database.exists():
        kept = put_back(home, update.schema_version, update.began, at)
    environments = Environments(home)
    environments.switch(update.old.environment)
    update = update.model_copy(update={"phase": "returned", "kept": str(kept or update.kept)})
    environments.write(update)
    return update


def stop_bot(home: Home) -> None:
    """Ask the bot that runs in a home to end, and wait until it has. Raises UpdateFailed."""
    if not is_free(home):
        ask(home, Stop(), _ANSWER_SECONDS)
        wait_free(home)


@contextmanager
def _hold_lock(home: Home) -> Iterator[None]:
    """Hold a home, against a supervisor that starts the bot again and again. Raises UpdateFailed."""
    ends = time.monotonic() + _STOP_SECONDS
    while True:
        stop_bot(home)
        with ExitStack() as stack:
            try:
                stack.enter_context(home.lock())
            except AlreadyLocked:
                if time.monotonic() >= ends:
                    raise
                continue
            yield
            return


def is_free(home: Home) -> bool:
    """Return whether no bot holds the home."""
    if not home.path.is_dir():
        return True
    try:
        with home.lock():
            return True
    except AlreadyLocked:
        return False


def wait_free(home: Home) -> None:
    """Wait until no bot holds the home. Raises UpdateFailed."""
    ends = time.monotonic() + _STOP_SECONDS
    while not is_free(home):
        if time.monotonic() >= ends:
            raise UpdateFailed("update.bot_goes_on")
        time.sleep(_LOOK_SECONDS)


def _schema_version(home: Home) -> int:
    return migrate.schema_version(home.database) if home.database.exists() else 0
