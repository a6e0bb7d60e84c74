"""A folder of Markdown notes, such as an Obsidian vault: what a page says, with the page that it is about.

"Birthday: 1 May" on Ana's page is Ana's. A link is read as what it shows, with the page that it names; the page of a
day dates its lines. Every line is counted.
"""

from datetime import date, time, timedelta
from pathlib import PurePosixPath

from kenobot.cli.importers.plan import FilePlan, ImportPlan
from kenobot.cli.importers.vault_page import Page, PageFact, page_names, read_page
from kenobot.cognitive.text.fingerprint import key_of
from kenobot.cognitive.text.words import fold, words
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate

_MEDIA = frozenset("png jpg jpeg gif webp svg bmp heic avif mp3 m4a wav ogg opus flac mp4 mov mkv webm avi pdf".split())
_SETTLED = timedelta(days=7)  # a copied folder looks new: what has no date is no news for the next prompts
_NOTES = (".md", ".markdown")


def is_vault(paths: list[str]) -> bool:
    """Return whether a folder with these files holds notes."""
    return any(path.lower().endswith(_NOTES) for path in paths)


def read_vault(plan: ImportPlan, paths: list[str]) -> None:
    """Add the notes among the files of a folder. What is no note is named, with the reason why it is left."""
    sheets = [sheet for path in paths if path.lower().endswith(_NOTES) and (sheet := plan.open(path, "note"))]
    pages = {sheet.path: page_names(sheet.text, _stem(sheet.path)) for sheet in sheets}
    known = {fold(names.title): names.title for names in pages.values()}
    aliases = {fold(alias): names.title for names in pages.values() for alias in names.aliases}
    links = {alias: title for alias, title in aliases.items() if alias not in known}
    known_facts = set[str]()
    for sheet in sheets:
        _add_page(plan, sheet, read_page(sheet.text, _stem(sheet.path), links), known_facts)
        sheet.text = ""  # of a vault of thousands of notes one is held at a time


def leave_attachment(plan: ImportPlan, path: str) -> bool:
    """Note a picture, recording or the like as such; return whether it is one."""
    if path.rpartition(".")[2].lower() not in _MEDIA:
        return False
    plan.skip_file(path, "attachment", "it is no text")
    return True


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _add_page(plan: ImportPlan, sheet: FilePlan, page: Page, known: set[str]) -> None:
    sheet.kind, sheet.origin = ("daily note" if page.day else "note"), "notes"
    sheet.lines.update(page.counts)
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
    text = fact.text
    if subject and not set(words(subject)) <= set(words(text)):
        text = f"{subject}: {text}"
    if day and key_of(text) in known:
        text = f"{text} ({day})"
    known.add(key_of(text))
    said_at = plan.about.utc_moment(day, fact.at or time(0)) if day else None
    sheet.add(Candidate("note", OWNER_SCOPE, text, category, "import", "model", subject=subject), said_at)
