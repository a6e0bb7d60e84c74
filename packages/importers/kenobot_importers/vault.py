"""A folder of Markdown notes, such as an Obsidian vault: what a page says, with the page that it is about.

"Birthday: 1 May" on Ana's page is Ana's. A link is read as what it shows, with the page that it names; the page of a
day dates its lines. Every line is counted.
"""

import json
from datetime import date, time, timedelta
from itertools import chain
from pathlib import PurePosixPath

from kenobot.core import lazy
from kenobot.language.fingerprint import key_of
from kenobot.language.words import fold, words
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot_importers.plan import FilePlan, ImportPlan
from kenobot_importers.vault_page import Page, PageFact, page_names, read_page

_MEDIA = frozenset("png jpg jpeg gif webp svg bmp heic avif mp3 m4a wav ogg opus flac mp4 mov mkv webm avi pdf".split())
_SETTLED = timedelta(days=7)  # a copied folder looks new: what has no date is no news for the next prompts
_NOTES = (".md", ".markdown")
_TEMPLATES = frozenset("template templates _template _templates plantilla plantillas _plantillas".split())
_OF_DAY = lazy.regex(r"(?:^|/)(\d{4})/(?:(?:\d{4}-)?(\d{2})(?!\d)[^/]*/)?(?:(\d{2})-)?(\d{1,2})$")


def read_vault(plan: ImportPlan, paths: list[str]) -> None:
    """Add the notes among the files of a folder. What is no note is named, with the reason why it is left."""
    templates = _template_folder(plan)
    sheets = list[FilePlan]()
    for path in paths:
        if _is_template(path, templates):
            plan.skip_file(path, "template", "it is a template of notes")
        elif path.lower().endswith(_NOTES) and (sheet := plan.open(path, "note")):
            sheets.append(sheet)
    pages = {sheet.path: page_names(sheet.text, _stem(sheet.path)) for sheet in sheets}
    known = {fold(names.title): names.title for names in pages.values()}
    aliases = {fold(alias): names.title for names in pages.values() for alias in names.aliases}
    links = {alias: title for alias, title in aliases.items() if alias not in known}
    known_facts = set[str]()
    for sheet in sheets:
        page = read_page(sheet.text, _stem(sheet.path), links)
        sheet.kind, sheet.origin = ("daily note" if page.day else "note"), "notes"
        sheet.lines.update(page.counts)
        add_page(plan, sheet, page, known_facts)
        sheet.text = ""  # of a vault of thousands of notes one is held at a time


def leave_attachment(plan: ImportPlan, path: str) -> bool:
    """Note a picture, recording or the like as such; return whether it is one."""
    if path.rpartition(".")[2].lower() not in _MEDIA:
        return False
    plan.skip_file(path, "attachment", "it is no text")
    return True


def read_canvas(plan: ImportPlan, path: str) -> None:
    """Add what is written on a canvas of Obsidian, its groups and arrows. Cards of pages and links are counted."""
    sheet = plan.open(path, "canvas")
    if sheet is None:
        return
    sheet.origin = "notes"
    try:
        board = json.loads(sheet.text or "{}")
    except (ValueError, RecursionError):
        board = None
    parts = [board.get(name, []) for name in ("nodes", "edges")] if isinstance(board, dict) else []
    lists = [part for part in parts if isinstance(part, list)]
    if len(lists) != 2:
        sheet.lines["unclear"] += 1
        sheet.unclear.append((1, "it is no JSON of a canvas"))
        return
    known = set[str]()
    for node in chain(*lists):
        text = node.get("text" if node.get("type") == "text" else "label") if isinstance(node, dict) else None
        page = read_page(text if isinstance(text, str) else "", _stem(path), {})
        sheet.lines["kept" if page.facts else "system"] += 1
        add_page(plan, sheet, page, known)


def _template_folder(plan: ImportPlan) -> str:
    """Return the folder of templates that Obsidian's settings name; "" when they name none."""
    settings = plan.folder.read(".obsidian/templates.json")
    try:
        found = json.loads((settings and settings.text) or "{}")
    except (ValueError, RecursionError):
        return ""
    folder = found.get("folder") if isinstance(found, dict) else None
    return folder.strip("/") if isinstance(folder, str) else ""


def _is_template(path: str, folder: str) -> bool:
    parts = PurePosixPath(path).parent.parts
    return (bool(folder) and path.startswith(f"{folder}/")) or any(fold(part) in _TEMPLATES for part in parts)


def _stem(path: str) -> str:
    """Return the name of a page; its day where the folders above tell year and month, such as 2026/02/03.md."""
    name = PurePosixPath(path)
    found = _OF_DAY.search(str(name.with_suffix("")))
    if found is None or not (found[2] or found[3]):
        return name.stem
    return f"{found[1]}-{found[3] or found[2]}-{int(found[4]):02}"


def add_page(plan: ImportPlan, sheet: FilePlan, page: Page, known: set[str]) -> None:
    """Add what a page says. known: the words of all facts before its own."""
    sheet.modified = min(sheet.modified, plan.about.now - _SETTLED)
    if page.aliases:
        said = f"{page.title}: alias: {', '.join(page.aliases)}"
        named = (("alias", ", ".join(page.aliases)),)
        sheet.add(
            Candidate("note", OWNER_SCOPE, said, "entity", "import", "model", subject=page.title, attributes=named),
            plan.about.utc_moment(page.day) if page.day else None,
        )
    for fact in page.facts:
        _add_fact(plan, sheet, page, fact, known)


def _add_fact(plan: ImportPlan, sheet: FilePlan, page: Page, fact: PageFact, known: set[str]) -> None:
    """Add a fact. known: the words of all before it, of which a diary repeats some on other days."""
    day: date | None = fact.day or page.day
    category = fact.category if fact.category != "preference" else "fact"  # such a one would be the owner's own
    subject = page.title if page.is_about else ""
    text = f"{fact.at:%H:%M} {fact.text}" if fact.at and not day else fact.text
    if subject and not set(words(subject)) <= set(words(text)):
        text = f"{subject}: {text}"
    if fact.is_heading and key_of(text) in known:
        return  # of a template
    if day and key_of(text) in known:
        text = f"{text} ({day})"
    known.add(key_of(text))
    said_at = plan.about.utc_moment(day, fact.at or time(0)) if day else None
    sheet.add(Candidate("note", OWNER_SCOPE, text, category, "import", "model", subject=subject), said_at)
