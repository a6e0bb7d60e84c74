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

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.ports.errors import ConfigError
from kenobot.storage.backup.backups import backup_folder
from kenobot.storage.disk import replace_text

_NAME = "kenobot.service"
_MACHINE_FOLDER = Path("/etc/systemd/system")
_EXEC_START = "ExecStart=%h/.local/bin/kenobot run"
_USER_TARGET = "WantedBy=default.target"
_SECONDS = 60.0
_NO_SYSTEMD = (
    "This machine has no systemd: have another supervisor run `kenobot run` (docker/compose.yml does), "
    "or see the unit with `kenobot service install --print`."
)


@dataclass(frozen=True, slots=True)
class _Manager:
    """A service manager: one person's, or the machine's, whose services run as `account`."""

    machine: bool
    account: str = ""

    @property
    def unit(self) -> Path:
        if self.machine:
            return _MACHINE_FOLDER / _NAME
        config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(config) / "systemd" / "user" / _NAME

    def run(self, program: str, *arguments: str, seconds: float | None = _SECONDS) -> int:
        """Run systemctl or journalctl in this terminal; returns its exit code. Raises ConfigError."""
        path = shutil.which(program)
        if path is None:
            raise ConfigError(_NO_SYSTEMD)
        scope = [] if self.machine else ["--user"]
        try:
            return subprocess.run([path, *scope, *arguments], timeout=seconds, check=False).returncode  # noqa: S603
        except subprocess.TimeoutExpired:
            raise ConfigError(
                f"{program} did not end within {seconds:g} seconds: look with `systemctl status`."
            ) from None
        except KeyboardInterrupt:  # out of a log that is followed
            return 130


def install(context: CommandContext) -> int:
    """Write the unit, enable it, and start it unless asked not to."""
    args = context.args
    manager = _Manager(args.machine, _account(args.user) if args.machine else "")
    home = _home(context, manager)
    settings = load_settings(home, os.environ).settings  # what is wrong is better said now than in the log
    written = [home.path, backup_folder(home, settings.backup.folder)]
    unit = _unit_text(manager, written, Path(args.credentials) if args.credentials else None)
    if args.print:
        print(unit, end="")
        return 0
    if manager.machine and os.geteuid() != 0:
        raise ConfigError("A service of the machine is installed by root: run it with sudo, or leave --machine away.")
    _prepare(home, manager)
    try:
        manager.unit.parent.mkdir(parents=True, exist_ok=True)
        replace_text(manager.unit, unit)
        manager.unit.chmod(0o644)
    except OSError as error:
        raise ConfigError(f"{manager.unit} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    print(say("Installed: {unit}", unit=manager.unit))
    code = manager.run("systemctl", "daemon-reload")
    code = code or manager.run("systemctl", "enable", *([] if args.no_start else ["--now"]), _NAME)
    if code:
        return options.print_failure("systemctl failed: the unit is in place and not enabled.", options.FAILED)
    if not manager.machine:
        print(say("It runs while you are logged in. So that it always does: loginctl enable-linger"))
    print(say("See how it is with `kenobot service status`, and its log with `kenobot service logs`."))
    return 0


def uninstall(context: CommandContext) -> int:
    """Stop and disable the service, and remove its unit; the home stays."""
    manager = _installed()
    manager.run("systemctl", "disable", "--now", _NAME)
    try:
        manager.unit.unlink()
    except OSError as error:
        raise ConfigError(f"{manager.unit} cannot be removed: {(error.strerror or str(error)).lower()}.") from error
    manager.run("systemctl", "daemon-reload")
    print(say("Removed: {unit}. The home {home} stays as it is.", unit=manager.unit, home=context.home.path))
    return 0


def steer(context: CommandContext) -> int:
    """Start, stop, restart or show the service: `systemctl` does."""
    return _installed().run("systemctl", "--no-pager", context.args.command, _NAME)


def logs(context: CommandContext) -> int:
    """Show the service's log: `journalctl` does."""
    args = context.args
    follow = ["--follow"] if args.follow else ["--no-pager"]
    return _installed().run("journalctl", "--unit", _NAME, "--lines", str(args.lines), *follow, seconds=None)


def _home(context: CommandContext, manager: _Manager) -> Home:
    """Return the home to serve: for another account its own, unless one is named."""
    if manager.machine and not (context.args.home or os.environ.get("KENOBOT_HOME")):
        return Home(Path(pwd.getpwnam(manager.account).pw_dir) / ".kenobot")
    return context.home


def _prepare(home: Home, manager: _Manager) -> None:
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
        raise ConfigError(
            f"{home.path} does not belong to {manager.account}: name another account with --user, "
            f"or run: chown -R {manager.account} {home.path}"
        )


def _installed() -> _Manager:
    found = next((manager for manager in (_Manager(False), _Manager(True)) if manager.unit.exists()), None)
    if found is None:
        raise options.NothingFound("The service is not installed: run `kenobot service install`.")
    return found


def _account(named: str | None) -> str:
    """Return whom a service of the machine runs as. Raises ConfigError."""
    name = named or os.environ.get("SUDO_USER") or getpass.getuser()
    try:
        account = pwd.getpwnam(name)
    except KeyError:
        raise ConfigError(
            f"There is no account {name}: make one with `useradd --system --create-home {name}`."
        ) from None
    if account.pw_uid == 0:
        raise ConfigError("The bot does not run as root: name another account with --user.")
    return name


def _unit_text(manager: _Manager, written: Sequence[Path], credentials: Path | None) -> str:
    """Fill in the shipped unit. written: the home, and other folders that the bot writes to."""
    home, *others = written
    shipped = resources.files("kenobot").joinpath("config", "systemd")
    unit = shipped.joinpath(_NAME).read_text("utf-8")
    lines = [f"ExecStart={_quoted(sys.executable)} -m kenobot --home {_quoted(str(home))} run"]
    if manager.machine:
        lines += [f"User={manager.account}", f"ReadWritePaths={_quoted(str(home))}"]
        lines += [f"ReadWritePaths={_quoted(f'-{path}')}" for path in others if not path.is_relative_to(home)]
    lines += _credential_lines(credentials)
    unit = _replaced(unit, _EXEC_START, "\n".join(lines))
    if manager.machine:
        unit = _replaced(unit, _USER_TARGET, "WantedBy=multi-user.target")
        unit += "\n" + shipped.joinpath("machine.conf").read_text("utf-8")
    return unit


def _credential_lines(folder: Path | None) -> Sequence[str]:
    if folder is None:
        return ()
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise ConfigError(f"{folder} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    return [f"LoadCredential={path.name}:{path.absolute()}" for path in files]


def _replaced(unit: str, line: str, by: str) -> str:
    if line not in unit:
        raise ConfigError("The shipped unit is not what it was: install KenoBot again.")
    return unit.replace(line, by)


def _quoted(text: str) -> str:
    """Quote an argument for ExecStart; systemd.unit(5), "Quoting" and "Specifiers"."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if any(character in text for character in " \"'\\;") else escaped
