"""An OpenClaw workspace: MEMORY.md, memory/YYYY-MM-DD.md and other notes below memory/, USER.md.

SOUL.md and IDENTITY.md say who that bot was: they are offered. AGENTS.md and its like tell another program what to do.
"""

import re
from datetime import date

from kenobot.cli.importers import workspace
from kenobot.cli.importers.folder import Folder, Text, Unread
from kenobot.cli.importers.plan import About, Plan

_MARKS = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "HEARTBEAT.md", "TOOLS.md")
_OFFERS = {
    "SOUL.md": "your bot's character: copy what you want to keep to memory/identity/core.md here",
    "IDENTITY.md": "your bot's name and manner: copy what you want to keep to memory/identity/core.md here",
    "TOOLS.md": "your notes about your tools: tell the bot what it should know of them",
}
_INSTRUCTIONS = ("AGENTS.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md")
_SAVED_SESSION = re.compile(r"\A\s*# Session:[^\n]*\n(?:\s*- \*\*[^\n]*\n)*")
_SPOKEN = re.compile(
    r"(?m)^(?:\*\*)?(?:user|assistant|system|tool)(?:\*\*)?:[^\n]*(?:\n(?!\s*\n|#)[^\n]*)*", re.IGNORECASE
)


def base_of(folder: Folder) -> str:
    """Where the workspace lies in `folder`: in itself, or in `workspace/` when this is all of ~/.openclaw."""
    return "workspace/" if folder.has("workspace") and not folder.has("memory") else ""


def looks_like(folder: Folder) -> bool:
    """Whether this is such a workspace."""
    base = base_of(folder)
    long_term = folder.has(f"{base}MEMORY.md") or folder.has(f"{base}memory.md")
    marked = sum(folder.has(f"{base}{name}") for name in _MARKS)
    return (long_term and (marked > 0 or folder.has(f"{base}memory"))) or (marked > 1 and folder.has(f"{base}memory"))


def read(folder: Folder, about: About) -> Plan:
    """All that such a workspace holds."""
    plan, base = Plan("openclaw"), base_of(folder)
    workspace.long_term(plan, folder.read(f"{base}MEMORY.md"), about)
    workspace.long_term(plan, folder.read(f"{base}memory.md"), about)
    workspace.profile(plan, folder.read(f"{base}USER.md"), about)
    for path in folder.files(f"{base}memory", ".md"):
        day = workspace.day_of(path)
        kind = "notes" if day is None else "daily log"
        _notes(plan, folder.read(path), about, kind, day)
    workspace.others(plan, folder, base, _OFFERS, _INSTRUCTIONS)
    return plan


def _notes(plan: Plan, found: Text | Unread | None, about: About, kind: str, day: date | None) -> None:
    """Notes; of a saved session only what was summed up, not what was spoken."""
    spoken = 0
    if isinstance(found, Text) and (head := _SAVED_SESSION.match(found.text)):
        body, spoken = _SPOKEN.subn("", found.text[head.end() :])
        found = Text(found.path, body, found.modified, found.note)
    sheet = workspace.notes(plan, found, about, kind, day)
    if sheet is not None and spoken:
        sheet.skipped["a line of a conversation, and no memory"] += spoken
