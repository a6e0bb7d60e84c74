"""What OpenClaw and nanobot workspaces have in common: long-term memory, notes by day, a profile of the person.

Whatever stands in them may have been written by their model, so nothing of it counts as the owner's own word.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from functools import partial

from kenobot.cli.importers import markdown
from kenobot.cli.importers.folder import SkippedFile, SourceFolder, TextFile
from kenobot.cli.importers.markdown import MarkdownFact
from kenobot.cli.importers.plan import FilePlan, ImportContext, ImportItem, ImportPlan, ManualFile
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate

_INSTRUCTIONS = "it tells another program what to do"


def add_markdown(
    plan: ImportPlan,
    found: TextFile | SkippedFile | None,
    kind: str,
    item: Callable[[MarkdownFact, datetime], ImportItem],
    *,
    choices: bool = False,
    bare: bool = False,
) -> FilePlan | None:
    """Add the facts of a Markdown file. item: makes one of a fact and the file's last change.

    choices, bare: as `markdown.read` has them.
    """
    sheet = plan.add_file(found, kind)
    if sheet is not None and isinstance(found, TextFile):
        reading = markdown.read(found.text, choices=choices, bare=bare)
        sheet.skipped += reading.skipped
        sheet.items += (item(fact, found.modified) for fact in reading.facts)
    return sheet


def add_long_term(plan: ImportPlan, found: TextFile | SkippedFile | None, about: ImportContext) -> None:
    """MEMORY.md: facts at the dates of its headings, else at its last change."""
    add_markdown(plan, found, "long-term memory", partial(import_item, about, core=True))


def add_profile(plan: ImportPlan, found: TextFile | SkippedFile | None, about: ImportContext) -> None:
    """USER.md: a form about the person, of which only the answers are taken."""
    add_markdown(plan, found, "profile of the person", partial(import_item, about, core=True), choices=True)


def add_notes(
    plan: ImportPlan, found: TextFile | SkippedFile | None, about: ImportContext, day: date | None
) -> FilePlan | None:
    """A file of notes: of a day, else at its last change."""
    kind = "notes" if day is None else "daily log"
    return add_markdown(plan, found, kind, partial(import_item, about, day=day))


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
    about: ImportContext, fact: MarkdownFact, modified: datetime, *, core: bool = False, day: date | None = None
) -> ImportItem:
    """A fact as a candidate for memory."""
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
