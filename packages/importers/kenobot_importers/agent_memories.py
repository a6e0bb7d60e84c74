"""Read the memories of Hermes (files of entries), of Letta (agent files, blocks, passages) and of Claude's export."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal

from kenobot.core import lazy
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot_importers.folder import SourceFolder
from kenobot_importers.json_items import parse_stamp
from kenobot_importers.plan import FilePlan, ImportPlan
from kenobot_importers.vault import add_page
from kenobot_importers.vault_page import read_page

_ENTRY_END = lazy.regex(r"(?m)^[ \t]*§[ \t]*$\n?")
_BOLD_LINE = lazy.regex(r"(?m)^\*\*([^*\n]{1,80})\*\*[ \t]*$")  # how Claude writes its headings
_PERSONA = "your bot's character: copy what you want to keep to memory/identity/core.md here"
_OWN_BLOCKS = frozenset(("persona", "system", "loaded_skills", "skills"))  # the program's, not the person's
_NO_MEMORY = "it tells another program what to do"
_DAMAGED = "it is no JSON"

# ── Hermes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_hermes(folder: SourceFolder) -> list[str]:
    """Find the folders of memories in a home of Hermes, of its profiles too, or in one of these."""
    found = [base for base in ("memories", "") if _holds_entries(folder, base)][:1]
    return found + [
        f"profiles/{name}/memories" for name in folder.folders("profiles") if folder.has(f"profiles/{name}/memories")
    ]


def _holds_entries(folder: SourceFolder, base: str) -> bool:
    under = f"{base}/" if base else ""
    if base:
        return folder.has(f"{under}MEMORY.md") or folder.has(f"{under}USER.md")
    read = [folder.peek(name) for name in ("MEMORY.md", "USER.md") if folder.has(name)]
    return any(_ENTRY_END.search(text) for text in read)


def is_hermes(folder: SourceFolder) -> bool:
    return bool(find_hermes(folder))


def read_hermes(plan: ImportPlan) -> None:
    """Add the entries of MEMORY.md and USER.md, which a line with § divides."""
    for base in find_hermes(plan.folder):
        under = f"{base}/" if base else ""
        for name, kind in (("MEMORY.md", "long-term memory"), ("USER.md", "profile of the person")):
            if (sheet := plan.open(f"{under}{name}", kind)) is not None:
                _add_entries(sheet)
    for name in ("SOUL.md", "persona.md"):
        if plan.folder.has(name):
            plan.manual_files[name] = _PERSONA


def _add_entries(sheet: FilePlan) -> None:
    text = sheet.text.replace("\r\n", "\n")
    for line in text.removesuffix("\n").split("\n"):
        sheet.lines["system" if line.strip() == "§" else "kept" if line.strip() else "empty"] += 1
    for entry in filter(str.strip, _ENTRY_END.split(text)):
        sheet.add(_note(entry.strip(), "core"))


# ── Letta ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_letta_file(name: str, head: bytes) -> bool:
    if name.lower().endswith(".af"):
        return True
    return name.lower().endswith(".json") and any(
        mark in head for mark in (b'"core_memory"', b'"block_ids"', b'"in_context_message_ids"', b'"memory_blocks"')
    )


def read_letta_file(plan: ImportPlan, path: str) -> None:
    """Add the blocks and the passages of an agent file. What was said in it is no memory."""
    sheet = plan.open(path, "memories of Letta")
    if sheet is None:
        return
    sheet.origin = "letta"
    document = _parse(sheet)
    for block in _find_all(document, ("blocks", "core_memory", "memory_blocks")):
        label, value = str(block.get("label") or ""), block.get("value")
        if label in _OWN_BLOCKS:
            sheet.lines["system"] += 1
            sheet.skipped[_NO_MEMORY] += 1
        elif isinstance(value, str):
            _add_block(plan, sheet, label, value)
        else:
            sheet.lines["unclear"] += 1
    for passage in _find_all(document, ("passages", "archival_memory", "archives")):
        text = passage.get("text") or passage.get("content")
        sheet.lines["kept" if isinstance(text, str) and text.strip() else "empty"] += 1
        if isinstance(text, str) and text.strip():
            sheet.add(_note(text.strip(), "daily"), _read_moment(plan, passage.get("created_at")))
    messages = len(list(_find_all(document, ("messages",))))
    if messages:
        sheet.lines["system"] += messages
        sheet.skipped["a line of a conversation, and no memory"] += messages


def _add_block(plan: ImportPlan, sheet: FilePlan, label: str, value: str) -> None:
    facts = sheet.markdown_facts(value, choices=True)
    sheet.lines["kept" if facts else "empty"] += 1
    for fact in facts:
        sheet.add(_note(fact.text, "core", fact.category))


def _find_all(document: object, names: tuple[str, ...], depth: int = 0) -> Iterator[Mapping[str, object]]:
    """Find the objects of lists of these names, wherever they stand near the top."""
    if isinstance(document, list) and depth < 4:
        for each in document:
            yield from _find_all(each, names, depth + 1)
    elif isinstance(document, dict) and depth < 4:
        for name, value in document.items():
            if name in names and isinstance(value, list):
                yield from (each for each in value if isinstance(each, dict))
            elif isinstance(value, list | dict) and name not in ("messages", "tools"):
                yield from _find_all(value, names, depth + 1)


# ── Claude ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_claude_memory(name: str, head: bytes) -> bool:
    return name.lower().endswith(".json") and b'"conversations_memory"' in head


def read_claude_memory(plan: ImportPlan, path: str) -> None:
    """Add what Claude remembers of an account and of its projects: Markdown in JSON."""
    sheet = plan.open(path, "memories of Claude")
    if sheet is None:
        return
    sheet.origin = "claude"
    document = _parse(sheet)
    for account in document if isinstance(document, list) else [document]:
        if not isinstance(account, dict):
            sheet.lines["unclear"] += 1
            continue
        projects = account.get("project_memories")
        texts = [account.get("conversations_memory"), *(projects.values() if isinstance(projects, dict) else ())]
        for text in texts:
            facts = sheet.markdown_facts(_BOLD_LINE.sub(r"## \1", text)) if isinstance(text, str) else []
            sheet.lines["kept" if facts else "empty"] += 1
            for fact in facts:
                sheet.add(_note(fact.text, "core", fact.category))


def is_claude_projects(name: str, head: bytes) -> bool:
    return name.lower().endswith(".json") and all(mark in head for mark in (b'"prompt_template"', b'"docs"'))


def read_claude_projects(plan: ImportPlan, path: str) -> None:
    """Add what the projects of an account are about, and their documents, which are read like notes."""
    sheet = plan.open(path, "projects of Claude")
    if sheet is None:
        return
    sheet.origin = "claude"
    document = _parse(sheet)
    known = set[str]()
    for project in document if isinstance(document, list) else [document]:
        if not isinstance(project, dict):
            sheet.lines["unclear"] += 1
            continue
        if project.get("is_starter_project"):
            sheet.lines["system"] += 1  # Claude's own guide, the same for everybody
            continue
        texts = [(str(project.get("name") or ""), project.get("description"))]
        docs = project.get("docs")
        files = (doc for doc in (docs if isinstance(docs, list) else ()) if isinstance(doc, dict))
        texts += ((PurePosixPath(str(doc.get("filename") or "")).stem, doc.get("content")) for doc in files)
        for title, text in texts:
            page = read_page(text if isinstance(text, str) else "", title, {})
            sheet.lines["kept" if page.facts else "empty"] += 1
            add_page(plan, sheet, page, known)
        if project.get("prompt_template"):
            sheet.lines["system"] += 1


# ── all ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _note(text: str, tier: Literal["core", "daily"], category: str = "fact") -> Candidate:
    return Candidate("note", OWNER_SCOPE, text, category, "import", "model", tier=tier)


def _parse(sheet: FilePlan) -> object:
    try:
        return json.loads(sheet.text)
    except (ValueError, RecursionError):
        sheet.skipped[_DAMAGED] += 1
        sheet.lines["unclear"] += 1
        sheet.unclear.append((1, _DAMAGED))
        return None


def _read_moment(plan: ImportPlan, stamp: object) -> datetime | None:
    """Read a time, of which one that has not come yet is none."""
    at = parse_stamp(stamp)
    return at if at is not None and at <= plan.about.now else None
