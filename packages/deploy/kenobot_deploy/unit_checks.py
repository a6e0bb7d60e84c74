"""Check the service that is installed: its unit, the paths in it, and what systemd makes of it."""

import getpass
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from kenobot.cli.context import CommandContext
from kenobot.cli.doctor.findings import Finding
from kenobot.cli.language import say
from kenobot.storage.backup.names import backup_folder
from kenobot_deploy import service

_UNKNOWN = ("", "unknown")


def check_service(context: CommandContext) -> Iterator[Finding]:
    """Yield the installed units that serve this home."""
    managers = (service.Manager(machine=False), service.Manager(machine=True))
    serving = [each for each in managers if _home(_lines(each.unit)) == context.home.path]
    if len(serving) > 1:
        units = ", ".join(str(each.unit) for each in serving)
        text = say("Two services serve this home, of which one keeps failing: {units}", units=units)
        yield Finding("service", "warning", text, say("Remove one: `kenobot service uninstall` removes yours."))
    for manager in serving:
        found = [*_check_paths(manager), *_check_text(manager, context), *_check_state(manager)]
        yield from found
        if not found:
            yield Finding("service", "ok", say("The service is installed as it should be: {unit}", unit=manager.unit))


def _check_paths(manager: service.Manager) -> Iterator[Finding]:
    """Check that what the unit names is there: systemd does not start it otherwise."""
    lines = _lines(manager.unit)
    started = Path(_find_started(lines)[0])
    credentials = [Path(line.partition(":")[2]) for line in lines if line.startswith("LoadCredential=")]
    for path in (started, *credentials):
        if not _is_there(path):
            text = say("The service needs {path}, which is gone.", path=path)
            yield Finding("service", "error", text, say("Install it again: `kenobot service install`."))


def _check_text(manager: service.Manager, context: CommandContext) -> Iterator[Finding]:
    """Yield the unit against the one that would be installed now, for the same Python, account and credentials."""
    try:
        installed = manager.unit.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    lines = installed.splitlines()
    account = next((line.partition("=")[2] for line in lines if line.startswith("User=")), "")
    folder = backup_folder(context.home, context.loaded.settings.backup.folder)
    wanted = service.unit_text(service.Manager(manager.machine, account), [context.home.path, folder], None)
    if _essence(installed) != _essence(wanted):
        text = say("The service's unit is not the one that this KenoBot installs: {unit}", unit=manager.unit)
        advice = say("Install it again: `kenobot service install`; lines of your own go to `systemctl edit kenobot`.")
        yield Finding("service", "warning", text, advice)


def _check_state(manager: service.Manager) -> Iterator[Finding]:
    """Report what systemd says; nothing where it cannot be asked."""
    enabled = manager.tells("systemctl", "is-enabled", service.NAME)
    if enabled not in (*_UNKNOWN, "enabled", "enabled-runtime", "linked", "alias"):
        text = say("The service is not enabled: it does not start by itself.")
        yield Finding("service", "warning", text, say("Enable it: `kenobot service install`."))
    if manager.tells("systemctl", "is-active", service.NAME) == "failed":
        text = say("The service has failed, and systemd does not start it again.")
        advice = say("See why with `kenobot service logs`, mend it, then `kenobot service restart`.")
        yield Finding("service", "error", text, advice)
    if not manager.machine and enabled not in _UNKNOWN and not service.lingers(getpass.getuser()):
        text = say("The service ends when you log out, and does not start with the machine.")
        yield Finding("service", "warning", text, say("Let it stay: loginctl enable-linger"))


def _lines(unit: Path) -> Sequence[str]:
    try:
        return unit.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ()


def _find_started(lines: Sequence[str]) -> Sequence[str]:
    """Return the words of the command that a unit starts, without systemd's escapes."""
    command = next((line.partition("=")[2] for line in lines if line.startswith("ExecStart=")), "")
    try:
        words = shlex.split(command.replace("%%", "%").replace("$$", "$"))
    except ValueError:
        words = []
    return words or [""]


def _home(lines: Sequence[str]) -> Path | None:
    """Return the home that a unit serves; None when it names none."""
    words = _find_started(lines)
    return Path(words[words.index("--home") + 1]) if "--home" in words[:-1] else None


def _essence(unit: str) -> list[str]:
    """Return what counts in a unit: not its comments, its Python and its credentials, which have their own check."""
    lines = [line.strip() for line in unit.splitlines()]
    skipped = ("#", "ExecStart=", "LoadCredential=")
    return [line for line in lines if line and not line.startswith(skipped)]


def _is_there(path: Path) -> bool:
    """Return whether a path is there, as far as this account may look."""
    try:
        return path.exists()
    except OSError:
        return os.geteuid() != 0
