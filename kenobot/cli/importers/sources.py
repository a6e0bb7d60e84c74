"""Which kind of home a folder is, and its reader."""

from collections.abc import Callable
from dataclasses import dataclass

from kenobot.cli.importers import javascript, nanobot, openclaw
from kenobot.cli.importers.folder import Folder
from kenobot.cli.importers.plan import About, Origin, Plan


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of home: how to know it, and how to read it."""

    looks_like: Callable[[Folder], bool]
    read: Callable[[Folder, About], Plan]


# In this order: a workspace of OpenClaw may have files of the other kinds besides, not the other way round.
SOURCES: dict[Origin, Source] = {
    "kenobot-js": Source(javascript.looks_like, javascript.read),
    "openclaw": Source(openclaw.looks_like, openclaw.read),
    "nanobot": Source(nanobot.looks_like, nanobot.read),
}


def recognise(folder: Folder) -> Origin | None:
    """The kind of home that a folder is; None when it is like none of them."""
    return next((origin for origin, source in SOURCES.items() if source.looks_like(folder)), None)


def read(folder: Folder, origin: Origin, about: About) -> Plan:
    """What a home of this kind holds, bounded."""
    plan = SOURCES[origin].read(folder, about)
    plan.bounded()
    return plan
