"""The kinds of home that can be imported, and their readers."""

from types import ModuleType

from kenobot.cli.importers import kenobot_js, nanobot, openclaw
from kenobot.cli.importers.folder import SourceFolder
from kenobot.cli.importers.plan import ImportContext, ImportPlan, Origin

# In this order: a workspace of OpenClaw may have files of the other kinds besides, not the other way round.
READERS: dict[Origin, ModuleType] = {"kenobot-js": kenobot_js, "openclaw": openclaw, "nanobot": nanobot}


def detect_origin(folder: SourceFolder) -> Origin | None:
    """The kind of home that a folder is; None when it is like none of them."""
    return next((origin for origin, reader in READERS.items() if reader.looks_like(folder)), None)


def read_plan(folder: SourceFolder, origin: Origin, about: ImportContext) -> ImportPlan:
    """What a home of this kind holds, bounded."""
    plan: ImportPlan = READERS[origin].read(folder, about)
    plan.limit_items()
    return plan
