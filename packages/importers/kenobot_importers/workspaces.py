"""Read workspaces of OpenClaw and nanobot: long-term memory, notes by day, a profile of the person, nanobot's history.

OpenClaw: MEMORY.md, memory/YYYY-MM-DD.md and other notes below memory/, USER.md. nanobot: memory/MEMORY.md,
memory/history.jsonl or HISTORY.md (summaries, each with the time at which it was written), notes by day, USER.md.
Whatever stands in them may have been written by their model, so nothing of it counts as the owner's own word. SOUL.md
and IDENTITY.md say who that bot was: they are offered. AGENTS.md and its like tell another program what to do.
"""

import re
from datetime import UTC, date, datetime, time
from typing import Literal

from kenobot.core import lazy
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot_importers.folder import SourceFolder, json_lines
from kenobot_importers.plan import FilePlan, ImportPlan

_CHARACTER = {
    "SOUL.md": "your bot's character: copy what you want to keep to memory/identity/core.md here",
    "IDENTITY.md": "your bot's name and manner: copy what you want to keep to memory/identity/core.md here",
}
_TOOLS = {"TOOLS.md": "your notes about your tools: tell the bot what it should know of them"}
_SAVED_SESSION = lazy.regex(r"\A\s*# Session:[^\n]*\n(?:\s*- \*\*[^\n]*\n)*")
_SPOKEN = lazy.regex(
    r"(?m)^(?:\*\*)?(?:user|assistant|system|tool)(?:\*\*)?:[^\n]*(?:\n(?!\s*\n|#)[^\n]*)*", re.IGNORECASE
)
_PROMOTED = lazy.regex(r"(?m)[ \t]*\[score=[\d.]+ recalls=\d+ avg=[\d.]+ source=[^\]\n]{1,300}\][ \t]*$")
_STAMPED = lazy.regex(r"(?m)^\[(\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?)\][ \t]*")
_RAW = lazy.regex(r"\[(?:RAW|MEMORY_CLEAR)\]")  # a transcript, or a copy of MEMORY.md: no summary
_PLACE = lazy.regex(r"[-*+][ \t]+")


def _base(folder: SourceFolder, mark: str) -> str:
    """Return the folder of the workspace: `folder` itself, or `workspace/` in it when it is the program's home."""
    return "workspace/" if folder.has(mark) and not folder.has("memory") else ""


# ── OpenClaw ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_openclaw(folder: SourceFolder) -> bool:
    return bool(_openclaw_bases(folder))


def _openclaw_bases(folder: SourceFolder) -> list[str]:
    """Find the workspaces in a folder: itself, or those of a home's agents, such as `workspace-main`."""
    if _is_workspace(folder, ""):
        return [""]
    names = [name for name in folder.folders("") if name == "workspace" or name.startswith("workspace-")]
    return [f"{name}/" for name in names if _is_workspace(folder, f"{name}/")]


def _is_workspace(folder: SourceFolder, base: str) -> bool:
    long_term = folder.has(f"{base}MEMORY.md") or folder.has(f"{base}memory.md")
    marks = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "HEARTBEAT.md", "TOOLS.md")
    marked = sum(folder.has(f"{base}{name}") for name in marks)
    if long_term:
        return marked > 0 or folder.has(f"{base}memory")
    # The same files of instructions stand in a workspace of nanobot, which has its long-term memory below memory/.
    return marked > 1 and folder.has(f"{base}memory") and not is_nanobot(folder)


def read_openclaw(plan: ImportPlan) -> None:
    """Add all that a workspace of OpenClaw holds. Of a saved session only the summary is taken, not what was spoken."""
    for base in _openclaw_bases(plan.folder) or [""]:
        _read_openclaw(plan, base)


def _read_openclaw(plan: ImportPlan, base: str) -> None:
    _add_core(plan, f"{base}MEMORY.md", f"{base}memory.md", profile=f"{base}USER.md")
    for path in plan.folder.files(f"{base}memory", ".md"):
        sheet, spoken = _open_notes(plan, path), 0
        if sheet is None:
            continue
        if head := _SAVED_SESSION.match(sheet.text):
            sheet.text, spoken = _SPOKEN.subn("", sheet.text[head.end() :])
        _add_facts(plan, sheet, day=_day_of(path))
        if spoken:
            sheet.skipped["a line of a conversation, and no memory"] += spoken
    instructions = ("AGENTS.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md")
    _leave(plan, base, _CHARACTER | _TOOLS, instructions)


# ── nanobot ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_nanobot(folder: SourceFolder) -> bool:
    base = _base(folder, "workspace/memory")
    history = any(folder.has(f"{base}memory/{name}") for name in ("history.jsonl", "HISTORY.md"))
    marked = any(folder.has(base + name) for name in ("AGENTS.md", "SOUL.md", "HEARTBEAT.md", "TOOLS.md", "USER.md"))
    return history or (folder.has(f"{base}memory/MEMORY.md") and marked)


def read_nanobot(plan: ImportPlan) -> None:
    """Add all that a workspace of nanobot holds."""
    base = _base(plan.folder, "workspace/memory")
    _add_core(plan, f"{base}memory/MEMORY.md", profile=f"{base}USER.md")
    _add_history(plan, f"{base}memory/HISTORY.md")
    _add_journal(plan, f"{base}memory/history.jsonl")
    for path in plan.folder.files(f"{base}memory", ".md"):
        if (sheet := _open_notes(plan, path)) is not None:
            _add_facts(plan, sheet, day=_day_of(path))
    _leave(plan, base, _CHARACTER, ("AGENTS.md", "HEARTBEAT.md", "TOOLS.md", "BOOTSTRAP.md"))


def _add_history(plan: ImportPlan, path: str) -> None:
    """Add paragraphs that begin with [YYYY-MM-DD HH:MM]."""
    sheet = plan.open(path, "history")
    if sheet is None:
        return
    text = sheet.text.replace("\r\n", "\n")
    stamps = list(_STAMPED.finditer(text))
    ends = [stamp.start() for stamp in stamps[1:]] + [len(text)]
    if stamps and text[: stamps[0].start()].strip(" \n#"):
        sheet.skipped["text before the first date"] += 1
    elif not stamps and text.strip():
        sheet.skipped["it has no dates, so it is no history"] += 1
    for stamp, end in zip(stamps, ends, strict=False):  # without a date there is an end all the same
        _add_episodes(sheet, text[stamp.end() : end], _moment(stamp[1], plan))


def _add_journal(plan: ImportPlan, path: str) -> None:
    """Add one JSON object a line: {"cursor", "timestamp", "content"}."""
    sheet = plan.open(path, "history")
    if sheet is None:
        return
    for row in json_lines(sheet.text):
        content = row.get("content") if row is not None else None
        if row is None or not isinstance(content, str):
            sheet.skipped["a damaged line"] += 1
            continue
        _add_episodes(sheet, content, _moment(str(row.get("timestamp", "")), plan))


def _add_episodes(sheet: FilePlan, text: str, said_at: datetime | None) -> None:
    """Add a summary, as one episode; where it is a list, one for each line."""
    text = text.strip()
    if not text or text == "(nothing)":
        return
    if _RAW.match(text):
        sheet.skipped["a conversation as it was, and no memory"] += 1
        return
    lines = [line for line in text.split("\n") if line.strip()]
    texts = [_PLACE.sub("", line, count=1) for line in lines] if all(map(_PLACE.match, lines)) else [text]
    for each in texts:
        sheet.add(Candidate("episode", OWNER_SCOPE, each, source="import", trust="model"), said_at)


def _moment(stamp: str, plan: ImportPlan) -> datetime | None:
    """Return a time as nanobot writes it, in the owner's time zone unless it says another; None when it is none."""
    try:
        moment = datetime.fromisoformat(stamp.strip())
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=plan.about.zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment <= plan.about.now else None


# ── both ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_core(plan: ImportPlan, *long_term: str, profile: str) -> None:
    """Add MEMORY.md, and USER.md: a form about the person, of which only the answers are taken."""
    for path in long_term:
        if (sheet := plan.open(path, "long-term memory")) is not None:
            _add_facts(plan, sheet, core=True)
    if (sheet := plan.open(profile, "profile of the person")) is not None:
        _add_facts(plan, sheet, core=True, choices=True)


def _open_notes(plan: ImportPlan, path: str) -> FilePlan | None:
    return plan.open(path, "notes" if _day_of(path) is None else "daily log")


def _add_facts(
    plan: ImportPlan, sheet: FilePlan, *, core: bool = False, choices: bool = False, day: date | None = None
) -> None:
    """Add the facts of a Markdown file: at the dates of its headings, else of `day`, else at its last change."""
    for fact in sheet.markdown_facts(_PROMOTED.sub("", sheet.text), choices=choices):
        on = fact.day or day
        # A preference that is no core memory would go to preferences.md, as if the owner had been heard to say it.
        category = fact.category if core or fact.category != "preference" else "fact"
        said_at = plan.about.utc_moment(on, fact.at or time(0)) if on else None
        tier: Literal["core", "daily"] = "core" if core else "daily"
        sheet.add(Candidate("note", OWNER_SCOPE, fact.text, category, "import", "model", tier=tier), said_at)


def _leave(plan: ImportPlan, base: str, offers: dict[str, str], instructions: tuple[str, ...]) -> None:
    """Note the files that no memory is made of. offers: what a person may do with each instead."""
    plan.manual_files |= {base + name: advice for name, advice in offers.items() if plan.folder.has(base + name)}
    for name in instructions:
        if plan.folder.has(base + name):
            plan.skip_file(base + name, "instructions", "it tells another program what to do")


def _day_of(path: str) -> date | None:
    """Return the day that a file's name begins with."""
    try:
        return date.fromisoformat(path.rpartition("/")[2][:10])
    except ValueError:
        return None
