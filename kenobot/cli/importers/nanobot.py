"""A nanobot workspace: memory/MEMORY.md, memory/history.jsonl or HISTORY.md, notes by day, USER.md.

Its history is a log of summaries, each with the time at which it was written.
"""

import json
import re
from datetime import UTC, datetime

from kenobot.cli.importers import workspace
from kenobot.cli.importers.folder import SourceFolder, TextFile
from kenobot.cli.importers.plan import FilePlan, ImportContext, ImportItem, ImportPlan
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate

_MARKS = ("AGENTS.md", "SOUL.md", "HEARTBEAT.md", "TOOLS.md", "USER.md")
_OFFERS = {
    "SOUL.md": "your bot's character: copy what you want to keep to memory/identity/core.md here",
    "IDENTITY.md": "your bot's name and manner: copy what you want to keep to memory/identity/core.md here",
}
_INSTRUCTIONS = ("AGENTS.md", "HEARTBEAT.md", "TOOLS.md", "BOOTSTRAP.md")
_STAMPED = re.compile(r"(?m)^\[(\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?)\][ \t]*")
_RAW = re.compile(r"\[(?:RAW|MEMORY_CLEAR)\]")  # a transcript, or a copy of MEMORY.md: no summary
_SPOKEN = "a conversation as it was, and no memory"
_PLACE = re.compile(r"[-*+][ \t]+")


def base_of(folder: SourceFolder) -> str:
    """Where the workspace lies in `folder`: in itself, or in `workspace/` when this is all of ~/.nanobot."""
    return "workspace/" if folder.has("workspace/memory") and not folder.has("memory") else ""


def looks_like(folder: SourceFolder) -> bool:
    """Whether this is such a workspace."""
    base = base_of(folder)
    history = any(folder.has(f"{base}memory/{name}") for name in ("history.jsonl", "HISTORY.md"))
    marked = any(folder.has(base + name) for name in _MARKS)
    return history or (folder.has(f"{base}memory/MEMORY.md") and marked)


def read(folder: SourceFolder, about: ImportContext) -> ImportPlan:
    """All that such a workspace holds."""
    plan, base = ImportPlan("nanobot"), base_of(folder)
    workspace.add_long_term(plan, folder.read(f"{base}memory/MEMORY.md"), about)
    workspace.add_profile(plan, folder.read(f"{base}USER.md"), about)
    _history(plan, folder, about, f"{base}memory/HISTORY.md")
    _journal(plan, folder, about, f"{base}memory/history.jsonl")
    for path in folder.files(f"{base}memory", ".md"):
        workspace.add_notes(plan, folder.read(path), about, workspace.day_of(path))
    workspace.add_manual_files(plan, folder, base, _OFFERS, _INSTRUCTIONS)
    return plan


def _history(plan: ImportPlan, folder: SourceFolder, about: ImportContext, path: str) -> None:
    """Paragraphs that begin with [YYYY-MM-DD HH:MM]."""
    found = folder.read(path)
    sheet = plan.add_file(found, "history")
    if sheet is None or not isinstance(found, TextFile):
        return
    text = found.text.replace("\r\n", "\n")
    stamps = list(_STAMPED.finditer(text))
    ends = [stamp.start() for stamp in stamps[1:]] + [len(text)]
    if stamps and text[: stamps[0].start()].strip(" \n#"):
        sheet.skipped["text before the first date"] += 1
    elif not stamps and text.strip():
        sheet.skipped["it has no dates, so it is no history"] += 1
    for stamp, end in zip(stamps, ends, strict=True):
        _episode(sheet, text[stamp.end() : end], _moment(stamp[1], about) or min(found.modified, about.now))


def _journal(plan: ImportPlan, folder: SourceFolder, about: ImportContext, path: str) -> None:
    """One JSON object a line: {"cursor", "timestamp", "content"}."""
    found = folder.read(path)
    sheet = plan.add_file(found, "history")
    if sheet is None or not isinstance(found, TextFile):
        return
    for line in found.text.split("\n"):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        content = row.get("content") if isinstance(row, dict) else None
        if not isinstance(content, str):
            sheet.skipped["a damaged line"] += 1
            continue
        told = _moment(str(row.get("timestamp", "")), about) or min(found.modified, about.now)
        _episode(sheet, content, told)


def _episode(sheet: FilePlan, text: str, told: datetime) -> None:
    """A summary, as one episode; where it is a list, one for each line."""
    text = text.strip()
    if not text or text == "(nothing)":
        return
    if _RAW.match(text):
        sheet.skipped[_SPOKEN] += 1
        return
    lines = [line for line in text.split("\n") if line.strip()]
    texts = [_PLACE.sub("", line, count=1) for line in lines] if all(map(_PLACE.match, lines)) else [text]
    for said in texts:
        candidate = Candidate("episode", OWNER_SCOPE, said, source="import", trust="model")
        sheet.items.append(ImportItem(candidate, told))


def _moment(stamp: str, about: ImportContext) -> datetime | None:
    """A time as that program writes it, in the owner's time zone unless it says another; None when it is none."""
    try:
        said = datetime.fromisoformat(stamp.strip())
        said = (said if said.tzinfo else said.replace(tzinfo=about.zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return said if said <= about.now else None
