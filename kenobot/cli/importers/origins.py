"""Which kind of home a folder is, and its reader."""

from collections.abc import Callable
from dataclasses import dataclass

from kenobot.cli.importers import kenobot_js, nanobot, openclaw
from kenobot.cli.importers.folder import SourceFolder
from kenobot.cli.importers.plan import ImportContext, ImportPlan, Origin


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A kind of home: how to know it, and how to read it."""

    looks_like: Callable[[SourceFolder], bool]
    read: Callable[[SourceFolder, ImportContext], ImportPlan]


# In this order: a workspace of OpenClaw may have files of the other kinds besides, not the other way round.
SOURCES: dict[Origin, ImportFormat] = {
    "kenobot-js": ImportFormat(kenobot_js.looks_like, kenobot_js.read),
    "openclaw": ImportFormat(openclaw.looks_like, openclaw.read),
    "nanobot": ImportFormat(nanobot.looks_like, nanobot.read),
}


def detect_origin(folder: SourceFolder) -> Origin | None:
    """The kind of home that a folder is; None when it is like none of them."""
    return next((origin for origin, source in SOURCES.items() if source.looks_like(folder)), None)


def read_plan(folder: SourceFolder, origin: Origin, about: ImportContext) -> ImportPlan:
    """What a home of this kind holds, bounded."""
    plan = SOURCES[origin].read(folder, about)
    plan.limit_items()
    return plan
