"""Read what became known since the beginning of a prompt was made, as notes beside the next message."""

from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.prompt import usage
from kenobot.cognitive.recall.results.memory import MemoryPack, MemoryQuery
from kenobot.cognitive.recall.results.render import render_log_entry, render_record
from kenobot.cognitive.remember.derived_texts import FOLLOWED
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import ChangeFilter
from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens
from kenobot.language.summary import digest
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.ports.recall import MemoryEntry
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.prompt_prefix import PromptPrefix

_ELSEWHERE = frozenset({"scratchpad", "procedure", "summary", "entity", "box"})  # each message shows those that fit it
_STALE = MemoryPack(stale=True)
_MAX_TOKENS = 1500
_MAX_ROWS = 100
_LAG = 500  # events; a prefix is a large row, which is not written anew for each event that it need not show


def read_updates(connection: Connection, query: MemoryQuery, prefix: PromptPrefix, *, searched: bool) -> MemoryPack:
    """Read the updates since `prefix`; a stale pack when adding to the prefix cannot tell them.

    It cannot when a record on show was changed or taken back, or a person edited a MEMORY.md. The chat's context may be
    replaced by the model: then the new one is told. searched: memory is searched for each message; else the prefix
    stands for all of memory, and no change may pass it by.
    """
    scopes = query.scopes
    if store.last_change(connection, scopes) <= prefix.last_event:
        return MemoryPack(prefix=prefix)
    if any(store.last_edit_event(connection, scope) > prefix.last_event for scope in scopes):
        return _STALE
    newest = events.last_event(connection)
    only = ChangeFilter(prefix.last_record, usage.records_in_prompt(connection, prefix.session)) if searched else None
    changed = store.list_changed_since(connection, scopes, prefix.last_event, _MAX_ROWS, only)
    if len(changed) >= _MAX_ROWS:
        return _STALE
    chat = chat_scope(prefix.session)
    if any(_is_mended_summary(connection, record, chat, prefix.last_event) for record in changed):
        return _STALE
    updates = [record for record in changed if not _stands_elsewhere(record, chat)]
    context = next((record for record in updates if _is_context(record, chat)), None)
    if context is not None and not _is_by_model(connection, context, prefix.last_event):
        return _STALE
    notes = [record for record in updates if record is not context]
    if any(record.id <= prefix.last_record or record.status != "active" for record in notes):
        return _STALE
    text = _render(notes, chat, query.zone)
    if context is not None:
        again = context.id <= prefix.last_record
        text = "\n\n".join(part for part in (text, _render_context(context, query.policy, again=again)) if part)
    if estimate_tokens(text) > _MAX_TOKENS:
        return _STALE
    if changed or newest - prefix.last_event > _LAG:
        last_record = max((prefix.last_record, *(record.id for record in changed)))
        prefix = replace(prefix, last_event=newest, last_record=last_record)
    entries = tuple(MemoryEntry(record.id, "updates") for record in updates)
    return MemoryPack({"updates": text}, (text,), entries, prefix=prefix)


def _stands_elsewhere(record: Record, chat: str) -> bool:
    """Return whether another part of the prompt shows it, or none does. A live summary is shown where it matters."""
    return (
        record.form in _ELSEWHERE
        or (record.form == "profile" and not _is_context(record, chat))
        or (record.scope == OWNER_SCOPE and record.category == "preference")
        or (record.key == digest.KEY and record.status == "active")
    )


def _is_mended_summary(connection: Connection, record: Record, chat: str, event: int) -> bool:
    """Return whether a record is the chat's summary, and was brought up to date after `event`."""
    if (record.scope, record.key) != (chat, digest.KEY):
        return False
    return any(each.id > event and each.kind == FOLLOWED for each in events.record_events(connection, record.id))


def _is_context(record: Record, chat: str) -> bool:
    """Return whether it is what the model noted of the chat itself."""
    return (record.scope, record.form, record.key) == (chat, "profile", "slot:context")


def _is_by_model(connection: Connection, context: Record, event: int) -> bool:
    """Return whether only the model wrote it after `event`: what a person takes back must not stay on show."""
    actors = {each.actor for each in events.record_events(connection, context.id) if each.id > event}
    return context.status == "active" and actors <= {"model"}


def _render_context(context: Record, policy: Policy, *, again: bool) -> str:
    text = clip_to_tokens(render_record(context, indent=""), policy.working_tokens)
    return f"### Chat context{' (in place of the one above)' if again else ''}\n{text}"


def _render(records: Sequence[Record], chat: str, zone: ZoneInfo) -> str:
    entries: dict[bool, list[str]] = {False: [], True: []}
    for record in records:
        entries[record.scope == chat].append(render_log_entry(record, zone))
    headings = {False: "### Recent notes", True: "### Chat-specific memory"}
    return "\n\n".join("\n".join((headings[own], "\n\n".join(each))) for own, each in entries.items() if each)
