"""Map records to list files, and paths to what they hold. Pure.

Whatever the words in a record, no name leads out of the memory folder.
"""

import re
from dataclasses import dataclass
from datetime import date

from kenobot.cognitive.mirror.lists.list_layout import FileKind
from kenobot.cognitive.mirror.names import page_name, scope_folder
from kenobot.cognitive.store.records import Record
from kenobot.ports.identity import OWNER_SCOPE, is_session_id
from kenobot.ports.memory import Form

ARCHIVE = "archive/"

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WEEK = re.compile(r"week:([0-9]{4}-W[0-9]{2})")
_WEEK_FILE = re.compile(r"week-([0-9]{4}-W[0-9]{2})")
_TOPIC = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})-\S.*", re.DOTALL)
_LEGACY = re.compile(r"[^.#~].*[-_]legacy", re.DOTALL | re.IGNORECASE)
_REF = re.compile(r"[^/\\\x00-\x1f\x7f]{1,180}")
_BY_SLEEP = "sleep"  # a source of what was not told on any day: it has its card, and stands in no log
_OF_SLOT = {"person": "profile.md", "identity": "IDENTITY.md", "session": "SESSION.md"}
_SLOT_OF = {"profile": "person", "IDENTITY": "identity", "SESSION": "session"}
_FORMS: dict[str, Form] = {
    "context": "profile", "working": "scratchpad", "person": "profile", "identity": "profile", "session": "summary",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileRole:
    """What a file of the mirror holds.

    detail: the day of a log or a topic file, a slot's name, a subject's page, a ref file's name. archived: it has left
    the hot tree. is_expired: its day has been so long ago that it has to leave. keeps_archive: what leaves is kept in
    the archive.
    """

    scope: str
    kind: FileKind
    detail: str = ""
    archived: bool = False
    is_expired: bool = False
    keeps_archive: bool = True

    @property
    def stays_empty(self) -> bool:
        return self.archived and not self.keeps_archive


def slot_form(name: str) -> Form:
    return _FORMS.get(name, "summary")


def path_of(record: Record) -> str | None:
    """Choose the file in which `record` stands, relative to the memory folder; None when it stands in none."""
    kind, _, name = record.scope.partition(":")
    if record.form == "scratchpad":
        return f"working/{name}.md" if kind == "chat" else None
    folder = scope_folder(record.scope)
    archive = ARCHIVE if record.tier == "archive" else ""
    if record.form in ("profile", "summary"):
        return _slot_path(record, folder, archive)
    if record.form not in ("note", "episode"):
        return None
    if record.tier == "core":
        return f"{folder}MEMORY.md"
    ref = record.tier.removeprefix("ref:")
    if ref != record.tier and _REF.fullmatch(ref):
        return f"{folder}ref-{ref}.md"
    if record.category == "preference" and record.scope == OWNER_SCOPE:
        return "identity/preferences.md"
    if record.source == _BY_SLEEP:
        return None
    return f"{archive}{folder}{record.day}.md"


def _slot_path(record: Record, folder: str, archive: str) -> str | None:
    slot = record.key.removeprefix("slot:")
    if slot_form(slot) != record.form:
        return None
    if slot in _OF_SLOT:
        return f"{folder}{_OF_SLOT[slot]}" if folder or slot != "session" else None
    if slot == "context":
        return f"{folder}context.md" if folder else None
    week = _WEEK.fullmatch(slot)
    return f"{archive}{folder}week-{week[1]}.md" if week else None


def is_archived(record: Record) -> bool:
    return (path_of(record) or "").startswith(ARCHIVE)


def entity_page_of(record: Record) -> str | None:
    """Choose the page about the record's subject; None when that is the person whose scope it is."""
    if record.form not in ("note", "episode") or record.subject.casefold() in ("", "owner"):
        return None
    return f"{scope_folder(record.scope)}entities/{page_name(record.subject)}.md"


def index_path_of(record: Record) -> str | None:
    """Choose the MEMORY.md that points to the ref file in which `record` stands."""
    return f"{scope_folder(record.scope)}MEMORY.md" if record.tier.startswith("ref:") else None


def archive_path(path: str) -> str:
    """Choose where the content of a file is kept once it has left the hot tree."""
    return f"{ARCHIVE}{path}"


def role_of(path: str) -> FileRole | None:
    """Parse what the file at `path`, relative to the memory folder, holds; None when it is no list file."""
    if path == "identity/preferences.md":
        return FileRole(OWNER_SCOPE, "preferences")
    archived = path.startswith(ARCHIVE)
    *folders, name = path.removeprefix(ARCHIVE).split("/")
    stem = name.removesuffix(".md")
    if stem == name:
        return None
    match folders:
        case []:
            found = _in_folder(OWNER_SCOPE, stem, archived=archived)
        case ["chats" | "users" as group, member] if is_session_id(member):
            scope = f"{group.removesuffix('s')}:{member}"
            found = _in_folder(scope, stem, archived=archived)
        case _ if archived:
            return None
        case ["entities"] if stem:
            found = FileRole(OWNER_SCOPE, "entity", stem)
        case ["chats" | "users" as group, member, "entities"] if is_session_id(member) and stem:
            found = FileRole(f"{group.removesuffix('s')}:{member}", "entity", stem)
        case ["working"] if is_session_id(stem):
            found = FileRole(f"chat:{stem}", "slot", "working")
        case _:
            found = None
    return found


def is_memory_file(path: str) -> bool:
    """Tell whether `path`, relative to the memory folder, is one that memory writes."""
    return role_of(path) is not None


def _in_folder(scope: str, stem: str, *, archived: bool) -> FileRole | None:
    if is_day(stem):
        return FileRole(scope, "daily", stem, archived)
    if (week := _WEEK_FILE.fullmatch(stem)) and is_week(week[1]):
        return FileRole(scope, "slot", f"week:{week[1]}", archived)
    if archived:
        return None
    if stem == "MEMORY":
        return FileRole(scope, "core")
    if stem == "context":
        return FileRole(scope, "slot", "context") if scope != OWNER_SCOPE else None
    if stem == "SESSION" and scope == OWNER_SCOPE:
        return None  # of all chats together: see `kenobot.cognitive.mirror.session_note`
    if stem in _SLOT_OF:
        return FileRole(scope, "slot", _SLOT_OF[stem])
    if stem.startswith("ref-") and _REF.fullmatch(stem.removeprefix("ref-")):
        return FileRole(scope, "ref", stem.removeprefix("ref-"))
    topic = _TOPIC.fullmatch(stem)
    if topic and is_day(topic[1]):
        return FileRole(scope, "topic", topic[1])
    return FileRole(scope, "topic") if _LEGACY.fullmatch(stem) else None


def is_legacy(path: str) -> bool:
    """Tell whether a file is a remainder of another memory: read once and then put away, however new it is."""
    return _LEGACY.fullmatch(path.removesuffix(".md")) is not None


def is_day(text: str) -> bool:
    """Tell whether `text` is a day of the calendar, YYYY-MM-DD."""
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_week(text: str) -> bool:
    """Tell whether `text` is a week of the calendar, YYYY-Www."""
    try:
        date.fromisocalendar(int(text[:4]), int(text[6:]), 1)
    except ValueError:
        return False
    return True
