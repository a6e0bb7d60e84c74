"""Map records to the files that show them, and paths to what they hold. Pure.

A list file shows many records, such as a day's log; a record file shows one. The folder says whose a record is: the
owner's stand below the memory folder itself, a chat's and a guest's below their own. Names are made of words of every
script; whatever the words, no name leads out of the memory folder.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache
from typing import Literal

from kenobot.core import lazy
from kenobot.language.markdown.list_layout import FileKind
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, is_session_id
from kenobot.ports.memory import Form
from kenobot.ports.records import Record

ARCHIVE = "archive/"
GROUPS = ("chats", "users")
AREAS: tuple["Area", ...] = ("facts", "boxes", "artifacts")
Area = Literal["facts", "boxes", "artifacts"]

_UNSAFE = lazy.regex(r"[^\w+#-]+")
_LONGEST_SLUG = 60  # bytes
_LONGEST_PAGE = 120
_RESERVED = lazy.regex(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])", re.IGNORECASE)
_HASHED = lazy.regex(r"-[0-9a-f]{10}\Z")
_DAY = lazy.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WEEK = lazy.regex(r"week:([0-9]{4}-W[0-9]{2})")
_WEEK_FILE = lazy.regex(r"week-([0-9]{4}-W[0-9]{2})")
_TOPIC = lazy.regex(r"([0-9]{4}-[0-9]{2}-[0-9]{2})-\S.*", re.DOTALL)
_LEGACY = lazy.regex(r"[^.#~].*[-_]legacy", re.DOTALL | re.IGNORECASE)
_REF = lazy.regex(r"[^/\\\x00-\x1f\x7f]{1,180}")
_BY_SLEEP = "sleep"  # a source of what was not told on any day: it has its record file, and stands in no log
_OF_SLOT = {"person": "profile.md", "identity": "IDENTITY.md", "session": "SESSION.md"}
_SLOT_OF = {"profile": "person", "IDENTITY": "identity", "SESSION": "session"}
_FORMS: dict[str, Form] = {
    "context": "profile", "working": "scratchpad", "person": "profile", "identity": "profile", "session": "summary",
}  # fmt: skip


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def scope_folder(scope: str) -> str:
    """Name the folder in which everything of a scope stands, with its slash: "" for the owner's."""
    kind, _, name = scope.partition(":")
    return {"owner": "", "chat": f"chats/{name}/", "user": f"users/{name}/"}[kind]


def slug(text: str, longest: int = _LONGEST_SLUG) -> str:
    """Return a text as part of a file name: letters and digits of every script, + and #.

    Nothing that means a folder.
    """
    plain = _UNSAFE.sub("-", unicodedata.normalize("NFC", text).casefold()).strip("-_")
    return plain.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore").strip("-_")


def page_name(subject: str) -> str:
    """Name the page about `subject`, without its suffix: the same for the same subject only.

    Blanks become hyphens. A subject that cannot be a file name like that, or that could pass for another's, keeps a
    legible part and a hash. See `subject_of`.
    """
    folded = unicodedata.normalize("NFC", subject).casefold()
    plain = slug(folded, _LONGEST_PAGE)
    if plain and plain.replace("-", " ") == folded and not _RESERVED.fullmatch(plain) and not _HASHED.search(plain):
        return plain
    digest = hashlib.sha256(folded.encode("utf-8", "replace")).hexdigest()
    return f"{slug(folded, 40) or 'entity'}-{digest[:10]}"


def subject_of(name: str) -> str | None:
    """Recover the subject of a page from its name; None when that keeps a part of it only."""
    subject = name.replace("-", " ")
    return subject if page_name(subject) == name else None


def _split_scope(folders: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Split the names of folders into the scope whose they are and those below."""
    match folders:
        case [("chats" | "users") as group, member, *below] if is_session_id(member):
            return f"{group.removesuffix('s')}:{member}", below
        case _:
            return OWNER_SCOPE, folders


# ── list files ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class FileRole:
    """Role of a file: what it holds.

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


def has_own_file(record: Record) -> bool:
    """Return whether a record has a file of its own, such as a summary, and is in no list with others."""
    return record.form in ("profile", "summary", "scratchpad")


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


def entity_page_of(record: Record) -> str | None:
    """Choose the page about the record's subject; None when that is the person whose scope it is."""
    if record.form not in ("note", "episode") or record.subject.casefold() in ("", "owner"):
        return None
    return f"{scope_folder(record.scope)}entities/{page_name(record.subject)}.md"


def paths_of(record: Record, left: Iterable[str]) -> set[str]:
    """List every file that `record` may stand in or have stood in: sleep and people move facts between the tiers.

    left: tiers that it has had since its files were written, as its events tell.
    """
    candidates = {path_of(record._replace(tier=tier)) for tier in (record.tier, *left)} | {entity_page_of(record)}
    if any(tier.startswith("ref:") for tier in (record.tier, *left)):  # the index there points to the ref file
        candidates.add(f"{scope_folder(record.scope)}MEMORY.md")
    return {path for path in candidates if path is not None}


def role_of(path: str) -> FileRole | None:
    """Parse what the file at `path`, relative to the memory folder, holds; None when it is no list file."""
    if path == "identity/preferences.md":
        return FileRole(OWNER_SCOPE, "preferences")
    archived = path.startswith(ARCHIVE)
    *folders, name = path.removeprefix(ARCHIVE).split("/")
    stem = name.removesuffix(".md")
    if stem == name:
        return None
    scope, below = _split_scope(folders)
    match [*below]:
        case []:
            return _in_folder(scope, stem, archived=archived)
        case ["entities"] if stem and not archived:
            return FileRole(scope, "entity", stem)
        case ["working"] if scope == OWNER_SCOPE and is_session_id(stem) and not archived:
            return FileRole(f"chat:{stem}", "slot", "working")
        case _:
            return None


def _in_folder(scope: str, stem: str, *, archived: bool) -> FileRole | None:
    if is_day(stem):
        return FileRole(scope, "daily", stem, archived)
    if (week := _WEEK_FILE.fullmatch(stem)) and _is_week(week[1]):
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
    with suppress(ValueError):
        return bool(_DAY.fullmatch(text) and date.fromisoformat(text))
    return False


def _is_week(text: str) -> bool:
    """Tell whether `text` is a week of the calendar, YYYY-Www."""
    with suppress(ValueError):
        return bool(date.fromisocalendar(int(text[:4]), int(text[6:]), 1))
    return False


def is_memory_file(path: str) -> bool:
    """Tell whether `path`, relative to the memory folder, is one that memory writes."""
    return role_of(path) is not None


# ── record files ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Folder of record files, and what it is for."""

    scope: str
    area: Area
    day: str
    archived: bool


def area_of(record: Record) -> Area:
    return "boxes" if record.form == "box" else "facts"


def folder_of(record: Record, area: Area | None = None) -> str:
    archive = "" if record.status == "active" else "archive/"
    day = record.day if is_day(record.day) else "undated"
    return f"{scope_folder(record.scope)}{archive}{area or area_of(record)}/{day}"


def name_of(record: Record, salt: str = "") -> str:
    """Name a new file. salt: makes another name, where that is taken."""
    if record.form == "box" and not salt:
        return f"box-{record.id}.md"
    try:
        moment = f"{datetime.fromisoformat(record.created):%Y%m%dT%H%M%SZ}"
    except ValueError:
        moment = "undated"
    digest = hashlib.sha256(f"{record.id}\0{record.scope}\0{record.created}\0{salt}".encode()).hexdigest()
    return f"{slug(record.category) or 'fact'}-{moment}-{digest[:10]}.md"


@lru_cache(maxsize=4096)  # the folders of ten years: all of them are looked at again and again
def location_of(folder: str) -> FileLocation | None:
    """Parse what a folder, relative to the memory folder, is for; None when no record files belong there."""
    scope, below = _split_scope(folder.split("/"))
    archived = below[:1] == ["archive"]
    match below[1:] if archived else below:
        case [("facts" | "boxes" | "artifacts") as area, day] if is_day(day) or day == "undated":
            return FileLocation(scope, area, day, archived)
        case _:
            return None


def is_right_folder(folder: str, record: Record, area: Area | None = None) -> bool:
    """Tell whether files of `record` may stand in this folder: of which day it is is the person's business."""
    here = location_of(folder)
    there = location_of(folder_of(record, area))
    if here is None or there is None:
        return False
    return (here.scope, here.area, here.archived) == (there.scope, there.area, there.archived)
