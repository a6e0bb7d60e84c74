"""The home of the JavaScript KenoBot: MEMORY.md, daily logs, chats, scratchpads, patterns, preferences, conversations.

Its logs are written in UTC. What it holds was written by its model, but for the lines of preferences.md that do not
begin with "learned:": its program writes all others there, so these were typed by a person.
"""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.memory import Imports
from kenobot.ports.identity import OWNER_SCOPE, chat_scope, is_session_id
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.provider import Role
from kenobot_importers.folder import SourceFolder, json_lines
from kenobot_importers.plan import FilePlan, ImportPlan

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


def is_kenobot_js(folder: SourceFolder) -> bool:
    """Return whether this is such a home."""
    memory = _memory(folder)
    marks = ("identity", "chats", "working", "procedural")
    if memory is not None and any(folder.has(f"{memory}/{mark}") for mark in marks):
        return True
    others = ("SOUL.md", "AGENTS.md", "USER.md", "MEMORY.md", "memory.md", "memory/history.jsonl", "memory/HISTORY.md")
    return memory is not None and not any(map(folder.has, others)) and bool(_logs(folder, memory))


def read_kenobot_js(plan: ImportPlan) -> None:
    """Add all that such a home holds."""
    folder = plan.folder
    memory = _memory(folder) or "memory"
    _add_scope(plan, memory, OWNER_SCOPE)
    for session in folder.folders(f"{memory}/chats"):
        if is_session_id(session):
            _add_scope(plan, f"{memory}/chats/{session}", chat_scope(session))
            _add_slot(plan, f"{memory}/chats/{session}/context.md", session, "context")
        else:
            plan.skip_file(f"{memory}/chats/{session}", "chat", _NO_SESSION)
    for path in folder.files(f"{memory}/working", ".md", ".json"):
        session = path.rpartition("/")[2].rpartition(".")[0]
        if is_session_id(session):
            _add_slot(plan, path, session, "working")
        else:
            plan.skip_file(path, "scratchpad", _NO_SESSION)
    _add_patterns(plan, f"{memory}/procedural/patterns.json")
    _add_preferences(plan, f"{memory}/identity/preferences.md")
    for under in (f"{memory}/identity", "identity", "identities"):  # what says who the bot is belongs to people
        plan.manual_files |= {path: _PEOPLES[path.rpartition("/")[2]] for path in folder.files(under, *_PEOPLES)}
    for path in (*folder.files("sessions", ".jsonl"), *folder.files("data/sessions", ".jsonl")):
        _add_conversation(plan, path)


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


def _add_scope(plan: ImportPlan, under: str, scope: str) -> None:
    """Add MEMORY.md and the daily logs of the owner or of a chat."""
    if (sheet := plan.open(f"{under}/MEMORY.md", "long-term memory")) is not None:
        for fact in sheet.markdown_facts(sheet.text):
            candidate = Candidate("note", scope, fact.text, fact.category, "import", "model", tier="core")
            sheet.add(candidate, plan.about.utc_moment(fact.day) if fact.day else None)
    for path in _logs(plan.folder, under):
        _add_daily(plan, path, scope)


def _add_daily(plan: ImportPlan, path: str, scope: str) -> None:
    sheet, day = plan.open(path, "daily log"), _day(path)
    if sheet is None or day is None:
        return
    form: Form = "note" if scope == OWNER_SCOPE else "episode"
    for chunk, at, entry in Imports.split_log(sheet.text):
        texts = [entry] if at is not None and entry is not None else []
        if at is None:  # what a person wrote before the first entry
            texts = [fact.text for fact in sheet.markdown_facts(chunk)]
        said_at = plan.about.utc_moment(day, _clock(at), _UTC) or plan.about.now
        for text in texts:
            sheet.add(Candidate(form, scope, text, source="import", trust="model"), said_at)


def _clock(at: str | None) -> time:
    try:
        hour, minute = map(int, at.split(":")) if at else (0, 0)
        return time(hour, minute)
    except ValueError:
        return time(0)


def _add_slot(plan: ImportPlan, path: str, session: str, name: str) -> None:
    """Add a chat's scratchpad or description, whole."""
    sheet = plan.open(path, "scratchpad" if name == "working" else "chat context")
    if sheet is None:
        return
    text, changed = _pad(sheet) if path.endswith(".json") else (sheet.text, sheet.modified)
    if not text.strip():
        sheet.skipped["there is nothing in it"] += 1
    elif name == "working" and plan.about.now - changed > _STALE:
        sheet.skipped["it is older than a week, and scratchpads are for what is under way"] += 1
    else:
        form: Form = "scratchpad" if name == "working" else "profile"
        candidate = Candidate(form, chat_scope(session), text, source="import", trust="model", slot=name)
        sheet.add(candidate, min(changed, plan.about.now))


def _pad(sheet: FilePlan) -> tuple[str, datetime]:
    """Return a scratchpad as early versions kept it: {"content", "updatedAt"}."""
    try:
        pad = json.loads(sheet.text)
        if not isinstance(pad, dict):
            return "", sheet.modified
        changed = datetime.fromisoformat(str(pad.get("updatedAt", "")))
    except (ValueError, RecursionError):
        return "", sheet.modified
    return str(pad.get("content", "")), changed if changed.tzinfo else changed.replace(tzinfo=UTC)


def _add_patterns(plan: ImportPlan, path: str) -> None:
    """Add what was learned to do when something happens: {id, trigger, response, confidence, …}, one record each."""
    sheet = plan.open(path, "patterns")
    if sheet is None:
        return
    try:
        document = json.loads(sheet.text)
    except (ValueError, RecursionError):
        sheet.skipped["it is no JSON"] += 1
        return
    rows = document.get("patterns", []) if isinstance(document, dict) else document
    for row in rows if isinstance(rows, list) else []:
        trigger, response = (row.get("trigger"), row.get("response")) if isinstance(row, dict) else (None, None)
        if not isinstance(trigger, str) or not isinstance(response, str) or not trigger.strip() or not response.strip():
            sheet.skipped["a pattern without a trigger or without a response"] += 1
            continue
        sure = row.get("confidence")
        known = isinstance(sure, int | float) and not isinstance(sure, bool)
        text, confidence = f"{trigger.strip()} → {response.strip()}", min(1.0, max(0.0, float(sure))) if known else None
        sheet.add(Candidate("procedure", OWNER_SCOPE, text, "pattern", "import", "model", confidence=confidence))


def _add_preferences(plan: ImportPlan, path: str) -> None:
    sheet = plan.open(path, "preferences")
    if sheet is None:
        return
    for fact in sheet.markdown_facts(sheet.text, bare=True):
        learned = fact.text.lower().startswith(_LEARNED)
        text = fact.text[len(_LEARNED) :].strip() if learned else fact.text
        said = Candidate("note", OWNER_SCOPE, text, "preference", "import", "owner")
        # What its model learned is shown with the long-term memory: preferences.md is the owner's word.
        sheet.add(replace(said, trust="model", tier="core") if learned else said)


def _add_conversation(plan: ImportPlan, path: str) -> None:
    sheet = plan.open(path, "conversation")
    if sheet is None:
        return
    sheet.session = path.rpartition("/")[2].removesuffix(".jsonl")
    if not is_session_id(sheet.session):
        sheet.skipped[_NO_SESSION] += 1
        return
    rows = list(json_lines(sheet.text))
    if damaged := rows.count(None):
        sheet.skipped["a damaged line"] += damaged
    for row in (row for row in rows if row is not None):
        role, text, at = _ROLES.get(str(row.get("role"))), row.get("content"), row.get("timestamp")
        if role is None or not isinstance(text, str) or not text.strip():
            sheet.skipped["no message of a person or of the bot"] += 1
            continue
        sheet.messages.append((role, text[:_LONGEST_SAID], _moment(at) or sheet.modified))
    if len(sheet.messages) > _MOST_SAID:
        sheet.skipped[f"older than the last {_MOST_SAID} messages"] += len(sheet.messages) - _MOST_SAID
        del sheet.messages[:-_MOST_SAID]


def _moment(stamp: object) -> datetime | None:
    """Return a time in milliseconds since 1970."""
    if isinstance(stamp, bool) or not isinstance(stamp, int | float):
        return None
    try:
        return datetime.fromtimestamp(stamp / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
