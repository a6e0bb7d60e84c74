"""Read the tables of the commands: the core's own, and those of the distributions that bring commands.

A distribution names its package in the entry-point group `kenobot.commands`, once for each of its commands. That
package has `commands.toml` with their tables and, for Spanish, `commands.es.toml` and `spanish.toml`, in the form of
the core's. The core's own table has a line for each command of ours that ships apart, so that help lists it also where
it is not installed, and no other package can take its name.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from kenobot.cli.language import language, speak_for, word_error
from kenobot.ports.errors import ConfigError, PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

Commands = dict[str, dict[str, Any]]

GROUP = "kenobot.commands"
CORE = "kenobot.cli"
_OF_PLUGINS = "Plugins"  # the heading of commands whose tables have no `section`


def list_commands(everything: bool = False) -> Commands:
    """List the commands of the core's own table, and with `everything` those that plugins bring as well."""
    commands, _ = _read_core()
    listed = {name: command for name, command in commands.items() if "section" in command}
    for name in _list_foreign(listed) if everything else ():
        try:
            row = read_command(name)[name]
        except PluginError as error:  # of one plugin, while the help of all is wanted
            row = {"summary": word_error(error)}
        listed[name] = {"section": _OF_PLUGINS, **row}
    return listed


def read_command(name: str) -> Commands:
    """Read a command and its subcommands, each `call` with the whole path of its module; {} for an unknown one.

    Raises ConfigError where it ships in a distribution that is not installed, PluginError where it has no usable table.
    """
    commands, shared = _read_core(name)
    line = commands.get(name, {})
    extra = line.pop("extra", None)
    if extra or "section" not in line:
        package = _find_package(name, extra)
        if package is None:
            if extra:
                raise ConfigError("commands.not_installed", name=name, extra=extra)
            return {}
        try:
            brought, shared = _read_tables(package, name, shared)
        except Exception as error:  # a plugin is somebody else's code: anything may happen while it is imported
            raise PluginError("commands.unreadable", name=name, package=package, reason=error) from error
        if name not in brought:
            raise PluginError("commands.undescribed", name=name, package=package)
        commands = {**brought, name: {"summary": name, **brought[name], **line}}
        speak_for(package)
    for command in commands.values():
        command["arguments"] = _resolve(command.get("arguments", ()), shared)
    return commands


def argument_name(argument: Mapping[str, Any]) -> str:
    """Return the name of an argument of a command; of several, the long one."""
    name: str = argument.get("name") or argument["names"][-1]
    return name


def list_arguments(arguments: Iterable[Any]) -> list[dict[str, Any]]:
    """List the arguments that a command describes itself, those of groups too."""
    found: list[dict[str, Any]] = []
    for argument in arguments:
        if isinstance(argument, list):
            found += list_arguments(argument)
        elif isinstance(argument, dict):
            found.append(argument)
    return found


def _list_foreign(known: Mapping[str, object]) -> list[str]:
    return sorted({entry.name for entry in _find_entries()} - known.keys())


def _find_package(name: str, extra: str | None) -> str | None:
    """Find the package that brings a command. extra: of the distribution of ours that alone may; None for anybody's.

    Raises PluginError when two do.
    """
    found = {re.split("[.:]", entry.value, maxsplit=1)[0]: entry for entry in _find_entries(name)}
    if extra:
        found = {package: entry for package, entry in found.items() if package == f"kenobot_{extra}"}
    if len(found) > 1:
        owners = " and ".join(sorted(entry.dist.name if entry.dist else entry.value for entry in found.values()))
        raise PluginError("commands.provided_twice", name=name, owners=owners)
    return next((entry.value for entry in found.values()), None)


def _find_entries(name: str | None = None) -> "EntryPoints":
    """Find the entry points of a command, or of all: twenty milliseconds, which the core's commands do without."""
    from importlib.metadata import entry_points

    return entry_points(group=GROUP) if name is None else entry_points(group=GROUP, name=name)


def _read_core(name: str | None = None) -> tuple[Commands, Mapping[str, Mapping[str, Any]]]:
    return _read_tables(CORE, name, {})


def _read_tables(
    package: str, name: str | None, shared: Mapping[str, Mapping[str, Any]]
) -> tuple[Commands, Mapping[str, Mapping[str, Any]]]:
    """Read the commands of a package in the terminal's language, and the arguments that they share.

    name: read only this command and its subcommands: a tenth of the time. shared: the core's arguments.
    """
    commands = _read(package, "commands.toml", name)
    own = commands.pop("arguments", {})
    if language() == "es" and resources.files(package).joinpath("commands.es.toml").is_file():
        spanish = _read(package, "commands.es.toml", name)
        for argument, help_text in spanish.pop("arguments", {}).items():
            own[argument]["help"] = help_text
        for words, texts in spanish.items():
            command = commands[words]
            command.update({key: text for key, text in texts.items() if key in command or key == "description"})
            for argument in list_arguments(command.get("arguments", ())):
                argument["help"] = texts.get(argument_name(argument), argument["help"])
    for command in commands.values():
        if "call" in command:
            ours = f"kenobot_{command['extra']}" if "extra" in command else package
            command["call"] = f"{ours}.{command['call']}"
    return commands, {**shared, **own}


def _read(package: str, file: str, command: str | None) -> dict[str, Any]:
    text = resources.files(package).joinpath(file).read_text("utf-8")
    if command is not None:
        wanted = re.compile(rf'\["?(?:{re.escape(command)}|arguments)[ "\].]')
        text = "".join(table for table in re.split(r"^(?=\[)", text, flags=re.MULTILINE) if wanted.match(table))
    return tomllib.loads(text)


def _resolve(arguments: Iterable[Any], shared: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """Put the arguments that a command takes in the place of the names of shared ones."""
    return [
        _resolve(argument, shared)
        if isinstance(argument, list)
        else dict(shared[argument] if isinstance(argument, str) else argument)
        for argument in arguments
    ]
