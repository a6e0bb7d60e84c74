"""What OpenClaw and nanobot workspaces have in common: long-term memory, notes by day, a profile of the person.

Whatever stands in them may have been written by their model, so nothing of it counts as the owner's own word.
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time

from kenobot.cli.importers import markdown
from kenobot.cli.importers.folder import Folder, Text, Unread
from kenobot.cli.importers.markdown import Fact
from kenobot.cli.importers.plan import About, Item, Offer, Plan, Sheet
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate

_INSTRUCTIONS = "it tells another program what to do"


def long_term(plan: Plan, found: Text | Unread | None, about: About) -> None:
    """MEMORY.md: what stands in it is told at the date that its headings give, else at its last change."""
    sheet = plan.open(found, "long-term memory")
    if sheet is not None and isinstance(found, Text):
        reading = markdown.read(found.text)
        sheet.skipped += reading.skipped
        sheet.items += (item(fact, about, found.modified, core=True) for fact in reading.facts)


def profile(plan: Plan, found: Text | Unread | None, about: About) -> None:
    """USER.md: a form about the person, of which only the answers are taken."""
    sheet = plan.open(found, "profile of the person")
    if sheet is not None and isinstance(found, Text):
        reading = markdown.read(found.text, choices=True)
        sheet.skipped += reading.skipped
        sheet.items += (item(fact, about, found.modified, core=True) for fact in reading.facts)


def notes(plan: Plan, found: Text | Unread | None, about: About, kind: str, day: date | None = None) -> Sheet | None:
    """A file of notes: of a day where its name gives one, else told at its last change."""
    sheet = plan.open(found, kind)
    if sheet is not None and isinstance(found, Text):
        reading = markdown.read(found.text)
        sheet.skipped += reading.skipped
        sheet.items += (item(fact, about, found.modified, day=day) for fact in reading.facts)
    return sheet


def others(plan: Plan, folder: Folder, base: str, offers: Mapping[str, str], instructions: Iterable[str]) -> None:
    """The files below `base` that no memory is made of. offers: what a person may do with each instead."""
    for name, advice in offers.items():
        if folder.has(base + name):
            plan.offers.append(Offer(base + name, advice))
    for name in instructions:
        if folder.has(base + name):
            plan.leave(base + name, "instructions", _INSTRUCTIONS)


def item(fact: Fact, about: About, modified: datetime, *, core: bool = False, day: date | None = None) -> Item:
    """A fact as memory is asked to take it in."""
    on = fact.day or day
    told = about.moment(on, fact.at or time(0)) if on else None
    # A preference that is no core memory would go to preferences.md, as if the owner had been heard to say it.
    category = fact.category if core or fact.category != "preference" else "fact"
    candidate = Candidate("note", OWNER_SCOPE, fact.text, category, "import", "model", tier="core" if core else "daily")
    return Item(candidate, told or min(modified, about.now))


def day_of(path: str) -> date | None:
    """The day that a file's name begins with."""
    try:
        return date.fromisoformat(path.rpartition("/")[2][:10])
    except ValueError:
        return None
