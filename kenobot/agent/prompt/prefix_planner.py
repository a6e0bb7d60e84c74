"""Plan the beginning of a prompt: go on with a conversation's prefix and log, or begin either anew.

What makes a prefix or a log begin anew is in `kenobot.agent.prompt.context_builder`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agent.prompt.prompt_context import PromptLimits, PromptPlan
from kenobot.agent.prompt.runtime_block import escape_runtime_block
from kenobot.agent.prompt.shown_talk import ShownTalk, ShownTalks, TalkFrame, TalkReader
from kenobot.cognitive.memory import MemoryPack, MemoryQuery, MemoryReader
from kenobot.core.token_estimate import estimate_tokens
from kenobot.identity.identity_files import IdentityText
from kenobot.identity.preference_notes import has_entries, note_preferences
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.recall import MemoryEntry, Section
from kenobot.storage import conversation, message_rows, prompt_prefix
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import StoredMessage
from kenobot.storage.prompt_prefix import PromptPrefix

CHAT_CONTEXT = "### Chat context"
_REST = timedelta(hours=1)
_HEADINGS: Mapping[Section, str] = {
    "long_term": "### Long-term memory",
    "recent": "### Recent notes",
    "chat": "### Chat-specific memory",
    "context": CHAT_CONTEXT,
}
_NOTHING_YET = (
    "_Nothing was remembered when this conversation began. When asked for what does not stand in it since, say so; do "
    "not guess._"
)
_NOTHING_SHOWN = "_No notes are shown here. When asked for what this prompt does not show, say so; do not guess._"
_SEARCHED = "Those that fit a message are shown behind it. When asked for what neither shows, say so; do not guess."
_NOTED_PREFERENCES = 1000  # tokens that a note of new preferences may take; longer ones are worth a new prefix


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """The turn that a prompt is planned for. base: the query of its memory. reader: of the conversation."""

    base: MemoryQuery
    limits: PromptLimits
    identity: IdentityText
    reader: TalkReader


@dataclass(frozen=True, slots=True)
class _NewLog:
    """A log as it begins anew.

    shown: the messages in it. first_message: where it begins. newest: the last message that there is.
    summary: of messages that are not shown; summary_records: its own.
    """

    shown: Sequence[StoredMessage]
    first_message: int
    newest: int
    summary: str
    summary_records: tuple[int, ...]


class PrefixPlanner:
    """Plan prompts from one snapshot of the database, without what is searched for."""

    def __init__(self, memory: MemoryReader, zone: ZoneInfo) -> None:
        self._memory = memory
        self._talks = ShownTalks(zone)

    def plan(self, connection: Connection, turn: PlannedTurn) -> PromptPlan:
        """Decide what a prompt shows of memory and of the conversation."""
        return self._continue_log(connection, turn) or self._make_prefix(connection, turn)

    def _continue_log(self, connection: Connection, turn: PlannedTurn) -> PromptPlan | None:
        """Return the plan that goes on with the session's prefix; None when a new one has to be made."""
        prefix, scopes = prompt_prefix.load_prefix(connection, turn.base.session), " ".join(turn.base.scopes)
        if prefix is None or (prefix.scopes, prefix.day) != (scopes, turn.base.day) or turn.limits.always_new_prefix:
            return None
        stored = conversation.load_since(
            connection, turn.base.session, prefix.first_message, turn.limits.history_max + 1
        )
        if not stored or turn.base.now - datetime.fromisoformat(stored[-1].at) > _REST:
            return None
        talk = self._show(stored, turn, prefix)
        if not turn.limits.window.fits(len(talk.lines), talk.tokens, self._memory.count_summary(prefix.later)):
            return self._begin_log(connection, turn, prefix)
        preferences = _select_preferences(turn)
        added = _note_preferences(prefix.known_preferences, preferences)
        updates = self._memory.updates(connection, turn.base, prefix)
        if added is None or updates.stale or updates.prefix is None:
            return None
        told = replace(updates.prefix, known_preferences=preferences) if added else updates.prefix
        texts = (prefix.shown_text, escape_runtime_block(updates["updates"]), *talk.contexts)
        return PromptPlan(turn.limits, turn.identity, told, prefix, talk, updates, texts, preferences=added)

    def _begin_log(self, connection: Connection, turn: PlannedTurn, prefix: PromptPrefix) -> PromptPlan | None:
        """Plan a log that begins anew behind the session's prefix and what became known since that was made."""
        preferences = _select_preferences(turn)
        added = _note_preferences(prefix.preferences, preferences)
        made = replace(prefix, last_event=prefix.made_event, last_record=prefix.made_record)
        updates = self._memory.updates(connection, turn.base, made)
        shown = self._memory.list_in_prefix(connection, turn.base.session)
        if added is None or updates.stale or updates.prefix is None or shown is None:
            return None
        log = self._read_log(connection, turn)
        kept = tuple(MemoryEntry(number, "recent") for number in dict.fromkeys([*shown, *log.summary_records]))
        memory = MemoryPack({"recent": ""}, entries=(*kept, *updates.entries))
        later = [escape_runtime_block(text) for text in (added, updates["updates"], log.summary)]
        again = replace(
            updates.prefix,
            known_preferences=preferences,
            later="\n\n".join(text for text in later if text),
            first_message=log.first_message,
            last_message=log.newest,
        )
        talk = self._show(log.shown, turn, again)
        return PromptPlan(turn.limits, turn.identity, again, prefix, talk, memory, (again.shown_text,))

    def _make_prefix(self, connection: Connection, turn: PlannedTurn) -> PromptPlan:
        """Return the plan with a new prefix."""
        memory = self._memory.load(connection, turn.base)
        log, preferences = self._read_log(connection, turn), _select_preferences(turn)
        event, record = self._memory.last_numbers(connection)
        is_empty = not memory.omitted and not has_entries(preferences)
        is_empty = is_empty and not message_rows.has_earlier_talk(
            connection, turn.base.session, log.first_message, turn.base.scopes
        )
        prefix = PromptPrefix(
            session=turn.base.session,
            scopes=" ".join(turn.base.scopes),
            text=_render(memory, _NOTHING_YET if is_empty else _NOTHING_SHOWN),
            day=turn.base.day,
            last_event=event,
            last_record=record,
            first_message=log.first_message,
            last_message=log.newest,
            omitted=memory.omitted,
            preferences=preferences,
            known_preferences=preferences,
            later=escape_runtime_block(log.summary),
            made_event=event,
            made_record=record,
        )
        memory += MemoryPack(entries=tuple(MemoryEntry(number, "chat") for number in log.summary_records))
        talk = self._show(log.shown, turn, prefix)
        return PromptPlan(turn.limits, turn.identity, prefix, None, talk, memory, memory.texts)

    def _show(self, stored: Sequence[StoredMessage], turn: PlannedTurn, prefix: PromptPrefix) -> ShownTalk:
        frame = TalkFrame(turn.reader, turn.limits.message_tokens, prefix.day, prefix.last_message)
        return self._talks.show(prefix.session, frame, stored)

    def _read_log(self, connection: Connection, turn: PlannedTurn) -> _NewLog:
        window, session = turn.limits.window, turn.base.session
        summary = self._memory.load_summary(connection, session, window.summary_budget, turn.base.scopes)
        stored = conversation.load_latest(connection, session, turn.limits.history_min + window.summary_batch + 1)
        begun = prompt_prefix.find_beginning(connection, session)
        latest = self._talks.messages.of([message for message in stored if message.id > begun])
        shown = window.select_shown(latest, summary.cursor, summary.tokens)
        newest = latest[-1].id if latest else begun
        return _NewLog(
            [line.stored for line in shown],
            shown[0].id if shown else newest + 1,
            newest,
            summary.section(latest[: len(latest) - len(shown)]),
            (summary.record,) if summary.record is not None else (),
        )


def _render(memory: MemoryPack, nothing: str) -> str:
    """Render the memory of a prefix. nothing: said where it holds no notes."""
    parts = [
        f"{heading}\n{escape_runtime_block(memory[section])}"
        for section, heading in _HEADINGS.items()
        if memory[section]
    ]
    if not (memory["long_term"] or memory["recent"] or memory["chat"]):
        parts.insert(0, nothing)
    if memory.omitted:
        parts.append(f"_({memory.omitted} older notes are remembered but did not fit here. {_SEARCHED})_")
    return "\n\n".join(parts)


def _note_preferences(told: str, current: str) -> str | None:
    """Return the note of new preferences; None when they are worth a new prefix."""
    added = note_preferences(told, current)
    return added if added is not None and estimate_tokens(added) <= _NOTED_PREFERENCES else None


def _select_preferences(turn: PlannedTurn) -> str:
    """Return the preferences that the reader of a prompt is shown."""
    return turn.identity.preferences.strip() if OWNER_SCOPE in turn.base.scopes else ""
