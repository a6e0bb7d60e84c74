"""What OpenClaw and nanobot workspaces have in common: long-term memory, notes by day, a profile of the person.

Whatever stands in them may have been written by their model, so nothing of it counts as the owner's own word.
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time

from kenobot.cli.importers import markdown
from kenobot.cli.importers.folder import SkippedFile, SourceFolder, TextFile
from kenobot.cli.importers.markdown import MarkdownFact
from kenobot.cli.importers.plan import FilePlan, ImportContext, ImportItem, ImportPlan, ManualFile
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate

_INSTRUCTIONS = "it tells another program what to do"


def add_long_term(plan: ImportPlan, found: TextFile | SkippedFile | None, about: ImportContext) -> None:
    """MEMORY.md: what stands in it is told at the date that its headings give, else at its last change."""
    sheet = plan.add_file(found, "long-term memory")
    if sheet is not None and isinstance(found, TextFile):
        reading = markdown.read(found.text)
        sheet.skipped += reading.skipped
        sheet.items += (import_item(fact, about, found.modified, core=True) for fact in reading.facts)


def add_profile(plan: ImportPlan, found: TextFile | SkippedFile | None, about: ImportContext) -> None:
    """USER.md: a form about the person, of which only the answers are taken."""
    sheet = plan.add_file(found, "profile of the person")
    if sheet is not None and isinstance(found, TextFile):
        reading = markdown.read(found.text, choices=True)
        sheet.skipped += reading.skipped
        sheet.items += (import_item(fact, about, found.modified, core=True) for fact in reading.facts)


def add_notes(
    plan: ImportPlan, found: TextFile | SkippedFile | None, about: ImportContext, kind: str, day: date | None = None
) -> FilePlan | None:
    """A file of notes: of a day where its name gives one, else told at its last change."""
    sheet = plan.add_file(found, kind)
    if sheet is not None and isinstance(found, TextFile):
        reading = markdown.read(found.text)
        sheet.skipped += reading.skipped
        sheet.items += (import_item(fact, about, found.modified, day=day) for fact in reading.facts)
    return sheet


def add_manual_files(
    plan: ImportPlan, folder: SourceFolder, base: str, offers: Mapping[str, str], instructions: Iterable[str]
) -> None:
    """The files below `base` that no memory is made of. offers: what a person may do with each instead."""
    for name, advice in offers.items():
        if folder.has(base + name):
            plan.manual_files.append(ManualFile(base + name, advice))
    for name in instructions:
        if folder.has(base + name):
            plan.skip_file(base + name, "instructions", _INSTRUCTIONS)


def import_item(
    fact: MarkdownFact, about: ImportContext, modified: datetime, *, core: bool = False, day: date | None = None
) -> ImportItem:
    """A fact as memory is asked to take it in."""
    on = fact.day or day
    told = about.utc_moment(on, fact.at or time(0)) if on else None
    # A preference that is no core memory would go to preferences.md, as if the owner had been heard to say it.
    category = fact.category if core or fact.category != "preference" else "fact"
    candidate = Candidate("note", OWNER_SCOPE, fact.text, category, "import", "model", tier="core" if core else "daily")
    return ImportItem(candidate, told or min(modified, about.now))


def day_of(path: str) -> date | None:
    """The day that a file's name begins with."""
    try:
        return date.fromisoformat(path.rpartition("/")[2][:10])
    except ValueError:
        return None
