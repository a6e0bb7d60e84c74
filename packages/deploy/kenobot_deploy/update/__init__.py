"""`kenobot update`: put a new version beside the old one, try it on a copy, have it take over, or take it back."""

import os
import pwd
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kenobot import __version__
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.ports.errors import ConfigError, StoreError, StoreFull
from kenobot.ports.sentences import Sentence
from kenobot.storage import migrate
from kenobot.storage.updates import Environments, Side, Update
from kenobot_deploy.service import Manager
from kenobot_deploy.update import rehearsal
from kenobot_deploy.update.environment import PackageInstaller, Wanted, find_wheel
from kenobot_deploy.update.installation import Installation, find_installation
from kenobot_deploy.update.programs import DiskGuard, UpdateFailed, interruptible, is_full
from kenobot_deploy.update.switch import (
    NoRunner,
    OwnRunner,
    Runner,
    ServiceRunner,
    Switch,
    find_service,
    is_free,
    serving_channels,
    stop_bot,
)
from kenobot_deploy.update.unfinished import open_return

_AVAILABLE = 3
_INDEX = "index"
_STEPS = 4
_EXPORT = ("memory", "export", "-")
_BACK = (
    "Return to version {version}? What was said and learned since the update is kept in a folder of the home, and not "
    "remembered; what was erased since is there again. Reminders stay as they are, and so does who is let in. [y/N] "
)


def update(context: CommandContext) -> int:
    """Run the command. Returns 0 when all is done, options.FAILED when not, _AVAILABLE when there is a newer one."""
    installation = find_installation()
    installer = PackageInstaller(installation, _source(context))
    if context.args.check:
        return _check(context, installation, installer)
    _require_own_home(context)
    guard = DiskGuard(context.home.path, context.loaded.settings.watch.least_bytes)
    try:
        context.home.prepare()
        with context.home.update_lock(), interruptible():
            return _change(context, installation, installer, guard)
    except StoreError as error:
        if isinstance(error, StoreFull) or (isinstance(error.__cause__, OSError) and is_full(error.__cause__)):
            raise guard.full() from error
        raise
    except OSError as error:
        if is_full(error):
            raise guard.full() from error
        raise UpdateFailed("files.trouble", path=error.filename or context.home.path, reason=error) from error


def _change(context: CommandContext, installation: Installation, installer: PackageInstaller, guard: DiskGuard) -> int:
    """Update, or return. Raises KenobotError and OSError."""
    args = context.args
    finished = _finish(context)
    if args.back:
        return _print_return(context, *finished) if finished else _go_back(context, guard)
    if installation.advice and not (args.wheel or args.to):
        return options.print_failure(installation.advice, options.FAILED)
    wanted = _find_wanted(context, installation, installer)
    if wanted is None:
        told = say("{version} is the newest.", version=__version__)
        return _print(context, "current", __version__, __version__, told)
    return _update_to(context, installation.side, installer, wanted, guard)


def _update_to(
    context: CommandContext, old: Side, installer: PackageInstaller, wanted: Wanted, guard: DiskGuard
) -> int:
    """Install a version, rehearse with it, and have it take over."""
    home, args = context.home, context.args
    environments = Environments(home)
    _remove_unused(environments, [old.environment])
    guard.require()
    tell = _teller(context)
    tell(say("Installing {what} beside version {version}", what=wanted.version or "it", version=old.version))
    new = installer.install(wanted, environments.folder, guard)
    try:
        tell(say("Trying version {version} on a copy of the home", version=new.version))
        room_to_return = rehearsal.rehearse(home, old, new, guard)
        if args.dry_run:
            told = say("Version {version} passed on a copy of the home. Nothing was changed.", version=new.version)
            return _print(context, "passed", old.version, new.version, told)
        tell(say("Putting it in place"))
        with guard.hold(room_to_return) as free_room:
            place = _place(context)
            _note_launcher(environments, old)
            tell(say("Waiting until it is well"))
            ended = Switch(context, place.runner, args.deadline).try_out(old, new, place.channels, free_room)
    finally:
        if environments.current() != new.environment.resolve():
            shutil.rmtree(new.environment, ignore_errors=True)
    return _end(context, ended, place)


@dataclass(frozen=True, slots=True)
class _Place:
    """Describe what runs the bot now. restart: what a person has to do so that the new version runs; "" for nothing."""

    runner: Runner
    channels: tuple[str, ...]
    service: Manager | None = None
    restart: str = ""


def _place(context: CommandContext) -> _Place:
    """Find what runs the bot; one that no service runs is stopped. Raises UpdateFailed."""
    home = context.home
    channels = serving_channels(home)
    if (service := find_service(home)) is not None:
        return _Place(ServiceRunner(home, service), channels, service)
    was_running = not is_free(home)
    stop_bot(home)
    restart = "Start the bot again, the way you did before: `kenobot run`." if was_running else ""
    if not (was_running or context.loaded.settings.channels.enabled):
        return _Place(NoRunner(), ())
    return _Place(OwnRunner(home), channels, restart=restart)


def _end(context: CommandContext, ended: Update, place: _Place) -> int:
    """Print how it ended."""
    former, version = ended.old.version, ended.new.version
    restart = translate(place.restart)
    if ended.phase != "taken":
        reason = translate(ended.reason)
        told = say("Version {version} did not get well ({reason}), and version {former} is back. No message was lost.",
                   version=version, reason=reason, former=former)  # fmt: skip
        lines = [told, *([restart] if restart else [])]
        _print(
            context, "returned", former, version, "\n".join(lines),
            reason=ended.reason, restart=place.restart, kept=ended.kept,
        )  # fmt: skip
        return options.FAILED
    environments = Environments(context.home)
    if place.service is not None:
        place.service.follow_link(context.home, environments.link)
    told = say("KenoBot is version {version} now (before: {former}).", version=version, former=former)
    lines = [told, *([restart] if restart else [])]
    return _print(context, "updated", former, version, "\n".join(lines), restart=place.restart)


def _check(context: CommandContext, installation: Installation, installer: PackageInstaller) -> int:
    """Say whether there is a newer version, and how this one was installed."""
    if installation.advice:
        return _print(context, "elsewhere", __version__, "", translate(installation.advice))
    _require_source(context, installation)
    newest = installer.newest()
    if not _is_newer(newest, __version__):
        told = say("{version} is the newest.", version=__version__)
        return _print(context, "current", __version__, newest, told)
    told = say(
        "Version {newest} is there; this is {version}. `kenobot update` installs it.",
        newest=newest,
        version=__version__,
    )
    _print(context, "available", __version__, newest, told)
    return _AVAILABLE


def _go_back(context: CommandContext, guard: DiskGuard) -> int:
    """Return to the version before the last update."""
    environments = Environments(context.home)
    last = environments.read()
    if last is None or last.phase != "taken" or not last.old.environment.is_dir():
        return options.print_failure("There is no earlier version to return to.")
    has_newer = context.home.database.exists() and migrate.schema_version(context.home.database) > last.schema_version
    question = say(_BACK, version=last.old.version)
    if (
        has_newer
        and not context.args.yes
        and not options.confirm(question, "Nobody is here to agree: add --yes if it is meant.")
    ):
        return options.print_failure("Nothing was changed.")
    if has_newer:
        guard.require(context.home.database.stat().st_size)
    place = _place(context)
    ended = Switch(context, place.runner, context.args.deadline).go_back(
        last, Sentence("update.owner_returned"), told=True
    )
    return _print_return(context, ended, place)


def _print_return(context: CommandContext, ended: Update, place: _Place) -> int:
    told = say("KenoBot is version {version} again.", version=ended.old.version)
    lines = [told, *([translate(place.restart)] if place.restart else []), *_describe_kept(context, ended)]
    return _print(
        context, "returned", ended.old.version, ended.new.version, "\n".join(lines),
        restart=place.restart, kept=ended.kept,
    )  # fmt: skip


def _describe_kept(context: CommandContext, ended: Update) -> list[str]:
    """Say where a return has kept what was said and learned meanwhile, and what brings it in after all."""
    if not ended.kept:
        return []
    kept = say("What was said and learned since the update is kept in {folder}.", folder=ended.kept)
    program = str(ended.new.environment / "bin" / "kenobot")  # the one that can read it
    home = ["--home", str(context.home.path)] if context.args.home else []
    line = " | ".join(
        map(shlex.join, ([program, "--home", ended.kept, *_EXPORT], ["kenobot", *home, "memory", "import", "-"]))
    )
    return [kept, say("To have it remembered, run this before the next update: {line}", line=line)]


def _finish(context: CommandContext) -> tuple[Update, _Place] | None:
    """Bring an update that was cut off to its end; returns it if it was taken back, with what runs the bot."""
    environments = Environments(context.home)
    last = environments.read()
    if last is None or last.phase not in ("trial", "returning"):
        return None
    undone = open_return(environments)
    if undone is None or (undone.phase == "trial" and not is_free(context.home)):  # one that runs answers by now
        environments.write(last.model_copy(update={"phase": "taken"}))
        return None
    place = _place(context)
    return Switch(context, place.runner, context.args.deadline).go_back(undone, undone.reason), place


def _find_wanted(context: CommandContext, installation: Installation, installer: PackageInstaller) -> Wanted | None:
    """Return what to install; None when nothing is newer. Raises ConfigError and UpdateFailed."""
    args = context.args
    if args.wheel:
        return find_wheel(Path(args.wheel).expanduser())
    _require_source(context, installation)
    version = args.to or installer.newest()
    if not re.fullmatch(r"\d[A-Za-z0-9.!+]*", version):
        raise ConfigError("update.bad_version", version=version)
    return None if not args.to and not _is_newer(version, __version__) else Wanted(f"kenobot=={version}", version)


def _require_source(context: CommandContext, installation: Installation) -> None:
    """Raise ConfigError when nothing says where newer versions come from: a name alone may be somebody else's."""
    if not installation.has_index and not context.loaded.settings.update.source:
        raise ConfigError("update.installed_from_file")


def _source(context: CommandContext) -> str:
    source = context.loaded.settings.update.source
    return "" if source == _INDEX else str(Path(source).expanduser()) if source.startswith("~") else source


def _is_newer(version: str, than: str) -> bool:
    """Compare the numbers of two versions."""
    numbers = [[int(number) for number in re.findall(r"\d+", text.partition("+")[0])] for text in (version, than)]
    return numbers[0] > numbers[1]


def _require_own_home(context: CommandContext) -> None:
    """Raise ConfigError for root in another's home: what it installs there, that account could change."""
    path = context.home.path
    if os.geteuid() == 0 and path.exists() and (owner := path.stat().st_uid) != 0:
        name = pwd.getpwuid(owner).pw_name
        raise ConfigError("update.foreign_home", path=path, name=name)


def _note_launcher(environments: Environments, old: Side) -> None:
    """Hand commands of the environment that was there first over to the one in use; see `handover`."""
    if not old.environment.is_relative_to(environments.folder.resolve()):
        environments.note_launcher(old)


def _remove_unused(environments: Environments, used: list[Path]) -> None:
    """Remove environments but those in use and the one to return to."""
    last = environments.read()
    kept = [*used, *([environments.current()] if environments.current() else [])]
    kept += [last.old.environment] if last is not None and last.phase == "taken" else []
    for folder in environments.list_unused(path for path in kept if path is not None):
        shutil.rmtree(folder, ignore_errors=True)


def _teller(context: CommandContext) -> Callable[[str], None]:
    """Return what tells a person which step begins."""
    done = 0

    def tell(step: str) -> None:
        nonlocal done
        done += 1
        if not context.args.json:
            print(f"{done}/{_STEPS} {step} …", flush=True)

    return tell


def _print(context: CommandContext, outcome: str, former: str, version: str, told: str, **more: Any) -> int:
    row = {"outcome": outcome, "from": former, "to": version, "home": str(context.home.path), **more}
    return options.print_row(row, context.args.json, told)
