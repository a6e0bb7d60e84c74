"""The home of the JavaScript KenoBot: MEMORY.md, daily logs, chats, scratchpads, patterns, preferences, conversations.

Its logs are written in UTC. What it holds was written by its model, but for the lines of preferences.md that do not
begin with "learned:": its program writes all others there, so these were typed by a person.
"""

import json
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kenobot.cli.importers import markdown
from kenobot.cli.importers.folder import SkippedFile, SourceFolder, TextFile
from kenobot.cli.importers.markdown import MarkdownFact
from kenobot.cli.importers.plan import FilePlan, ImportContext, ImportedMessage, ImportItem, ImportPlan, ManualFile
from kenobot.cli.importers.workspace import add_markdown
from kenobot.cognitive.mirror.lists import list_layout
from kenobot.ports.identity import OWNER_SCOPE, Trust, chat_scope, is_session_id
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.provider import Role

_UTC = ZoneInfo("UTC")
_LEARNED = "learned:"
_STALE = timedelta(days=7)  # as that program had it: an older scratchpad is not read any more
_MOST_SAID = 1_000  # messages of one conversation: its end
_LONGEST_SAID = 20_000  # characters
_NO_SESSION = "the folder's name is none that a chat can have here"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_PEOPLES = {
    "core.md": "your bot's character: compare it with memory/identity/core.md here and copy what you want to keep",
    "rules.json": "your rules: compare them with memory/identity/rules.json here and copy what you want to keep",
    "preferences.md": "its list is taken in as preferences; copy what else you wrote there to "
    "memory/identity/preferences.md here",
}
_PEOPLES |= dict.fromkeys(("SOUL.md", "IDENTITY.md", "USER.md"), _PEOPLES["core.md"])


def looks_like(folder: SourceFolder) -> bool:
    """Whether this is such a home."""
    memory = _memory(folder)
    marks = ("identity", "chats", "working", "procedural")
    if memory is not None and any(folder.has(f"{memory}/{mark}") for mark in marks):
        return True
    others = ("SOUL.md", "AGENTS.md", "USER.md", "MEMORY.md", "memory.md", "memory/history.jsonl", "memory/HISTORY.md")
    return memory is not None and not any(map(folder.has, others)) and bool(_logs(folder, memory))


def read(folder: SourceFolder, about: ImportContext) -> ImportPlan:
    """All that such a home holds."""
    plan = ImportPlan("kenobot-js")
    memory = _memory(folder) or "memory"
    _scope(plan, folder, about, memory, OWNER_SCOPE)
    for session in folder.folders(f"{memory}/chats"):
        if is_session_id(session):
            _scope(plan, folder, about, f"{memory}/chats/{session}", chat_scope(session))
            _slot(plan, folder, about, f"{memory}/chats/{session}/context.md", session, "context")
        else:
            plan.skip_file(f"{memory}/chats/{session}", "chat", _NO_SESSION)
    for path in folder.files(f"{memory}/working", ".md", ".json"):
        session = path.rpartition("/")[2].rpartition(".")[0]
        if is_session_id(session):
            _slot(plan, folder, about, path, session, "working")
        else:
            plan.skip_file(path, "scratchpad", _NO_SESSION)
    _patterns(plan, folder, about, f"{memory}/procedural/patterns.json")
    _identity(plan, folder, about, memory)
    for path in (*folder.files("sessions", ".jsonl"), *folder.files("data/sessions", ".jsonl")):
        _conversation(plan, folder, path)
    return plan


def _memory(folder: SourceFolder) -> str | None:
    return next((path for path in ("memory", "data/memory") if folder.has(path)), None)


def _logs(folder: SourceFolder, under: str) -> list[str]:
    return [
        path
        for path in folder.files(under, ".md")
        if _day(path) is not None and path.count("/") == 1 + under.count("/")
    ]


def _day(path: str) -> date | None:
    try:
        return date.fromisoformat(path.rpartition("/")[2].removesuffix(".md"))
    except ValueError:
        return None


# ── what is remembered ───────────────────────────────────────────────────────────────────────────────────────────


def _scope(plan: ImportPlan, folder: SourceFolder, about: ImportContext, under: str, scope: str) -> None:
    """MEMORY.md and the daily logs of the owner or of a chat."""

    def core(fact: MarkdownFact, modified: datetime) -> ImportItem:
        told = (about.utc_moment(fact.day) if fact.day else None) or min(modified, about.now)
        return ImportItem(Candidate("note", scope, fact.text, fact.category, "import", "model", tier="core"), told)

    add_markdown(plan, folder.read(f"{under}/MEMORY.md"), "long-term memory", core)
    for path in _logs(folder, under):
        _daily(plan, folder.read(path), about, scope, _day(path))


def _daily(
    plan: ImportPlan, found: TextFile | SkippedFile | None, about: ImportContext, scope: str, day: date | None
) -> None:
    sheet = plan.add_file(found, "daily log")
    if sheet is None or not isinstance(found, TextFile) or day is None:
        return
    form: Form = "note" if scope == OWNER_SCOPE else "episode"
    for chunk in list_layout.split("daily", found.text):
        at = list_layout.entry_time(chunk)
        said = list_layout.fact_text("daily", chunk)
        texts = [said] if at is not None and said is not None else []
        if at is None:  # what a person wrote before the first entry
            reading = markdown.read(chunk)
            sheet.skipped += reading.skipped
            texts = [fact.text for fact in reading.facts]
        told = about.utc_moment(day, _clock(at), _UTC) or about.now
        sheet.items += (
            ImportItem(Candidate(form, scope, text, source="import", trust="model"), told) for text in texts
        )


def _clock(at: str | None) -> time:
    try:
        hour, minute = map(int, at.split(":")) if at else (0, 0)
        return time(hour, minute)
    except ValueError:
        return time(0)


def _slot(plan: ImportPlan, folder: SourceFolder, about: ImportContext, path: str, session: str, name: str) -> None:
    """A chat's scratchpad or description, whole."""
    found = folder.read(path)
    sheet = plan.add_file(found, "scratchpad" if name == "working" else "chat context")
    if sheet is None or not isinstance(found, TextFile):
        return
    text, told = _pad(found) if path.endswith(".json") else (found.text, found.modified)
    if not text.strip():
        sheet.skipped["there is nothing in it"] += 1
    elif name == "working" and about.now - told > _STALE:
        sheet.skipped["it is older than a week, and scratchpads are for what is under way"] += 1
    else:
        form: Form = "scratchpad" if name == "working" else "profile"
        candidate = Candidate(form, chat_scope(session), text, source="import", trust="model", slot=name)
        sheet.items.append(ImportItem(candidate, min(told, about.now)))


def _pad(found: TextFile) -> tuple[str, datetime]:
    """A scratchpad as early versions kept it: {"content", "updatedAt"}."""
    try:
        held = json.loads(found.text)
        text = held.get("content", "") if isinstance(held, dict) else ""
        told = datetime.fromisoformat(str(held.get("updatedAt", ""))) if isinstance(held, dict) else found.modified
    except ValueError:
        return "", found.modified
    return str(text), told if told.tzinfo else told.replace(tzinfo=UTC)


def _patterns(plan: ImportPlan, folder: SourceFolder, about: ImportContext, path: str) -> None:
    """What was learned to do when something happens: {id, trigger, response, confidence, …}, one record each."""
    found = folder.read(path)
    sheet = plan.add_file(found, "patterns")
    if sheet is None or not isinstance(found, TextFile):
        return
    try:
        held = json.loads(found.text)
    except ValueError:
        sheet.skipped["it is no JSON"] += 1
        return
    rows = held.get("patterns", []) if isinstance(held, dict) else held
    for row in rows if isinstance(rows, list) else []:
        trigger, response = (row.get("trigger"), row.get("response")) if isinstance(row, dict) else (None, None)
        if not isinstance(trigger, str) or not isinstance(response, str) or not trigger.strip() or not response.strip():
            sheet.skipped["a pattern without a trigger or without a response"] += 1
            continue
        sure = row.get("confidence")
        known = isinstance(sure, int | float) and not isinstance(sure, bool)
        candidate = Candidate(
            "procedure",
            OWNER_SCOPE,
            f"{trigger.strip()} → {response.strip()}",
            "pattern",
            "import",
            "model",
            confidence=min(1.0, max(0.0, float(sure))) if known else None,
        )
        sheet.items.append(ImportItem(candidate, min(found.modified, about.now)))


def _identity(plan: ImportPlan, folder: SourceFolder, about: ImportContext, memory: str) -> None:
    """What says who the bot is belongs to people: it is offered. Of the preferences, the list is taken in."""

    def preference(fact: MarkdownFact, modified: datetime) -> ImportItem:
        learned = fact.text.lower().startswith(_LEARNED)
        text = fact.text[len(_LEARNED) :].strip() if learned else fact.text
        trust: Trust = "model" if learned else "owner"
        candidate = Candidate("note", OWNER_SCOPE, text, "preference", "import", trust)
        return ImportItem(candidate, min(modified, about.now))

    add_markdown(plan, folder.read(f"{memory}/identity/preferences.md"), "preferences", preference, bare=True)
    for under in (f"{memory}/identity", "identity", "identities"):
        for path in folder.files(under, *_PEOPLES):
            plan.manual_files.append(ManualFile(path, _PEOPLES[path.rpartition("/")[2]]))


# ── what was said ────────────────────────────────────────────────────────────────────────────────────────────────


def parse_messages(text: str) -> tuple[list[dict[str, object]], int]:
    """The messages of a conversation's file, one JSON object a line, and how many lines were damaged."""
    found: list[dict[str, object]] = []
    damaged = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict):
            found.append(message)
        else:
            damaged += 1
    return found, damaged


def _conversation(plan: ImportPlan, folder: SourceFolder, path: str) -> None:
    found = folder.read(path)
    sheet = plan.add_file(found, "conversation")
    if sheet is None or not isinstance(found, TextFile):
        return
    sheet.session = path.rpartition("/")[2].removesuffix(".jsonl")
    if not is_session_id(sheet.session):
        sheet.skipped[_NO_SESSION] += 1
        return
    rows, damaged = parse_messages(found.text)
    sheet.skipped += Counter({"a damaged line": damaged}) if damaged else Counter()
    _told(sheet, rows, found.modified)


def _told(sheet: FilePlan, rows: list[dict[str, object]], modified: datetime) -> None:
    for row in rows:
        role, text, at = _ROLES.get(str(row.get("role"))), row.get("content"), row.get("timestamp")
        if role is None or not isinstance(text, str) or not text.strip():
            sheet.skipped["no message of a person or of the bot"] += 1
            continue
        sheet.messages.append(ImportedMessage(role, text[:_LONGEST_SAID], _moment(at) or modified))
    if len(sheet.messages) > _MOST_SAID:
        sheet.skipped[f"older than the last {_MOST_SAID} messages"] += len(sheet.messages) - _MOST_SAID
        del sheet.messages[:-_MOST_SAID]


def _moment(stamp: object) -> datetime | None:
    """A time in milliseconds since 1970."""
    if isinstance(stamp, bool) or not isinstance(stamp, int | float):
        return None
    try:
        return datetime.fromtimestamp(stamp / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
