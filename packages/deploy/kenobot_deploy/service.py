"""`kenobot service`: install the bot as a systemd service, for one person or the machine, and steer it."""

import getpass
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.ports.errors import ConfigError
from kenobot.ports.sentences import Sentence
from kenobot.storage.backup.names import backup_folder
from kenobot.storage.disk import replace_text
from kenobot.storage.updates import Environments

NAME = "kenobot.service"
MACHINE_FOLDER = Path("/etc/systemd/system")
_EXEC_START = "ExecStart=%h/.local/bin/kenobot run"
_USER_TARGET = "WantedBy=default.target"
_SECONDS = 60.0
_ANSWER_SECONDS = 10.0
_RUNNING = Path("/run/systemd/system")  # there, systemd is in charge of this machine
_LINGER = Path("/var/lib/systemd/linger")
_RUNS = ("active", "activating", "reloading", "deactivating")
_NO_SYSTEMD = "service.no_systemd"
_NO_USER_MANAGER = "service.no_user_manager"


@dataclass(frozen=True, slots=True)
class Manager:
    """A service manager: one person's, or the machine's, whose services run as `account`."""

    machine: bool
    account: str = ""

    @property
    def unit(self) -> Path:
        if self.machine:
            return MACHINE_FOLDER / NAME
        config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(config) / "systemd" / "user" / NAME

    def tells(self, *command: str) -> str:
        """Return the word that systemctl or loginctl answers with; "" when it cannot be asked."""
        path = shutil.which(command[0])
        if path is None:
            return ""
        scope = [] if self.machine else ["--user"]
        try:
            done = subprocess.run(  # noqa: S603 - systemd's own program
                [path, *scope, *command[1:]], capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip()

    def run(self, program: str, *arguments: str, seconds: float | None = _SECONDS) -> int:
        """Run systemctl or journalctl in this terminal; returns its exit code. Raises ConfigError."""
        path = shutil.which(program)
        if path is None:
            raise ConfigError(_NO_SYSTEMD)
        scope = [] if self.machine else ["--user"]
        try:
            return subprocess.run([path, *scope, *arguments], timeout=seconds, check=False).returncode  # noqa: S603
        except subprocess.TimeoutExpired:
            raise ConfigError("service.program_late", program=program, seconds=f"{seconds:g}") from None
        except KeyboardInterrupt:  # out of a log that is followed
            return 130

    def call(self, *arguments: str, names_unit: bool = True) -> int:
        """Run systemctl, with the service unless told otherwise, printing nothing; returns its exit code.

        Raises ConfigError.
        """
        return self._ask(*arguments, names_unit=names_unit).returncode

    def state(self) -> str:
        """Return systemd's word for how the service is: active, activating, inactive, failed …"""
        return self.tells("systemctl", "is-active", NAME)

    def serves(self, home: Home) -> bool:
        """Return whether the unit is of this home."""
        try:
            return f"--home {_quote(str(home.path))} run" in self.unit.read_text("utf-8")
        except OSError:
            return False

    @property
    def credentials(self) -> Path | None:
        """The folder from which the installed unit takes credentials."""
        try:
            lines = self.unit.read_text("utf-8").splitlines()
        except OSError:
            return None
        named = (line.partition(":")[2] for line in lines if line.startswith("LoadCredential="))
        return next((Path(path).parent for path in named), None)

    def follow_link(self, home: Home, link: Path) -> bool:
        """Point the unit to whichever environment `link` leads to; returns whether it does. Raises ConfigError."""
        wanted = _exec_start(home.path, link)
        try:
            unit = self.unit.read_text("utf-8")
            lines = [wanted if line.startswith("ExecStart=") else line for line in unit.splitlines()]
            if (changed := "\n".join(lines) + "\n") != unit:
                replace_text(self.unit, changed)
                self.unit.chmod(0o644)
                self._ask("daemon-reload", names_unit=False)
        except OSError:
            return False
        return True

    def _ask(self, *arguments: str, names_unit: bool = True) -> "subprocess.CompletedProcess[str]":
        path = shutil.which("systemctl")
        if path is None:
            raise ConfigError(_NO_SYSTEMD)
        command = [path, *([] if self.machine else ["--user"]), *arguments, *([NAME] if names_unit else [])]
        try:
            return subprocess.run(command, timeout=_SECONDS, check=False, capture_output=True, text=True)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise ConfigError("service.systemctl_late", seconds=f"{_SECONDS:g}") from None


def install(context: CommandContext) -> int:
    """Write the unit, enable it, and start it unless asked not to."""
    args = context.args
    manager = Manager(args.machine, _account(args.user) if args.machine else "")
    home = _home(context, manager)
    settings = load_settings(home, os.environ).settings  # what is wrong is better said now than in the log
    written = [home.path, backup_folder(home, settings.backup.folder)]
    unit = unit_text(manager, written, Path(args.credentials) if args.credentials else None)
    if args.print:
        print(unit, end="")
        return 0
    if manager.machine and os.geteuid() != 0:
        raise ConfigError("service.needs_root")
    _prepare(home, manager)
    return _put_in_place(manager, unit, start=not args.no_start)


def install_for_user(home: Home) -> int:
    """Install and start the service of the person at this terminal, or start it anew. Returns the exit code."""
    manager = Manager(machine=False)
    return _put_in_place(manager, unit_text(manager, [home.path], manager.credentials), start=True)


def require_manager() -> None:
    """Raise ConfigError where no service can be installed for the person at this terminal."""
    if not _RUNNING.is_dir() or shutil.which("systemctl") is None:
        raise ConfigError("service.not_set_up", reason=Sentence(_NO_SYSTEMD))
    if Manager(machine=False).call("show-environment", names_unit=False):
        raise ConfigError("service.not_set_up", reason=Sentence(_NO_USER_MANAGER))


def offer(home: Home) -> Literal["no", "root", "install", "restart"]:
    """Return what may be offered to the person at this terminal: to install a service, or to start theirs anew.

    "no" as well where the service is of another home, or the machine's; "root" for root, as whom no bot is to run.
    """
    if not _RUNNING.is_dir() or shutil.which("systemctl") is None or Manager(machine=True).serves(home):
        return "no"
    if os.geteuid() == 0:
        return "root"
    own = Manager(machine=False)
    if not own.unit.exists():
        return "install"
    return "restart" if own.serves(home) else "no"


def _put_in_place(manager: Manager, unit: str, *, start: bool) -> int:
    """Write the unit, enable it and, when asked to, start it: anew if it runs, by what stands in the unit now."""
    try:
        manager.unit.parent.mkdir(parents=True, exist_ok=True)
        replace_text(manager.unit, unit)
        manager.unit.chmod(0o644)
    except OSError as error:
        raise ConfigError("files.unwritable", path=manager.unit, reason=error) from error
    print(say("Installed: {unit}", unit=manager.unit))
    runs = manager.tells("systemctl", "is-active", NAME) in _RUNS
    manager.tells("systemctl", "reset-failed", NAME)  # or systemd would not start what fell too often
    steps = [["daemon-reload"], ["enable", NAME], *([["restart", NAME]] if start else [])]
    for step in steps:
        if manager.run("systemctl", *step):
            why = "systemctl failed: the unit is in place, but `systemctl {step}` did not work."
            told = [say(why, step=" ".join(step)), *_reasons(manager)]
            return options.print_failure("\n".join(told), options.FAILED)
    if runs:
        again = (
            "It ran already, and was started anew."
            if start
            else ("It runs on as it was: `kenobot service restart` starts it anew.")
        )
        print(say(again))
    if not manager.machine and not lingers(person := getpass.getuser()):
        always = "It runs while you are logged in. So that it always does: sudo loginctl enable-linger {name}"
        print(say(always, name=person))
    print(say("See how it is with `kenobot service status`, and its log with `kenobot service logs`."))
    return 0


def _reasons(manager: Manager) -> Sequence[str]:
    """Say why systemctl may have failed, where that can be seen."""
    if not _RUNNING.is_dir():
        return [say(_NO_SYSTEMD)]
    if not manager.machine and manager.call("show-environment", names_unit=False):
        return [say(_NO_USER_MANAGER)]
    return []


def lingers(account: str) -> bool:
    """Return whether an account's services run while nobody is logged in."""
    return (_LINGER / account).exists()


def uninstall(context: CommandContext) -> int:
    """Stop and disable the service, and remove its unit; the home stays."""
    manager = _require_installed()
    manager.run("systemctl", "disable", "--now", NAME)
    try:
        manager.unit.unlink()
    except OSError as error:
        raise ConfigError("files.unremovable", path=manager.unit, reason=error) from error
    manager.run("systemctl", "daemon-reload")
    print(say("Removed: {unit}. The home {home} stays as it is.", unit=manager.unit, home=context.home.path))
    return 0


def steer(context: CommandContext) -> int:
    """Start, stop, restart or show the service: `systemctl` does."""
    return _require_installed().run("systemctl", "--no-pager", context.args.command, NAME)


def logs(context: CommandContext) -> int:
    """Show the service's log: `journalctl` does."""
    args = context.args
    follow = ["--follow"] if args.follow else ["--no-pager"]
    return _require_installed().run("journalctl", "--unit", NAME, "--lines", str(args.lines), *follow, seconds=None)


def _home(context: CommandContext, manager: Manager) -> Home:
    """Return the home to serve: for another account its own, unless one is named."""
    if manager.machine and not (context.args.home or os.environ.get("KENOBOT_HOME")):
        return Home(Path(pwd.getpwnam(manager.account).pw_dir) / ".kenobot")
    return context.home


def _prepare(home: Home, manager: Manager) -> None:
    """Make the home where there is none, for the account that the service runs as. Raises ConfigError."""
    is_new = not home.path.exists()
    home.prepare()
    if not manager.machine:
        return
    account = pwd.getpwnam(manager.account)
    if is_new:
        for path in (home.path, *home.path.rglob("*")):
            os.chown(path, account.pw_uid, account.pw_gid)
    elif home.path.stat().st_uid != account.pw_uid:
        raise ConfigError("service.foreign_home", path=home.path, account=manager.account)


def installed_service() -> Manager | None:
    """Return the manager of the service that is installed, one person's before the machine's."""
    return next((manager for manager in (Manager(False), Manager(True)) if manager.unit.exists()), None)


def _require_installed() -> Manager:
    found = installed_service()
    if found is None:
        raise options.NothingFound("service.not_installed")
    return found


def _account(named: str | None) -> str:
    """Return whom a service of the machine runs as. Raises ConfigError."""
    name = named or os.environ.get("SUDO_USER") or getpass.getuser()
    try:
        account = pwd.getpwnam(name)
    except KeyError:
        raise ConfigError("service.no_account", name=name) from None
    if account.pw_uid == 0:
        raise ConfigError("service.not_as_root")
    return name


def unit_text(manager: Manager, written: Sequence[Path], credentials: Path | None) -> str:
    """Fill in the shipped unit. written: the home, and other folders that the bot writes to."""
    home, *others = written
    shipped = resources.files("kenobot").joinpath("config", "systemd")
    unit = shipped.joinpath(NAME).read_text("utf-8")
    link = Environments(Home(home)).link
    lines = [_exec_start(home, link if link.exists() else None)]
    if manager.machine:
        lines += [f"User={manager.account}", f"ReadWritePaths={_quote(str(home))}"]
        lines += [f"ReadWritePaths={_quote(f'-{path}')}" for path in others if not path.is_relative_to(home)]
    lines += _credential_lines(credentials)
    unit = _replace_line(unit, _EXEC_START, "\n".join(lines))
    if manager.machine:
        unit = _replace_line(unit, _USER_TARGET, "WantedBy=multi-user.target")
        unit += "\n" + shipped.joinpath("machine.conf").read_text("utf-8")
    return unit


def _exec_start(home: Path, environment: Path | None) -> str:
    """Write the line that starts the bot. environment: None for this process's own."""
    python = sys.executable if environment is None else str(environment / "bin" / "python")
    return f"ExecStart={_quote(python)} -m kenobot --home {_quote(str(home))} run"


def _credential_lines(folder: Path | None) -> Sequence[str]:
    if folder is None:
        return ()
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise ConfigError("files.unreadable", path=folder, reason=error) from error
    return [f"LoadCredential={path.name}:{path.absolute()}" for path in files]


def _replace_line(unit: str, line: str, by: str) -> str:
    if line not in unit:
        raise ConfigError("service.bad_shipped_unit")
    return unit.replace(line, by)


def _quote(text: str) -> str:
    """Quote an argument for ExecStart; systemd.unit(5), "Quoting" and "Specifiers"."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if any(character in text for character in " \"'\\;") else escaped
