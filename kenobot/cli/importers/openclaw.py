"""An OpenClaw workspace: MEMORY.md, memory/YYYY-MM-DD.md and other notes below memory/, USER.md.

SOUL.md and IDENTITY.md say who that bot was: they are offered. AGENTS.md and its like tell another program what to do.
"""

import re
from datetime import date

from kenobot.cli.importers import workspace
from kenobot.cli.importers.folder import SkippedFile, SourceFolder, TextFile
from kenobot.cli.importers.plan import ImportContext, ImportPlan

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


def base_of(folder: SourceFolder) -> str:
    """Where the workspace lies in `folder`: in itself, or in `workspace/` when this is all of ~/.openclaw."""
    return "workspace/" if folder.has("workspace") and not folder.has("memory") else ""


def looks_like(folder: SourceFolder) -> bool:
    """Whether this is such a workspace."""
    base = base_of(folder)
    long_term = folder.has(f"{base}MEMORY.md") or folder.has(f"{base}memory.md")
    marked = sum(folder.has(f"{base}{name}") for name in _MARKS)
    return (long_term and (marked > 0 or folder.has(f"{base}memory"))) or (marked > 1 and folder.has(f"{base}memory"))


def read(folder: SourceFolder, about: ImportContext) -> ImportPlan:
    """All that such a workspace holds."""
    plan, base = ImportPlan("openclaw"), base_of(folder)
    workspace.add_long_term(plan, folder.read(f"{base}MEMORY.md"), about)
    workspace.add_long_term(plan, folder.read(f"{base}memory.md"), about)
    workspace.add_profile(plan, folder.read(f"{base}USER.md"), about)
    for path in folder.files(f"{base}memory", ".md"):
        _notes(plan, folder.read(path), about, workspace.day_of(path))
    workspace.add_manual_files(plan, folder, base, _OFFERS, _INSTRUCTIONS)
    return plan


def _notes(plan: ImportPlan, found: TextFile | SkippedFile | None, about: ImportContext, day: date | None) -> None:
    """Notes; of a saved session only what was summed up, not what was spoken."""
    spoken = 0
    if isinstance(found, TextFile) and (head := _SAVED_SESSION.match(found.text)):
        body, spoken = _SPOKEN.subn("", found.text[head.end() :])
        found = TextFile(found.path, body, found.modified, found.note)
    sheet = workspace.add_notes(plan, found, about, day)
    if sheet is not None and spoken:
        sheet.skipped["a line of a conversation, and no memory"] += spoken
